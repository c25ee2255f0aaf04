"""HTTP routes of the attention list."""

from typing import Annotated

from fastapi import APIRouter, Query

from headgate.features.access.caller import Caller, needs
from headgate.features.access.permissions import Permission
from headgate.features.attention.schemas import AttentionOut, DismissIn
from headgate.features.attention.service import list_attention, set_dismissed
from headgate.foundation.api import ReadSession, WriteSession, problems

router = APIRouter(prefix="/attention", tags=["runs"])
VIEW = needs(Permission.RUNS_VIEW)


@router.get("", summary="List what needs a human", responses=problems(), dependencies=[VIEW])
async def read(
    session: ReadSession,
    caller: Caller,
    *,
    space_id: Annotated[str | None, Query(max_length=36, description="Only items of this space.")] = None,
    dismissed: Annotated[bool, Query(description="Also items that you have dismissed.")] = False,
) -> AttentionOut:
    """List failed and queued runs, failed deliveries, stopped triggers, broken connections, approvals and alerts.

    Runs that fail alike are one item. Only what you may view is listed.
    """
    return await list_attention(session, caller, dismissed=dismissed, space_id=space_id)


@router.put("/dismissed", summary="Dismiss an item", responses=problems(404), dependencies=[VIEW])
async def dismiss(body: DismissIn, session: WriteSession, caller: Caller) -> AttentionOut:
    """Hide an item for yourself until it happens again, or show it again."""
    return await set_dismissed(session, caller, body.key, dismissed=body.dismissed)
