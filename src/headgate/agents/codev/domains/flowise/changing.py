"""Tools that change the session's chatflow. They write nothing: each says what the whole flow would then be."""

from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any

from pydantic import JsonValue

from headgate.agents.codev.domain import Answer, Change, DomainTool, Fault, Held, Phase
from headgate.agents.codev.domains.flowise.assembly import assemble, is_agentflow
from headgate.agents.codev.domains.flowise.compact import compact
from headgate.agents.codev.domains.flowise.configs import CONFIG
from headgate.agents.codev.domains.flowise.drawn import CREDENTIAL_ID, split
from headgate.agents.codev.domains.flowise.errors import BadSpec
from headgate.agents.codev.domains.flowise.gathering import Faults
from headgate.agents.codev.domains.flowise.looking import arguments, reading_tool, refused, text_property
from headgate.agents.codev.domains.flowise.quoting import told
from headgate.agents.codev.domains.flowise.room import Room
from headgate.agents.codev.domains.flowise.spec import (
    Spec,
    SpecEdge,
    is_kept,
    plain_inputs,
    read_edge,
    read_node,
    read_spec,
    without_reference,
)
from headgate.foundation.errors import HeadgateError

PATCH = frozenset({Phase.PATCH})
MOST_STANDING = 50
Edit = Callable[[Spec, dict[str, Any]], str]
"""Changes a description and says what it did, in a line."""

_NODE: dict[str, Any] = {
    "type": "object",
    "properties": {
        "id": {"type": "string", "description": "Of your choice, as 'llmChain_0'."},
        "name": {"type": "string", "description": "Of the component, from list_nodes."},
        "inputs": {"type": "object", "description": "Values by input; what is left out has its default."},
        "credential": {"type": "string", "description": "Id from list_credentials, where one is needed."},
        "label": {"type": "string"},
        "output": {"type": "string", "description": "Which output, of a component with several."},
    },
    "required": ["id", "name"],
    "additionalProperties": False,
}
_EDGE: dict[str, Any] = {
    "type": "object",
    "properties": {
        "from": {"type": "string", "description": "'id', or 'id.output' of a component with several outputs."},
        "to": {"type": "string", "description": "'id.input'; in an AgentflowV2 'id' alone."},
    },
    "required": ["from", "to"],
    "additionalProperties": False,
}
_NODES: dict[str, Any] = {"type": "array", "items": _NODE}
_EDGES: dict[str, Any] = {"type": "array", "items": _EDGE}
_ID = text_property("Id of the node.")
_CHANGED = text_property("Id of the chatflow that is to be this; left out for a new one.")


def changing_tools(room: Room) -> list[DomainTool]:
    """The tools of the phase patch."""
    changing = _Changing(room)
    name = text_property("Name of the chatflow.")
    return [
        reading_tool(
            "validate_flow_data",
            "Check a description of a chatflow without writing it. create_chatflow and update_chatflow check the same.",
            arguments(("nodes", "edges"), nodes=_NODES, edges=_EDGES, chatflow_id=_CHANGED),
            changing.validate,
            PATCH,
        ),
        DomainTool(
            "create_chatflow",
            "Make the session's chatflow, or AgentflowV2, from a compact description. Anchors and handles are made.",
            arguments(("name", "nodes", "edges"), name=name, nodes=_NODES, edges=_EDGES),
            PATCH,
            change=changing.create,
        ),
        DomainTool(
            "update_chatflow",
            "Make the session's chatflow what the description says, whole: nodes that are left out go. "
            'Values told as {"kept": ...} stay when you give them back so.',
            arguments(("nodes", "edges"), name=name, nodes=_NODES, edges=_EDGES),
            PATCH,
            change=changing.update,
        ),
        *(DomainTool(tool, words, schema, PATCH, change=changing.edited(edit)) for tool, words, schema, edit in _EDITS),
    ]


class _Changing:
    def __init__(self, room: Room) -> None:
        self._room = room

    async def validate(self, given: dict[str, Any]) -> Answer:
        await self._room.look()
        faults = Faults()
        spec = read_spec(given, faults)
        held = await self._room.store.read(str(given["chatflow_id"])) if given.get("chatflow_id") else None
        definition = self._assembled(spec, faults, held.definition if held is not None else None)
        new_faults = standing_out(self._room.faults(definition), self._standing(held))
        return {"valid": not new_faults, "faults": [str(one) for one in new_faults]}

    async def create(self, held: Held | None, given: dict[str, Any]) -> Change | Answer:
        if held is not None:
            return {
                "error": f"The session's chatflow is there already: '{held.name}' ({held.flow_id}).",
                "remedy": "Change it with update_chatflow, change_node, add_node or connect.",
            }
        name = told(given.get("name"), 200)
        if not name:
            return {"error": "The chatflow needs a name.", "remedy": "Give 'name'."}
        return await self._changed(
            None, lambda faults: read_spec(given, faults), lambda spec: f"Make '{name}', {_counted(spec)}", name
        )

    async def update(self, held: Held | None, given: dict[str, Any]) -> Change | Answer:
        if held is None:
            return _nothing_yet()
        name = told(given.get("name"), 200) or held.name
        return await self._changed(
            held, lambda faults: read_spec(given, faults), lambda spec: f"Rewrite '{name}', {_counted(spec)}", name
        )

    def edited(self, edit: Edit) -> Callable[[Held | None, dict[str, Any]], Any]:
        """A tool's `change` that edits the description of what is there."""

        async def change(held: Held | None, given: dict[str, Any]) -> Change | Answer:
            if held is None:
                return _nothing_yet()
            said = ""

            def wanted(_faults: Faults) -> Spec:
                nonlocal said
                spec = compact(held.definition, self._room.schemas or {})
                said = edit(spec, given)
                return spec

            return await self._changed(held, wanted, lambda _spec: said, held.name)

        return change

    async def _changed(
        self, held: Held | None, wanted: Callable[[Faults], Spec], summary: Callable[[Spec], str], name: str
    ) -> Change | Answer:
        try:
            schemas, _ = await self._room.look()
            faults = Faults()
            spec = wanted(faults)
            before = self._room.whole(held) if held is not None else None
            definition, layout = split(self._assembled(spec, faults, before))
            type_ = "AGENTFLOW" if is_agentflow(spec, schemas) else "CHATFLOW"
        except HeadgateError as error:
            return refused(error)
        about: dict[str, JsonValue] = {"type": type_, "layout": layout}
        if held is not None:
            about["type"] = held.about.get("type") or type_
        return Change(definition, summary(spec), name=name, about=about | self._standing(held))

    def _assembled(self, spec: Spec, faults: Faults, before: Mapping[str, Any] | None) -> dict[str, JsonValue]:
        """The chatflow. Raises `BadSpec` naming everything that is wrong with the description."""
        schemas, credentials = self._room.schemas or {}, self._room.credentials
        with faults.part():
            is_agentflow(spec, schemas)
        definition = assemble(spec, schemas, credentials, before, faults)
        if faults.errors:
            self._room.other_faults(definition, faults)
        faults.check()
        return definition

    def _standing(self, held: Held | None) -> dict[str, JsonValue]:
        """What is wrong with a chatflow now, where something is."""
        faults = self._room.faults(held.definition)[:MOST_STANDING] if held is not None else []
        return {"standing": [str(one) for one in faults]} if faults else {}


def standing_out(faults: list[Fault], about: dict[str, JsonValue]) -> list[Fault]:
    """Faults that a change brings: one that was there before keeps nobody from mending another."""
    standing = about.get("standing")
    known = set(map(str, standing)) if isinstance(standing, list) else set()
    return [one for one in faults if str(one) not in known]


def _change_node(spec: Spec, given: dict[str, Any]) -> str:
    node = spec.node(str(given.get("id", "")))
    inputs = given.get("inputs") or {}
    if not isinstance(inputs, dict):
        raise BadSpec("'inputs' must be an object.", remedy="Give values by the name of the input.")
    for name, value in deepcopy(plain_inputs(node.id, inputs)).items():
        node.inputs[name] = _merged(node.inputs, name, value, inputs.get(name.removesuffix(CONFIG)))
    for name in ("credential", "label", "output"):
        value = given.get(name)
        if isinstance(value, str) and value:
            setattr(node, name, value)
    return f"Change '{node.id}': {', '.join(told(one, 60) for one in given if one != 'id') or 'nothing'}"


def _merged(inputs: dict[str, JsonValue], name: str, value: JsonValue, component: JsonValue) -> JsonValue:
    """Values of a component that the node was given: those that are not named stay, unless it is another now."""
    held, named = inputs.get(name), name.removesuffix(CONFIG)
    if not isinstance(held, dict) or not isinstance(value, dict) or is_kept(value) or not held.get(named):
        return value
    if component not in (None, held[named]):
        return value
    return {key: one for key, one in held.items() if key != CREDENTIAL_ID or not value.get("credential")} | value


def _add_node(spec: Spec, given: dict[str, Any]) -> str:
    faults, wanted, edges = Faults(), given.get("node"), given.get("edges") or []
    ids = [one.id for one in spec.nodes]
    node_id = wanted.get("id") if isinstance(wanted, dict) else None
    with faults.part():
        if node_id in ids:
            raise BadSpec(f"There is a node '{told(node_id, 100)}' already.", remedy="Give the new one another id.")
        spec.nodes.append(read_node(wanted))
    if not isinstance(edges, list):
        faults.add(BadSpec("'edges' must be a list."))
        edges = []
    for one in edges:
        with faults.part():
            spec.edges.append(read_edge(one, [*ids, node_id] if isinstance(node_id, str) else ids))
    faults.check()
    return f"Add '{spec.nodes[-1].id}' ({spec.nodes[-1].name})"


def _remove_node(spec: Spec, given: dict[str, Any]) -> str:
    node = spec.node(str(given.get("id", "")))
    spec.nodes.remove(node)
    _cut(spec, [one for one in spec.edges if node.id in (one.source, one.target)])
    return f"Take '{node.id}' out"


def _connect(spec: Spec, given: dict[str, Any]) -> str:
    edge = read_edge(given, [one.id for one in spec.nodes])
    spec.edges.append(edge)
    return f"Connect {edge.plain()['from']} to {edge.plain()['to']}"


def _disconnect(spec: Spec, given: dict[str, Any]) -> str:
    edge = read_edge(given, [one.id for one in spec.nodes])
    gone = [
        one
        for one in spec.edges
        if (one.source, one.target) == (edge.source, edge.target)
        and edge.input in ("", one.input)
        and ("" in (edge.output, one.output) or edge.output == one.output)
    ]
    if not gone:
        raise BadSpec(f"'{edge.source}' is not connected to '{given.get('to')!s:.120}'.")
    _cut(spec, gone)
    return f"Disconnect {edge.source} from {edge.target}"


def _cut(spec: Spec, gone: list[SpecEdge]) -> None:
    """Take edges out, and what a variable's text says of their sources; as the canvas does, the rest of it stays."""
    spec.edges = [one for one in spec.edges if one not in gone]
    for node in spec.nodes:
        for edge in gone:
            if edge.target == node.id and edge.input in node.inputs:
                node.inputs[edge.input] = without_reference(node.inputs[edge.input], edge.source)


_EDITS: tuple[tuple[str, str, dict[str, Any], Edit], ...] = (
    (
        "change_node",
        "Change inputs of one node, its credential, label or output; everything else stays.",
        arguments(
            ("id",),
            id=_ID,
            inputs=_NODE["properties"]["inputs"],
            credential=_NODE["properties"]["credential"],
            label=_NODE["properties"]["label"],
            output=_NODE["properties"]["output"],
        ),
        _change_node,
    ),
    (
        "add_node",
        "Add a node, connected at once where edges are given.",
        arguments(("node",), node=_NODE, edges=_EDGES),
        _add_node,
    ),
    ("remove_node", "Take a node and its edges out.", arguments(("id",), id=_ID), _remove_node),
    ("connect", "Connect two nodes.", _EDGE, _connect),
    ("disconnect", "Take the connection between two nodes out.", _EDGE, _disconnect),
)


def _nothing_yet() -> Answer:
    return {"error": "The session has no chatflow yet.", "remedy": "Make it with create_chatflow."}


def _counted(spec: Spec) -> str:
    nodes, edges = len(spec.nodes), len(spec.edges)
    return f"{nodes} node{'s' * (nodes != 1)} and {edges} edge{'s' * (edges != 1)}"
