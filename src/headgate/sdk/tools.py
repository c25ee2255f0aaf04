"""A component as a tool: what an agent, or a Map, calls."""

from collections.abc import Mapping
from typing import Any

from pydantic import JsonValue

from headgate.graph.names import did_you_mean, listed
from headgate.graph.ports import PortType
from headgate.sdk.coerce import encode
from headgate.sdk.component import NOT_TAKEN, Component, ComponentError, tool_name
from headgate.sdk.context import RunContext
from headgate.sdk.values import Tool


def tool_of(
    component: type[Component], values: Mapping[str, Any], ctx: RunContext, *, name: str = "", description: str = ""
) -> Tool:
    """A tool that runs `component` with `values`, the caller's arguments on top, and answers with its main output.

    Args:
        component: The class; its fields marked `tool_mode` are the arguments.
        values: What was set on the node or came over its edges.
        ctx: The run context of the step that calls.
        name: What the caller knows it by; the snake-cased type name when empty.
        description: What it is for, in the flow author's words; the component's own description when empty.
    """
    known = name or tool_name(component.__name__)
    schema = component.tool_schema()

    async def call(arguments: dict[str, JsonValue]) -> JsonValue:
        _refuse_unknown(known, arguments, schema)
        return await run_main_output(component, {**values, **arguments}, ctx, node_id=known)

    return Tool(
        name=known,
        description=description or component.template().description,
        parameters=_optional_when_set(schema, values),
        call=call,
    )


async def run_main_output(
    component: type[Component], values: Mapping[str, Any], ctx: RunContext, *, node_id: str = ""
) -> JsonValue:
    """Run a component once and give its main output as JSON; null when a branch was not taken."""
    template = component.template(values)
    extra = {field.name for field in component.extra_fields(values)}
    step = component.create({key: value for key, value in values.items() if key not in extra}, node_id=node_id)
    step.receive_extra({key: value for key, value in values.items() if key in extra})
    step.attach(ctx)
    main = template.main_output
    if main is None:
        raise ComponentError(f"{template.type} has no output that carries data.")
    result = await step.produce(main.name)
    return None if result is NOT_TAKEN else encode(result, PortType(main.type))


def _optional_when_set(schema: dict[str, JsonValue], values: Mapping[str, Any]) -> dict[str, JsonValue]:
    """The arguments' schema; what the node already has a value for need not be given."""
    required = schema.get("required")
    names = required if isinstance(required, list) else []
    return schema | {"required": [name for name in names if values.get(str(name)) in (None, "", [], {})]}


def _refuse_unknown(tool: str, arguments: Mapping[str, JsonValue], schema: Mapping[str, JsonValue]) -> None:
    properties = schema.get("properties")
    known = list(properties) if isinstance(properties, dict) else []
    for name in arguments:
        if name not in known:
            raise ComponentError(
                f"The tool {tool} has no argument '{name}'{did_you_mean(name, known)}",
                remedy=f"Its arguments are: {listed(known)}.",
                field=name,
            )
