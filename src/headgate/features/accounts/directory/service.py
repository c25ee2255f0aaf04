"""Connecting a directory, and the roles of its groups: operations of admins."""

from collections.abc import Collection, Sequence

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import Permission, Role
from headgate.features.access.principal import Principal
from headgate.features.accounts.directory import groups, repository
from headgate.features.accounts.directory.errors import NotConnected, NotMapped
from headgate.features.accounts.directory.schemas import DirectoryOut, GroupOut, GroupRole, TokenIn, TokenMade, TokenOut
from headgate.features.accounts.directory.tables import Directory, DirectoryGroup, DirectoryGroupRole
from headgate.features.accounts.keys.secret import DIRECTORY_MARK, hash_of, new_key, prefix_of
from headgate.features.accounts.spaces.service import get_space
from headgate.features.accounts.tables import Space
from headgate.features.audit.actions import Action
from headgate.features.audit.recorder import record
from headgate.foundation.database import now
from headgate.foundation.ids import new_id

NAME = "Directory (SCIM)"


async def read_directory(session: AsyncSession, principal: Principal, *, address: str) -> DirectoryOut:
    """Return the organisation's directory; without a token when none is connected."""
    principal.require(Permission.DIRECTORY_MANAGE)
    directory = await repository.find_directory(session, tenant_id=principal.tenant_id)
    users, count = await repository.count_all(session, tenant_id=principal.tenant_id)
    return DirectoryOut(
        address=address,
        token=None if directory is None else _token(directory),
        last_change_at=None if directory is None else directory.last_change_at,
        users=users,
        groups=count,
    )


async def create_token(session: AsyncSession, principal: Principal, *, token_in: TokenIn) -> TokenMade:
    """Create a token; the current one is revoked immediately."""
    principal.require(Permission.DIRECTORY_MANAGE)
    directory = await repository.hold_directory(session, tenant_id=principal.tenant_id)
    action: Action = "directory.token_created" if directory.token_hash is None else "directory.token_rotated"
    before = _audit_values(directory)
    token = new_key(DIRECTORY_MARK)
    directory.token_id, directory.token_hash = new_id(), hash_of(token)
    directory.prefix, directory.token_created_at = prefix_of(token, DIRECTORY_MARK), now()
    directory.networks = None if token_in.networks is None else sorted(set(token_in.networks))
    directory.last_used_at = directory.last_used_address = None
    await session.flush()
    after = _audit_values(directory)
    await record(
        session, principal, action, id=directory.token_id, name=NAME, before=before, after=after, payload=after
    )
    shown = _token(directory)
    assert shown is not None  # noqa: S101 - it was just made
    return TokenMade(**shown.model_dump(), token=token)


async def disconnect(session: AsyncSession, principal: Principal) -> None:
    """Revoke the token. Users, groups and roles stay as they are. Raises `NotConnected`."""
    principal.require(Permission.DIRECTORY_MANAGE)
    directory = await repository.hold_directory(session, tenant_id=principal.tenant_id)
    if directory.token_id is None:
        raise NotConnected
    before, token_id = _audit_values(directory), directory.token_id
    directory.token_id = directory.token_hash = directory.prefix = directory.networks = None
    directory.token_created_at = directory.last_used_at = directory.last_used_address = None
    await session.flush()
    await record(session, principal, "directory.disconnected", id=token_id, name=NAME, before=before, payload=before)


async def list_groups(
    session: AsyncSession, principal: Principal, *, limit: int = 50, after: str | None = None
) -> Sequence[GroupOut]:
    """Return the groups of the directory with their roles, oldest first."""
    principal.require(Permission.DIRECTORY_MANAGE)
    conditions = [] if after is None else [DirectoryGroup.id > after]
    tenant_id = principal.tenant_id
    _, rows = await repository.list_groups(
        session, tenant_id=tenant_id, conditions=conditions, order=(), offset=0, limit=limit
    )
    ids = [row.id for row in rows]
    members = await repository.count_members(session, ids, tenant_id=tenant_id)
    roles: dict[str, list[GroupRole]] = {}
    for group_id, space_id, space_name, role in await repository.roles_of(session, ids, tenant_id=tenant_id):
        group_role = GroupRole(space_id=space_id, space_name=space_name, role=Role(role))
        roles.setdefault(group_id, []).append(group_role)
    return [
        GroupOut(id=row.id, name=row.name, members=members.get(row.id, 0), roles=roles.get(row.id, [])) for row in rows
    ]


async def group_ids_of(session: AsyncSession, user_id: str, *, tenant_id: str) -> frozenset[str]:
    """Return the ids of the directory groups of a user."""
    groups = await repository.groups_of(session, [user_id], tenant_id=tenant_id) if user_id else {}
    return frozenset(group_id for group_id, _ in groups.get(user_id, ()))


async def missing_groups(session: AsyncSession, group_ids: Collection[str], *, tenant_id: str) -> list[str]:
    """Return the ids among these that are no group of the directory."""
    return [
        group_id
        for group_id in group_ids
        if await repository.find_group(session, group_id, tenant_id=tenant_id) is None
    ]


async def find_group(session: AsyncSession, principal: Principal, group: str) -> DirectoryGroup:
    """Return the group with that id or name, for a command. Raises `GroupNotFound`."""
    principal.require(Permission.DIRECTORY_MANAGE)
    conditions = [DirectoryGroup.name_key == group.lower()]
    tenant_id = principal.tenant_id
    _, rows = await repository.list_groups(
        session, tenant_id=tenant_id, conditions=conditions, order=(), offset=0, limit=1
    )
    return rows[0] if rows else await groups.read(session, principal, group)


async def set_role(
    session: AsyncSession, principal: Principal, group_id: str, space_id: str, *, role: Role
) -> GroupRole:
    """Give the members of a group a role in a space. Raises `GroupNotFound`, `SpaceNotFound`."""
    group, space = await _group_and_space(session, principal, group_id, space_id)
    row = await repository.find_group_role(session, group.id, space.id, tenant_id=principal.tenant_id)
    before = None if row is None else _role(group, space, row.role)
    if row is None:
        tenant_id = principal.tenant_id
        session.add(DirectoryGroupRole(group_id=group.id, space_id=space.id, tenant_id=tenant_id, role=role.value))
    else:
        row.role = role.value
    await session.flush()
    after = _role(group, space, role.value)
    await record(
        session,
        principal,
        "directory_group.role_set",
        id=group.id,
        name=group.name,
        space_id=space.id,
        before=before,
        after=after,
        payload=after,
    )
    await groups.settle_space(session, principal, group, space.id)
    return GroupRole(space_id=space.id, space_name=space.name, role=role)


async def remove_role(session: AsyncSession, principal: Principal, group_id: str, space_id: str) -> None:
    """Remove the role of a group in a space. Raises `GroupNotFound`, `SpaceNotFound`, `NotMapped`."""
    group, space = await _group_and_space(session, principal, group_id, space_id)
    row = await repository.find_group_role(session, group.id, space.id, tenant_id=principal.tenant_id)
    if row is None:
        raise NotMapped(group.name, space.name)
    before = _role(group, space, row.role)
    await session.delete(row)
    await session.flush()
    await record(
        session,
        principal,
        "directory_group.role_removed",
        id=group.id,
        name=group.name,
        space_id=space.id,
        before=before,
        payload=before,
    )
    await groups.settle_space(session, principal, group, space.id)


async def _group_and_space(
    session: AsyncSession, principal: Principal, group_id: str, space_id: str
) -> tuple[DirectoryGroup, Space]:
    """Return both, with the directory locked."""
    principal.require(Permission.DIRECTORY_MANAGE)
    await repository.hold_directory(session, tenant_id=principal.tenant_id)
    group = await groups.read(session, principal, group_id)
    return group, await get_space(session, principal, space_id, permission=Permission.SPACES_MANAGE, lock=True)


def _token(directory: Directory) -> TokenOut | None:
    if directory.prefix is None or directory.token_created_at is None:
        return None
    return TokenOut(
        prefix=directory.prefix,
        networks=directory.networks,
        created_at=directory.token_created_at,
        last_used_at=directory.last_used_at,
        last_used_address=directory.last_used_address,
    )


def _audit_values(directory: Directory) -> dict[str, object] | None:
    """Return a token's values for the audit log."""
    return None if directory.prefix is None else {"prefix": directory.prefix, "networks": directory.networks}


def _role(group: DirectoryGroup, space: Space, role: str) -> dict[str, object]:
    return {"group": group.name, "space": space.name, "role": role}
