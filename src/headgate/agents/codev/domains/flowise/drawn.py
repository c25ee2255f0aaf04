"""Accessors of a stored chatflow, for untrusted data. Pure."""

from collections.abc import Mapping
from typing import Any

from pydantic import JsonValue

from headgate.agents.codev.domain import mark_of as mark
from headgate.agents.codev.domains.flowise.answers import objects
from headgate.agents.codev.domains.flowise.errors import FlowiseFailed
from headgate.agents.codev.domains.flowise.node_schema import AGENT_FLOWS, classes_of
from headgate.graph.json_values import parse_json

MOST_DRAWN = 5000
LARGEST = 2_000_000
"""Characters of a chatflow; two hundred nodes have about 600,000."""
WRITE_MEMBER = "headgateWrite"
"""Member of a chatflow that names the write it came from, to find it after a lost response."""
CREDENTIAL_ID = "FLOWISE_CREDENTIAL_ID"
"""The canvas's member for the id of a credential."""
_VOLATILE = frozenset({"position", "positionAbsolute", "selected", "dragging", "width", "height", "measured"})
"""Members of a node that the canvas changes without an edit."""


def read_definition(text: str, name: str) -> dict[str, JsonValue]:
    """Return the chatflow in a text, without the write token. Raises `FlowiseFailed` for invalid text."""
    if len(text) > LARGEST:
        raise FlowiseFailed(f"The chatflow '{name}' is larger than the limit of {LARGEST} characters.")
    try:
        content = parse_json(text) if text.strip() else {}
    except ValueError as error:
        raise FlowiseFailed(
            f"The chatflow '{name}' cannot be read: {error}.",
            remedy="Open it in Flowise and save it again, or delete it there.",
        ) from None
    if not isinstance(content, dict):
        raise FlowiseFailed(f"The chatflow '{name}' has no nodes.")
    many = [
        key for key in ("nodes", "edges") if isinstance(value := content.get(key), list) and len(value) > MOST_DRAWN
    ]
    if many:
        raise FlowiseFailed(f"The chatflow '{name}' has more than {MOST_DRAWN} {many[0]}.")
    return {key: value for key, value in content.items() if key != WRITE_MEMBER}


def split(chatflow: Mapping[str, Any]) -> tuple[dict[str, JsonValue], dict[str, JsonValue]]:
    """Split a chatflow into logic and layout, both without the write token."""
    layout: dict[str, JsonValue] = {}
    nodes: list[JsonValue] = []
    for node in nodes_of(chatflow):
        layout[id_of(node)] = {key: value for key, value in node.items() if key in _VOLATILE}
        nodes.append({key: value for key, value in node.items() if key not in _VOLATILE})
    edges: list[JsonValue] = [
        {key: value for key, value in edge.items() if key not in _VOLATILE} for edge in edges_of(chatflow)
    ]
    other_members = {
        key: value for key, value in chatflow.items() if key not in {"nodes", "edges", "viewport", WRITE_MEMBER}
    }
    has_lists = {
        name: members for name, members in (("nodes", nodes), ("edges", edges)) if isinstance(chatflow.get(name), list)
    }
    return {**other_members, **has_lists}, {"nodes": layout, "viewport": chatflow.get("viewport")}


def joined(definition: Mapping[str, Any], layout: object) -> dict[str, JsonValue]:
    """Return a chatflow in Flowise's format, with its layout."""
    drawing = layout if isinstance(layout, Mapping) else {}
    stands = drawing.get("nodes")
    stands = stands if isinstance(stands, Mapping) else {}
    nodes: list[JsonValue] = [{**_plain(stands.get(id_of(node))), **node} for node in nodes_of(definition)]
    viewport = drawing.get("viewport")
    chatflow: dict[str, JsonValue] = {**definition, "nodes": nodes} if "nodes" in definition else {**definition}
    return chatflow | {"viewport": viewport} if isinstance(viewport, dict) else chatflow


def mark_of(chatflow: Mapping[str, Any]) -> str:
    """Return the mark of a chatflow: of its logic, not its layout."""
    return mark(split(chatflow)[0])


def nodes_of(definition: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return its nodes that are objects."""
    return objects(definition.get("nodes"), MOST_DRAWN)


def edges_of(definition: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return its edges that are objects."""
    return objects(definition.get("edges"), 2 * MOST_DRAWN)


def data_of(node: Mapping[str, Any]) -> dict[str, Any]:
    """Return `data` of a node; empty when it has none."""
    data = node.get("data")
    return data if isinstance(data, dict) else {}


def id_of(node: Mapping[str, Any]) -> str:
    """Return the id of a node; empty when it has none."""
    node_id = node.get("id")
    return node_id if isinstance(node_id, str) else ""


def text_of(value: object) -> str:
    """Return a text; empty for any other type."""
    return value if isinstance(value, str) else ""


def inputs_of(data: Mapping[str, Any]) -> dict[str, Any]:
    """Values of a node."""
    inputs = data.get("inputs")
    return inputs if isinstance(inputs, dict) else {}


def anchors_of(data: Mapping[str, Any]) -> list[dict[str, Any]]:
    """`inputAnchors` of a node."""
    return objects(data.get("inputAnchors"), 500)


def params_of(data: Mapping[str, Any]) -> list[dict[str, Any]]:
    """`inputParams` of a node."""
    return objects(data.get("inputParams"), 500)


def options_of(data: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The outputs to choose from, of a node with several; empty for a node with one."""
    first = next(iter(objects(data.get("outputAnchors"), 1)), {})
    return objects(first.get("options"), 100)


def handles_of(data: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return every handle of a node that an edge may start at."""
    return options_of(data) or objects(data.get("outputAnchors"), 100)


def chosen_output(data: Mapping[str, Any]) -> str:
    """Return the selected output of a node; empty when there is no choice."""
    outputs = data.get("outputs")
    return text_of(outputs.get("output")) if isinstance(outputs, dict) else ""


def is_agentflow_node(data: Mapping[str, Any]) -> bool:
    """Whether it is a node of an AgentflowV2."""
    return data.get("category") == AGENT_FLOWS


def fits(output: Mapping[str, Any], taking: Mapping[str, Any]) -> bool:
    """Whether an output has a class that an anchor accepts; values without classes fit anything."""
    given, accepted = classes_of(output.get("type")), classes_of(taking.get("type"))
    return not given or not accepted or bool(given & accepted)


def credential_of(data: Mapping[str, Any]) -> str:
    """Id of the credential that a node uses; empty for none."""
    inputs = inputs_of(data)
    credential_id = data.get("credential") or inputs.get("credential") or inputs.get(CREDENTIAL_ID)
    return credential_id if isinstance(credential_id, str) else ""


def _plain(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
