"""Assembles Flowise data from a compact description: anchors, handles, references, positions (DD-013, DD-018). Pure.

A node that is there already stays the object that it is, with all that this module does not know of; only what the
description says of it changes.
"""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any

import orjson
from pydantic import JsonValue

from headgate.agents.codev.domains.flowise.answers import StoredCredential
from headgate.agents.codev.domains.flowise.configs import CONFIG, chosen_credential, fill_configs
from headgate.agents.codev.domains.flowise.drawn import (
    CREDENTIAL_ID,
    anchors_of,
    chosen_output,
    credential_of,
    data_of,
    inputs_of,
    nodes_of,
    options_of,
    params_of,
    text_of,
)
from headgate.agents.codev.domains.flowise.errors import BadSpec
from headgate.agents.codev.domains.flowise.gathering import Faults
from headgate.agents.codev.domains.flowise.node_schema import NOTES, NodeSchema
from headgate.agents.codev.domains.flowise.quoting import one_line, seen
from headgate.agents.codev.domains.flowise.spec import Spec, SpecNode, is_kept, references
from headgate.agents.codev.domains.flowise.wiring import ENDING, by_id, wire
from headgate.graph.names import did_you_mean, listed

_SIZE = 300
_AS_VALUE = frozenset({"array", "datagrid", "tabs"})
"""Input types with list values; lists and objects of other types are stored as JSON text."""
_BRANCHES = {"conditionAgentflow": ("conditions", 1), "conditionAgentAgentflow": ("conditionAgentScenarios", 0)}
"""Nodes with a number of outputs that depends on an input: the input, and the number of additional outputs."""


def assemble(
    spec: Spec,
    schemas: Mapping[str, NodeSchema],
    credentials: Sequence[StoredCredential] | None = None,
    before: Mapping[str, Any] | None = None,
    faults: Faults | None = None,
) -> dict[str, JsonValue]:
    """Assemble the complete chatflow. Raises `BadSpec` naming every invalid node and edge.

    Args:
        spec: What is wanted.
        schemas: Components of the server, by name.
        credentials: Those of the server; None when they are not known.
        before: The chatflow as it is; None for a new one.
        faults: Gathers what is wrong instead; what is returned is then without it.
    """
    all_faults = Faults() if faults is None else faults
    there = by_id(nodes_of(before or {}))
    nodes: dict[str, dict[str, Any]] = {}
    for spec_node in spec.nodes:
        with all_faults.part(spec_node.id):
            nodes[spec_node.id] = _node(spec_node, schemas, credentials, there.get(spec_node.id), all_faults)
    edges = wire(nodes, spec.edges, before or {}, all_faults)
    if faults is None:
        all_faults.check()
    _end_well(nodes, edges, there)
    _place(nodes, edges, there)
    other_members = {key: value for key, value in (before or {}).items() if key not in {"nodes", "edges"}}
    if before is None:
        other_members["viewport"] = {"x": 0, "y": 0, "zoom": 1}
    return {"nodes": list[JsonValue](nodes.values()), "edges": edges, **other_members}


def is_agentflow(spec: Spec, schemas: Mapping[str, NodeSchema]) -> bool:
    """Whether a description is of an AgentflowV2. Raises `BadSpec` when it mixes both kinds."""
    known = {node.id: schemas[node.name].is_agentflow for node in spec.nodes if node.name in schemas}
    known = {key: value for key, value in known.items() if spec.node(key).name not in NOTES}
    if len(set(known.values())) > 1:
        first = next(iter(known))
        other = next(key for key, value in known.items() if value != known[first])
        raise BadSpec(
            f"'{other}' and '{first}' cannot be in one flow.",
            remedy=(
                "An AgentflowV2 contains only nodes of the category 'Agent Flows', a chatflow contains none of them."
            ),
        )
    return any(known.values())


def _node(
    spec_node: SpecNode,
    schemas: Mapping[str, NodeSchema],
    credentials: Sequence[StoredCredential] | None,
    there: dict[str, Any] | None,
    faults: Faults,
) -> dict[str, Any]:
    schema = schemas.get(spec_node.name)
    if there is not None and data_of(there).get("name") == spec_node.name:
        node = deepcopy(there)
    elif schema is None:
        raise BadSpec(
            f"'{spec_node.id}' is a '{spec_node.name}', which the server does not have"
            f"{did_you_mean(spec_node.name, schemas)}",
            remedy="Take a name from list_nodes.",
        )
    else:
        there = None
        node = _new_node(spec_node.id, schema)
    data = node["data"]
    if spec_node.label:
        data["label"] = spec_node.label
    with faults.part(spec_node.id):
        _set_inputs(spec_node, data, schema, is_new=there is None, faults=faults)
    with faults.part(spec_node.id):
        _set_credential(spec_node, data, credentials)
    with faults.part(spec_node.id):
        _set_output(spec_node, data)
    _set_branches(data)
    fill_configs(data, schemas, credentials, faults)
    return node


def _new_node(node_id: str, schema: NodeSchema) -> dict[str, Any]:
    type_ = "stickyNote" if schema.name in NOTES else "customNode"
    if schema.is_agentflow and schema.name not in NOTES:
        type_ = "iteration" if schema.name == "iterationAgentflow" else "agentFlow"
    node: dict[str, Any] = {"id": node_id, "type": type_, "position": {"x": 0.0, "y": 0.0}}
    if not schema.is_agentflow:
        node |= {"width": _SIZE, "height": _SIZE}
    node["data"] = deepcopy(schema.data(node_id))
    if "streaming" in node["data"]["inputs"]:
        # Streaming models first ask the internet for ranks of tokens; where that is closed each answer waits minutes.
        node["data"]["inputs"]["streaming"] = False
    return node


def _set_inputs(
    spec_node: SpecNode, data: dict[str, Any], schema: NodeSchema | None, *, is_new: bool, faults: Faults
) -> None:
    places = {text_of(field.get("name")): field for field in [*anchors_of(data), *params_of(data)]}
    held = inputs_of(data)
    configs = {f"{name}{CONFIG}" for name, field in places.items() if field.get("loadConfig") is True}
    unknown = sorted(spec_node.inputs.keys() - places.keys() - held.keys() - configs)
    for name in unknown:
        error = BadSpec(
            f"'{spec_node.id}' has no input '{one_line(name, 80)}'{did_you_mean(name, places) or '.'}",
            remedy=f"It has: {listed([name for name in places if name != 'credential'], most=40)}.",
        )
        faults.add(error, spec_node.id)
    inputs = dict(held) if is_new else {**held, **_emptied(spec_node, data, schema)}
    for name, value in spec_node.inputs.items():
        if name in unknown:
            continue
        if not is_new and held.get(name) != seen(held.get(name)) == value:
            continue  # as it was shown: invisible characters join letters in many languages
        if not is_kept(value):
            inputs[name] = deepcopy(_stored(value, places.get(name)))
        elif is_new:
            error = BadSpec(f"'{spec_node.id}.{name}' should be kept, but has no value yet.", remedy="Give its value.")
            faults.add(error, spec_node.id)
    data["inputs"] = inputs


def _emptied(spec_node: SpecNode, data: dict[str, Any], schema: NodeSchema | None) -> dict[str, JsonValue]:
    """Return inputs of an existing node that the description omits, with a new node's values."""
    places = {text_of(param.get("name")) for param in params_of(data)}
    defaults = schema.defaults() if schema is not None else {}
    left_out = places & differing_inputs(data, schema).keys() - spec_node.inputs.keys()
    connected = {text_of(anchor.get("name")) for anchor in anchors_of(data)} - spec_node.inputs.keys()
    return {name: False if name == "streaming" else defaults.get(name, "") for name in left_out} | {
        name: "" for name in connected if references(inputs_of(data).get(name))
    }


def _stored(value: JsonValue, place: Mapping[str, Any] | None) -> JsonValue:
    if place is None or not isinstance(value, dict | list) or place.get("type") in _AS_VALUE:
        return value
    if place.get("list") is True and place.get("type") != "json":
        return value
    return orjson.dumps(value).decode()


def _set_credential(spec_node: SpecNode, data: dict[str, Any], credentials: Sequence[StoredCredential] | None) -> None:
    """Set a credential in both places: Flowise runs with one, its checks read the other."""
    place = next((param for param in params_of(data) if param.get("type") == "credential"), None)
    if place is None:
        if spec_node.credential:
            raise BadSpec(f"'{spec_node.id}' takes no credential.", remedy="Omit 'credential'.")
        return
    held = credential_of(data)
    credential_id = chosen_credential(spec_node.credential or "", held, place, credentials)
    if credential_id and credential_id != held:
        data["credential"] = credential_id
        data["inputs"][text_of(place.get("name"))] = credential_id


def _set_output(spec_node: SpecNode, data: dict[str, Any]) -> None:
    if not spec_node.output or spec_node.output == chosen_output(data):
        return
    names = [text_of(option.get("name")) for option in options_of(data)]
    if spec_node.output not in names:
        raise BadSpec(
            f"'{spec_node.id}' has no output '{one_line(spec_node.output, 80)}'.",
            remedy=f"It has: {listed(names)}." if names else "It has one output; omit 'output'.",
        )
    data["outputs"] = {**(data.get("outputs") or {}), "output": spec_node.output}


def _set_branches(data: dict[str, Any]) -> None:
    """A node that decides has an output for each of its conditions."""
    name, more = _BRANCHES.get(text_of(data.get("name")), ("", 0))
    branches = inputs_of(data).get(name)
    if not isinstance(branches, list) or not branches:
        return
    label, node_id = data.get("label"), text_of(data.get("id"))
    held = [anchor for anchor in data.get("outputAnchors") or () if isinstance(anchor, dict)]
    made = [
        {"id": f"{node_id}-output-{number}", "label": label, "name": data.get("name")}
        for number in range(len(branches) + more)
    ]
    data["outputAnchors"] = [*held, *made[len(held) :]][: len(made)]


def _end_well(nodes: Mapping[str, dict[str, Any]], edges: Sequence[Any], there: Mapping[str, Any]) -> None:
    """Mark a new function without a successor as the end of its flow."""
    followed = {edge["source"] for edge in edges}
    for node_id, node in nodes.items():
        data = data_of(node)
        names = [option.get("name") for option in options_of(data)]
        if node_id not in followed and node_id not in there and ENDING in names:
            data["outputs"] = {**(data.get("outputs") or {}), "output": ENDING}


def _place(nodes: Mapping[str, dict[str, Any]], edges: Sequence[Any], there: Mapping[str, Any]) -> None:
    """New nodes below those that are there, which stay where they are."""
    new = [node_id for node_id in nodes if node_id not in there]
    held = [nodes[node_id].get("position") for node_id in nodes if node_id in there]
    lowest = [
        float(position["y"])
        for position in held
        if isinstance(position, dict) and isinstance(position.get("y"), int | float)
    ]
    positions = places(
        new, [(edge["source"], edge["target"]) for edge in edges], below=max(lowest) + ROW if lowest else 0.0
    )
    for node_id in new:
        nodes[node_id]["position"] = positions[node_id]


def differing_inputs(data: Mapping[str, Any], schema: NodeSchema | None) -> dict[str, JsonValue]:
    """Return inputs of a node that differ from a new one's, without those that other nodes fill."""
    defaults = schema.defaults() if schema is not None else {}
    anchors = {text_of(anchor.get("name")) for anchor in anchors_of(data)}
    skipped = anchors | {"credential", CREDENTIAL_ID}
    differing: dict[str, JsonValue] = {}
    for name, value in inputs_of(data).items():
        usual = False if name == "streaming" else defaults.get(name, "")
        if name not in skipped and value != usual and not (value in ("", None) and usual in ("", None)):
            differing[name] = value
    return differing


def output_of(data: Mapping[str, Any]) -> str | None:
    """Return the selected output of a node, if relevant."""
    options = options_of(data)
    chosen = chosen_output(data)
    return chosen if options and chosen and chosen != options[0].get("name") else None


COLUMN = 400
ROW = 600
_MOST_STEPS = 200


def places(ids: Sequence[str], edges: Sequence[tuple[str, str]], *, below: float = 0) -> Mapping[str, dict[str, float]]:
    """A position for each node: as many columns to the right as the longest way to it has steps."""
    depth = dict.fromkeys(ids, 0)
    for _ in range(min(len(ids), _MOST_STEPS)):  # a loop would push its nodes to the right for ever
        moved = False
        for source, target in edges:
            if source in depth and target in depth and depth[target] <= depth[source] < len(ids):
                depth[target] = depth[source] + 1
                moved = True
        if not moved:
            break
    rows: dict[int, int] = {}
    positions = {}
    for node in ids:
        column = depth[node]
        row = rows.setdefault(column, 0)
        rows[column] += 1
        positions[node] = {"x": float(column * COLUMN), "y": float(below + row * ROW)}
    return positions
