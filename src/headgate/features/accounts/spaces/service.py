"""Creating, renaming and deleting spaces; which spaces a caller can view."""

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
"""Maximum spaces created by a member. Each request reads the user's roles in all spaces: without a limit, one user
could slow down all others.
"""


@dataclass(frozen=True, slots=True)
class SeenSpace:
    """A space, and the caller's role in it; None for an admin of the tenant who is not a member."""

    space: Space
    role: Role | None


async def require_space(session: AsyncSession, principal: Principal, space_id: str, permission: Permission) -> None:
    """Require permission to add something to a space, and lock it against deletion until the transaction ends.

    Raises `SpaceNotFound` when the caller cannot view the space, `PermissionMissing` when the permission is missing.
    """
    principal.require_in(space_id, permission, SpaceNotFound(space_id))
    await _require_there(session, principal, space_id, lock=True)


async def spaces_shown(
    session: AsyncSession, principal: Principal, space_id: str | None, permission: Permission
) -> frozenset[str] | None:
    """The spaces of a list: the requested one, or those the caller can view; None: all. Raises `SpaceNotFound`."""
    if space_id is None:
        return principal.visible_spaces
    principal.require_in(space_id, permission, SpaceNotFound(space_id))
    if space_id not in principal.access.roles:  # an admin has no role that proves that the space exists
        await _require_there(session, principal, space_id)
    return frozenset({space_id})


async def list_spaces(
    session: AsyncSession, principal: Principal, *, limit: int = 50, after: str | None = None
) -> Sequence[SeenSpace]:
    """Return the spaces that the caller can view, oldest first."""
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
    """Return a space for which the caller has the permission. Raises `SpaceNotFound`, `PermissionMissing`."""
    principal.require_in(space_id, permission, SpaceNotFound(space_id))
    space = await repository.find_space(session, space_id, tenant_id=principal.tenant_id, lock=lock)
    if space is None:
        raise SpaceNotFound(space_id)
    return space


async def get_space_named(session: AsyncSession, principal: Principal, name: str) -> Space:
    """Return the caller's only space with that name. Raises `SpaceNotFound`, `AmbiguousSpace`."""
    matches = await _named(session, principal, name)
    if not matches:
        raise SpaceNotFound(name)
    if len(matches) > 1:
        raise AmbiguousSpace(name, [space.id for space in matches])
    return matches[0]


async def read_space(session: AsyncSession, principal: Principal, space_id: str) -> SeenSpace:
    """Return a space with the caller's role in it. Raises `SpaceNotFound`."""
    return await _seen(session, principal, await get_space(session, principal, space_id))


async def create_space(
    session: AsyncSession, principal: Principal, *, name: str, owner_user_id: str | None = None
) -> SeenSpace:
    """Create a space owned by the caller, or by another user when a command names one.

    Raises `SpaceNameTaken`, `TooManySpaces`, or `UserNotFound` when the owner is not in the tenant.
    """
    owner = owner_user_id or principal.user_id
    if await accounts.find_user(session, owner, tenant_id=principal.tenant_id) is None:
        raise UserNotFound(owner)
    if not principal.access.admin:
        count = await repository.count_made_by(session, owner, tenant_id=principal.tenant_id)
        if count >= MOST_SPACES:
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
    """Rename a space. Raises `SpaceNotFound`, `PermissionMissing`, `SpaceNameTaken`."""
    space = await get_space(session, principal, space_id, permission=Permission.SPACES_MANAGE, lock=True)
    if space.name != name:
        if await _named(session, principal, name):
            raise SpaceNameTaken(name)
        before, space.name = space.name, name
        await session.flush()
        await record_space(session, principal, space, "space.renamed", before={"name": before}, after={"name": name})
    return await _seen(session, principal, space)


async def delete_space(session: AsyncSession, principal: Principal, space_id: str) -> None:
    """Delete a space with its assistants and MCP servers.

    Raises `SpaceInUse` when it has a flow, or a deleted one: those are kept as evidence; or a knowledge base, whose
    files are deleted with it.
    """
    space = await get_space(session, principal, space_id, permission=Permission.SPACES_MANAGE, lock=True)
    if space_id == DEFAULT_SPACE_ID:
        raise SpaceInUse(
            f"The space '{space.name}' is the first one of this installation; it is the default space of "
            "new flows when nobody is signed in.",
            remedy="Rename it.",
        )
    if await repository.has_flows(session, space_id, tenant_id=principal.tenant_id):
        raise SpaceInUse(
            f"The space '{space.name}' contains flows, or deleted flows that are kept as evidence of their runs.",
            remedy="Remove its members instead; then only admins of your organisation can view it.",
        )
    if await repository.has_knowledge(session, space_id, tenant_id=principal.tenant_id):
        raise SpaceInUse(
            f"The space '{space.name}' contains knowledge bases.",
            remedy="Delete them first: their documents and files are deleted with them.",
        )
    await repository.delete_space(session, space_id, tenant_id=principal.tenant_id)
    await record_space(session, principal, space, "space.deleted", before={"name": space.name})


async def _named(session: AsyncSession, principal: Principal, name: str) -> Sequence[Space]:
    """Check only spaces that the caller can view: a conflict with a hidden space would reveal that it exists."""
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
    """Record a change of a space, or of its members, in the audit log."""
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
    member = await repository.find_member(session, space.id, principal.user_id, tenant_id=principal.tenant_id)
    return SeenSpace(space, Role(member.role) if member is not None else None)


async def _require_there(session: AsyncSession, principal: Principal, space_id: str, *, lock: bool = False) -> None:
    if not await repository.space_exists(session, space_id, tenant_id=principal.tenant_id, lock=lock):
        raise SpaceNotFound(space_id)
