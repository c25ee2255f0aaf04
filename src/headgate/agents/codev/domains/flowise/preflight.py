"""Checks that must pass before a chatflow is written (seed 004, DD-018). Pure.

Flowise saves nearly everything and fails when it is asked something, or answers wrongly, or cannot draw it. Each check
here is one of those cases, as they were measured on Flowise 3.1.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from headgate.agents.codev.domain import Fault
from headgate.agents.codev.domains.flowise.answers import StoredCredential
from headgate.agents.codev.domains.flowise.drawn import (
    anchors_of,
    data_of,
    edges_of,
    id_of,
    inputs_of,
    is_agentflow_node,
    nodes_of,
    params_of,
    text_of,
)
from headgate.agents.codev.domains.flowise.edge_checks import edge_faults, ending_faults
from headgate.agents.codev.domains.flowise.input_checks import (
    EMPTY,
    config_faults,
    credential_faults,
    input_faults,
    is_required,
)
from headgate.agents.codev.domains.flowise.node_schema import NOTES, NodeSchema
from headgate.agents.codev.domains.flowise.quoting import one_line
from headgate.graph.names import did_you_mean, listed

TYPES = ("CHATFLOW", "AGENTFLOW", "MULTIAGENT", "ASSISTANT")
MOST_FAULTS = 100
_LISTS = ("inputAnchors", "inputParams", "outputAnchors")
_OBJECTS = ("inputs", "outputs")
_START = "startAgentflow"


def faults_of(
    definition: Mapping[str, Any],
    schemas: Mapping[str, NodeSchema] | None,
    credentials: Sequence[StoredCredential] | None,
    *,
    type_: str = "",
) -> list[Fault]:
    """Return every fault, at most a hundred; empty when it may be written.

    Args:
        definition: What Flowise would keep, as an object.
        schemas: Components of the server; None when they are not known: checks that need them are skipped.
        credentials: Those of the server; None when they are not known.
        type_: Kind of flow; empty when it stays what it is.
    """
    faults: list[Fault] = []
    if type_ and type_ not in TYPES:
        faults.append(
            Fault("", f"There is no kind of flow '{one_line(type_, 40)}'.", f"It must be one of {listed(TYPES)}.")
        )
    for name in ("nodes", "edges"):
        value = definition.get(name)
        if not isinstance(value, list) or any(not isinstance(row, dict) for row in value):
            faults.append(Fault("", f"'{name}' must be a list of objects.", "Give both, even where one is empty."))
    if faults:
        return faults
    for fault in _faults(definition, schemas, credentials):
        faults.append(Fault(one_line(fault.where, 200), one_line(fault.message, 600), one_line(fault.remedy)))
        if len(faults) >= MOST_FAULTS:
            break
    return faults


def _faults(
    definition: Mapping[str, Any],
    schemas: Mapping[str, NodeSchema] | None,
    credentials: Sequence[StoredCredential] | None,
) -> Iterator[Fault]:
    nodes = nodes_of(definition)
    yield from _id_faults(nodes)
    there = {id_of(node): data_of(node) for node in nodes}
    for node in nodes:
        data = data_of(node)
        if data.get("name") in NOTES:
            continue
        yield from _shape_faults(node)
        yield from _known_faults(node, schemas)
        yield from node_faults(node, there, schemas, credentials)
    edges = edges_of(definition)
    yield from edge_faults(there, edges)
    flow = {key: data for key, data in there.items() if data.get("name") not in NOTES}
    if any(is_agentflow_node(data) for data in flow.values()):
        yield from _agentflow_faults(flow)
    else:
        yield from ending_faults(flow, edges)


def node_faults(
    node: Mapping[str, Any],
    there: Mapping[str, Any],
    schemas: Mapping[str, NodeSchema] | None,
    credentials: Sequence[StoredCredential] | None,
) -> Iterator[Fault]:
    """Return the faults of one node's values."""
    yield from input_faults(node, there)
    yield from credential_faults(node, credentials)
    yield from config_faults(node, schemas, credentials)


def _id_faults(nodes: Sequence[dict[str, Any]]) -> Iterator[Fault]:
    seen: set[str] = set()
    for node in nodes:
        node_id = id_of(node)
        if not node_id:
            yield Fault("", "A node has no id.", "Give every node a unique id.")
        elif node_id in seen:
            yield Fault(node_id, "Two nodes have this id.", "Give every node a unique id.")
        seen.add(node_id)
        if data_of(node).get("id") != node_id:
            yield Fault(node_id, "'data.id' is not the node's id.", "Set 'data.id' to it.")


def _shape_faults(node: Mapping[str, Any]) -> Iterator[Fault]:
    data = data_of(node)
    for name, kind in [*((name, list) for name in _LISTS), *((name, dict) for name in _OBJECTS)]:
        if not isinstance(data.get(name), kind):
            yield Fault(id_of(node), f"It has no 'data.{name}'.", "Use create_chatflow or add_node, which make it.")


def _known_faults(node: Mapping[str, Any], schemas: Mapping[str, NodeSchema] | None) -> Iterator[Fault]:
    """Whether the server has the component, and the node all of its inputs."""
    data = data_of(node)
    name = text_of(data.get("name"))
    if not name:
        yield Fault(id_of(node), "It names no component.", "Set 'name' to one of list_nodes.")
        return
    if schemas is None:
        return
    schema = schemas.get(name)
    if schema is None:
        yield Fault(
            id_of(node), f"The server has no component '{one_line(name, 80)}'{did_you_mean(name, schemas) or '.'}",
            "Take a name from list_nodes."
        )  # fmt: skip
        return
    if data.get("version") not in (None, schema.version):
        return  # made for an older component: its inputs were others
    held, inputs = {field.get("name") for field in [*params_of(data), *anchors_of(data)]}, inputs_of(data)
    lacking = [  # inputs that came with a later release and hold nothing are not missed
        field["name"]
        for field in schema.inputs
        if field["name"] not in held and (is_required(field, inputs) or inputs.get(field["name"]) not in EMPTY)
    ]
    if lacking:
        yield Fault(
            id_of(node),
            f"'inputParams' or 'inputAnchors' lack {listed(lacking)}: Flowise would ignore those inputs.",
            "Remove the node and add it again.",
        )


def _agentflow_faults(flow: Mapping[str, Mapping[str, Any]]) -> Iterator[Fault]:
    mixed = [key for key, data in flow.items() if not is_agentflow_node(data)]
    for node_id in mixed:
        yield Fault(node_id, "It is not a node of an AgentflowV2.", "Use nodes of the category 'Agent Flows' only.")
    starts = [key for key, data in flow.items() if data.get("name") == _START]
    if len(starts) != 1:
        yield Fault("", f"An AgentflowV2 starts with one '{_START}'; this has {len(starts)}.", "Use exactly one.")
    elif len(flow) == 1:
        yield Fault("", "No node follows the start.", "Add nodes and connect them.")
