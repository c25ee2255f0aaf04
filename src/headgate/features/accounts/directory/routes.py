"""HTTP routes for connecting a directory and mapping its groups to roles."""

from fastapi import Request

from headgate.features.access.caller import Caller, needs
from headgate.features.access.permissions import Permission
from headgate.features.accounts.directory import service
from headgate.features.accounts.directory.schemas import (
    DirectoryOut,
    GroupOut,
    GroupRole,
    GroupRoleIn,
    TokenIn,
    TokenMade,
)
from headgate.features.accounts.directory.scim.messages import root_of
from headgate.foundation.api import Cursor, Limit, Page, ReadSession, Routes, WriteSession, page_of, parse_cursor

router = Routes(prefix="/directory", tags=["directory"])
_MANAGE = [needs(Permission.DIRECTORY_MANAGE)]


@router.get("", "Read the directory", _MANAGE, problems=(401, 403))
async def read_directory(request: Request, session: ReadSession, caller: Caller) -> DirectoryOut:
    """The URL for the identity provider, its token without the secret, and synchronisation counts."""
    return await service.read_directory(session, caller, address=root_of(request))


@router.post("/token", "Create or rotate the token", _MANAGE, status_code=201, problems=(401, 403))
async def create_token(body: TokenIn, session: WriteSession, caller: Caller) -> TokenMade:
    """Create a token for the identity provider; only this response contains it. The previous token is revoked."""
    return await service.create_token(session, caller, token_in=body)


@router.delete("/token", "Revoke the token", _MANAGE, problems=(401, 403, 404))
async def disconnect(session: WriteSession, caller: Caller) -> None:
    """Disconnect the identity provider. Users, groups and their roles stay as they are."""
    await service.disconnect(session, caller)


@router.get("/groups", "List groups and their roles", _MANAGE, problems=(401, 403))
async def list_groups(session: ReadSession, caller: Caller, limit: Limit = 50, cursor: Cursor = None) -> Page[GroupOut]:
    """List the groups of the directory with their roles in spaces."""
    rows = await service.list_groups(session, caller, limit=limit + 1, after=parse_cursor(cursor))
    items, following = page_of(rows, limit, "id")
    return Page(items=items, next_cursor=following)


@router.put(
    "/groups/{group_id}/roles/{space_id}", "Assign a group a role in a space", _MANAGE, problems=(401, 403, 404)
)
async def set_role(group_id: str, space_id: str, body: GroupRoleIn, session: WriteSession, caller: Caller) -> GroupRole:
    """Give members of the group at least this role in the space. Roles assigned in Headgate stay."""
    return await service.set_role(session, caller, group_id, space_id, role=body.role)


@router.delete(
    "/groups/{group_id}/roles/{space_id}", "Remove a group's role in a space", _MANAGE, problems=(401, 403, 404)
)
async def remove_role(group_id: str, space_id: str, session: WriteSession, caller: Caller) -> None:
    """Remove the role of the group. Members keep roles assigned in Headgate or through other groups."""
    await service.remove_role(session, caller, group_id, space_id)
