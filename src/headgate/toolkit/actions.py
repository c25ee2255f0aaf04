"""Actions on a working flow, in the form a canvas applies (seed 000 section 6.2)."""

from collections.abc import Sequence

from pydantic import JsonValue

from headgate.features.catalog.own.proposals import ProposedComponent
from headgate.graph.model import Edge, Flow, Node

Action = dict[str, JsonValue]


def add_component(node: Node) -> Action:
    """Return the action of an added node."""
    return {"action": "add_component", "node": _node(node)}


def remove_component(node_id: str) -> Action:
    """Return the action of a removed node with its edges."""
    return {"action": "remove_component", "component_id": node_id}


def connect(edge: Edge) -> Action:
    """Return the action of a new edge."""
    return {"action": "connect", "edge": edge.model_dump(mode="json")}


def disconnect(edge: Edge) -> Action:
    """Return the action of a removed edge."""
    return {"action": "disconnect", "edge": edge.model_dump(mode="json")}


def configure(node_id: str, params: dict[str, JsonValue], patch: list[JsonValue], node: Node | None = None) -> Action:
    """Return the action of changed values; `patch` is a JSON Patch from the previous values.

    `node` is the changed node, if its label or policy changed too.
    """
    action: Action = {"action": "configure", "component_id": node_id, "params": params, "patch": patch}
    return action | ({"node": _node(node)} if node is not None else {})


def rename_component(node_id: str, new_id: str) -> Action:
    """Return the action of a changed node id; edges and references follow."""
    return {"action": "rename_component", "component_id": node_id, "new_id": new_id}


def set_connection_mode(node_id: str, field: str) -> Action:
    """Return the action of a field whose value now comes from a model or tool edge."""
    return {"action": "set_connection_mode", "component_id": node_id, "field": field, "enabled": True}


def select_output(node_id: str, output: str) -> Action:
    """Return the action that selects the connected one of several outputs, for a canvas that shows one at a time."""
    return {"action": "select_output", "component_id": node_id, "output_name": output}


def set_flow(flow: Flow, *, replaces: Sequence[str] = (), applies: bool = False, undone: bool = False) -> Action:
    """Return the action of a replaced flow.

    Args:
        flow: The new one.
        replaces: Nodes of the canvas that it does not have.
        applies: It is to be shown at once; else it is a proposal that a user accepts or not.
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
    """Return the proposal of a field value; `patch` is the JSON Patch (RFC 6902) of the flow to apply on acceptance."""
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
    """Return the proposal of a plan, in Markdown."""
    return {"action": "propose_plan", "markdown": markdown}


def propose_component(proposed: ProposedComponent) -> Action:
    """Return the proposal of a component: its code, and everything that the code may access."""
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
    """Return the action of a run, with the flow at that time. For internal consumers, not a page (`turn.reconcile`)."""
    return {"action": "flow_ran", "run_id": run_id, "status": status, "flow": flow.model_dump(mode="json")}


def flow_saved(flow: Flow) -> Action:
    """Return the action of a save, with the flow at that time. For internal consumers, not a page."""
    return {"action": "flow_saved", "flow": flow.model_dump(mode="json")}


def _node(node: Node) -> JsonValue:
    content: JsonValue = node.model_dump(mode="json")
    return content
