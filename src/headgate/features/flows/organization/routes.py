"""HTTP routes of folders, tags and favourites, and of actions on several flows."""

from typing import Annotated

from fastapi import Depends, Query, Request

from headgate.features.access.caller import Caller, needs
from headgate.features.access.permissions import Permission
from headgate.features.flows.organization import bulk, service
from headgate.features.flows.organization.schemas import BulkIn, BulkOut, Collections
from headgate.foundation.api import ReadSession, Routes, WriteSession, get_database
from headgate.foundation.database import Database
from headgate.foundation.settings import Settings

router = Routes(tags=["flows"])
_VIEW, _EDIT = [needs(Permission.FLOWS_VIEW)], [needs(Permission.FLOWS_EDIT)]


@router.get("/flow-collections", "List folders and tags", _VIEW, problems=(404,))
async def collections(
    request: Request, session: ReadSession, caller: Caller, space_id: Annotated[str | None, Query(max_length=64)] = None
) -> Collections:
    """List the folders and tags of flows, with the number of flows, and count favourites and the trash."""
    settings: Settings = request.app.state.settings
    return await service.collections_of(session, caller, space_id=space_id, trash_days=settings.retention.trash_days)


@router.post("/flow-collections", "Change several flows", _EDIT, problems=(403,))
async def change_several(body: BulkIn, database: Annotated[Database, Depends(get_database)], caller: Caller) -> BulkOut:
    """Move, tag, untag, unpublish, delete or restore each of the flows. The response has one result per flow.

    Unpublishing, and deleting or restoring a published flow, needs `flows.publish` in its space.
    """
    return BulkOut(items=await bulk.change_each(database, caller, body))


@router.put("/flows/{flow_id}/favourite", "Mark as favourite", _VIEW, problems=(404,))
async def add_favourite(flow_id: str, session: WriteSession, caller: Caller) -> None:
    """Mark a flow as your favourite."""
    await service.set_favourite(session, caller, flow_id, favourite=True)


@router.delete("/flows/{flow_id}/favourite", "Remove from favourites", _VIEW, problems=(404,))
async def remove_favourite(flow_id: str, session: WriteSession, caller: Caller) -> None:
    """Remove a flow from your favourites."""
    await service.set_favourite(session, caller, flow_id, favourite=False)
