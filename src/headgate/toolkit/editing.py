"""Tools that change parts of the working flow. Each returns the change, read back from the flow."""

from typing import cast

from pydantic import JsonValue, ValidationError

from headgate.graph import edits
from headgate.graph.model import Edge, Flow, Node
from headgate.graph.names import clipped
from headgate.graph.ports import CONFIGURATION_TYPES
from headgate.graph.template import TOOL_OUTPUT
from headgate.graph.wiring import output_names
from headgate.toolkit import actions
from headgate.toolkit.flow.parts import with_members
from headgate.toolkit.model_values import coerce_params
from headgate.toolkit.reading import node_of, template_of
from headgate.toolkit.shown import refuse_redacted
from headgate.toolkit.tool import Params, Result, Revision, ToolRefused
from headgate.toolkit.workbench import Workbench

AS_TOOL = frozenset({"component_as_tool", "as_tool", "toolset"})
"""Names that agents trained on other studios use for the output `tool`."""


async def add_component(bench: Workbench, component_type: str, node_id: str = "", params: Params = {}) -> Result:  # noqa: B006 - read by `define`, never changed
    """Add a component to the flow. Connect it afterwards: only notes may stay unconnected.

    Args:
        component_type: Exact type name.
        node_id: Lower case with underscores; generated when empty.
        params: Field values.
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
    """Connect an output of one node to an input of another of a compatible type.

    Args:
        source_id: Source node.
        source_output: Its output; 'tool' attaches the node to an agent as a tool.
        target_id: Target node.
        target_input: Its input.
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
        source_id: Source node.
        source_output: Its output.
        target_id: Target node.
        target_input: Its input.
    """
    edge = _edge(source_id, source_output, target_id, target_input)
    edit = edits.disconnect(bench.flow, edge)
    bench.change(edit.flow, actions.disconnect(edge))
    return {"ok": True, "edge_removed": edge.id}


async def configure_component(
    bench: Workbench,
    node_id: str,
    params: Params = {},  # noqa: B006 - read by `define`, never changed
    policy: Params = {},  # noqa: B006
    label: str | None = None,
) -> Result:
    """Set values, policy or title of a node; omitted ones stay, null clears.

    Args:
        node_id: Id of the node.
        params: Field to value; a model is 'provider/name'.
        policy: Rule to value, see read_grammar('policy').
        label: Title on the canvas.
    """
    node = node_of(bench, node_id)
    refuse_redacted([params, policy])
    given = {name: value for name, value in params.items() if value is not None}
    values = coerce_params(given, bench.registry.template(node.type, node.params | given))
    cleared = [name for name, value in params.items() if value is None]
    made = [edits.configure(bench.flow, node_id, values, bench.registry, unset=cleared)]
    if policy:
        rules = with_members(node.policy, policy, "policy")
        made.append(edits.set_policy(made[-1].flow, node_id, rules, bench.registry))
    if label is not None:
        made.append(edits.relabel(made[-1].flow, node_id, label))
    if not any(edit.changes for edit in made):
        return {
            "ok": True,
            "node_id": node_id,
            "patch": [],
            "note": ("Nothing changed: the node already has these values."),
        }
    patch = cast("list[JsonValue]", [step for edit in made for step in edit.patch()])
    stored: Params = {**values, **dict.fromkeys(cleared)}
    after = _node(made[-1].flow, node_id) if any(edit.changes for edit in made[1:]) else None
    bench.change(made[-1].flow, actions.configure(node_id, stored, patch, after))
    return {"ok": True, "node_id": node_id, "patch": patch, **_values_set(stored, params)}


async def rename_component(bench: Workbench, node_id: str, new_id: str) -> Result:
    """Give a node another id; edges and references follow.

    Args:
        node_id: Current id.
        new_id: New id.
    """
    node_of(bench, node_id)
    if node_id == new_id:
        return {"ok": True, "node_id": node_id, "note": "Nothing changed: the node already has this id."}
    edit = edits.rename_node(bench.flow, node_id, new_id, bench.registry)
    bench.change(edit.flow, actions.rename_component(node_id, new_id))
    return {"ok": True, "node_id": new_id}


async def undo(bench: Workbench, revision: int = 0, to: Revision = 0) -> Result:
    """Undo the last change; repeat for earlier ones. With `to`, restore any stored revision, also to redo.

    Args:
        revision: Expected stored revision; refused otherwise.
        to: Revision to restore; read_flow lists them with part 'revisions'.
    """
    if bench.history and bench.restores is None and not revision and not to:
        bench.undo()
    elif not await _undo_stored(bench, revision, to):
        return {"ok": False, "error": "There is no change to undo.", "remedy": "Continue without undoing anything."}
    diff = bench.actions[-1]["diff"]
    answer: Result = {"ok": True, "nodes": len(bench.flow.nodes), "edges": len(bench.flow.edges), "changes": diff}
    return answer | ({"restores": bench.restores} if bench.restores is not None else {})


async def _undo_stored(bench: Workbench, revision: int, to: int) -> bool:
    """Restore an earlier stored draft; False when the flow is not stored."""
    if bench.stored is None:
        return False
    draft = await bench.stored.earlier_draft(to=to, at=bench.restores, revision=revision)
    if draft is None:
        return False
    bench.change(draft.flow, actions.set_flow(draft.flow, applies=True, undone=True), restores=draft.origin)
    return True


def _edge(source: str, output: str, target: str, into: str) -> Edge:
    """Return an edge of these names. Raises `ToolRefused` for an invalid name."""
    try:
        return Edge(source=source, output=output, target=target, input=into)
    except ValidationError as error:
        wrong = ", ".join(f"'{clipped(str(fault['input']))}'" for fault in error.errors(include_url=False))
        raise ToolRefused(
            f"{wrong} is not a valid name of a node or port.",
            remedy="Use the ids of nodes in the flow, and the names of ports that describe_component gives.",
        ) from error


def _mode(bench: Workbench, target: Node, edge: Edge) -> list[actions.Action]:
    """Return the switch a canvas makes before it draws an edge: the field's value now comes from the edge."""
    field = template_of(bench, target.type).template.field(edge.input)
    configures = field is not None and set(field.types) & CONFIGURATION_TYPES
    return [actions.set_connection_mode(target.id, edge.input)] if configures else []


def _selection(bench: Workbench, source: Node, edge: Edge) -> list[actions.Action]:
    """Return the selected one of several outputs, for a canvas that shows one at a time."""
    template = bench.registry.template(source.type, source.params)
    several = template is not None and len(template.outputs) > 1 and template.output(edge.output) is not None
    return [actions.select_output(source.id, edge.output)] if several else []


def _values_set(stored: Params, params: Params) -> Result:
    """Return the values that were stored in another form than given."""
    mended = {name: value for name, value in stored.items() if value != params.get(name)}
    return {"set": mended} if mended else {}


def _node(flow: Flow, node_id: str) -> Node:
    """Return an existing node."""
    return next(node for node in flow.nodes if node.id == node_id)


def _ports(bench: Workbench, node_id: str) -> Result:
    node = _node(bench.flow, node_id)
    template = bench.registry.template(node.type, node.params)
    if template is None:
        return {}
    return {"inputs": [port.name for port in template.ports], "outputs": list[JsonValue](output_names(template))}
