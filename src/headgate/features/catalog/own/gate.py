"""Scan before a run: the code of every node is scanned again, regardless of its source (seed 000, ADR-MCP-040, 041)."""

from headgate.features.catalog.own.errors import UnsafeCode
from headgate.foundation.errors import TooLarge
from headgate.graph.issues import raise_if_any
from headgate.graph.model import Flow
from headgate.graph.own_code import own_code_issues, unchecked_issues
from headgate.graph.template import Catalog
from headgate.sandbox.reading.scan import scan_component

MOST_CHARACTERS = 500_000
"""Maximum custom code in one flow."""


def refuse_unsafe(flow: Flow) -> None:
    """Raise `UnsafeCode` with node and line for any finding in a node's code. Nothing is executed.

    Checked code is scanned again: the rules may have been extended since. Built-in components never contain code, so
    there is nothing to exempt.
    """
    require_readable(flow)
    read: set[str] = set()
    for node in flow.nodes:
        if node.code is None or node.code in read:
            continue
        read.add(node.code)
        findings = scan_component(node.code)
        if findings:
            raise UnsafeCode(node.id, node.type, findings)


def require_readable(flow: Flow) -> None:
    """Raise `TooLarge` for more code, in all nodes together, than can be analysed quickly."""
    size = sum(len(code) for code in {node.code for node in flow.nodes if node.code is not None})
    if size > MOST_CHARACTERS:
        raise TooLarge(
            f"The flow contains {size} characters of custom code; {MOST_CHARACTERS} are allowed.",
            remedy="Split it into two flows.",
        )


def require_checked(flow: Flow, catalog: Catalog) -> None:
    """Raise `UnsafeCode`, or `FlowInvalid` when a node has unchecked code or code of another component."""
    refuse_unsafe(flow)
    raise_if_any([*own_code_issues(flow, catalog), *unchecked_issues(flow, catalog)])
