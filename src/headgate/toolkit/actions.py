"""What happened to a working flow, in the shapes a canvas applies (seed 000 section 6.2)."""

from typing import Literal

from pydantic import JsonValue

from headgate.graph.model import Edge, Flow, Node

ActionKind = Literal[
    "add_component",
    "remove_component",
    "connect",
    "disconnect",
    "configure",
    "rename_component",
    "set_flow",
    "set_connection_mode",
    "select_output",
    "edit_field",
    "propose_plan",
]
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


def configure(node_id: str, params: dict[str, JsonValue], patch: list[JsonValue]) -> Action:
    """Values of a node were set; `patch` is the JSON Patch from the values before."""
    return {"action": "configure", "component_id": node_id, "params": params, "patch": patch}


def rename_component(node_id: str, new_id: str) -> Action:
    """A node got another id; edges and references follow."""
    return {"action": "rename_component", "component_id": node_id, "new_id": new_id}


def set_connection_mode(node_id: str, field: str) -> Action:
    """A field is now fed by a model or tool edge instead of a value."""
    return {"action": "set_connection_mode", "component_id": node_id, "field": field, "enabled": True}


def set_flow(flow: Flow) -> Action:
    """The whole flow was replaced."""
    return {"action": "set_flow", "flow": flow.model_dump(mode="json")}


def _node(node: Node) -> JsonValue:
    found: JsonValue = node.model_dump(mode="json")
    return found
