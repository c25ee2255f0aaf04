"""Tools for the other parts of a flow: name, form, settings, frames."""

from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, Field, JsonValue, ValidationError, WithJsonSchema

from headgate.graph import edits
from headgate.graph.frames import framed
from headgate.graph.geometry import GROUP_TYPE, boxes
from headgate.graph.model import Flow, FormField
from headgate.toolkit import actions
from headgate.toolkit.reading import node_of
from headgate.toolkit.tool import Params, Result, ToolRefused
from headgate.toolkit.workbench import Workbench

_OBJECTS = {"type": "array", "items": {"type": "object"}}
Value = TypeVar("Value", bound=BaseModel)
Questions = Annotated[list[FormField] | None, WithJsonSchema(_OBJECTS)]
NodeIds = Annotated[list[str], Field(min_length=1, max_length=500)]
_SAME = "Nothing changed: the flow already has these values."


async def edit_flow(
    bench: Workbench,
    name: str = "",
    description: str = "",
    form: Questions = None,
    settings: Params = {},  # noqa: B006 - read by `define`, never changed
) -> Result:
    """Set the flow's name, description, form or settings; omitted ones stay.

    Args:
        name: New name.
        description: Its purpose.
        form: The complete form; [] removes it. Each {id, label, type, required, private, options}, more: read_grammar.
        settings: Setting to value, null resets it.
    """
    given: dict[str, Any] = {"name": name, "description": description}
    members = {key: value for key, value in given.items() if value}
    if form is not None:
        members["form"] = tuple(form)
    if settings:
        members["settings"] = with_members(bench.flow.settings, settings, "settings")
    flow = _made(bench.flow, members)
    if flow == bench.flow:
        return {"ok": True, "note": _SAME}
    return _changed(bench, flow)


async def group_components(
    bench: Workbench,
    node_ids: NodeIds,
    title: str = "",
    group_id: str = "",
) -> Result:
    """Draw a titled frame, a Group, around nodes.

    Args:
        node_ids: The nodes.
        title: Their common purpose.
        group_id: An existing frame to redraw.
    """
    members = {node_of(bench, node_id).id for node_id in node_ids}
    flow = bench.flow
    if group_id:
        _require_group(bench, group_id)
    else:
        flow = edits.add_node(flow, GROUP_TYPE, bench.registry).flow
        group_id = flow.nodes[-1].id
    inside = [box for node, box in zip(flow.nodes, boxes(flow, bench.registry), strict=True) if node.id in members]
    values: dict[str, JsonValue] = {"title": title} if title else {}
    flow = edits.configure(flow, group_id, values, bench.registry).flow
    nodes = tuple(framed(node, inside) if node.id == group_id else node for node in flow.nodes)
    return {"node_id": group_id, **_changed(bench, flow.model_copy(update={"nodes": nodes}))}


def with_members(before: Value, changes: Params, what: str) -> Value:
    """Return a model with some members set, and null ones reset to their default. Raises `ToolRefused`."""
    model = type(before)
    unknown = [name for name in changes if name not in model.model_fields]
    if unknown:
        raise ToolRefused(
            f"'{unknown[0][:80]}' does not exist in {what}.",
            remedy=f"The fields are {', '.join(model.model_fields)}; read_grammar('{what}') explains them.",
        )
    unchanged = {name: value for name, value in before.model_dump(mode="json").items() if name not in changes}
    try:
        return model.model_validate(unchanged | {name: value for name, value in changes.items() if value is not None})
    except ValidationError as error:
        raise _refused(what, error) from error


def _made(before: Flow, members: dict[str, Any]) -> Flow:
    ids = [field.id for field in members.get("form", ())]
    twice = next((field_id for field_id in ids if ids.count(field_id) > 1), None)
    if twice is not None:
        raise ToolRefused(
            f"The form has two questions with the id '{twice}'.", remedy="Give each question a unique id."
        )
    current = {name: getattr(before, name) for name in Flow.model_fields}
    try:
        return Flow.model_validate(current | members)
    except ValidationError as error:
        raise _refused("edit_flow", error) from error


def _refused(what: str, error: ValidationError) -> ToolRefused:
    faults = [f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors(include_url=False)]
    return ToolRefused(f"{what}: {'; '.join(faults)}.", remedy="Correct the values; read_grammar explains them.")


def _require_group(bench: Workbench, group_id: str) -> None:
    node = node_of(bench, group_id)
    if node.type != GROUP_TYPE:
        raise ToolRefused(
            f"'{group_id}' is not a frame but a {node.type}.", remedy=("Leave group_id empty to create a new frame.")
        )


def _changed(bench: Workbench, flow: Flow) -> Result:
    bench.change(flow, actions.set_flow(flow, applies=not bench.pending))
    last = next(action for action in reversed(bench.actions) if "diff" in action)
    return {"ok": True, "changes": last["diff"]}
