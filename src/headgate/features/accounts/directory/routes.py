"""HTTP routes for connecting a directory and mapping its groups to roles."""

from fastapi import APIRouter, Request

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
from headgate.foundation.api import Cursor, Limit, Page, ReadSession, WriteSession, page_of, parse_cursor, problems

router = APIRouter(prefix="/directory", tags=["directory"])
_MANAGE = [needs(Permission.DIRECTORY_MANAGE)]


@router.get("", summary="Read the directory", responses=problems(401, 403), dependencies=_MANAGE)
async def read_directory(request: Request, session: ReadSession, caller: Caller) -> DirectoryOut:
    """The URL for the identity provider, its token without the secret, and synchronisation counts."""
    return await service.read_directory(session, caller, address=root_of(request))


@router.post(
    "/token", status_code=201, summary="Create or rotate the token", responses=problems(401, 403), dependencies=_MANAGE
)
async def create_token(body: TokenIn, session: WriteSession, caller: Caller) -> TokenMade:
    """Create a token for the identity provider; only this response contains it. The previous token is revoked."""
    return await service.create_token(session, caller, token_in=body)


@router.delete(
    "/token", status_code=204, summary="Revoke the token", responses=problems(401, 403, 404), dependencies=_MANAGE
)
async def disconnect(session: WriteSession, caller: Caller) -> None:
    """Disconnect the identity provider. Users, groups and their roles stay as they are."""
    await service.disconnect(session, caller)


@router.get("/groups", summary="List groups and their roles", responses=problems(401, 403), dependencies=_MANAGE)
async def list_groups(session: ReadSession, caller: Caller, limit: Limit = 50, cursor: Cursor = None) -> Page[GroupOut]:
    """List the groups of the directory with their roles in spaces."""
    rows = await service.list_groups(session, caller, limit=limit + 1, after=parse_cursor(cursor))
    items, following = page_of(rows, limit, "id")
    return Page(items=items, next_cursor=following)


@router.put(
    "/groups/{group_id}/roles/{space_id}",
    summary="Assign a group a role in a space",
    responses=problems(401, 403, 404),
    dependencies=_MANAGE,
)
async def set_role(group_id: str, space_id: str, body: GroupRoleIn, session: WriteSession, caller: Caller) -> GroupRole:
    """Give members of the group at least this role in the space. Roles assigned in Headgate stay."""
    return await service.set_role(session, caller, group_id, space_id, role=body.role)


@router.delete(
    "/groups/{group_id}/roles/{space_id}",
    status_code=204,
    summary="Remove a group's role in a space",
    responses=problems(401, 403, 404),
    dependencies=_MANAGE,
)
async def remove_role(group_id: str, space_id: str, session: WriteSession, caller: Caller) -> None:
    """Remove the role of the group. Members keep roles assigned in Headgate or through other groups."""
    await service.remove_role(session, caller, group_id, space_id)
