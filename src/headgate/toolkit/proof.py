"""The proof of an edit: its changes, and whether the flow can run afterwards."""

from collections.abc import Sequence

from pydantic import JsonValue

from headgate.features.flows.readiness.answer import Readiness
from headgate.graph.diff import FlowDiff, NodeChange, diff_flows
from headgate.graph.model import Flow
from headgate.graph.template import Catalog
from headgate.graph.value_changes import ValueChange
from headgate.toolkit.shown import HEADERS, secret_fields, shown_value

MOST_ISSUES = 20
"""Issues in an action; `describe_flow_io` lists all."""


def diff_lines(before: Flow, after: Flow, catalog: Catalog) -> list[str]:
    """Return one line per change, as `FlowDiff.lines` writes them; secret values are omitted."""
    return without_secrets(diff_flows(before, after), before, after, catalog).lines()


def validation(readiness: Readiness) -> dict[str, JsonValue]:
    """Return whether a flow can run: `runnable`, and the first `issues`."""
    answer = readiness.as_json(MOST_ISSUES)
    return {"runnable": answer["runnable"], "issues": answer["issues"]}


def without_secrets(diff: FlowDiff, before: Flow, after: Flow, catalog: Catalog) -> FlowDiff:
    """Return the diff of two flows with the values of secret fields redacted."""
    return FlowDiff(
        nodes_added=diff.nodes_added,
        nodes_removed=diff.nodes_removed,
        nodes_changed=tuple(_redacted(node, before, after, catalog) for node in diff.nodes_changed),
        edges_added=diff.edges_added,
        edges_removed=diff.edges_removed,
        flow_changes=diff.flow_changes,
        reordered=diff.reordered,
    )


def _redacted(changed: NodeChange, before: Flow, after: Flow, catalog: Catalog) -> NodeChange:
    """Redact what is secret in either flow: a node may have changed its type."""
    nodes = before.node(changed.renamed_from or changed.id), after.node(changed.id)
    hidden = [secret_fields(catalog, node.type, node.params) for node in nodes if node is not None]
    return NodeChange(
        changed.id, changed.renamed_from, _without_secrets(changed.changes, frozenset[str]().union(*hidden))
    )


def _without_secrets(changes: Sequence[ValueChange], hidden: frozenset[str]) -> tuple[ValueChange, ...]:
    return tuple(
        ValueChange(change.path, change.kind, "(a secret)", "(a secret)")
        if _names(change.path, hidden)
        else ValueChange(change.path, change.kind, shown_value(change.before), shown_value(change.after))
        for change in changes
    )


def _names(path: str, hidden: frozenset[str]) -> bool:
    root, _, rest = path.partition(".")
    if root == "policy":
        return HEADERS in rest.split(".")
    return root == "params" and rest.partition(".")[0] in hidden
