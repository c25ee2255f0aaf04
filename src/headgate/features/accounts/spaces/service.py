"""Making, renaming and deleting spaces; which of them a caller sees."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import Permission, Role
from headgate.features.access.principal import DEFAULT_SPACE_ID, Principal
from headgate.features.accounts import repository as accounts
from headgate.features.accounts.spaces import repository
from headgate.features.accounts.spaces.errors import (
    AmbiguousSpace,
    SpaceInUse,
    SpaceNameTaken,
    SpaceNotFound,
    TooManySpaces,
)
from headgate.features.accounts.tables import Space, SpaceMember
from headgate.features.accounts.users.errors import UserNotFound
from headgate.features.audit.actions import Action
from headgate.features.audit.recorder import record
from headgate.foundation.database import now
from headgate.foundation.ids import new_id

MOST_SPACES = 100
"""That a member makes. Each request of everybody who is in a space reads their role there: without an end to them one
person could slow down all the others."""


@dataclass(frozen=True, slots=True)
class SeenSpace:
    """A space, and the caller's role in it; None for an admin of the tenant who is no member."""

    space: Space
    role: Role | None


async def require_space(session: AsyncSession, principal: Principal, space_id: str, permission: Permission) -> None:
    """Before something is put into a space: nobody deletes the space until the transaction ends.

    Raises `SpaceNotFound` when the space is not there for the caller, `PermissionMissing` when they may not do it.
    """
    principal.require_in(space_id, permission, SpaceNotFound(space_id))
    await _require_there(session, principal, space_id, lock=True)


async def spaces_shown(
    session: AsyncSession, principal: Principal, space_id: str | None, permission: Permission
) -> frozenset[str] | None:
    """The spaces that a list shows: the one asked for, or those the caller sees; None: all. Raises `SpaceNotFound`."""
    if space_id is None:
        return principal.visible_spaces
    principal.require_in(space_id, permission, SpaceNotFound(space_id))
    if space_id not in principal.access.roles:  # an admin has no role that would say that it is there
        await _require_there(session, principal, space_id)
    return frozenset({space_id})


async def list_spaces(
    session: AsyncSession, principal: Principal, *, limit: int = 50, after: str | None = None
) -> Sequence[SeenSpace]:
    """The spaces that the caller sees, oldest first."""
    rows = await repository.list_spaces(
        session,
        tenant_id=principal.tenant_id,
        user_id=principal.user_id,
        space_ids=principal.visible_spaces,
        limit=limit,
        after=after,
    )
    return [SeenSpace(space, Role(role) if role is not None else None) for space, role in rows]


async def get_space(
    session: AsyncSession,
    principal: Principal,
    space_id: str,
    *,
    permission: Permission = Permission.SPACES_VIEW,
    lock: bool = False,
) -> Space:
    """A space that the caller may do this with. Raises `SpaceNotFound`, `PermissionMissing`."""
    principal.require_in(space_id, permission, SpaceNotFound(space_id))
    found = await repository.find_space(session, space_id, tenant_id=principal.tenant_id, lock=lock)
    if found is None:
        raise SpaceNotFound(space_id)
    return found


async def get_space_named(session: AsyncSession, principal: Principal, name: str) -> Space:
    """The one space of that name among those that the caller sees. Raises `SpaceNotFound`, `AmbiguousSpace`."""
    found = await _named(session, principal, name)
    if not found:
        raise SpaceNotFound(name)
    if len(found) > 1:
        raise AmbiguousSpace(name, [space.id for space in found])
    return found[0]


async def read_space(session: AsyncSession, principal: Principal, space_id: str) -> SeenSpace:
    """A space with the caller's role in it. Raises `SpaceNotFound`."""
    return await _seen(session, principal, await get_space(session, principal, space_id))


async def create_space(
    session: AsyncSession, principal: Principal, *, name: str, owner_user_id: str | None = None
) -> SeenSpace:
    """A new space, owned by the caller, or by somebody else where a command names them.

    Raises `SpaceNameTaken`, `TooManySpaces`, or `UserNotFound` when the owner is not of the tenant.
    """
    owner = owner_user_id or principal.user_id
    if await accounts.find_user(session, owner, tenant_id=principal.tenant_id) is None:
        raise UserNotFound(owner)
    if not principal.access.admin:
        made = await repository.count_made_by(session, owner, tenant_id=principal.tenant_id)
        if made >= MOST_SPACES:
            raise TooManySpaces(MOST_SPACES)
    if await _named(session, principal, name):
        raise SpaceNameTaken(name)
    space = Space(id=new_id(), tenant_id=principal.tenant_id, name=name, owner_user_id=owner, created_at=now())
    await repository.add_space(session, space)
    await repository.add_member(
        session,
        SpaceMember(
            space_id=space.id,
            user_id=owner,
            tenant_id=principal.tenant_id,
            role=Role.OWNER.value,
            created_at=space.created_at,
        ),
    )
    await record_space(session, principal, space, "space.created", after={"name": name, "owner": owner})
    return SeenSpace(space, Role.OWNER if owner == principal.user_id else None)


async def rename_space(session: AsyncSession, principal: Principal, space_id: str, *, name: str) -> SeenSpace:
    """Give a space another name. Raises `SpaceNotFound`, `PermissionMissing`, `SpaceNameTaken`."""
    space = await get_space(session, principal, space_id, permission=Permission.SPACES_MANAGE, lock=True)
    if space.name != name:
        if await _named(session, principal, name):
            raise SpaceNameTaken(name)
        before, space.name = space.name, name
        await session.flush()
        await record_space(session, principal, space, "space.renamed", before={"name": before}, after={"name": name})
    return await _seen(session, principal, space)


async def delete_space(session: AsyncSession, principal: Principal, space_id: str) -> None:
    """Remove a space with its assistants and MCP servers.

    Raises `SpaceInUse` when a flow is in it, or one that was deleted: those are kept as evidence.
    """
    space = await get_space(session, principal, space_id, permission=Permission.SPACES_MANAGE, lock=True)
    if space_id == DEFAULT_SPACE_ID:
        raise SpaceInUse(
            f"The space '{space.name}' is the first of this installation; new flows go there when nobody signs in.",
            remedy="Rename it.",
        )
    if await repository.has_flows(session, space_id, tenant_id=principal.tenant_id):
        raise SpaceInUse(
            f"Flows are in the space '{space.name}', or were: deleted flows are kept as evidence of their runs.",
            remedy="Remove its members instead; then only admins of your organisation see it.",
        )
    await repository.delete_space(session, space_id, tenant_id=principal.tenant_id)
    await record_space(session, principal, space, "space.deleted", before={"name": space.name})


async def _named(session: AsyncSession, principal: Principal, name: str) -> Sequence[Space]:
    """Among those that the caller sees: a name that only a hidden space has is free, or it would tell of that space."""
    return await repository.find_spaces_named(
        session, name, tenant_id=principal.tenant_id, space_ids=principal.visible_spaces
    )


async def record_space(
    session: AsyncSession,
    principal: Principal,
    space: Space,
    action: Action,
    *,
    before: Mapping[str, object] | None = None,
    after: Mapping[str, object] | None = None,
) -> None:
    """Write a change of a space, or of its members, into the audit log."""
    await record(
        session,
        principal,
        action,
        id=space.id,
        name=space.name,
        space_id=space.id,
        before=before,
        after=after,
        payload=before if after is None else after,
    )


async def _seen(session: AsyncSession, principal: Principal, space: Space) -> SeenSpace:
    found = await repository.find_member(session, space.id, principal.user_id, tenant_id=principal.tenant_id)
    return SeenSpace(space, Role(found.role) if found is not None else None)


async def _require_there(session: AsyncSession, principal: Principal, space_id: str, *, lock: bool = False) -> None:
    if not await repository.space_exists(session, space_id, tenant_id=principal.tenant_id, lock=lock):
        raise SpaceNotFound(space_id)
