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
from headgate.agents.codev.domains.flowise.quoting import NAME, told
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
        found: dict[str, JsonValue] = {"id": self.id, "name": self.name}
        if self.label:
            found["label"] = self.label
        if self.inputs:
            found["inputs"] = self.inputs
        if self.credential:
            found["credential"] = self.credential
        if self.output:
            found["output"] = self.output
        return found


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
        return {"nodes": [one.plain() for one in self.nodes], "edges": [one.plain() for one in self.edges]}

    def node(self, node_id: str) -> SpecNode:
        """A node. Raises `BadSpec`."""
        found = next((one for one in self.nodes if one.id == node_id), None)
        if found is None:
            raise BadSpec(f"There is no node '{told(node_id, 100)}'.", remedy=f"There are: {_ids(self)}.")
        return found


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
    for one in nodes:
        _read_into(made, one, all_faults)
    named = [one.get("id") for one in nodes if isinstance(one, dict)]
    ids = [one for one in named if isinstance(one, str)]  # an edge to a node that is wrong is not wrong itself
    for one in edges:
        with all_faults.part(*_mentioned(one)):
            made.edges.append(read_edge(one, ids))
    if faults is None:
        all_faults.check()
    return made


def _read_into(made: Spec, given: Any, faults: Faults) -> None:  # noqa: ANN401 - from a model
    node_id = given.get("id") if isinstance(given, dict) else ""
    with faults.part(str(node_id)):
        node = read_node(given)
        if any(one.id == node.id for one in made.nodes):
            raise BadSpec(f"Two nodes have the id '{node.id}'.", remedy="Give each node its own id.")
        made.nodes.append(node)


def _mentioned(edge: Any) -> list[str]:  # noqa: ANN401 - from a model
    """The nodes that an edge may be meant for."""
    ends = [edge.get("from"), edge.get("to")] if isinstance(edge, dict) else []
    return [one.partition(".")[0] for one in ends if isinstance(one, str)]


def read_node(given: Any) -> SpecNode:  # noqa: ANN401 - from a model
    """One node. Raises `BadSpec`."""
    if not isinstance(given, dict):
        raise BadSpec("A node must be an object with 'id', 'name' and 'inputs'.")
    node_id, name, inputs = given.get("id"), given.get("name"), given.get("inputs") or {}
    if not isinstance(node_id, str) or not _ID.fullmatch(node_id):
        raise BadSpec(
            f"{told(str(node_id), 100)!r} is not a valid node id.",
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
        quoted = listed([repr(told(one, 60)) for one in unknown])
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
        return [found for one in value for found in references(one)]
    if isinstance(value, dict):
        return [found for one in value.values() for found in references(one)]
    return []


def without_reference(value: JsonValue, node_id: str) -> JsonValue:
    """Remove the reference to a node from a value."""
    if isinstance(value, str):
        return _REFERENCE.sub(lambda found: "" if found[1] == node_id else found[0], value)
    if isinstance(value, list):
        return [without_reference(one, node_id) for one in value]
    if isinstance(value, dict):
        return {name: without_reference(one, node_id) for name, one in value.items()}
    return value


def reference_to(node_id: str) -> str:
    """Return the reference to a node's output in an input."""
    return f"{{{{{node_id}.data.instance}}}}"


def is_kept(value: JsonValue) -> bool:
    """Whether a value keeps the current one."""
    return isinstance(value, dict) and KEPT in value and value.keys() <= {KEPT, "begins"}


def _end(text: str, ids: list[str]) -> tuple[str, str]:
    found = max((one for one in ids if text == one or text.startswith(f"{one}.")), key=len, default=None)
    if found is None:
        raise BadSpec(
            f"An edge names '{told(text, 120)}', and there is no such node.",
            remedy=f"There are: {listed(ids, most=40)}.",
        )
    return found, text[len(found) + 1 :]


def _text(given: Mapping[str, Any], name: str, node_id: str) -> str | None:
    found = given.get(name)
    if found is None or found == "":
        return None
    if not isinstance(found, str) or len(found) > 200:
        raise BadSpec(f"'{name}' of '{node_id}' must be a short text.")
    return found


def _ids(spec: Spec) -> str:
    return listed((one.id for one in spec.nodes), most=40)
