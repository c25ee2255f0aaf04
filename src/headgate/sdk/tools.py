"""A component as a tool: what an agent, or a Map, calls."""

import asyncio
import time
from collections.abc import Mapping
from typing import Any, cast

from pydantic import JsonValue

from headgate.foundation.errors import Cancelled, HeadgateError, UpstreamFailed
from headgate.graph.names import did_you_mean, listed
from headgate.graph.ports import PortType
from headgate.graph.tool_names import tool_name
from headgate.sdk.calls import CallRequest
from headgate.sdk.coerce import encode
from headgate.sdk.component import NOT_TAKEN, Component, ComponentError
from headgate.sdk.context import RunContext
from headgate.sdk.outside import current_model_call
from headgate.sdk.values import Tool


class ToolRefused(UpstreamFailed):
    """A tool refused the same call in an earlier attempt at the step; the call is not repeated."""

    code = "tool_refused"
    title = "The tool refused the call"


def tool_of(
    component: type[Component], values: Mapping[str, Any], ctx: RunContext, *, name: str = "", description: str = ""
) -> Tool:
    """A tool that runs `component` with `values` and the caller's arguments, and answers with its main output.

    What is set on the node is not the caller's to change: an address that an author pinned, beside a header with a key,
    stays the address the key goes to. What a model that works as a tool writes is its answer to the caller, not the
    step's: it is not streamed.

    Args:
        component: The class; its fields marked `tool_mode` are the arguments.
        values: What was set on the node or came over its edges.
        ctx: The run context of the step that calls.
        name: What the caller knows it by; the snake-cased type name when empty.
        description: What it is for, in the flow author's words; the component's own description when empty.
    """
    known = name or tool_name(component.__name__)
    names = {field.name for field in component.template(values).fields if field.tool_mode}
    fixed = {field for field in names if values.get(field) not in (None, "", [], {})}

    async def call(arguments: dict[str, JsonValue]) -> JsonValue:
        _refuse_unknown(known, arguments, names - fixed, fixed)
        inner = cast("RunContext", _ToolContext(ctx))
        return await run_main_output(component, {**values, **arguments}, inner, node_id=known)

    return Tool(
        name=known,
        description=description or component.template().description,
        parameters=_open_arguments(component.tool_schema(), fixed),
        call=call,
    )


async def call_tool(
    ctx: RunContext, tool: Tool, arguments: dict[str, JsonValue], *, conversation: str | None = None
) -> JsonValue:
    """Call a tool for a step: once in all attempts, not in a cancelled run, recorded in the evidence with its duration.

    Args:
        ctx: The step's run context.
        tool: The tool to call.
        arguments: Its arguments, by name.
        conversation: Digest of the conversation in which a model requested the call. With it a refusal is stored like
            a result, and the next attempt gets the same refusal.

    Raises:
        Cancelled: The run was cancelled.
        HeadgateError: What the tool raised; `ToolRefused` for a stored refusal.
    """
    await ctx.check_cancelled()
    started = time.perf_counter()
    raised: HeadgateError | None = None

    async def call() -> JsonValue:
        nonlocal raised
        decided = current_model_call()
        try:
            outcome: dict[str, JsonValue] = {"result": await tool.call(arguments)}
        except HeadgateError as error:
            raised = error
            if conversation is None or isinstance(error, Cancelled):
                raise
            outcome = {"error": str(error)}
        return outcome | ({"outside": [*sorted(decided.marks)]} if decided is not None and decided.marks else {})

    def record(result: JsonValue, error: str = "", *, replayed: bool = False) -> None:
        ms = round((time.perf_counter() - started) * 1000, 1)
        ctx.record_tool_call(
            tool.full_name, arguments, result, server=tool.server, error=error, ms=ms, replayed=replayed
        )

    request = CallRequest.of("tool", tool.full_name, {"arguments": arguments, "conversation": conversation})
    try:
        stored = await ctx.once(request, call)
    except HeadgateError as error:
        record(None, str(error))
        raise
    except asyncio.CancelledError:
        record(None, "The run was stopped while the tool worked.")
        raise
    outcome = stored.value if isinstance(stored.value, dict) else {}
    marks = outcome.get("outside")
    if isinstance(marks, list):
        ctx.mark_outside([str(one) for one in marks])
    refusal = str(outcome.get("error") or "")
    record(outcome.get("result"), refusal, replayed=stored.replayed)
    if refusal:
        raise raised or ToolRefused(refusal)
    return outcome.get("result")


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


class _ToolContext:
    """The step's run context as its tool sees it: the tool streams nothing, and its fields hold what the step read."""

    def __init__(self, ctx: RunContext) -> None:
        self._ctx = ctx

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - every other member of the step's context
        return getattr(self._ctx, name)

    async def emit(self, token: str) -> None:
        """Send nothing."""

    def outside(self, field: str | None = None) -> tuple[str, ...]:  # noqa: ARG002 - of any field the same
        """Marks of what reached the step so far: its arguments may come from any of it."""
        return self._ctx.outside()


def _open_arguments(schema: dict[str, JsonValue], fixed: set[str]) -> dict[str, JsonValue]:
    """The arguments' schema without what the node sets."""
    properties, required = schema.get("properties"), schema.get("required")
    return schema | {
        "properties": {
            name: one for name, one in (properties if isinstance(properties, dict) else {}).items() if name not in fixed
        },
        "required": [name for name in (required if isinstance(required, list) else []) if str(name) not in fixed],
    }


def _refuse_unknown(tool: str, arguments: Mapping[str, JsonValue], known: set[str], fixed: set[str]) -> None:
    for name in arguments:
        if name in fixed:
            raise ComponentError(
                f"'{name}' of the tool {tool} is set in the flow and stays as it is.",
                remedy=f"Call it without '{name}'; empty the field in the flow to leave it to the caller.",
                field=name,
            )
        if name not in known:
            raise ComponentError(
                f"The tool {tool} has no argument '{name}'{did_you_mean(name, known) or '.'}",
                remedy=f"Its arguments are: {listed(sorted(known))}.",
                field=name,
            )
