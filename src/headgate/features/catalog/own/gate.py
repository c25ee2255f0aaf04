"""The gate before a run: the code of every node is read again, wherever it came from (seed 000, ADR-MCP-040, 041)."""

from headgate.features.catalog.own.errors import UnsafeCode
from headgate.foundation.errors import TooLarge
from headgate.graph.issues import raise_if_any
from headgate.graph.model import Flow
from headgate.graph.own_code import own_code_issues, unchecked_issues
from headgate.graph.template import Catalog
from headgate.sandbox.reading.scan import scan_component

MOST_CHARACTERS = 500_000
"""Of own code in one flow."""


def refuse_unsafe(flow: Flow) -> None:
    """Raise `UnsafeCode` naming node and line when the scan finds anything in a node's code. Nothing is executed.

    Code that was checked once is scanned again: the rules may have grown since. A component that came with the
    installation never carries code, so there is nothing of it to exempt.
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
    """Raise `TooLarge` for more code than can be read in a moment, in all nodes together."""
    size = sum(len(code) for code in {node.code for node in flow.nodes if node.code is not None})
    if size > MOST_CHARACTERS:
        raise TooLarge(
            f"The flow carries {size} characters of own code; {MOST_CHARACTERS} are allowed.",
            remedy="Make two flows of it.",
        )


def require_checked(flow: Flow, catalog: Catalog) -> None:
    """Raise `UnsafeCode`, or `FlowInvalid` when a node has code that was not checked here or is not its own."""
    refuse_unsafe(flow)
    raise_if_any([*own_code_issues(flow, catalog), *unchecked_issues(flow, catalog)])
