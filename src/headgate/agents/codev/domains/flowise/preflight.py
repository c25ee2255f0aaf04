"""What keeps a chatflow from being written (seed 004, DD-018). Pure.

Flowise saves nearly everything and fails when it is asked something, or answers wrongly, or cannot draw it. Each check
here is one of those cases, as they were measured on Flowise 3.1.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from headgate.agents.codev.domain import Fault
from headgate.agents.codev.domains.flowise.answers import StoredCredential
from headgate.agents.codev.domains.flowise.drawn import (
    anchors_of,
    credential_of,
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
from headgate.agents.codev.domains.flowise.node_schema import NOTES, NodeSchema, names_of
from headgate.agents.codev.domains.flowise.quoting import told
from headgate.agents.codev.domains.flowise.spec import references
from headgate.graph.names import did_you_mean, listed

TYPES = ("CHATFLOW", "AGENTFLOW", "MULTIAGENT", "ASSISTANT")
MOST_FAULTS = 100
_LISTS = ("inputAnchors", "inputParams", "outputAnchors")
_OBJECTS = ("inputs", "outputs")
_EMPTY: tuple[object, ...] = (None, "", [])
_START = "startAgentflow"


def faults_of(
    definition: Mapping[str, Any],
    schemas: Mapping[str, NodeSchema] | None,
    credentials: Sequence[StoredCredential] | None,
    *,
    type_: str = "",
) -> list[Fault]:
    """Every fault, at most a hundred; empty when it may be written.

    Args:
        definition: What Flowise would keep, as an object.
        schemas: Components of the server; None when they are not known, which leaves out what needs them.
        credentials: Those of the server; None when they are not known.
        type_: Kind of flow; empty when it stays what it is.
    """
    found: list[Fault] = []
    if type_ and type_ not in TYPES:
        found.append(Fault("", f"There is no kind of flow '{told(type_, 40)}'.", f"It is one of {listed(TYPES)}."))
    for name in ("nodes", "edges"):
        value = definition.get(name)
        if not isinstance(value, list) or any(not isinstance(one, dict) for one in value):
            found.append(Fault("", f"'{name}' must be a list of objects.", "Give both, even where one is empty."))
    if found:
        return found
    for fault in _faults(definition, schemas, credentials):
        found.append(fault)
        if len(found) >= MOST_FAULTS:
            break
    return found


def _faults(
    definition: Mapping[str, Any],
    schemas: Mapping[str, NodeSchema] | None,
    credentials: Sequence[StoredCredential] | None,
) -> Iterator[Fault]:
    nodes = nodes_of(definition)
    yield from _id_faults(nodes)
    there = {id_of(one): data_of(one) for one in nodes}
    for node in nodes:
        data = data_of(node)
        if data.get("name") in NOTES:
            continue
        yield from _shape_faults(node)
        yield from _known_faults(node, schemas)
        yield from _input_faults(node, there)
        yield from _credential_faults(node, credentials)
    edges = edges_of(definition)
    yield from edge_faults(there, edges)
    flow = {key: data for key, data in there.items() if data.get("name") not in NOTES}
    if any(is_agentflow_node(data) for data in flow.values()):
        yield from _agentflow_faults(flow)
    else:
        yield from ending_faults(flow, edges)


def _id_faults(nodes: Sequence[dict[str, Any]]) -> Iterator[Fault]:
    seen: set[str] = set()
    for node in nodes:
        node_id = id_of(node)
        if not node_id:
            yield Fault("", "A node has no id.", "Give every node an id of its own.")
        elif node_id in seen:
            yield Fault(node_id, "Two nodes have this id.", "Give every node an id of its own.")
        seen.add(node_id)
        if data_of(node).get("id") != node_id:
            yield Fault(node_id, "'data.id' is not the node's id.", "Set 'data.id' to it.")


def _shape_faults(node: Mapping[str, Any]) -> Iterator[Fault]:
    data = data_of(node)
    for name, kind in [*((one, list) for one in _LISTS), *((one, dict) for one in _OBJECTS)]:
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
            id_of(node), f"The server has no component '{told(name, 80)}'{did_you_mean(name, schemas) or '.'}",
            "Take a name from list_nodes."
        )  # fmt: skip
        return
    if data.get("version") not in (None, schema.version):
        return  # made for an older component: its inputs were others
    held, inputs = {one.get("name") for one in [*params_of(data), *anchors_of(data)]}, inputs_of(data)
    lacking = [  # inputs that came with a later release and hold nothing are not missed
        one["name"]
        for one in schema.inputs
        if one["name"] not in held and (_is_required(one, inputs) or inputs.get(one["name"]) not in _EMPTY)
    ]
    if lacking:
        yield Fault(
            id_of(node),
            f"'inputParams' or 'inputAnchors' lack {listed(lacking)}: Flowise would ignore those inputs.",
            "Take the node out and add it again.",
        )


def _input_faults(node: Mapping[str, Any], there: Mapping[str, Any]) -> Iterator[Fault]:
    data = data_of(node)
    inputs = inputs_of(data)
    for place in [*anchors_of(data), *params_of(data)]:
        name = text_of(place.get("name"))
        value = inputs.get(name)
        if place.get("type") == "credential":
            continue
        lost = [one for one in references(value) if one not in there]
        if lost:
            yield Fault(id_of(node), f"'{name}' refers to '{lost[0]}', which is no node.", "Connect it to one.")
        if _is_required(place, inputs) and value in _EMPTY:
            remedy = "Give it a value." if place in params_of(data) else f"Connect a node to '{id_of(node)}.{name}'."
            yield Fault(id_of(node), f"'{name}' ({told(place.get('label'), 60)}) is required and not set.", remedy)


def _is_required(place: Mapping[str, Any], inputs: Mapping[str, Any]) -> bool:
    if place.get("optional") not in (None, False) or place.get("type") == "boolean" or place.get("hidden"):
        return False
    if place.get("default") not in _EMPTY:
        return False  # what holds nothing is then what the component takes it for, as in nodes of earlier releases
    return _holds(place.get("show"), inputs, default=True) and not _holds(place.get("hide"), inputs, default=False)


def _holds(condition: object, inputs: Mapping[str, Any], *, default: bool) -> bool:
    """Whether an input is shown, or hidden, given what others hold; one that looks into lists is taken as not held."""
    if not isinstance(condition, Mapping) or not condition:
        return default
    for name, wanted in condition.items():
        if "$" in str(name) or "." in str(name):
            return False
        value = inputs.get(name)
        if not (value in wanted if isinstance(wanted, list) else value == wanted or str(value) == str(wanted)):
            return False
    return True


def _credential_faults(node: Mapping[str, Any], credentials: Sequence[StoredCredential] | None) -> Iterator[Fault]:
    data = data_of(node)
    place = next((one for one in params_of(data) if one.get("type") == "credential"), None)
    if place is None:
        return
    types, held = names_of(place), credential_of(data)
    if not held:
        if place.get("optional") is not True:
            yield Fault(
                id_of(node),
                f"It needs a credential of type {listed(types)}.",
                "Set 'credential' to an id of list_credentials; when there is none, the person has to make one.",
            )
        return
    if credentials is None:
        return
    found = next((one for one in credentials if one.id == held), None)
    if found is None:
        yield Fault(id_of(node), "Its credential does not exist.", "Set 'credential' to an id of list_credentials.")
    elif types and found.type not in types:
        yield Fault(
            id_of(node), f"Its credential is of type {found.type}, and {listed(types)} is needed.",
            "Set 'credential' to another id of list_credentials."
        )  # fmt: skip


def _agentflow_faults(flow: Mapping[str, Mapping[str, Any]]) -> Iterator[Fault]:
    mixed = [key for key, data in flow.items() if not is_agentflow_node(data)]
    if mixed:
        yield Fault(mixed[0], "It is no node of an AgentflowV2.", "Use nodes of the category 'Agent Flows' only.")
    starts = [key for key, data in flow.items() if data.get("name") == _START]
    if len(starts) != 1:
        yield Fault("", f"An AgentflowV2 begins at one '{_START}'; this has {len(starts)}.", "Have exactly one.")
    elif len(flow) == 1:
        yield Fault("", "Nothing follows the start.", "Add what the flow is to do, and connect it.")
