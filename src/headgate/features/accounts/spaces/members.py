"""Members of a space and their roles."""

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
    """Return the members of a space. Raises `SpaceNotFound`."""
    await get_space(session, principal, space_id)
    return await repository.list_members(session, space_id, tenant_id=principal.tenant_id, limit=limit, after=after)


async def put_member(session: AsyncSession, principal: Principal, space_id: str, user_id: str, *, role: Role) -> Member:
    """Add a user of the tenant to a space, or change a member's role.

    A role through the directory's groups stays: the higher of both applies.

    Raises `SpaceNotFound`, `PermissionMissing`, `UserNotFound`, `LastOwner`.
    """
    space = await get_space(session, principal, space_id, permission=Permission.SPACES_MANAGE, lock=True)
    user = await _user(session, principal, user_id)
    member = await repository.find_member(session, space_id, user_id, tenant_id=principal.tenant_id)
    if member is None:
        member = SpaceMember(
            space_id=space_id, user_id=user_id, tenant_id=principal.tenant_id, role=role.value, created_at=now()
        )
        await repository.add_member(session, member)
        await record_space(
            session, principal, space, "space.member_added", after=_audit_values(user.id, user.name, role)
        )
    elif member.by_hand != role.value:
        if member.role == Role.OWNER.value and highest(role, member.directory_role) is not Role.OWNER:
            await _require_another_owner(session, principal, space, user_id)
        before = _shown(user, member)
        member.assign(role)
        await session.flush()
        await record_space(session, principal, space, "space.member_changed", before=before, after=_shown(user, member))
    return repository.member_of(member, user)


async def remove_member(session: AsyncSession, principal: Principal, space_id: str, user_id: str) -> None:
    """Remove the assigned role of a user in a space; every user may remove their own.

    A role through the directory's groups stays. Raises `SpaceNotFound`, `PermissionMissing`, `MemberNotFound`,
    `LastOwner`; `MemberOfGroup` for a user who is a member through a group alone.
    """
    leaves = user_id == principal.user_id
    permission = Permission.SPACES_VIEW if leaves else Permission.SPACES_MANAGE
    space = await get_space(session, principal, space_id, permission=permission, lock=True)
    member = await repository.find_member(session, space_id, user_id, tenant_id=principal.tenant_id)
    if member is None:
        raise MemberNotFound(user_id, space.name)
    user = await _user(session, principal, user_id)
    if member.by_hand is None:
        raise MemberOfGroup(user.name, space.name)
    if member.role == Role.OWNER.value and member.directory_role != Role.OWNER.value:
        await _require_another_owner(session, principal, space, user_id)
    before = _shown(user, member)
    if member.directory_role is not None:
        member.assign(None)
        await session.flush()
        await record_space(session, principal, space, "space.member_changed", before=before, after=_shown(user, member))
        return
    await repository.remove_member(session, member)
    await record_space(session, principal, space, "space.member_removed", before=before)


async def hold_member(
    session: AsyncSession, principal: Principal, space_id: str, user_id: str
) -> tuple[Member, frozenset[Permission]]:
    """Lock and return a member of a space and the member's permissions there.

    The caller must have checked the principal's permissions in the space. Raises `MemberNotFound`.
    """
    row = await repository.hold_member(session, space_id, user_id, tenant_id=principal.tenant_id)
    if row is None:
        space = await repository.find_space(session, space_id, tenant_id=principal.tenant_id)
        raise MemberNotFound(user_id, space.name if space is not None else space_id)
    member, user = row
    admin = user.role == TenantRole.ADMIN.value
    return repository.member_of(member, user), EVERYTHING if admin else of_role(Role(member.role))


def _audit_values(user_id: str, name: str, role: str) -> Mapping[str, object]:
    return {"user_id": user_id, "name": name, "role": str(role)}


def _shown(user: User, member: SpaceMember) -> Mapping[str, object]:
    values = {**_audit_values(user.id, user.name, member.role)}
    return values if member.directory_role is None else {**values, "assigned_role": member.assigned_role}


async def _user(session: AsyncSession, principal: Principal, user_id: str) -> User:
    user = await accounts.find_user(session, user_id, tenant_id=principal.tenant_id)
    if user is None:
        raise UserNotFound(user_id[:64])
    return user


async def _require_another_owner(session: AsyncSession, principal: Principal, space: Space, user_id: str) -> None:
    """Raise `LastOwner` unless the space keeps an owner; an admin of the tenant may leave it without one."""
    if principal.access.admin:
        return
    if not await repository.other_owners(session, space.id, user_id, tenant_id=principal.tenant_id):
        raise LastOwner(space.name)
