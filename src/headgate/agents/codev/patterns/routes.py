"""HTTP routes of patterns."""

from typing import Annotated

from fastapi import Query

from headgate.agents.codev.patterns import service
from headgate.agents.codev.patterns.schemas import PatternDetail, PatternOut, pattern_detail, pattern_out
from headgate.features.access.caller import Caller, needs
from headgate.features.access.permissions import Permission
from headgate.foundation.api import Cursor, Limit, Page, ReadSession, Routes, WriteSession, page_of, parse_cursor
from headgate.graph.json_values import PlainText

router = Routes(prefix="/codev/patterns", tags=["development agent"])
VIEW, EDIT = needs(Permission.FLOWS_VIEW), needs(Permission.FLOWS_EDIT)


@router.get("", "Search or list patterns", [VIEW], problems=(404,))
async def list_(
    session: ReadSession,
    caller: Caller,
    q: Annotated[PlainText, Query(max_length=1000, description="Words; the best matches first, on one page.")] = "",
    domain: Annotated[PlainText, Query(max_length=40, description="`headgate` or `flowise`; none: both.")] = "",
    space_id: str | None = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Page[PatternOut]:
    """List flows that sessions completed, in your spaces; without words the newest first."""
    if q.strip():
        rows = await service.search_patterns(session, caller, q, domain=domain, space_id=space_id, limit=limit)
        return Page(items=[pattern_out(row) for row in rows])
    rows = await service.list_patterns(
        session, caller, domain=domain, space_id=space_id, limit=limit + 1, after=parse_cursor(cursor)
    )
    page, following = page_of(rows, limit, "id")
    return Page(items=[pattern_out(row) for row in page], next_cursor=following)


@router.get("/{pattern_id}", "Read a pattern", [VIEW], problems=(404,))
async def read(pattern_id: str, session: ReadSession, caller: Caller) -> PatternDetail:
    """Return its recipe, without secrets."""
    return pattern_detail(await service.get_pattern(session, caller, pattern_id))


@router.delete("/{pattern_id}", "Delete a pattern", [EDIT], problems=(403, 404))
async def delete(pattern_id: str, session: WriteSession, caller: Caller) -> None:
    """Delete it: later sessions no longer find it; flows are unchanged."""
    await service.delete_pattern(session, caller, pattern_id)
