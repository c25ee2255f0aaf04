"""HTTP routes of accounts."""

from fastapi import APIRouter

from headgate.features.access.caller import Caller
from headgate.features.accounts import service
from headgate.features.accounts.schemas import Me, SpaceIn, SpaceOut
from headgate.foundation.api import Cursor, Limit, Page, ReadSession, WriteSession, page_of, parse_cursor, problems

router = APIRouter(tags=["accounts"])


@router.get("/me", summary="Who is asking", responses=problems(404))
async def me(session: ReadSession, caller: Caller) -> Me:
    """Tenant, user and default space of the caller."""
    return Me.model_validate(await service.get_account(session, caller))


@router.get("/spaces", summary="List spaces", responses=problems())
async def list_spaces(session: ReadSession, caller: Caller, limit: Limit = 50, cursor: Cursor = None) -> Page[SpaceOut]:
    """Spaces of the tenant, oldest first."""
    rows = await service.list_spaces(session, caller, limit=limit + 1, after=parse_cursor(cursor))
    kept, following = page_of(rows, limit, "id")
    return Page(items=[SpaceOut.model_validate(row) for row in kept], next_cursor=following)


@router.post("/spaces", status_code=201, summary="Create a space", responses=problems(409))
async def create_space(body: SpaceIn, session: WriteSession, caller: Caller) -> SpaceOut:
    """A new room for flows."""
    return SpaceOut.model_validate(await service.create_space(session, caller, name=body.name))
