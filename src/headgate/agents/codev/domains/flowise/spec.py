"""The compact description of a chatflow that models read and write. Pure.

`{"nodes": [{"id", "name", "inputs"?, "credential"?, "label"?, "output"?}], "edges": [{"from", "to"}]}`, where `from` is
`id` or `id.output` and `to` is `id.input`, or `id` alone in an AgentflowV2.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic import JsonValue

from headgate.agents.codev.domains.flowise.errors import BadSpec
from headgate.agents.codev.domains.flowise.gathering import Faults
from headgate.agents.codev.domains.flowise.quoting import NAME, one_line
from headgate.graph.json_values import plain_json
from headgate.graph.names import listed

MOST_NODES = 200
MOST_EDGES = 1000
KEPT = "kept"
"""An object with only this member keeps a value that is too long or secret to show."""
_ID = re.compile(r"[A-Za-z0-9_-]{1,100}", re.ASCII)
_REFERENCE = re.compile(r"\{\{\s*([A-Za-z0-9_-]{1,100})\.data\.instance\s*\}\}", re.ASCII)


@dataclass(slots=True)
class SpecNode:
    """The description of a node."""

    id: str
    name: str
    inputs: dict[str, JsonValue] = field(default_factory=dict)
    credential: str | None = None
    label: str | None = None
    output: str | None = None

    def plain(self) -> dict[str, JsonValue]:
        """Return JSON without empty members."""
        members: dict[str, JsonValue] = {"id": self.id, "name": self.name}
        if self.label:
            members["label"] = self.label
        if self.inputs:
            members["inputs"] = self.inputs
        if self.credential:
            members["credential"] = self.credential
        if self.output:
            members["output"] = self.output
        return members


@dataclass(frozen=True, slots=True)
class SpecEdge:
    """The description of a connection; an empty output or input is chosen automatically."""

    source: str
    output: str
    target: str
    input: str

    def plain(self) -> dict[str, JsonValue]:
        """As JSON."""
        return {
            "from": f"{self.source}.{self.output}" if self.output else self.source,
            "to": f"{self.target}.{self.input}" if self.input else self.target,
        }


@dataclass(slots=True)
class Spec:
    """The description of a chatflow."""

    nodes: list[SpecNode]
    edges: list[SpecEdge]

    def plain(self) -> dict[str, JsonValue]:
        """As JSON."""
        return {"nodes": [node.plain() for node in self.nodes], "edges": [edge.plain() for edge in self.edges]}

    def node(self, node_id: str) -> SpecNode:
        """A node. Raises `BadSpec`."""
        node = next((node for node in self.nodes if node.id == node_id), None)
        if node is None:
            raise BadSpec(f"There is no node '{one_line(node_id, 100)}'.", remedy=f"There are: {_ids(self)}.")
        return node


def read_spec(given: Mapping[str, Any], faults: Faults | None = None) -> Spec:
    """Parse a model's description. Raises `BadSpec` naming every invalid node and edge.

    Args:
        given: The description.
        faults: Gathers what is wrong instead; what is returned is then without it.
    """
    all_faults = Faults() if faults is None else faults
    nodes, edges = given.get("nodes"), given.get("edges", [])
    if not isinstance(nodes, list) or not isinstance(edges, list):
        raise BadSpec("'nodes' and 'edges' must be lists.", remedy="Give both, even where there are no edges: [].")
    if len(nodes) > MOST_NODES or len(edges) > MOST_EDGES:
        raise BadSpec(f"More than {MOST_NODES} nodes or {MOST_EDGES} edges are not supported.")
    made = Spec([], [])
    for given_node in nodes:
        _read_into(made, given_node, all_faults)
    named = [node.get("id") for node in nodes if isinstance(node, dict)]
    # An edge to an invalid node is not invalid itself.
    ids = [node_id for node_id in named if isinstance(node_id, str)]
    for given_edge in edges:
        with all_faults.part(*_mentioned(given_edge)):
            made.edges.append(read_edge(given_edge, ids))
    if faults is None:
        all_faults.check()
    return made


def _read_into(made: Spec, given: Any, faults: Faults) -> None:  # noqa: ANN401 - from a model
    node_id = given.get("id") if isinstance(given, dict) else ""
    with faults.part(str(node_id)):
        node = read_node(given)
        if any(other.id == node.id for other in made.nodes):
            raise BadSpec(f"Two nodes have the id '{node.id}'.", remedy="Give each node its own id.")
        made.nodes.append(node)


def _mentioned(edge: Any) -> list[str]:  # noqa: ANN401 - from a model
    """The nodes that an edge may be meant for."""
    ends = [edge.get("from"), edge.get("to")] if isinstance(edge, dict) else []
    return [end.partition(".")[0] for end in ends if isinstance(end, str)]


def read_node(given: Any) -> SpecNode:  # noqa: ANN401 - from a model
    """One node. Raises `BadSpec`."""
    if not isinstance(given, dict):
        raise BadSpec("A node must be an object with 'id', 'name' and 'inputs'.")
    node_id, name, inputs = given.get("id"), given.get("name"), given.get("inputs") or {}
    if not isinstance(node_id, str) or not _ID.fullmatch(node_id):
        raise BadSpec(
            f"{one_line(str(node_id), 100)!r} is not a valid node id.",
            remedy="Use letters, digits and '_', as 'llmChain_0'.",
        )
    faults = Faults()
    node = SpecNode(node_id, "")
    if isinstance(name, str) and NAME.fullmatch(name):
        node.name = name
    else:
        faults.add(BadSpec(f"The node '{node_id}' names no component.", remedy="Take 'name' from list_nodes."))
    if isinstance(inputs, dict):
        with faults.part():
            node.inputs = plain_inputs(node_id, inputs)
    else:
        faults.add(BadSpec(f"'inputs' of '{node_id}' must be an object."))
    unknown = sorted(given.keys() - {"id", "name", "inputs", "credential", "label", "output"})
    if unknown:
        quoted = listed([repr(one_line(member, 60)) for member in unknown])
        faults.add(
            BadSpec(
                f"The node '{node_id}' has {quoted}, which is not a property of a node.",
                remedy="Values belong in 'inputs'; anchors and handles are created automatically.",
            )
        )
    for member in ("credential", "label", "output"):
        with faults.part():
            setattr(node, member, _text(given, member, node_id))
    faults.check()
    return node


def plain_inputs(node_id: str, inputs: dict[str, Any]) -> dict[str, JsonValue]:
    """Inputs that can be stored. Raises `BadSpec`."""
    try:
        plain_json(inputs)
    except ValueError as error:
        raise BadSpec(f"An input of '{node_id}' cannot be stored: {error}.") from None
    return dict(inputs)


def read_edge(given: Any, ids: list[str]) -> SpecEdge:  # noqa: ANN401 - from a model
    """One edge between nodes of these ids. Raises `BadSpec`."""
    ends = (given.get("from"), given.get("to")) if isinstance(given, dict) else (None, None)
    if not isinstance(ends[0], str) or not isinstance(ends[1], str):
        raise BadSpec("An edge must be an object with 'from' and 'to', as 'a' and 'b.model'.")
    source, output = _end(ends[0], ids)
    target, input_ = _end(ends[1], ids)
    return SpecEdge(source, output, target, input_)


def references(value: JsonValue) -> list[str]:
    """Ids of the nodes that a value refers to as `{{id.data.instance}}`, in order."""
    if isinstance(value, str):
        return _REFERENCE.findall(value)
    if isinstance(value, list):
        return [reference for item in value for reference in references(item)]
    if isinstance(value, dict):
        return [reference for member in value.values() for reference in references(member)]
    return []


def without_reference(value: JsonValue, node_id: str) -> JsonValue:
    """Remove the reference to a node from a value."""
    if isinstance(value, str):
        return _REFERENCE.sub(lambda match: "" if match[1] == node_id else match[0], value)
    if isinstance(value, list):
        return [without_reference(item, node_id) for item in value]
    if isinstance(value, dict):
        return {name: without_reference(member, node_id) for name, member in value.items()}
    return value


def reference_to(node_id: str) -> str:
    """Return the reference to a node's output in an input."""
    return f"{{{{{node_id}.data.instance}}}}"


def is_kept(value: JsonValue) -> bool:
    """Whether a value keeps the current one."""
    return isinstance(value, dict) and KEPT in value and value.keys() <= {KEPT, "begins"}


def _end(text: str, ids: list[str]) -> tuple[str, str]:
    longest = max(
        (node_id for node_id in ids if text == node_id or text.startswith(f"{node_id}.")), key=len, default=None
    )
    if longest is None:
        raise BadSpec(
            f"An edge names '{one_line(text, 120)}', and there is no such node.",
            remedy=f"There are: {listed(ids, most=40)}.",
        )
    return longest, text[len(longest) + 1 :]


def _text(given: Mapping[str, Any], name: str, node_id: str) -> str | None:
    value = given.get(name)
    if value is None or value == "":
        return None
    if not isinstance(value, str) or len(value) > 200:
        raise BadSpec(f"'{name}' of '{node_id}' must be a short text.")
    return value


def _ids(spec: Spec) -> str:
    return listed((node.id for node in spec.nodes), most=40)
