"""HTTP routes of the assistant."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Annotated, Any

from anyio import CancelScope
from fastapi import Depends, Path
from fastapi.responses import StreamingResponse

from headgate.agents.assistant.page_metrics import PageMetrics
from headgate.agents.assistant.schemas import AssistRequest, CheckConfig, Stopped
from headgate.agents.assistant.service import Assistant
from headgate.agents.assistant.turn_flow import TurnFlow
from headgate.features.access.caller import Caller, CallerAgain, needs
from headgate.features.access.permissions import Permission
from headgate.features.idempotency.http import Once, headers_of
from headgate.features.idempotency.service import StartOnce
from headgate.foundation.api import Routes, part
from headgate.foundation.sse import EventStream, SseEvent, while_allowed, with_heartbeat

router = Routes(prefix="/agentic", tags=["assistant"])


TheAssistant = Annotated[Assistant, part("assistant")]
_ASK = [needs(Permission.FLOWS_EDIT)]


async def _room(caller: Caller, assistant: TheAssistant) -> AsyncIterator[None]:
    """One of the caller's turns at once: taken before anything is answered, given back when all of the answer went."""
    with assistant.running_turns.room(caller):
        yield


_MARGIN_SECONDS = 60.0
"""Added to the longest turn: how long a key stays reserved when the process dies."""
_TURN = [*_ASK, Depends(_room, scope="request")]


@router.post(
    "/assist/stream",
    "Ask the assistant, as a stream",
    _TURN,
    problems=(404, 409),
    response_class=StreamingResponse,
    responses={200: {"content": {"text/event-stream": {}}, "description": "Server-sent events."}},
)
async def assist_stream(
    body: AssistRequest, caller: Caller, again: CallerAgain, assistant: TheAssistant, once: Once
) -> EventStream:
    """Events of the turn as they happen: progress, token, flow_update, flow_preview, file_written, run_update.

    The first is a `progress` with the turn's id; the last is `complete`, `error` or `cancelled`. Hanging up stops the
    model call. The same request with the same `Idempotency-Key` gets the `complete` event again.
    """
    stored = await once.hold(assistant.limits.max_seconds + _MARGIN_SECONDS)
    if stored is not None:
        repeated = EventStream(with_heartbeat(_repeated(stored)))
        repeated.headers.update(headers_of(once))
        return repeated
    async with once.released_on_error():
        turn_flow = await assistant.open(caller, body, again)
    return EventStream(with_heartbeat(_events(assistant, turn_flow, body, once), may_go_on=while_allowed(again)))


@router.post("/assist", "Ask the assistant", _TURN, problems=(404, 409, 502))
async def assist(
    body: AssistRequest, caller: Caller, again: CallerAgain, assistant: TheAssistant, once: Once
) -> dict[str, Any]:
    """The data of the turn's `complete` event, when the turn has ended.

    With an `Idempotency-Key` the result is stored for 24 hours. While the turn is running, the same request gets 409
    with `Retry-After`; after a turn without a result it starts the turn again.
    """
    stored = await once.hold(assistant.limits.max_seconds + _MARGIN_SECONDS)
    if stored is not None:
        return stored
    async with once.released_on_error():
        answer = await assistant.answer(await assistant.open(caller, body, again), body)
        await once.settle(answer)
    return answer


@router.post("/turns/{turn_id}/stop", "Stop a turn of the assistant", _ASK, problems=(404,))
async def stop_turn(turn_id: Annotated[str, Path(max_length=64)], caller: Caller, assistant: TheAssistant) -> Stopped:
    """Its model call is cancelled and its stream ends with `cancelled`; what is being saved is saved whole.

    Only the person who asked can stop it, from any of their clients. The turn must be worked on by this server. Of one
    that has just ended nothing changes: `stopped` is false.
    """
    caller.require_somewhere(Permission.FLOWS_EDIT)
    return Stopped(turn_id=turn_id, stopped=assistant.stop(caller, turn_id))


@router.post("/page-metrics", "Report metrics of a page", _ASK)
async def report_page_metrics(body: PageMetrics, caller: Caller, assistant: TheAssistant) -> None:
    """Count what happened in a window: clicks on proposals and plans, and how long a proposal took to draw.

    The page sends a batch every ten seconds in which something happened. It holds counts and durations alone: no text,
    flow or conversation. They are on `/metrics`, without a user's name.
    """
    caller.require_somewhere(Permission.FLOWS_EDIT)
    assistant.page.add(caller.user_id, body)


@router.get("/check-config", "List models for the assistant", _ASK)
async def check_config(caller: Caller, assistant: TheAssistant) -> CheckConfig:
    """Providers with their state; the offline builder is always there."""
    caller.require_somewhere(Permission.FLOWS_EDIT)
    return await assistant.models.check_config(caller)


async def _events(
    assistant: Assistant, turn_flow: TurnFlow, body: AssistRequest, once: StartOnce
) -> AsyncGenerator[SseEvent, None]:
    number, settled = 0, False
    try:
        async with aclosing(assistant.stream(turn_flow, body)) as events:
            async for event in events:
                number += 1
                if event["event"] == "complete":
                    await once.settle(event)
                    settled = True
                yield SseEvent(str(number), event["event"], event)
    finally:
        if not settled:
            with CancelScope(shield=True):
                await once.release()


async def _repeated(event: dict[str, Any]) -> AsyncGenerator[SseEvent, None]:
    """The last event of the turn, for a repeated request."""
    yield SseEvent("1", event["event"], event)
