"""HTTP routes of the development agent's sessions."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import partial
from typing import Annotated, Any

from fastapi import Depends, Header, Path, Query, Request, Response
from fastapi.responses import StreamingResponse

from headgate.agents.codev.schemas import (
    CredentialGiven,
    Domains,
    Resume,
    Retry,
    RollbackAnswer,
    RollbackPreview,
    SessionEvidence,
    SessionPage,
    SessionResponse,
    SessionStart,
    SessionSummary,
    Status,
)
from headgate.agents.codev.sessions.service import Sessions
from headgate.features.access.caller import Caller, CallerAgain, needs
from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal, bringing
from headgate.features.accounts.addresses import address_of, counted
from headgate.features.idempotency.http import Once, headers_of
from headgate.features.idempotency.keys import StartKey
from headgate.foundation.api import Cursor, Limit, Routes, parse_cursor, part
from headgate.foundation.sse import EventStream, SseEvent, while_allowed, with_heartbeat

router = Routes(prefix="/codev", tags=["development agent"])


TheSessions = Annotated[Sessions, part("codev")]
SessionId = Annotated[str, Path(max_length=36)]
Wait = Annotated[bool, Query(description="Respond when the session first pauses; disconnecting does not stop it.")]
MOST_EVENTS = 2**31 - 1
"""The largest number that an event can have."""
_EDIT = [needs(Permission.FLOWS_EDIT)]
_VIEW = [needs(Permission.FLOWS_VIEW)]
_EVENTS: dict[int | str, dict[str, Any]] = {
    200: {"content": {"text/event-stream": {}}, "description": "Server-sent events."}
}


async def _editor(caller: Caller) -> Principal:
    """Return what an editor may see, independent of the API key's other scopes."""
    return bringing(caller, Permission.FLOWS_VIEW)


Editor = Annotated[Principal, Depends(_editor)]


@router.get("/domains", "List what sessions can work on", _VIEW)
async def list_domains(sessions: TheSessions, caller: Caller) -> Domains:
    """The kinds of places, and the servers of each."""
    return await sessions.list_domains(caller)


async def _begin(body: SessionStart, request: Request, sessions: TheSessions, caller: Editor, once: Once) -> str:
    """Start a session, or find the one that the same request has started. Returns its id."""

    async def start(key: StartKey | None) -> str:
        return (await sessions.start(caller, body, address=counted(address_of(request)), once=key)).thread_id

    return await once.begin(start, may_read=partial(sessions.get, caller))


Begun = Annotated[str, Depends(_begin)]


@router.post("/sessions", "Start a session", _EDIT, status_code=201, problems=(404, 409, 429))
async def start(begun: Begun, sessions: TheSessions, caller: Editor, *, wait: Wait = True) -> SessionResponse:
    """Start a development session; responds when it first waits for a user or is over."""
    return await sessions.wait(caller, begun) if wait else await sessions.get(caller, begun)


@router.post(
    "/sessions/stream",
    "Start a session, as a stream",
    _EDIT,
    problems=(404, 409, 429),
    response_class=StreamingResponse,
    responses=_EVENTS,
)
async def start_stream(
    begun: Begun, sessions: TheSessions, caller: Editor, again: CallerAgain, once: Once
) -> EventStream:
    """Start a session and follow it until it first pauses.

    `X-Session-Id` identifies it. Disconnecting stops nothing.
    """
    stream = _stream(sessions, caller, again, begun, after=0)
    stream.headers.update(headers_of(once))
    return stream


@router.get("/sessions", "List sessions", _VIEW)
async def list_(
    sessions: TheSessions, caller: Caller, cursor: Cursor = None, limit: Limit = 50, status: Status | None = None
) -> SessionPage:
    """List sessions of your spaces, newest first, without their state."""
    return await sessions.list(caller, before=parse_cursor(cursor), limit=limit, status=status)


@router.get("/sessions/{session_id}", "Read a session", _VIEW, problems=(404,))
async def read(session_id: SessionId, sessions: TheSessions, caller: Caller) -> SessionResponse:
    """Return the current state of a session, without continuing it."""
    return await sessions.get(caller, session_id)


@router.delete("/sessions/{session_id}", "Delete a session", _EDIT, problems=(404, 409))
async def delete(session_id: SessionId, sessions: TheSessions, caller: Editor) -> None:
    """Delete a session permanently. Its changes are kept and can no longer be rolled back."""
    await sessions.delete(caller, session_id)


@router.post("/sessions/{session_id}/resume", "Answer a session", _EDIT, problems=(404, 409))
async def resume(
    session_id: SessionId, body: Resume, sessions: TheSessions, caller: Editor, *, wait: Wait = True
) -> SessionResponse:
    """Answer a session's question; responds when it pauses again. Repeating the same answer has no effect."""
    response = await sessions.resume(caller, session_id, body)
    return await sessions.wait(caller, session_id) if wait else response


@router.post(
    "/sessions/{session_id}/stream",
    "Answer a session, as a stream",
    _EDIT,
    problems=(404, 409),
    response_class=StreamingResponse,
    responses=_EVENTS,
)
async def resume_stream(
    session_id: SessionId, body: Resume, sessions: TheSessions, caller: Editor, again: CallerAgain
) -> EventStream:
    """Answer a session's question and follow it until it pauses again. Disconnecting stops nothing."""
    number = await sessions.check(caller, session_id, Permission.FLOWS_EDIT)  # before: it may rest again at once
    await sessions.resume(caller, session_id, body)
    return _stream(sessions, caller, again, session_id, after=number)


@router.get(
    "/sessions/{session_id}/events",
    "Follow a session",
    _VIEW,
    problems=(404,),
    response_class=StreamingResponse,
    responses=_EVENTS,
)
async def events(
    session_id: SessionId,
    sessions: TheSessions,
    caller: Caller,
    again: CallerAgain,
    last_event_id: Annotated[str, Header(max_length=20)] = "",
) -> EventStream:
    """Stream all past and then new events, until the session pauses. `Last-Event-ID` resumes after a number."""
    await sessions.check(caller, session_id, Permission.FLOWS_VIEW)
    number = last_event_id.strip()
    after = min(int(number), MOST_EVENTS) if number.isascii() and number.isdigit() else 0
    return _stream(sessions, caller, again, session_id, after=after, permission=Permission.FLOWS_VIEW)


@router.get("/sessions/{session_id}/summary", "Summary of a session", _VIEW, problems=(404,))
async def summary(session_id: SessionId, sessions: TheSessions, caller: Caller) -> SessionSummary:
    """Return the session as a Markdown document: requirement, plan, approvals, writes and tests."""
    return await sessions.summary(caller, session_id)


@router.get(
    "/sessions/{session_id}/evidence",
    "Read the signed record of a session",
    _VIEW,
    problems=(404,),
    response_class=Response,
    responses={200: {"model": SessionEvidence, "content": {"application/json": {}}}},
)
async def evidence(session_id: SessionId, sessions: TheSessions, caller: Caller) -> Response:
    """Return the session's record: everything that happened, with users and times; chained and signed.

    The same session gives the same bytes each time. `headgate evidence verify FILE` checks them without a server.
    """
    return Response(await sessions.evidence(caller, session_id), media_type="application/json")


@router.get("/sessions/{session_id}/rollback", "Preview a rollback", _EDIT, problems=(404, 502))
async def preview_rollback(session_id: SessionId, sessions: TheSessions, caller: Editor) -> RollbackPreview:
    """Preview a rollback, flow by flow, with changes by others. Changes nothing."""
    return await sessions.preview_rollback(caller, session_id)


@router.post("/sessions/{session_id}/rollback", "Roll back the changes of a session", _EDIT, problems=(404, 409, 502))
async def rollback(
    session_id: SessionId, sessions: TheSessions, caller: Editor, body: RollbackAnswer | None = None
) -> SessionResponse:
    """Restore every flow to its state before the session, or change nothing.

    Refused with 409 where somebody else changed a flow meanwhile, until `choice` answers the preview that shows it.
    """
    return await sessions.rollback(caller, session_id, body)


@router.post("/sessions/{session_id}/stop", "Stop a session", _EDIT, problems=(404,))
async def stop(session_id: SessionId, sessions: TheSessions, caller: Editor) -> SessionResponse:
    """Stop between two steps: a model call is cancelled, a write is completed. Has no effect on an ended session."""
    return await sessions.stop(caller, session_id)


@router.post("/sessions/{session_id}/retry", "Continue a session", _EDIT, problems=(404, 409))
async def retry(
    session_id: SessionId, sessions: TheSessions, caller: Editor, body: Retry | None = None, *, wait: Wait = True
) -> SessionResponse:
    """A session that failed, or was stopped by hand, continues from its last step, with another model where named."""
    session = await sessions.retry(caller, session_id, body)
    return await sessions.wait(caller, session_id) if wait else session


@router.post(
    "/sessions/{session_id}/credentials",
    "Add a credential to a session",
    [needs(Permission.VARIABLES_MANAGE)],
    problems=(404, 502),
)
async def add_credential(
    session_id: SessionId, body: CredentialGiven, sessions: TheSessions, caller: Caller
) -> SessionResponse:
    """Create a credential on the session's platform. Its values are not stored anywhere else."""
    return await sessions.add_credential(caller, session_id, body.type, body.name, body.values)


def _stream(
    sessions: Sessions,
    caller: Principal,
    again: CallerAgain,
    session_id: str,
    *,
    after: int,
    permission: Permission = Permission.FLOWS_EDIT,
) -> EventStream:
    async def check() -> None:
        await sessions.check(await again(), session_id, permission)

    pieces = _server_events(sessions, caller, session_id, after)
    stream = EventStream(with_heartbeat(pieces, may_go_on=while_allowed(check)))
    stream.headers["X-Session-Id"] = session_id
    return stream


async def _server_events(
    sessions: Sessions, caller: Principal, session_id: str, after: int
) -> AsyncGenerator[SseEvent, None]:
    async with aclosing(sessions.follow(caller, session_id, after)) as heard:
        async for number, kind, data in heard:
            yield SseEvent(str(number), kind, data)
