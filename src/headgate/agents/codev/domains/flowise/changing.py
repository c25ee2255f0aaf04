"""Tools that change the session's chatflow. They write nothing: each returns the complete changed flow."""

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
from headgate.agents.codev.domains.flowise.quoting import one_line
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
from headgate.agents.codev.domains.flowise.tool_context import ToolContext
from headgate.foundation.errors import HeadgateError

PATCH = frozenset({Phase.PATCH})
MOST_STANDING = 50
Edit = Callable[[Spec, dict[str, Any]], str]
"""Changes a description and returns a summary, in a line."""

_NODE: dict[str, Any] = {
    "type": "object",
    "properties": {
        "id": {"type": "string", "description": "Your choice, for example 'llmChain_0'."},
        "name": {"type": "string", "description": "Component name from list_nodes."},
        "inputs": {"type": "object", "description": "Values by input; omitted ones have defaults."},
        "credential": {"type": "string", "description": "Id from list_credentials, if required."},
        "label": {"type": "string"},
        "output": {"type": "string", "description": "The output, if there are several."},
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
_CHANGED = text_property("Id of the chatflow to update; omit for a new one.")


def changing_tools(context: ToolContext) -> list[DomainTool]:
    """The tools of the phase patch."""
    changing = _Changing(context)
    name = text_property("Name of the chatflow.")
    return [
        reading_tool(
            "validate_flow_data",
            "Validate a chatflow description without writing it; create_chatflow and update_chatflow do the same.",
            arguments(("nodes", "edges"), nodes=_NODES, edges=_EDGES, chatflow_id=_CHANGED),
            changing.validate,
            PATCH,
        ),
        DomainTool(
            "create_chatflow",
            "Create the session's chatflow, or AgentflowV2, from a compact description. Anchors are generated.",
            arguments(("name", "nodes", "edges"), name=name, nodes=_NODES, edges=_EDGES),
            PATCH,
            change=changing.create,
        ),
        DomainTool(
            "update_chatflow",
            "Replace the session's chatflow by the description: omitted nodes are removed. "
            'Send values shown as {"kept": ...} back unchanged to keep them.',
            arguments(("nodes", "edges"), name=name, nodes=_NODES, edges=_EDGES),
            PATCH,
            change=changing.update,
        ),
        *(DomainTool(tool, words, schema, PATCH, change=changing.edited(edit)) for tool, words, schema, edit in _EDITS),
    ]


class _Changing:
    def __init__(self, context: ToolContext) -> None:
        self._context = context

    async def validate(self, given: dict[str, Any]) -> Answer:
        await self._context.look()
        faults = Faults()
        spec = read_spec(given, faults)
        held = await self._context.store.read(str(given["chatflow_id"])) if given.get("chatflow_id") else None
        definition = self._assembled(spec, faults, held.definition if held is not None else None)
        new_faults = standing_out(self._context.faults(definition), self._standing(held))
        return {"valid": not new_faults, "faults": [str(fault) for fault in new_faults]}

    async def create(self, held: Held | None, given: dict[str, Any]) -> Change | Answer:
        if held is not None:
            return {
                "error": f"The session already has a chatflow: '{held.name}' ({held.flow_id}).",
                "remedy": "Change it with update_chatflow, change_node, add_node or connect.",
            }
        name = one_line(given.get("name"), 200)
        if not name:
            return {"error": "The chatflow needs a name.", "remedy": "Give 'name'."}
        return await self._changed(
            None, lambda faults: read_spec(given, faults), lambda spec: f"Make '{name}', {_counted(spec)}", name
        )

    async def update(self, held: Held | None, given: dict[str, Any]) -> Change | Answer:
        if held is None:
            return _nothing_yet()
        name = one_line(given.get("name"), 200) or held.name
        return await self._changed(
            held, lambda faults: read_spec(given, faults), lambda spec: f"Rewrite '{name}', {_counted(spec)}", name
        )

    def edited(self, edit: Edit) -> Callable[[Held | None, dict[str, Any]], Any]:
        """Return a tool's `change` that edits the current description."""

        async def change(held: Held | None, given: dict[str, Any]) -> Change | Answer:
            if held is None:
                return _nothing_yet()
            summary = ""

            def make_spec(_faults: Faults) -> Spec:
                nonlocal summary
                spec = compact(held.definition, self._context.schemas or {})
                summary = edit(spec, given)
                return spec

            return await self._changed(held, make_spec, lambda _spec: summary, held.name)

        return change

    async def _changed(
        self, held: Held | None, make_spec: Callable[[Faults], Spec], summary: Callable[[Spec], str], name: str
    ) -> Change | Answer:
        try:
            schemas, _ = await self._context.look()
            faults = Faults()
            spec = make_spec(faults)
            before = self._context.exported(held) if held is not None else None
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
        schemas, credentials = self._context.schemas or {}, self._context.credentials
        with faults.part():
            is_agentflow(spec, schemas)
        definition = assemble(spec, schemas, credentials, before, faults)
        if faults.errors:
            self._context.other_faults(definition, faults)
        faults.check()
        return definition

    def _standing(self, held: Held | None) -> dict[str, JsonValue]:
        """Return the current problems of a chatflow."""
        faults = self._context.faults(held.definition)[:MOST_STANDING] if held is not None else []
        return {"standing": [str(fault) for fault in faults]} if faults else {}


def standing_out(faults: list[Fault], about: dict[str, JsonValue]) -> list[Fault]:
    """Return the new problems of a change: existing ones do not block a fix of another."""
    standing = about.get("standing")
    known = set(map(str, standing)) if isinstance(standing, list) else set()
    return [fault for fault in faults if str(fault) not in known]


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
    return f"Change '{node.id}': {', '.join(one_line(member, 60) for member in given if member != 'id') or 'nothing'}"


def _merged(inputs: dict[str, JsonValue], name: str, value: JsonValue, component: JsonValue) -> JsonValue:
    """Merge a component's values into a node: omitted ones stay, unless the component changed."""
    held, named = inputs.get(name), name.removesuffix(CONFIG)
    if not isinstance(held, dict) or not isinstance(value, dict) or is_kept(value) or not held.get(named):
        return value
    if component not in (None, held[named]):
        return value
    return {key: member for key, member in held.items() if key != CREDENTIAL_ID or not value.get("credential")} | value


def _add_node(spec: Spec, given: dict[str, Any]) -> str:
    faults, new_node, edges = Faults(), given.get("node"), given.get("edges") or []
    ids = [node.id for node in spec.nodes]
    node_id = new_node.get("id") if isinstance(new_node, dict) else None
    with faults.part():
        if node_id in ids:
            raise BadSpec(
                f"There is already a node '{one_line(node_id, 100)}'.", remedy="Give the new node another id."
            )
        spec.nodes.append(read_node(new_node))
    if not isinstance(edges, list):
        faults.add(BadSpec("'edges' must be a list."))
        edges = []
    for edge in edges:
        with faults.part():
            spec.edges.append(read_edge(edge, [*ids, node_id] if isinstance(node_id, str) else ids))
    faults.check()
    return f"Add '{spec.nodes[-1].id}' ({spec.nodes[-1].name})"


def _remove_node(spec: Spec, given: dict[str, Any]) -> str:
    node = spec.node(str(given.get("id", "")))
    spec.nodes.remove(node)
    _cut(spec, [edge for edge in spec.edges if node.id in (edge.source, edge.target)])
    return f"Take '{node.id}' out"


def _connect(spec: Spec, given: dict[str, Any]) -> str:
    edge = read_edge(given, [node.id for node in spec.nodes])
    spec.edges.append(edge)
    return f"Connect {edge.plain()['from']} to {edge.plain()['to']}"


def _disconnect(spec: Spec, given: dict[str, Any]) -> str:
    edge = read_edge(given, [node.id for node in spec.nodes])
    gone = [
        connection
        for connection in spec.edges
        if (connection.source, connection.target) == (edge.source, edge.target)
        and edge.input in ("", connection.input)
        and ("" in (edge.output, connection.output) or edge.output == connection.output)
    ]
    if not gone:
        raise BadSpec(f"'{edge.source}' is not connected to '{given.get('to')!s:.120}'.")
    _cut(spec, gone)
    return f"Disconnect {edge.source} from {edge.target}"


def _cut(spec: Spec, gone: list[SpecEdge]) -> None:
    """Remove edges, and their references in variables, like the canvas."""
    spec.edges = [connection for connection in spec.edges if connection not in gone]
    for node in spec.nodes:
        for edge in gone:
            if edge.target == node.id and edge.input in node.inputs:
                node.inputs[edge.input] = without_reference(node.inputs[edge.input], edge.source)


_EDITS: tuple[tuple[str, str, dict[str, Any], Edit], ...] = (
    (
        "change_node",
        "Change inputs, credential, label or output of one node.",
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
        "Add a node, optionally with edges.",
        arguments(("node",), node=_NODE, edges=_EDGES),
        _add_node,
    ),
    ("remove_node", "Remove a node and its edges.", arguments(("id",), id=_ID), _remove_node),
    ("connect", "Connect two nodes.", _EDGE, _connect),
    ("disconnect", "Remove the connection between two nodes.", _EDGE, _disconnect),
)


def _nothing_yet() -> Answer:
    return {"error": "The session has no chatflow yet.", "remedy": "Create it with create_chatflow."}


def _counted(spec: Spec) -> str:
    nodes, edges = len(spec.nodes), len(spec.edges)
    return f"{nodes} node{'s' * (nodes != 1)} and {edges} edge{'s' * (edges != 1)}"
