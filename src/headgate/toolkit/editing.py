"""Tools that change parts of the working flow. Each answers with what changed, read back from the flow."""

from typing import cast

from pydantic import JsonValue, ValidationError

from headgate.graph import edits
from headgate.graph.model import Edge, Flow, Node
from headgate.graph.names import clipped
from headgate.graph.ports import CONFIGURATION_TYPES
from headgate.graph.template import TOOL_OUTPUT
from headgate.graph.wiring import output_names
from headgate.toolkit import actions
from headgate.toolkit.model_values import coerce_params
from headgate.toolkit.reading import node_of, template_of
from headgate.toolkit.shown import refuse_redacted
from headgate.toolkit.tool import Params, Result, ToolRefused
from headgate.toolkit.workbench import Workbench

AS_TOOL = frozenset({"component_as_tool", "as_tool", "toolset"})
"""What agents that know other studios call the output `tool`."""


async def add_component(bench: Workbench, component_type: str, node_id: str = "", params: Params = {}) -> Result:  # noqa: B006 - read by `define`, never changed
    """Add a component to the flow, live on the canvas. Connect it afterwards: a flow may not hold loose components.

    Args:
        component_type: The exact type name, as search_components gives it.
        node_id: Id for the node, lower-case with underscores; chosen for you when empty.
        params: Values of its fields.
    """
    template_of(bench, component_type)
    refuse_redacted(params)
    values = coerce_params(params, bench.registry.template(component_type, params))
    edit = edits.add_node(bench.flow, component_type, bench.registry, node_id=node_id or None, params=values)
    added = edit.flow.nodes[-1].id
    bench.change(edit.flow, actions.add_component(_node(edit.flow, added)))
    return {"ok": True, "node_id": added, **_ports(bench, added)}


async def remove_component(bench: Workbench, node_id: str) -> Result:
    """Remove a node and its edges from the flow.

    Args:
        node_id: Id of the node.
    """
    node_of(bench, node_id)
    gone: list[JsonValue] = [edge.id for edge in (*bench.flow.incoming(node_id), *bench.flow.outgoing(node_id))]
    edit = edits.remove_node(bench.flow, node_id)
    bench.change(edit.flow, actions.remove_component(node_id))
    return {"ok": True, "removed": node_id, "edges_removed": gone}


async def connect_components(
    bench: Workbench, source_id: str, source_output: str, target_id: str, target_input: str
) -> Result:
    """Connect an output of one node to an input of another. Types must fit; the error names a converter when not.

    Args:
        source_id: Id of the node the value comes from.
        source_output: Name of its output; 'tool' to give the node to an agent as a tool.
        target_id: Id of the node the value goes to.
        target_input: Name of its input.
    """
    source, target = node_of(bench, source_id), node_of(bench, target_id)
    output = TOOL_OUTPUT if source_output in AS_TOOL else source_output
    edge = _edge(source_id, output, target_id, target_input)
    edit = edits.connect(bench.flow, edge, bench.registry)
    bench.change(
        edit.flow,
        actions.connect(edge),
        before=_mode(bench, target, edge),
        after=_selection(bench, source, edge),
    )
    return {"ok": True, "edge": edge.id}


async def disconnect_components(
    bench: Workbench, source_id: str, source_output: str, target_id: str, target_input: str
) -> Result:
    """Remove an edge.

    Args:
        source_id: Id of the node the value comes from.
        source_output: Name of its output.
        target_id: Id of the node the value goes to.
        target_input: Name of its input.
    """
    edge = _edge(source_id, source_output, target_id, target_input)
    edit = edits.disconnect(bench.flow, edge)
    bench.change(edit.flow, actions.disconnect(edge))
    return {"ok": True, "edge_removed": edge.id}


async def configure_component(bench: Workbench, node_id: str, params: Params) -> Result:
    """Set values of a node's fields, at once; fields that are not named keep their value, null clears one.

    Args:
        node_id: Id of the node.
        params: Field name to new value. A model is written 'provider/name'.
    """
    node = node_of(bench, node_id)
    refuse_redacted(params)
    given = {name: value for name, value in params.items() if value is not None}
    values = coerce_params(given, bench.registry.template(node.type, node.params | given))
    cleared = [name for name, value in params.items() if value is None]
    edit = edits.configure(bench.flow, node_id, values, bench.registry, unset=cleared)
    if not edit.changes:
        return {"ok": True, "node_id": node_id, "patch": [], "note": "Nothing changed: these values were set already."}
    patch = cast("list[JsonValue]", edit.patch())
    told: Params = {**values, **dict.fromkeys(cleared)}
    bench.change(edit.flow, actions.configure(node_id, told, patch))
    return {"ok": True, "node_id": node_id, "patch": patch, **_values_set(told, params)}


async def rename_component(bench: Workbench, node_id: str, new_id: str) -> Result:
    """Give a node another id; edges and references to it follow.

    Args:
        node_id: Present id.
        new_id: New id, lower-case with underscores.
    """
    node_of(bench, node_id)
    if node_id == new_id:
        return {"ok": True, "node_id": node_id, "note": "Nothing changed: that is its id already."}
    edit = edits.rename_node(bench.flow, node_id, new_id, bench.registry)
    bench.change(edit.flow, actions.rename_component(node_id, new_id))
    return {"ok": True, "node_id": new_id}


async def undo_last(bench: Workbench) -> Result:
    """Take back the last change made in this conversation turn."""
    if not bench.undo():
        return {"ok": False, "error": "Nothing was changed in this turn.", "remedy": "There is nothing to take back."}
    diff = bench.actions[-1]["diff"]
    return {"ok": True, "nodes": len(bench.flow.nodes), "edges": len(bench.flow.edges), "changes": diff}


def _edge(source: str, output: str, target: str, into: str) -> Edge:
    """An edge of these names. Raises `ToolRefused` where one cannot be a name."""
    try:
        return Edge(source=source, output=output, target=target, input=into)
    except ValidationError as error:
        wrong = ", ".join(f"'{clipped(str(fault['input']))}'" for fault in error.errors(include_url=False))
        raise ToolRefused(
            f"{wrong} cannot be the name of a node or a port.",
            remedy="Use the ids of nodes in the flow, and the names of ports that describe_component gives.",
        ) from error


def _mode(bench: Workbench, target: Node, edge: Edge) -> list[actions.Action]:
    """What a canvas must switch before it draws an edge: a field that had a value is fed by an edge from then on."""
    field = template_of(bench, target.type).template.field(edge.input)
    configures = field is not None and set(field.types) & CONFIGURATION_TYPES
    return [actions.set_connection_mode(target.id, edge.input)] if configures else []


def _selection(bench: Workbench, source: Node, edge: Edge) -> list[actions.Action]:
    """Which of several outputs a canvas shows from then on, when it shows one at a time."""
    template = bench.registry.template(source.type, source.params)
    several = template is not None and len(template.outputs) > 1 and template.output(edge.output) is not None
    return [actions.select_output(source.id, edge.output)] if several else []


def _values_set(told: Params, params: Params) -> Result:
    """The values that were written otherwise than they are kept."""
    mended = {name: value for name, value in told.items() if value != params.get(name)}
    return {"set": mended} if mended else {}


def _node(flow: Flow, node_id: str) -> Node:
    """A node that is known to be there."""
    return next(node for node in flow.nodes if node.id == node_id)


def _ports(bench: Workbench, node_id: str) -> Result:
    node = _node(bench.flow, node_id)
    template = bench.registry.template(node.type, node.params)
    if template is None:
        return {}
    return {"inputs": [port.name for port in template.ports], "outputs": list[JsonValue](output_names(template))}
