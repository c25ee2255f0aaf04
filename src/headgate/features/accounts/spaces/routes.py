"""HTTP routes of spaces and their members."""

from fastapi import APIRouter

from headgate.features.access.caller import Caller, needs
from headgate.features.access.permissions import Permission
from headgate.features.accounts.spaces import service
from headgate.features.accounts.spaces.schemas import SpaceIn, SpaceOut
from headgate.foundation.api import Cursor, Limit, Page, ReadSession, WriteSession, page_of, parse_cursor, problems

router = APIRouter(prefix="/spaces", tags=["spaces"])


@router.get("", summary="List spaces", responses=problems(), dependencies=[needs(Permission.SPACES_VIEW)])
async def list_spaces(session: ReadSession, caller: Caller, limit: Limit = 50, cursor: Cursor = None) -> Page[SpaceOut]:
    """Spaces of the tenant, oldest first."""
    rows = await service.list_spaces(session, caller, limit=limit + 1, after=parse_cursor(cursor))
    kept, following = page_of(rows, limit, "id")
    return Page(items=[SpaceOut.model_validate(row) for row in kept], next_cursor=following)


@router.post(
    "",
    status_code=201,
    summary="Create a space",
    responses=problems(409),
    dependencies=[needs(Permission.SPACES_CREATE)],
)
async def create_space(body: SpaceIn, session: WriteSession, caller: Caller) -> SpaceOut:
    """A new room for flows."""
    return SpaceOut.model_validate(await service.create_space(session, caller, name=body.name))
