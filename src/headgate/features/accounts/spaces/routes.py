"""HTTP routes of spaces and their members."""

from headgate.features.access.caller import Caller, needs
from headgate.features.access.permissions import Permission
from headgate.features.accounts.spaces import members, service
from headgate.features.accounts.spaces.schemas import MemberIn, MemberOut, SpaceIn, SpaceOut
from headgate.foundation.api import Cursor, Limit, Page, ReadSession, Routes, WriteSession, page_of, parse_cursor

router = Routes(prefix="/spaces", tags=["spaces"])
VIEW, CREATE, MANAGE = (
    needs(Permission.SPACES_VIEW),
    needs(Permission.SPACES_CREATE),
    needs(Permission.SPACES_MANAGE),
)


@router.get("", "List spaces", [VIEW])
async def list_spaces(session: ReadSession, caller: Caller, limit: Limit = 50, cursor: Cursor = None) -> Page[SpaceOut]:
    """List the spaces that you can view, with your role in each, oldest first."""
    spaces = await service.list_spaces(session, caller, limit=limit + 1, after=parse_cursor(cursor))
    page, following = page_of([SpaceOut.of(space) for space in spaces], limit, "id")
    return Page(items=page, next_cursor=following)


@router.post("", "Create a space", [CREATE], status_code=201, problems=(403, 409))
async def create_space(body: SpaceIn, session: WriteSession, caller: Caller) -> SpaceOut:
    """Create a space for flows, which you own."""
    return SpaceOut.of(await service.create_space(session, caller, name=body.name))


@router.get("/{space_id}", "Read a space", [VIEW], problems=(404,))
async def read_space(space_id: str, session: ReadSession, caller: Caller) -> SpaceOut:
    """A space with your role in it."""
    return SpaceOut.of(await service.read_space(session, caller, space_id))


@router.patch("/{space_id}", "Rename a space", [MANAGE], problems=(403, 404, 409))
async def rename_space(space_id: str, body: SpaceIn, session: WriteSession, caller: Caller) -> SpaceOut:
    """Rename a space."""
    return SpaceOut.of(await service.rename_space(session, caller, space_id, name=body.name))


@router.delete("/{space_id}", "Delete a space", [MANAGE], problems=(403, 404, 409))
async def delete_space(space_id: str, session: WriteSession, caller: Caller) -> None:
    """Delete a space with its assistants and MCP servers. A space that has or had flows cannot be deleted."""
    await service.delete_space(session, caller, space_id)


@router.get("/{space_id}/members", "List members", [VIEW], problems=(404,))
async def list_members(
    space_id: str, session: ReadSession, caller: Caller, limit: Limit = 50, cursor: Cursor = None
) -> Page[MemberOut]:
    """List the members of a space and their roles."""
    rows = await members.list_members(session, caller, space_id, limit=limit + 1, after=parse_cursor(cursor))
    page, following = page_of(rows, limit, "user_id")
    return Page(items=[MemberOut.model_validate(row) for row in page], next_cursor=following)


@router.put("/{space_id}/members/{user_id}", "Add a member, or change their role", [MANAGE], problems=(403, 404, 409))
async def put_member(space_id: str, user_id: str, body: MemberIn, session: WriteSession, caller: Caller) -> MemberOut:
    """Set the role of a user of your organisation in a space."""
    return MemberOut.model_validate(await members.put_member(session, caller, space_id, user_id, role=body.role))


@router.delete("/{space_id}/members/{user_id}", "Remove a member", [MANAGE], problems=(403, 404, 409))
async def remove_member(space_id: str, user_id: str, session: WriteSession, caller: Caller) -> None:
    """Remove a user from a space. Every user may leave a space; the last owner may not."""
    await members.remove_member(session, caller, space_id, user_id)
