"""Tools that change the working flow. Each answers with what changed, read back from the flow."""

from typing import cast

from pydantic import JsonValue

from headgate.graph import edits
from headgate.graph.draw import draw
from headgate.graph.model import Edge, Flow, Node
from headgate.graph.ports import CONFIGURATION_TYPES
from headgate.graph.spec import read_spec
from headgate.graph.validate import check_runnable
from headgate.toolkit import actions
from headgate.toolkit.reading import node_of, template_of
from headgate.toolkit.tool import Result
from headgate.toolkit.workbench import Workbench

Params = dict[str, JsonValue]


async def add_component(bench: Workbench, component_type: str, node_id: str = "", params: Params = {}) -> Result:  # noqa: B006 - read by `define`, never changed
    """Add a component to the flow. Connect it afterwards: a flow may not hold loose components.

    Args:
        component_type: The exact type name, as search_components gives it.
        node_id: Id for the node, lower-case with underscores; chosen for you when empty.
        params: Values of its fields.
    """
    edit = edits.add_node(bench.flow, component_type, bench.registry, node_id=node_id or None, params=params)
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
    edge = Edge(source=source_id, output=source_output, target=target_id, input=target_input)
    edit = edits.connect(bench.flow, edge, bench.registry)
    done = [actions.connect(edge)]
    field = template_of(bench, _node(edit.flow, target_id).type).template.field(target_input)
    if field is not None and set(field.types) & CONFIGURATION_TYPES:
        done.append(actions.set_connection_mode(target_id, target_input))
    bench.change(edit.flow, *done)
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
    edge = Edge(source=source_id, output=source_output, target=target_id, input=target_input)
    edit = edits.disconnect(bench.flow, edge)
    bench.change(edit.flow, actions.disconnect(edge))
    return {"ok": True, "edge_removed": edge.id}


async def configure_component(bench: Workbench, node_id: str, params: Params) -> Result:
    """Set values of a node's fields; fields that are not named keep their value, null clears one.

    Args:
        node_id: Id of the node.
        params: Field name to new value.
    """
    node_of(bench, node_id)
    values = {name: value for name, value in params.items() if value is not None}
    cleared = [name for name, value in params.items() if value is None]
    edit = edits.configure(bench.flow, node_id, values, bench.registry, unset=cleared)
    patch = cast("list[JsonValue]", edit.patch())
    bench.change(edit.flow, actions.configure(node_id, params, patch))
    return {"ok": True, "node_id": node_id, "patch": patch}


async def rename_component(bench: Workbench, node_id: str, new_id: str) -> Result:
    """Give a node another id; edges and references to it follow.

    Args:
        node_id: Present id.
        new_id: New id, lower-case with underscores.
    """
    node_of(bench, node_id)
    edit = edits.rename_node(bench.flow, node_id, new_id, bench.registry)
    bench.change(edit.flow, actions.rename_component(node_id, new_id))
    return {"ok": True, "node_id": new_id}


async def build_flow(bench: Workbench, spec: str) -> Result:
    """Build a whole flow from text, replacing the working flow. Refused as a whole when anything in it is wrong.

    Args:
        spec: The flow as spec text: name, description, nodes with their values, and edges `a.output -> b.input`.
    """
    flow = read_spec(spec, bench.registry)
    bench.change(flow, actions.set_flow(flow))
    issues: list[JsonValue] = [issue.as_json() for issue in check_runnable(flow, bench.registry)]
    return {
        "ok": True,
        "name": flow.name,
        "nodes": len(flow.nodes),
        "edges": len(flow.edges),
        "issues": issues,
        "graph": draw(flow, bench.registry),
    }


async def undo_last(bench: Workbench) -> Result:
    """Take back the last change made in this conversation turn."""
    if not bench.history:
        return {"ok": False, "error": "Nothing was changed in this turn.", "remedy": ""}
    flow = bench.history.pop()
    bench.flow = flow
    action = actions.set_flow(flow)
    bench.actions.append(action)
    bench.on_action(action)
    return {"ok": True, "nodes": len(flow.nodes), "edges": len(flow.edges)}


def _node(flow: Flow, node_id: str) -> Node:
    """A node that is known to be there."""
    return next(node for node in flow.nodes if node.id == node_id)


def _ports(bench: Workbench, node_id: str) -> Result:
    node = _node(bench.flow, node_id)
    template = bench.registry.template(node.type, node.params)
    if template is None:
        return {}
    return {"inputs": [port.name for port in template.ports], "outputs": [out.name for out in template.outputs]}
