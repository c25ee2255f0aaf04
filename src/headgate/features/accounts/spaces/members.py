"""Who is in a space, and with which role."""

from collections.abc import Mapping, Sequence

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import EVERYTHING, Permission, Role, TenantRole, highest, of_role
from headgate.features.access.principal import Principal
from headgate.features.accounts import repository as accounts
from headgate.features.accounts.spaces import repository
from headgate.features.accounts.spaces.errors import LastOwner, MemberNotFound, MemberOfGroup
from headgate.features.accounts.spaces.repository import Member
from headgate.features.accounts.spaces.service import get_space, record_space
from headgate.features.accounts.tables import Space, SpaceMember, User
from headgate.features.accounts.users.errors import UserNotFound
from headgate.foundation.database import now


async def list_members(
    session: AsyncSession, principal: Principal, space_id: str, *, limit: int = 50, after: str | None = None
) -> Sequence[Member]:
    """The members of a space that the caller sees. Raises `SpaceNotFound`."""
    await get_space(session, principal, space_id)
    return await repository.list_members(session, space_id, tenant_id=principal.tenant_id, limit=limit, after=after)


async def put_member(session: AsyncSession, principal: Principal, space_id: str, user_id: str, *, role: Role) -> Member:
    """Add a person of the tenant to a space, or give a member another role.

    What the directory's groups give them stays: the higher of both counts.

    Raises `SpaceNotFound`, `PermissionMissing`, `UserNotFound`, `LastOwner`.
    """
    space = await get_space(session, principal, space_id, permission=Permission.SPACES_MANAGE, lock=True)
    person = await _person(session, principal, user_id)
    found = await repository.find_member(session, space_id, user_id, tenant_id=principal.tenant_id)
    if found is None:
        found = SpaceMember(
            space_id=space_id, user_id=user_id, tenant_id=principal.tenant_id, role=role.value, created_at=now()
        )
        await repository.add_member(session, found)
        await record_space(session, principal, space, "space.member_added", after=_told(person.id, person.name, role))
    elif found.by_hand != role.value:
        if found.role == Role.OWNER.value and highest(role, found.directory_role) is not Role.OWNER:
            await _require_another_owner(session, principal, space, user_id)
        before = _shown(person, found)
        found.assign(role)
        await session.flush()
        await record_space(
            session, principal, space, "space.member_changed", before=before, after=_shown(person, found)
        )
    return repository.member_of(found, person)


async def remove_member(session: AsyncSession, principal: Principal, space_id: str, user_id: str) -> None:
    """Remove the role that a person was assigned in a space; everybody may leave themselves.

    A role from the directory's groups stays. Raises `SpaceNotFound`, `PermissionMissing`, `MemberNotFound`,
    `LastOwner`; `MemberOfGroup` for somebody who is there through a group alone.
    """
    leaves = user_id == principal.user_id
    permission = Permission.SPACES_VIEW if leaves else Permission.SPACES_MANAGE
    space = await get_space(session, principal, space_id, permission=permission, lock=True)
    found = await repository.find_member(session, space_id, user_id, tenant_id=principal.tenant_id)
    if found is None:
        raise MemberNotFound(user_id, space.name)
    person = await _person(session, principal, user_id)
    if found.by_hand is None:
        raise MemberOfGroup(person.name, space.name)
    if found.role == Role.OWNER.value and found.directory_role != Role.OWNER.value:
        await _require_another_owner(session, principal, space, user_id)
    before = _shown(person, found)
    if found.directory_role is not None:
        found.assign(None)
        await session.flush()
        await record_space(
            session, principal, space, "space.member_changed", before=before, after=_shown(person, found)
        )
        return
    await repository.remove_member(session, found)
    await record_space(session, principal, space, "space.member_removed", before=before)


async def hold_member(
    session: AsyncSession, principal: Principal, space_id: str, user_id: str
) -> tuple[Member, frozenset[Permission]]:
    """A member of a space and what they may do there; neither changes until the transaction ends.

    For callers who have checked what the principal may do in the space. Raises `MemberNotFound`.
    """
    held = await repository.hold_member(session, space_id, user_id, tenant_id=principal.tenant_id)
    if held is None:
        space = await repository.find_space(session, space_id, tenant_id=principal.tenant_id)
        raise MemberNotFound(user_id, space.name if space is not None else space_id)
    member, person = held
    admin = person.role == TenantRole.ADMIN.value
    return repository.member_of(member, person), EVERYTHING if admin else of_role(Role(member.role))


def _told(user_id: str, name: str, role: str) -> Mapping[str, object]:
    return {"user_id": user_id, "name": name, "role": str(role)}


def _shown(person: User, member: SpaceMember) -> Mapping[str, object]:
    found = {**_told(person.id, person.name, member.role)}
    return found if member.directory_role is None else {**found, "assigned_role": member.assigned_role}


async def _person(session: AsyncSession, principal: Principal, user_id: str) -> User:
    found = await accounts.find_user(session, user_id, tenant_id=principal.tenant_id)
    if found is None:
        raise UserNotFound(user_id[:64])
    return found


async def _require_another_owner(session: AsyncSession, principal: Principal, space: Space, user_id: str) -> None:
    """An admin of the tenant may leave a space without an owner: they can still manage it."""
    if principal.access.admin:
        return
    if not await repository.other_owners(session, space.id, user_id, tenant_id=principal.tenant_id):
        raise LastOwner(space.name)
