"""Operations that show a flow: as a diagram, as text, as counts, and node by node."""

from collections import Counter
from typing import NotRequired

from pydantic import JsonValue
from typing_extensions import TypedDict

from headgate.features.access.permissions import Permission
from headgate.features.flows import service as flows
from headgate.graph.draw import draw
from headgate.graph.flow_io import classify_io
from headgate.graph.model import Flow, Node
from headgate.graph.names import did_you_mean, listed
from headgate.graph.spec import print_spec
from headgate.graph.template import FieldTemplate, Template
from headgate.toolkit.reading import get_field_value
from headgate.toolkit.shown import secret_fields, shown_flow, shown_value
from headgate.toolkit.stored.editing import edit
from headgate.toolkit.stored.keeping import readiness_of
from headgate.toolkit.stored.operation import Row
from headgate.toolkit.stored.visit import Visit
from headgate.toolkit.tool import Result, ToolRefused, define
from headgate.toolkit.tools import TOOLS
from headgate.toolkit.workbench import Workbench

_CONFIGURE = next(tool for tool in TOOLS if tool.name == "configure_component")
_READ_FIELD = define(get_field_value, permission=Permission.FLOWS_VIEW)


class Drawing(TypedDict):
    """A flow as a diagram."""

    flow_id: str
    diagram: str


class Graph(TypedDict):
    """A flow as a diagram and as text."""

    flow_id: str
    diagram: str
    text: str


class Words(TypedDict):
    """A flow as text."""

    flow_id: str
    text: str


class Structure(TypedDict):
    """Counts of a flow."""

    flow_id: str
    name: str
    nodes: int
    edges: int
    types: dict[str, int]
    inputs: list[JsonValue]
    outputs: list[JsonValue]
    runnable: bool
    is_chat: bool


class FieldLine(TypedDict):
    """A field of a node."""

    name: str
    kind: str
    required: bool
    set: bool
    value: JsonValue
    help: NotRequired[str]


class Details(TypedDict):
    """A node of a flow."""

    flow_id: str
    component_id: str
    type: str
    label: str
    description: str
    fields: list[FieldLine]
    inputs: list[str]
    outputs: list[str]


class Fields(TypedDict):
    """The fields of a node."""

    flow_id: str
    component_id: str
    fields: list[FieldLine]


async def visualize_flow_graph(visit: Visit, flow_id: str) -> Graph:
    """Show a flow as a diagram and as text.

    Args:
        flow_id: Id of the flow.
    """
    flow = await _flow(visit, flow_id)
    catalog = await visit.catalog(flow)
    return {"flow_id": flow_id, "diagram": draw(flow, catalog), "text": print_spec(shown_flow(flow, catalog))}


async def get_flow_ascii_diagram(visit: Visit, flow_id: str) -> Drawing:
    """Show a flow as an ASCII diagram, one line per step.

    Args:
        flow_id: Id of the flow.
    """
    flow = await _flow(visit, flow_id)
    return {"flow_id": flow_id, "diagram": draw(flow, await visit.catalog(flow))}


async def get_flow_text_representation(visit: Visit, flow_id: str) -> Words:
    """Show a flow as the text that create_flow_from_spec and build_flow read. Secrets are never shown.

    Args:
        flow_id: Id of the flow.
    """
    flow = await _flow(visit, flow_id)
    return {"flow_id": flow_id, "text": print_spec(shown_flow(flow, await visit.catalog(flow)))}


async def get_flow_structure_summary(visit: Visit, flow_id: str) -> Structure:
    """Count a flow's nodes by type, and show its inputs and outputs.

    Args:
        flow_id: Id of the flow.
    """
    row = await visit.flow(flow_id)
    flow = flows.definition_of(row)
    flow_io = classify_io(flow, await visit.catalog(flow))
    described = flow_io.as_json()
    inputs, outputs = described["inputs"], described["outputs"]
    return {
        "flow_id": flow_id,
        "name": flow.name,
        "nodes": len(flow.nodes),
        "edges": len(flow.edges),
        "types": dict(Counter(node.type for node in flow.nodes)),
        "inputs": inputs if isinstance(inputs, list) else [],
        "outputs": outputs if isinstance(outputs, list) else [],
        "runnable": (await readiness_of(visit, row)).ready,
        "is_chat": flow_io.is_chat,
    }


async def get_flow_component_details(visit: Visit, flow_id: str, component_id: str) -> Details:
    """Show a node of a flow: its fields, values and connections.

    Args:
        flow_id: Id of the flow.
        component_id: Id of the node.
    """
    row = await visit.flow(flow_id)
    flow = flows.definition_of(row)
    bench = visit.bench(flow, row.space_id, await visit.catalog(flow))
    node, template = _node(bench, component_id)
    hidden = secret_fields(bench.registry, node.type, node.params)
    return {
        "flow_id": flow_id,
        "component_id": node.id,
        "type": node.type,
        "label": node.label or (template.label if template else node.type),
        "description": template.description if template else "",
        "fields": [_field(node, field, hidden=field.name in hidden) for field in template.fields] if template else [],
        "inputs": [edge.id for edge in bench.flow.incoming(node.id)],
        "outputs": [edge.id for edge in bench.flow.outgoing(node.id)],
    }


async def list_flow_component_fields(visit: Visit, flow_id: str, component_id: str) -> Fields:
    """List the fields of a node with their kinds and values. Secrets are never shown.

    Args:
        flow_id: Id of the flow.
        component_id: Id of the node.
    """
    details = await get_flow_component_details(visit, flow_id, component_id)
    return {"flow_id": flow_id, "component_id": details["component_id"], "fields": details["fields"]}


async def get_flow_component_field_value(visit: Visit, flow_id: str, component_id: str, field_name: str) -> Result:
    """Read one field of a node. Secrets are never shown.

    Args:
        flow_id: Id of the flow.
        component_id: Id of the node.
        field_name: Name of the field.
    """
    field = await edit(visit, _READ_FIELD, flow_id, {"node_id": component_id, "field": field_name})
    return {"field": field_name, **field}


async def update_flow_component_field(
    visit: Visit, flow_id: str, component_id: str, field_name: str, new_value: JsonValue
) -> Result:
    """Set one field of a node; null clears it.

    Args:
        flow_id: Id of the flow.
        component_id: Id of the node.
        field_name: Name of the field.
        new_value: The value.
    """
    return await edit(visit, _CONFIGURE, flow_id, {"node_id": component_id, "params": {field_name: new_value}})


async def _flow(visit: Visit, flow_id: str) -> Flow:
    return flows.definition_of(await visit.flow(flow_id))


def _node(bench: Workbench, node_id: str) -> tuple[Node, Template | None]:
    node = bench.flow.node(node_id)
    if node is None:
        ids = [node.id for node in bench.flow.nodes]
        raise ToolRefused(
            f"The flow has no node '{node_id[:100]}'{did_you_mean(node_id, ids) or '.'}",
            remedy=f"Nodes: {listed(ids, most=40, none='none yet')}.",
        )
    return node, bench.registry.template(node.type, node.params)


def _field(node: Node, field: FieldTemplate, *, hidden: bool) -> FieldLine:
    shown = shown_value(node.params.get(field.name, field.default), hidden=hidden)
    return {
        "name": field.name,
        "kind": field.kind.value,
        "required": field.required,
        "set": field.name in node.params,
        "value": shown,
    }


OPERATIONS: tuple[Row, ...] = (
    (visualize_flow_graph, Permission.FLOWS_VIEW, "read"),
    (get_flow_ascii_diagram, Permission.FLOWS_VIEW, "read"),
    (get_flow_text_representation, Permission.FLOWS_VIEW, "read"),
    (get_flow_structure_summary, Permission.FLOWS_VIEW, "read"),
    (get_flow_component_details, Permission.FLOWS_VIEW, "read"),
    (list_flow_component_fields, Permission.FLOWS_VIEW, "read"),
    (get_flow_component_field_value, Permission.FLOWS_VIEW, "read"),
    (update_flow_component_field, Permission.FLOWS_EDIT, "set"),
)
