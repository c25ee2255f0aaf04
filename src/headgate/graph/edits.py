"""Edits of a flow: pure functions that return the new flow and its changes.

Every edit rejects, with `FlowInvalid` and the nearest valid name, anything invalid in a draft; a valid flow stays
valid. Edits only change what they are asked to, with three exceptions that they report: removing a node removes its
edges and the bindings that read it, changing params removes the edges of removed ports, and renaming a node updates its
references.
"""

import re
from collections.abc import Collection, Mapping

from pydantic import JsonValue, ValidationError

from headgate.graph.changes import Change, ChangeKind, Edit, apply_changes, removals, undo
from headgate.graph.check_graph import crowding_issue, edge_issue, unknown_type
from headgate.graph.check_params import param_issues, unknown_field
from headgate.graph.check_policies import contract_issues, policy_issues
from headgate.graph.geometry import bounds
from headgate.graph.interpolate import references
from headgate.graph.issues import FlowInvalid, Issue, IssueCode, raise_if_any
from headgate.graph.layout import COLUMN_GAP
from headgate.graph.mentions import rename_roots
from headgate.graph.model import NODE_ID_PATTERN, Edge, Flow, Node, Position, StepPolicy
from headgate.graph.names import did_you_mean, free_name, listed
from headgate.graph.template import Catalog, Template
from headgate.graph.value_changes import node_changes
from headgate.graph.wiring import RESERVED_IDS, output_type, wire

__all__ = [
    "Change",
    "ChangeKind",
    "Edit",
    "add_node",
    "apply_changes",
    "configure",
    "connect",
    "disconnect",
    "move",
    "relabel",
    "remove_node",
    "rename_node",
    "set_code",
    "set_policy",
    "undo",
]

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


def add_node(
    flow: Flow,
    type_: str,
    catalog: Catalog,
    *,
    node_id: str | None = None,
    params: Mapping[str, JsonValue] | None = None,
    label: str = "",
    position: Position | None = None,
    code: str | None = None,
) -> Edit:
    """Add a node at the end.

    Args:
        flow: The flow.
        type_: Component type.
        catalog: Provides templates.
        node_id: Its id; derived from the type when None (`URL` is `url`, then `url_2`).
        params: Values to set.
        label: Shown on the canvas instead of the component's own label.
        position: Upper left corner; right of everything when None.
        code: The node's own code; the catalog's code of the type when None.
    """
    template = catalog.template(type_, params or {})
    if template is None:
        raise FlowInvalid([unknown_type(type_, catalog)])
    taken = {node.id for node in flow.nodes} | RESERVED_IDS
    if node_id is None:
        node_id = free_name(_CAMEL.sub("_", type_).lower()[:60], taken)
    else:
        _require_free_id(node_id, taken)
    location = position or free_position(flow, catalog)
    source = catalog.code(type_) if code is None else code
    node = _checked(id=node_id, type=type_, label=label, position=location, params=dict(params or {}), code=source)
    raise_if_any(param_issues(node, template))
    return apply_changes(flow, [Change(ChangeKind.NODE_ADDED, len(flow.nodes), None, node)])


def remove_node(flow: Flow, node_id: str) -> Edit:
    """Remove a node, its edges, and the bindings of other steps that read it."""
    index, node = _found(flow, node_id)
    removed_edges = removals(flow.edges, lambda edge: node_id in {edge.source, edge.target}, ChangeKind.EDGE_REMOVED)
    unbound = [
        Change(ChangeKind.NODE_CHANGED, place, other, _unbound(other, node_id))
        for place, other in enumerate(flow.nodes)
        if place != index and other != _unbound(other, node_id)
    ]
    return apply_changes(flow, [*removed_edges, *unbound, Change(ChangeKind.NODE_REMOVED, index, node)])


def connect(flow: Flow, edge: Edge, catalog: Catalog, *, replace: bool = False) -> Edit:
    """Add an edge.

    Args:
        flow: The flow.
        edge: From an output to an input; `tool` of a component that an agent may call counts as one.
        catalog: Provides templates.
        replace: Replace an edge into a single-edge input, instead of being rejected.
    """
    wiring = wire(flow, catalog)
    issue = edge_issue(wiring, edge)
    if issue is None and edge in flow.edges:
        raise FlowInvalid(
            [Issue(IssueCode.DUPLICATE_EDGE, f"the edge {edge.id} already exists.", "", edge.target, edge=edge.id)]
        )
    occupied = {(other_edge.target, other_edge.input): other_edge for other_edge in reversed(flow.edges)}
    crowded = crowding_issue(wiring, edge, occupied) if issue is None else None
    replaced = crowded is not None and replace
    raise_if_any(problem for problem in (issue, None if replaced else crowded) if problem is not None)
    changes = (
        removals(
            flow.edges, lambda other: (other.target, other.input) == (edge.target, edge.input), ChangeKind.EDGE_REMOVED
        )
        if replaced
        else []
    )
    _require_no_way_back(flow, edge)
    return apply_changes(flow, [*changes, Change(ChangeKind.EDGE_ADDED, len(flow.edges) - len(changes), None, edge)])


def disconnect(flow: Flow, edge: Edge) -> Edit:
    """Remove an edge."""
    if edge not in flow.edges:
        edge_ids = [other_edge.id for other_edge in flow.edges]
        hint = did_you_mean(edge.id, edge_ids) or "."
        raise FlowInvalid(
            [
                Issue(
                    IssueCode.UNKNOWN_NODE,
                    f"there is no edge {edge.id}{hint}",
                    f"Edges: {listed(edge_ids)}.",
                    edge=edge.id,
                )
            ]
        )
    return apply_changes(flow, removals(flow.edges, lambda other: other == edge, ChangeKind.EDGE_REMOVED))


def configure(
    flow: Flow, node_id: str, params: Mapping[str, JsonValue], catalog: Catalog, *, unset: Collection[str] = ()
) -> Edit:
    """Set values of a node, and reset others to their default.

    Edges of ports that the new values remove (a case of a Switch, a name in a PromptTemplate) are removed and reported.
    `Edit.patch` is the JSON Patch of the flow.
    """
    index, node = _found(flow, node_id)
    merged = {name: value for name, value in {**node.params, **params}.items() if name not in unset}
    template = _template(node, merged, catalog)
    raise_if_any(param_issues(node, template, params))
    nowhere = [name for name in unset if name not in node.params and template.field(name) is None]
    raise_if_any(unknown_field(node, template, name) for name in nowhere)
    changed_node = _remade(node, params=merged)
    if not node_changes(node, changed_node):
        return Edit(flow)
    earlier = catalog.template(node.type, node.params)
    removed_edges = removals(
        flow.edges, lambda edge: _port_removed(edge, node_id, earlier, template), ChangeKind.EDGE_REMOVED
    )
    return apply_changes(flow, [Change(ChangeKind.NODE_CHANGED, index, node, changed_node), *removed_edges])


def rename_node(flow: Flow, node_id: str, new_id: str, catalog: Catalog | None = None) -> Edit:
    """Change the id of a node; its edges and every `{{node_id...}}` in params and policies are updated.

    With a catalog, fields that are not interpolated (a Python node's source) stay unchanged.
    """
    index, _ = _found(flow, node_id)
    if new_id == node_id:
        return Edit(flow)
    _require_free_id(new_id, {node.id for node in flow.nodes} | RESERVED_IDS)
    changes: list[Change] = []
    for place, node in enumerate(flow.nodes):
        template = catalog.template(node.type, node.params) if catalog else None
        renamed_node = rename_roots(node, {node_id: new_id}, template)
        if place == index:
            renamed_node = renamed_node.model_copy(update={"id": new_id})
        if renamed_node != node:
            changes.append(Change(ChangeKind.NODE_CHANGED, place, node, renamed_node))
    for place, edge in enumerate(flow.edges):
        if node_id in {edge.source, edge.target}:
            ends = {end: new_id for end in ("source", "target") if getattr(edge, end) == node_id}
            changes.append(Change(ChangeKind.EDGE_CHANGED, place, edge, edge.model_copy(update=ends)))
    return apply_changes(flow, changes)


def relabel(flow: Flow, node_id: str, label: str) -> Edit:
    """Change the label of a node."""
    return _changed(flow, node_id, label=label)


def set_code(flow: Flow, node_id: str, code: str | None) -> Edit:
    """Set or remove a node's own code."""
    return _changed(flow, node_id, code=code)


def set_policy(flow: Flow, node_id: str, policy: StepPolicy, catalog: Catalog) -> Edit:
    """Set the policy of a step. An error edge is connected afterwards: its output is there only then."""
    edit = _changed(flow, node_id, policy=policy)
    wiring = wire(edit.flow, catalog)
    issues = (*contract_issues(wiring), *policy_issues(wiring, edges_follow=True))
    raise_if_any(issue for issue in issues if issue.node == node_id)
    return edit


def move(flow: Flow, positions: Mapping[str, Position]) -> Edit:
    """Move nodes."""
    changes = []
    for node_id, position in positions.items():
        index, node = _found(flow, node_id)
        if node.position != position:
            changes.append(Change(ChangeKind.NODE_CHANGED, index, node, node.model_copy(update={"position": position})))
    return apply_changes(flow, changes)


def free_position(flow: Flow, catalog: Catalog | None = None) -> Position:
    """Return a position for one more node that overlaps nothing: right of everything, level with the rightmost node."""
    area = bounds(flow, catalog)
    if area is None:
        return Position()
    rightmost = max(flow.nodes, key=lambda node: node.position.x)
    return Position(x=area.right + COLUMN_GAP, y=rightmost.position.y)


def _found(flow: Flow, node_id: str) -> tuple[int, Node]:
    for index, node in enumerate(flow.nodes):
        if node.id == node_id:
            return index, node
    node_ids = [node.id for node in flow.nodes]
    hint = did_you_mean(node_id, node_ids) or "."
    issue = Issue(IssueCode.UNKNOWN_NODE, f"there is no node '{node_id}'{hint}", f"Nodes: {listed(node_ids)}.", node_id)
    raise FlowInvalid([issue])


def _template(node: Node, params: Mapping[str, JsonValue], catalog: Catalog) -> Template:
    template = catalog.template(node.type, params)
    if template is None:
        raise FlowInvalid([unknown_type(node.type, catalog, node.id)])
    return template


def _changed(flow: Flow, node_id: str, **members: object) -> Edit:
    index, node = _found(flow, node_id)
    changed_node = _remade(node, **members)
    return (
        Edit(flow)
        if changed_node == node
        else apply_changes(flow, [Change(ChangeKind.NODE_CHANGED, index, node, changed_node)])
    )


def _remade(node: Node, **members: object) -> Node:
    """Return the node with other members, validated like external input."""
    return _checked(**({name: getattr(node, name) for name in Node.model_fields} | members))


def _checked(**members: object) -> Node:
    """Return a node with these members. Raises `FlowInvalid` when the model rejects one."""
    try:
        return Node.model_validate(members)
    except ValidationError as error:
        issues = []
        for fault in error.errors(include_url=False):
            location = ".".join(str(part) for part in fault["loc"])
            message = f"node '{members['id']}': '{location}': {fault['msg'].removeprefix('Value error, ')}."
            issues.append(Issue(IssueCode.INVALID_VALUE, message, "Correct it.", str(members["id"]), location))
        raise FlowInvalid(issues) from error


def _require_free_id(node_id: str, taken: Collection[str]) -> None:
    if not re.match(NODE_ID_PATTERN, node_id) or node_id.endswith("\n"):
        message = (
            f"'{node_id[:80]}' is not a valid node id: use at most 64 lower-case letters, digits and "
            "_, starting with a letter."
        )
        raise FlowInvalid([Issue(IssueCode.RESERVED_ID, message, "Choose another id.", node_id[:80])])
    if node_id in taken:
        problem = "is reserved" if node_id in RESERVED_IDS else "is taken"
        remedy = f"'{free_name(node_id, taken)}' is free."
        raise FlowInvalid([Issue(IssueCode.DUPLICATE_NODE, f"the id '{node_id}' {problem}.", remedy, node_id)])


def _require_no_way_back(flow: Flow, edge: Edge) -> None:
    """Reject an edge that would create a cycle."""
    following: dict[str, list[str]] = {}
    for existing_edge in flow.edges:
        following.setdefault(existing_edge.source, []).append(existing_edge.target)
    origins: dict[str, str] = {edge.target: ""}
    waiting = [edge.target]
    while waiting:
        node_id = waiting.pop()
        if node_id == edge.source:
            walk = [node_id]
            while origins[walk[-1]]:
                walk.append(origins[walk[-1]])
            path = " -> ".join([*reversed(walk), edge.target][:12])
            message = f"edge {edge.id} would make the steps form a cycle: {path}."
            remedy = "To repeat work over a list use a Map node."
            raise FlowInvalid([Issue(IssueCode.CYCLE, message, remedy, edge.target, edge=edge.id)])
        for after in following.get(node_id, ()):
            if after not in origins:
                origins[after] = node_id
                waiting.append(after)


def _unbound(node: Node, removed_id: str) -> Node:
    """Return the node without the bindings that read a step."""
    kept_bindings = {
        name: text
        for name, text in node.policy.input_bindings.items()
        if all(reference.root != removed_id for reference in references(text))
    }
    if len(kept_bindings) == len(node.policy.input_bindings):
        return node
    return node.model_copy(update={"policy": node.policy.model_copy(update={"input_bindings": kept_bindings})})


def _port_removed(edge: Edge, node_id: str, before: Template | None, after: Template) -> bool:
    """Return whether an edge uses a port that the new template no longer has."""
    if edge.source == node_id and output_type(after, edge.output) is None:
        return before is None or output_type(before, edge.output) is not None
    field = after.field(edge.input) if edge.target == node_id else None
    if edge.target == node_id and (field is None or not field.types):
        earlier = before.field(edge.input) if before is not None else None
        return before is None or (earlier is not None and bool(earlier.types))
    return False
