"""Edits of a flow: pure functions that give the new flow and what they changed.

Every edit refuses, with `FlowInvalid` naming the nearest valid name, what a draft may not have; a flow that was sound
stays sound. Edits never touch what they were not asked to, with three exceptions that they report: removing a node
takes its edges and the bindings that read it, changing params takes the edges of ports that are gone, and renaming a
node follows its references.
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
        catalog: Where templates come from.
        node_id: Its id; from the type when None (`URL` is `url`, then `url_2`).
        params: Values to set.
        label: Shown on the canvas instead of the component's own label.
        position: Upper left corner; right of everything when None.
        code: The node's own code; what the catalog has for the type when None.
    """
    template = catalog.template(type_, params or {})
    if template is None:
        raise FlowInvalid([unknown_type(type_, catalog)])
    taken = {node.id for node in flow.nodes} | RESERVED_IDS
    if node_id is None:
        node_id = free_name(_CAMEL.sub("_", type_).lower()[:60], taken)
    else:
        _require_free_id(node_id, taken)
    where = position or free_position(flow, catalog)
    source = catalog.code(type_) if code is None else code
    made = _checked(id=node_id, type=type_, label=label, position=where, params=dict(params or {}), code=source)
    raise_if_any(param_issues(made, template))
    return apply_changes(flow, [Change(ChangeKind.NODE_ADDED, len(flow.nodes), None, made)])


def remove_node(flow: Flow, node_id: str) -> Edit:
    """Remove a node, its edges, and the bindings of other steps that read it."""
    index, node = _found(flow, node_id)
    gone = removals(flow.edges, lambda edge: node_id in {edge.source, edge.target}, ChangeKind.EDGE_REMOVED)
    unbound = [
        Change(ChangeKind.NODE_CHANGED, place, other, _unbound(other, node_id))
        for place, other in enumerate(flow.nodes)
        if place != index and other != _unbound(other, node_id)
    ]
    return apply_changes(flow, [*gone, *unbound, Change(ChangeKind.NODE_REMOVED, index, node)])


def connect(flow: Flow, edge: Edge, catalog: Catalog, *, replace: bool = False) -> Edit:
    """Add an edge.

    Args:
        flow: The flow.
        edge: From an output to an input; `tool` of a component that an agent may call counts as one.
        catalog: Where templates come from.
        replace: Take the place of an edge into an input that takes only one, instead of being refused.
    """
    wiring = wire(flow, catalog)
    issue = edge_issue(wiring, edge)
    if issue is None and edge in flow.edges:
        raise FlowInvalid(
            [Issue(IssueCode.DUPLICATE_EDGE, f"the edge {edge.id} is there already.", "", edge.target, edge=edge.id)]
        )
    taken = {(one.target, one.input): one for one in reversed(flow.edges)}
    crowded = crowding_issue(wiring, edge, taken) if issue is None else None
    replaced = crowded is not None and replace
    raise_if_any(one for one in (issue, None if replaced else crowded) if one is not None)
    changes = (
        removals(flow.edges, lambda one: (one.target, one.input) == (edge.target, edge.input), ChangeKind.EDGE_REMOVED)
        if replaced
        else []
    )
    _require_no_way_back(flow, edge)
    return apply_changes(flow, [*changes, Change(ChangeKind.EDGE_ADDED, len(flow.edges) - len(changes), None, edge)])


def disconnect(flow: Flow, edge: Edge) -> Edit:
    """Remove an edge."""
    if edge not in flow.edges:
        known = [one.id for one in flow.edges]
        hint = did_you_mean(edge.id, known) or "."
        raise FlowInvalid(
            [
                Issue(
                    IssueCode.UNKNOWN_NODE,
                    f"there is no edge {edge.id}{hint}",
                    f"Edges: {listed(known)}.",
                    edge=edge.id,
                )
            ]
        )
    return apply_changes(flow, removals(flow.edges, lambda one: one == edge, ChangeKind.EDGE_REMOVED))


def configure(
    flow: Flow, node_id: str, params: Mapping[str, JsonValue], catalog: Catalog, *, unset: Collection[str] = ()
) -> Edit:
    """Set values of a node, and go back to the default of others.

    Edges of ports that the new values take away (a case of a Switch, a name in a PromptTemplate) go too and are
    reported. `Edit.patch` is the JSON Patch of the flow.
    """
    index, node = _found(flow, node_id)
    merged = {name: value for name, value in {**node.params, **params}.items() if name not in unset}
    template = _template(node, merged, catalog)
    raise_if_any(param_issues(node, template, params))
    nowhere = [name for name in unset if name not in node.params and template.field(name) is None]
    raise_if_any(unknown_field(node, template, name) for name in nowhere)
    made = _remade(node, params=merged)
    if not node_changes(node, made):
        return Edit(flow)
    earlier = catalog.template(node.type, node.params)
    lost = removals(flow.edges, lambda edge: _port_gone(edge, node_id, earlier, template), ChangeKind.EDGE_REMOVED)
    return apply_changes(flow, [Change(ChangeKind.NODE_CHANGED, index, node, made), *lost])


def rename_node(flow: Flow, node_id: str, new_id: str, catalog: Catalog | None = None) -> Edit:
    """Give a node another id; its edges and every `{{node_id...}}` in params and policies follow.

    With a catalog, fields that are not interpolated (a Python node's source) are left as they are.
    """
    index, _ = _found(flow, node_id)
    if new_id == node_id:
        return Edit(flow)
    _require_free_id(new_id, {node.id for node in flow.nodes} | RESERVED_IDS)
    changes: list[Change] = []
    for place, node in enumerate(flow.nodes):
        template = catalog.template(node.type, node.params) if catalog else None
        made = rename_roots(node, {node_id: new_id}, template)
        if place == index:
            made = made.model_copy(update={"id": new_id})
        if made != node:
            changes.append(Change(ChangeKind.NODE_CHANGED, place, node, made))
    for place, edge in enumerate(flow.edges):
        if node_id in {edge.source, edge.target}:
            ends = {end: new_id for end in ("source", "target") if getattr(edge, end) == node_id}
            changes.append(Change(ChangeKind.EDGE_CHANGED, place, edge, edge.model_copy(update=ends)))
    return apply_changes(flow, changes)


def relabel(flow: Flow, node_id: str, label: str) -> Edit:
    """Give a node another label."""
    return _changed(flow, node_id, label=label)


def set_code(flow: Flow, node_id: str, code: str | None) -> Edit:
    """Give a node its own code, or take it away."""
    return _changed(flow, node_id, code=code)


def set_policy(flow: Flow, node_id: str, policy: StepPolicy, catalog: Catalog) -> Edit:
    """Give a step other rules."""
    edit = _changed(flow, node_id, policy=policy)
    wiring = wire(edit.flow, catalog)
    issues = (*contract_issues(wiring), *policy_issues(wiring))
    raise_if_any(issue for issue in issues if issue.node == node_id)
    return edit


def move(flow: Flow, positions: Mapping[str, Position]) -> Edit:
    """Put nodes elsewhere."""
    changes = []
    for node_id, position in positions.items():
        index, node = _found(flow, node_id)
        if node.position != position:
            changes.append(Change(ChangeKind.NODE_CHANGED, index, node, node.model_copy(update={"position": position})))
    return apply_changes(flow, changes)


def free_position(flow: Flow, catalog: Catalog | None = None) -> Position:
    """A place for one more node that overlaps nothing: right of everything, level with the rightmost node."""
    around = bounds(flow, catalog)
    if around is None:
        return Position()
    rightmost = max(flow.nodes, key=lambda node: node.position.x)
    return Position(x=around.right + COLUMN_GAP, y=rightmost.position.y)


def _found(flow: Flow, node_id: str) -> tuple[int, Node]:
    for index, node in enumerate(flow.nodes):
        if node.id == node_id:
            return index, node
    known = [node.id for node in flow.nodes]
    hint = did_you_mean(node_id, known) or "."
    issue = Issue(IssueCode.UNKNOWN_NODE, f"there is no node '{node_id}'{hint}", f"Nodes: {listed(known)}.", node_id)
    raise FlowInvalid([issue])


def _template(node: Node, params: Mapping[str, JsonValue], catalog: Catalog) -> Template:
    template = catalog.template(node.type, params)
    if template is None:
        raise FlowInvalid([unknown_type(node.type, catalog, node.id)])
    return template


def _changed(flow: Flow, node_id: str, **members: object) -> Edit:
    index, node = _found(flow, node_id)
    made = _remade(node, **members)
    return Edit(flow) if made == node else apply_changes(flow, [Change(ChangeKind.NODE_CHANGED, index, node, made)])


def _remade(node: Node, **members: object) -> Node:
    """The node with other members, checked like any outside input."""
    return _checked(**({name: getattr(node, name) for name in Node.model_fields} | members))


def _checked(**members: object) -> Node:
    """A node of these members. Raises `FlowInvalid` where the model refuses one."""
    try:
        return Node.model_validate(members)
    except ValidationError as error:
        issues = []
        for one in error.errors(include_url=False):
            where = ".".join(str(part) for part in one["loc"])
            message = f"node '{members['id']}': '{where}': {one['msg'].removeprefix('Value error, ')}."
            issues.append(Issue(IssueCode.INVALID_VALUE, message, "Correct it.", str(members["id"]), where))
        raise FlowInvalid(issues) from error


def _require_free_id(node_id: str, taken: Collection[str]) -> None:
    if not re.match(NODE_ID_PATTERN, node_id) or node_id.endswith("\n"):
        message = f"'{node_id[:80]}' is not a node id: use at most 64 lower-case letters, digits and _, a letter first."
        raise FlowInvalid([Issue(IssueCode.RESERVED_ID, message, "Choose another id.", node_id[:80])])
    if node_id in taken:
        what = "is reserved" if node_id in RESERVED_IDS else "is taken"
        remedy = f"'{free_name(node_id, taken)}' is free."
        raise FlowInvalid([Issue(IssueCode.DUPLICATE_NODE, f"the id '{node_id}' {what}.", remedy, node_id)])


def _require_no_way_back(flow: Flow, edge: Edge) -> None:
    """Refuse an edge whose target leads to its source already."""
    following: dict[str, list[str]] = {}
    for one in flow.edges:
        following.setdefault(one.source, []).append(one.target)
    came_from: dict[str, str] = {edge.target: ""}
    waiting = [edge.target]
    while waiting:
        here = waiting.pop()
        if here == edge.source:
            walk = [here]
            while came_from[walk[-1]]:
                walk.append(came_from[walk[-1]])
            path = " -> ".join([*reversed(walk), edge.target][:12])
            message = f"edge {edge.id} would make the steps run in a circle: {path}."
            remedy = "To repeat work over a list use a Map node."
            raise FlowInvalid([Issue(IssueCode.CYCLE, message, remedy, edge.target, edge=edge.id)])
        for after in following.get(here, ()):
            if after not in came_from:
                came_from[after] = here
                waiting.append(after)


def _unbound(node: Node, gone: str) -> Node:
    """The node without the bindings that read a step."""
    kept = {
        name: text
        for name, text in node.policy.input_bindings.items()
        if all(reference.root != gone for reference in references(text))
    }
    if len(kept) == len(node.policy.input_bindings):
        return node
    return node.model_copy(update={"policy": node.policy.model_copy(update={"input_bindings": kept})})


def _port_gone(edge: Edge, node_id: str, before: Template | None, after: Template) -> bool:
    """Whether an edge used a port of the node that the new template no longer has."""
    if edge.source == node_id and output_type(after, edge.output) is None:
        return before is None or output_type(before, edge.output) is not None
    field = after.field(edge.input) if edge.target == node_id else None
    if edge.target == node_id and (field is None or not field.types):
        earlier = before.field(edge.input) if before is not None else None
        return before is None or (earlier is not None and bool(earlier.types))
    return False
