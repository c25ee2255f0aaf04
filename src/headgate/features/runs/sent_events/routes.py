"""HTTP routes of sent events."""

from typing import Annotated

from fastapi import Query

from headgate.features.access.caller import Caller, needs
from headgate.features.access.permissions import Permission
from headgate.features.runs.sent_events import service
from headgate.features.runs.sent_events.schemas import EventIn, EventWaitOut, SentEventOut
from headgate.features.runs.sent_events.topic import LONGEST_NAME
from headgate.foundation.api import (
    Cursor,
    Limit,
    Page,
    ReadSession,
    Routes,
    WriteSession,
    page_of,
    parse_cursor,
    part,
)
from headgate.foundation.crypto import SecretBox

router = Routes(prefix="/events", tags=["events"])
_VIEW = [needs(Permission.RUNS_VIEW)]


Box = Annotated[SecretBox, part("box")]


@router.post("", "Send an event", [needs(Permission.RUNS_START)], status_code=201, problems=(403, 404, 409, 413))
async def send(body: EventIn, session: WriteSession, caller: Caller, box: Box) -> SentEventOut:
    """Send an event to the steps of a space that wait for it. Without one it is kept for its declared time."""
    return await service.send_event(session, caller, body, box=box)


@router.get("", "List sent events", _VIEW)
async def list_(
    session: ReadSession,
    caller: Caller,
    *,
    limit: Limit = 50,
    cursor: Cursor = None,
    name: Annotated[str | None, Query(max_length=LONGEST_NAME, description="Only events with this name.")] = None,
    kept_only: Annotated[bool, Query(description="Only events that a step which begins to wait receives.")] = False,
) -> Page[SentEventOut]:
    """List the events of the spaces that you can view, newest first, without their data."""
    before = parse_cursor(cursor)
    rows = await service.list_events(session, caller, name=name, kept_only=kept_only, limit=limit + 1, before=before)
    page, following = page_of(rows, limit, "id")
    return Page(items=page, next_cursor=following)


@router.get("/waiting", "List steps that wait for events", _VIEW, problems=(404,))
async def list_waiting(
    session: ReadSession,
    caller: Caller,
    run_id: Annotated[str | None, Query(max_length=36, description="Only steps of this run.")] = None,
    name: Annotated[str | None, Query(max_length=LONGEST_NAME, description="Only events with this name.")] = None,
) -> Page[EventWaitOut]:
    """List steps that wait for an event, the latest first."""
    return Page(items=list(await service.list_waiting(session, caller, run_id=run_id, name=name)))
