"""HTTP routes of the assistant."""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Request
from fastapi.responses import StreamingResponse

from headgate.agents.assistant.desk import Desk
from headgate.agents.assistant.schemas import AssistRequest, CheckConfig, Stopped
from headgate.agents.assistant.service import Assistant
from headgate.features.access.caller import Caller, CallerAgain, needs
from headgate.features.access.permissions import Permission
from headgate.foundation.api import problems
from headgate.foundation.sse import EventStream, Told, with_heartbeat

router = APIRouter(prefix="/agentic", tags=["assistant"])


def _assistant(request: Request) -> Assistant:
    found: Assistant = request.app.state.assistant
    return found


TheAssistant = Annotated[Assistant, Depends(_assistant)]
_ASK = [needs(Permission.FLOWS_EDIT)]


async def _room(caller: Caller, assistant: TheAssistant) -> AsyncIterator[None]:
    """One of the caller's turns at once: taken before anything is answered, given back when all of the answer went."""
    with assistant.at_work.room(caller):
        yield


_TURN = [*_ASK, Depends(_room, scope="request")]


@router.post(
    "/assist/stream",
    summary="Ask the assistant, as a stream",
    response_class=StreamingResponse,
    responses=problems(404) | {200: {"content": {"text/event-stream": {}}, "description": "Server-sent events."}},
    dependencies=_TURN,
)
async def assist_stream(
    body: AssistRequest, caller: Caller, again: CallerAgain, assistant: TheAssistant
) -> EventStream:
    """Events of the turn as they happen: progress, token, flow_update, flow_preview, file_written, run_update.

    The first is a `progress` with the turn's id; the last is `complete`, `error` or `cancelled`. Hanging up stops the
    model call.
    """
    desk = await assistant.open(caller, body, again)
    return EventStream(with_heartbeat(_told(assistant, desk, body)))


@router.post("/assist", summary="Ask the assistant", responses=problems(404, 502), dependencies=_TURN)
async def assist(body: AssistRequest, caller: Caller, again: CallerAgain, assistant: TheAssistant) -> dict[str, Any]:
    """The data of the turn's `complete` event, when the turn has ended."""
    return await assistant.answer(await assistant.open(caller, body, again), body)


@router.post(
    "/turns/{turn_id}/stop",
    summary="Stop a turn of the assistant",
    responses=problems(404),
    dependencies=_ASK,
)
async def stop_turn(turn_id: Annotated[str, Path(max_length=64)], caller: Caller, assistant: TheAssistant) -> Stopped:
    """Its model call is cancelled and its stream ends with `cancelled`; what is being saved is saved whole.

    Only the person who asked can stop it, from any of their clients. The turn must be worked on by this server.
    """
    caller.require_somewhere(Permission.FLOWS_EDIT)
    assistant.stop(caller, turn_id)
    return Stopped(turn_id=turn_id)


@router.get("/check-config", summary="Which models the assistant can use", responses=problems(), dependencies=_ASK)
async def check_config(caller: Caller, assistant: TheAssistant) -> CheckConfig:
    """Providers with their state; the offline builder is always there."""
    caller.require_somewhere(Permission.FLOWS_EDIT)
    return await assistant.models.check_config(caller)


async def _told(assistant: Assistant, desk: Desk, body: AssistRequest) -> AsyncGenerator[Told, None]:
    number = 0
    async with aclosing(assistant.stream(desk, body)) as events:
        async for event in events:
            number += 1
            yield Told(str(number), event["event"], event)
