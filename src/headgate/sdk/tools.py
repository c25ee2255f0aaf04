"""Components as tools: called by an agent or a Map."""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from pydantic import JsonValue

from headgate.foundation.errors import Cancelled, Forbidden, HeadgateError, UpstreamFailed
from headgate.graph.names import did_you_mean, listed
from headgate.graph.ports import PortType
from headgate.graph.tool_names import tool_name
from headgate.sdk.approvals import ApprovalRequest, parse_edit
from headgate.sdk.calls import CallRequest
from headgate.sdk.coerce import encode
from headgate.sdk.component import NOT_TAKEN, Component, ComponentError
from headgate.sdk.context import RunContext
from headgate.sdk.outside import current_model_call
from headgate.sdk.values import Tool


class CallRejected(Forbidden):
    """The users who were asked did not approve the call of a tool."""

    code = "tool_call_rejected"
    title = "Call not approved"


class ToolRefused(UpstreamFailed):
    """A tool refused the same call in an earlier attempt at the step; the call is not repeated."""

    code = "tool_refused"
    title = "Call rejected by the tool"

    def __init__(self, detail: str, *, remedy: str = "", refusal: str = "") -> None:
        super().__init__(detail, remedy=remedy)
        self.refusal = refusal or self.code
        """Code of the error with which the tool refused the call."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a step makes one of many calls: an item of a list, and the attempt at it."""

    name: str
    attempt: int = 1
    """Attempts at a place have the same idempotency keys."""
    stored: bool = True
    """Whether a refusal is stored like a result."""


def tool_of(
    component: type[Component], values: Mapping[str, Any], ctx: RunContext, *, name: str = "", description: str = ""
) -> Tool:
    """Return a tool that runs `component` with `values` and the caller's arguments, and returns its main output.

    The caller cannot change values set on the node: a URL that an author fixed, next to a header with a key, stays the
    URL that receives the key. The output of a model used as a tool goes to the caller, not to the step: it is not
    streamed.

    Args:
        component: The class; its fields marked `tool_mode` are the arguments.
        values: Values set on the node or received over its edges.
        ctx: The run context of the calling step.
        name: The tool's name for the caller; the snake-cased type name when empty.
        description: Its purpose, as described by the flow's author; the component's description when empty.
    """
    tool_id = name or tool_name(component.__name__)
    names = {field.name for field in component.template(values).fields if field.tool_mode}
    fixed = {field for field in names if values.get(field) not in (None, "", [], {})}

    async def call(arguments: dict[str, JsonValue]) -> JsonValue:
        _refuse_unknown(tool_id, arguments, names - fixed, fixed)
        inner = cast("RunContext", _ToolContext(ctx))
        return await run_main_output(component, {**values, **arguments}, inner, node_id=tool_id)

    return Tool(
        name=tool_id,
        description=description or component.template().description,
        parameters=_open_arguments(component.tool_schema(), fixed),
        call=call,
    )


async def call_tool(
    ctx: RunContext,
    tool: Tool,
    arguments: dict[str, JsonValue],
    *,
    conversation: str | None = None,
    place: Place | None = None,
) -> JsonValue:
    """Call a tool for a step: once across attempts, not in a cancelled run, recorded in the evidence with its duration.

    Args:
        ctx: The step's run context.
        tool: The tool to call.
        arguments: Its arguments, by name.
        conversation: Digest of the conversation in which a model requested the call. With it a refusal is stored like
            a result, and the next attempt gets the same refusal.
        place: Where a step that processes items makes the call; it decides whether a refusal is stored.

    Raises:
        Cancelled: The run was cancelled.
        HeadgateError: The tool's error; `ToolRefused` for a stored refusal, `CallRejected` of the users who decide.
        StepWaits: Until they have decided.
    """
    await ctx.check_cancelled()
    started = time.perf_counter()
    raised: HeadgateError | None = None
    stores = conversation is not None if place is None else place.stored

    async def call() -> JsonValue:
        nonlocal raised
        decided = current_model_call()
        sent = arguments
        try:
            sent = await _approved(ctx, tool, arguments)
            outcome: dict[str, JsonValue] = {"result": await tool.call(sent)}
        except HeadgateError as error:
            raised = error
            if not stores or isinstance(error, Cancelled):
                raise
            outcome = {"error": error.detail, "remedy": error.remedy, "code": error.code}
        outcome |= {"sent": sent} if sent != arguments else {}
        return outcome | ({"outside": [*sorted(decided.marks)]} if decided is not None and decided.marks else {})

    def record(result: JsonValue, error: str = "", *, sent: JsonValue = None, replayed: bool = False) -> None:
        sent_arguments = sent if isinstance(sent, dict) else arguments
        ms = round((time.perf_counter() - started) * 1000, 1)
        ctx.record_tool_call(
            tool.full_name, sent_arguments, result, server=tool.server, error=error, ms=ms, replayed=replayed
        )

    sought: dict[str, JsonValue] = {"arguments": arguments, "conversation": conversation}
    if place is not None:
        sought |= {"place": place.name, "attempt": place.attempt}
    request = CallRequest.of("tool", tool.full_name, sought, scope="" if place is None else place.name)
    try:
        stored = await ctx.once(request, call)
    except HeadgateError as error:
        record(None, str(error))
        raise
    except asyncio.CancelledError:
        record(None, "The run was cancelled while the tool was running.")
        raise
    outcome = stored.value if isinstance(stored.value, dict) else {}
    marks = outcome.get("outside")
    if isinstance(marks, list):
        ctx.mark_outside([str(mark) for mark in marks])
    refused = _refusal(outcome)
    refusal = "" if refused is None else str(refused)
    record(outcome.get("result"), refusal, sent=outcome.get("sent"), replayed=stored.replayed)
    if refused is not None:
        raise raised or refused
    return outcome.get("result")


def _refusal(outcome: Mapping[str, JsonValue]) -> ToolRefused | None:
    """Return the refusal in the stored outcome of a call."""
    detail, remedy, code = (str(outcome.get(member) or "") for member in ("error", "remedy", "code"))
    return ToolRefused(detail, remedy=remedy, refusal=code) if detail else None


async def _approved(ctx: RunContext, tool: Tool, arguments: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """Return the arguments as users approved them, where the tool needs that.

    Raises `StepWaits` until they have decided, `CallRejected`.
    """
    approval = tool.approval
    if approval is None:
        return arguments
    answer = await ctx.approval(
        ApprovalRequest(
            question=f"Allow the call of '{tool.full_name}'?",
            value=arguments,
            assignees=approval.assignees,
            needed=approval.needed,
            not_starter=approval.not_starter,
            editable=("*",) if approval.editable else (),
            timeout_seconds=None if approval.timeout_hours is None else approval.timeout_hours * 3600,
            tool=tool.full_name,
        )
    )
    if answer.outcome == "approve":
        return {**arguments, **{name: parse_edit(arguments.get(name), str(new)) for name, new in answer.edits.items()}}
    if answer.outcome == "timeout":
        raise CallRejected("Nobody approved the call in time. It was not made.")
    comment = f" Their comment: {answer.comment}" if answer.comment else ""
    raise CallRejected(f"The call was not made: {', '.join(answer.decided_by)} rejected it.{comment}")


async def run_main_output(
    component: type[Component], values: Mapping[str, Any], ctx: RunContext, *, node_id: str = ""
) -> JsonValue:
    """Run a component once and return its main output as JSON; null when a branch was not taken."""
    template = component.template(values)
    extra = {field.name for field in component.extra_fields(values)}
    step = component.create({key: value for key, value in values.items() if key not in extra}, node_id=node_id)
    step.receive_extra({key: value for key, value in values.items() if key in extra})
    step.attach(ctx)
    main = template.main_output
    if main is None:
        raise ComponentError(f"{template.type} has no output with data.")
    result = await step.produce(main.name)
    return None if result is NOT_TAKEN else encode(result, PortType(main.type))


class _ToolContext:
    """The step's run context for its tool: the tool streams nothing, and its fields carry the step's marks."""

    def __init__(self, ctx: RunContext) -> None:
        self._ctx = ctx

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - every other member of the step's context
        return getattr(self._ctx, name)

    async def emit(self, token: str) -> None:
        """Send nothing."""

    def outside(self, field: str | None = None) -> tuple[str, ...]:  # noqa: ARG002 - of any field the same
        """Return marks of everything that reached the step so far: its arguments may be derived from any of it."""
        return self._ctx.outside()


def _open_arguments(schema: dict[str, JsonValue], fixed: set[str]) -> dict[str, JsonValue]:
    """Return the arguments' schema without the values that the node sets."""
    properties, required = schema.get("properties"), schema.get("required")
    return schema | {
        "properties": {
            name: schema
            for name, schema in (properties if isinstance(properties, dict) else {}).items()
            if name not in fixed
        },
        "required": [name for name in (required if isinstance(required, list) else []) if str(name) not in fixed],
    }


def _refuse_unknown(tool: str, arguments: Mapping[str, JsonValue], known: set[str], fixed: set[str]) -> None:
    for name in arguments:
        if name in fixed:
            raise ComponentError(
                f"'{name}' of the tool {tool} is set in the flow and cannot be changed by a call.",
                remedy=f"Call it without '{name}'; clear the field in the flow to make it an argument.",
                field=name,
            )
        if name not in known:
            raise ComponentError(
                f"The tool {tool} has no argument '{name}'{did_you_mean(name, known) or '.'}",
                remedy=f"Its arguments are: {listed(sorted(known))}.",
                field=name,
            )
