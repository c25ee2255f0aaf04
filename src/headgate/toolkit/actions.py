"""What happened to a working flow, in the shapes a canvas applies (seed 000 section 6.2)."""

from collections.abc import Sequence

from pydantic import JsonValue

from headgate.features.catalog.own.proposals import ProposedComponent
from headgate.graph.model import Edge, Flow, Node

Action = dict[str, JsonValue]


def add_component(node: Node) -> Action:
    """A node was added."""
    return {"action": "add_component", "node": _node(node)}


def remove_component(node_id: str) -> Action:
    """A node and its edges were removed."""
    return {"action": "remove_component", "component_id": node_id}


def connect(edge: Edge) -> Action:
    """Two nodes were connected."""
    return {"action": "connect", "edge": edge.model_dump(mode="json")}


def disconnect(edge: Edge) -> Action:
    """An edge was removed."""
    return {"action": "disconnect", "edge": edge.model_dump(mode="json")}


def configure(node_id: str, params: dict[str, JsonValue], patch: list[JsonValue], node: Node | None = None) -> Action:
    """Values of a node were set; `patch` is the JSON Patch from the values before.

    `node` is the node from then on, where more than its values changed: its label or its policy.
    """
    action: Action = {"action": "configure", "component_id": node_id, "params": params, "patch": patch}
    return action | ({"node": _node(node)} if node is not None else {})


def rename_component(node_id: str, new_id: str) -> Action:
    """A node got another id; edges and references follow."""
    return {"action": "rename_component", "component_id": node_id, "new_id": new_id}


def set_connection_mode(node_id: str, field: str) -> Action:
    """A field is now fed by a model or tool edge instead of a value."""
    return {"action": "set_connection_mode", "component_id": node_id, "field": field, "enabled": True}


def select_output(node_id: str, output: str) -> Action:
    """One of a node's several outputs was connected: a canvas that shows one at a time shows this one."""
    return {"action": "select_output", "component_id": node_id, "output_name": output}


def set_flow(flow: Flow, *, replaces: Sequence[str] = (), applies: bool = False, undone: bool = False) -> Action:
    """The whole flow was replaced.

    Args:
        flow: The new one.
        replaces: Nodes of the canvas that it does not have.
        applies: It is to be shown at once; else it is a proposal that a person takes over or not.
        undone: It is an earlier state of the flow, which was gone back to.
    """
    action: Action = {"action": "set_flow", "flow": flow.model_dump(mode="json")}
    if replaces:
        action["replaces"] = list[JsonValue](replaces)
    return action | ({"auto_apply": True} if applies else {}) | ({"undo": True} if undone else {})


def edit_field(
    id_: str,
    node: Node,
    field: str,
    *,
    old_value: JsonValue,
    new_value: JsonValue,
    description: str,
    patch: list[JsonValue],
) -> Action:
    """A value was proposed for a field; `patch` is the JSON Patch (RFC 6902) of the flow, for when it is accepted."""
    return {
        "action": "edit_field",
        "id": id_,
        "component_id": node.id,
        "component_type": node.type,
        "field": field,
        "old_value": old_value,
        "new_value": new_value,
        "description": description,
        "patch": patch,
    }


def propose_plan(markdown: str) -> Action:
    """A plan was proposed, in Markdown."""
    return {"action": "propose_plan", "markdown": markdown}


def propose_component(proposed: ProposedComponent) -> Action:
    """A component was proposed: its code, and everything that the code may reach."""
    checked = proposed.checked
    return {
        "action": "propose_component",
        "id": proposed.id,
        "class_name": checked.type,
        "description": checked.template.description,
        "code": checked.code,
        "reach": checked.reach,
        "note": checked.note,
        "attempts": proposed.attempts,
        "expires_at": proposed.expires_at.isoformat(),
    }


def flow_ran(run_id: str, status: str, flow: Flow) -> Action:
    """The flow was run as it then was. For whoever forwards actions, never for a page (`turn.reconcile`)."""
    return {"action": "flow_ran", "run_id": run_id, "status": status, "flow": flow.model_dump(mode="json")}


def flow_saved(flow: Flow) -> Action:
    """The flow was stored as it then was, for its tests. For whoever forwards actions, never for a page."""
    return {"action": "flow_saved", "flow": flow.model_dump(mode="json")}


def _node(node: Node) -> JsonValue:
    found: JsonValue = node.model_dump(mode="json")
    return found
