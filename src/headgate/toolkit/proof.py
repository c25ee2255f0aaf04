"""What an edit changed and whether the flow would run after it: the proof that an action carries."""

from collections.abc import Mapping, Sequence

from pydantic import JsonValue

from headgate.graph.diff import FlowDiff, NodeChange, diff_flows
from headgate.graph.model import Flow
from headgate.graph.template import Catalog, FieldKind
from headgate.graph.validate import check_runnable
from headgate.graph.value_changes import ValueChange

MOST_ISSUES = 20
"""Issues that an action carries; `describe_flow_io` gives all."""
HEADERS = "headers"
"""Field of components that make requests; a key may stand in one of its values."""


def diff_lines(before: Flow, after: Flow, catalog: Catalog) -> list[str]:
    """One line a change, as `FlowDiff.lines` writes them; values of secret fields are not told."""
    return without_secrets(diff_flows(before, after), after, catalog).lines()


def validation(flow: Flow, catalog: Catalog) -> dict[str, JsonValue]:
    """Whether a flow would run: `runnable`, and the first `issues` that keep it from it."""
    issues: list[JsonValue] = [issue.as_json() for issue in check_runnable(flow, catalog)]
    return {"runnable": not issues, "issues": issues[:MOST_ISSUES]}


def secret_fields(catalog: Catalog, type_: str, params: Mapping[str, JsonValue] | None = None) -> frozenset[str]:
    """Fields whose values nobody is shown."""
    template = catalog.template(type_, params)
    kept = () if template is None else template.fields
    return frozenset(field.name for field in kept if field.kind is FieldKind.SECRET or field.name == HEADERS)


def without_secrets(diff: FlowDiff, after: Flow, catalog: Catalog) -> FlowDiff:
    """The diff with the values of secret fields replaced by what may be told."""
    return FlowDiff(
        nodes_added=diff.nodes_added,
        nodes_removed=diff.nodes_removed,
        nodes_changed=tuple(_redacted(node, after, catalog) for node in diff.nodes_changed),
        edges_added=diff.edges_added,
        edges_removed=diff.edges_removed,
        flow_changes=diff.flow_changes,
        reordered=diff.reordered,
    )


def _redacted(changed: NodeChange, after: Flow, catalog: Catalog) -> NodeChange:
    node = after.node(changed.id)
    hidden = secret_fields(catalog, node.type, node.params) if node is not None else frozenset[str]()
    if not hidden:
        return changed
    return NodeChange(changed.id, changed.renamed_from, _told(changed.changes, hidden))


def _told(changes: Sequence[ValueChange], hidden: frozenset[str]) -> tuple[ValueChange, ...]:
    return tuple(
        ValueChange(change.path, change.kind, "(before)", "(a secret)") if _names(change.path, hidden) else change
        for change in changes
    )


def _names(path: str, hidden: frozenset[str]) -> bool:
    root, _, rest = path.partition(".")
    return root == "params" and rest.partition(".")[0] in hidden
