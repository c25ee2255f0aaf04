"""The HTTP route of the list of flows."""

from typing import Annotated

from fastapi import Query, Request

from headgate.features.access.caller import Caller, needs
from headgate.features.access.permissions import Permission
from headgate.features.flows.organization.filters import FlowFilter
from headgate.features.flows.organization.names import LONGEST_TAG, Folder
from headgate.features.runs.listing import service
from headgate.features.runs.listing.schemas import FlowItem, SortKey
from headgate.foundation.api import Limit, Page, ReadSession, Routes

router = Routes(tags=["flows"])


@router.get("/flows", "List flows", [needs(Permission.FLOWS_VIEW)], problems=(404,))
async def list_(
    request: Request,
    session: ReadSession,
    caller: Caller,
    *,
    limit: Limit = 50,
    cursor: Annotated[str | None, Query(max_length=2000, description="`next_cursor` of the previous page.")] = None,
    space_id: str | None = None,
    search: Annotated[str, Query(max_length=200)] = "",
    sort: Annotated[
        SortKey, Query(description="Sort order: newest first, last changed first, or by name.")
    ] = "created",
    folder: Annotated[Folder, Query(description="Flows in this folder and below it; empty: all.")] = "",
    tag: Annotated[str, Query(max_length=LONGEST_TAG)] = "",
    favourites: Annotated[bool, Query(description="Only your favourites.")] = False,
    trashed: Annotated[bool, Query(description="The flows in the trash instead of the others.")] = False,
) -> Page[FlowItem]:
    """List flows without their drafts, each with its newest run. A cursor is valid for the `sort` it was issued for."""
    flow_filter = FlowFilter(folder, tag.lower(), caller.user_id if favourites else None, trashed)
    items, following = await service.list_flows(
        session,
        caller,
        request.app.state.rules,
        space_id=space_id,
        search=search,
        flow_filter=flow_filter,
        sort=sort,
        limit=limit,
        cursor=cursor,
    )
    return Page(items=items, next_cursor=following)
