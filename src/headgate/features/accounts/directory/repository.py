"""Queries on a directory, its users and groups. The tenant is always required."""

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Row, Select, and_, delete, func, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.accounts.directory.tables import (
    Directory,
    DirectoryGroup,
    DirectoryGroupMember,
    DirectoryGroupRole,
    DirectoryUser,
)
from headgate.features.accounts.tables import Space, SpaceMember, User
from headgate.foundation.database import insert_into, now

AT_ONCE = 500
"""Maximum ids in one statement: databases limit the number of parameters."""
UserRow = Row[DirectoryUser, User]


async def find_by_token(session: AsyncSession, token_hash: str) -> Directory | None:
    """Return the directory whose token has this hash."""
    return (await session.execute(select(Directory).where(Directory.token_hash == token_hash))).scalar_one_or_none()


async def find_directory(session: AsyncSession, *, tenant_id: str) -> Directory | None:
    """Return the tenant's current or former directory."""
    return (await session.execute(select(Directory).where(Directory.tenant_id == tenant_id))).scalar_one_or_none()


async def hold_directory(session: AsyncSession, *, tenant_id: str) -> Directory:
    """Lock the tenant's directory, creating it when missing, against concurrent changes of it and its groups."""
    statement = insert_into(session, Directory).values(tenant_id=tenant_id)
    await session.execute(statement.on_conflict_do_nothing())
    query = select(Directory).where(Directory.tenant_id == tenant_id).with_for_update()
    return (await session.execute(query.execution_options(populate_existing=True))).scalar_one()


async def find_user(session: AsyncSession, user_id: str, *, tenant_id: str) -> UserRow | None:
    """Return a user of the directory."""
    query = _users(tenant_id).where(DirectoryUser.user_id == user_id)
    return (await session.execute(query)).one_or_none()


async def find_user_named(session: AsyncSession, key: str, *, tenant_id: str) -> DirectoryUser | None:
    """Return the user with this lower-case name in the directory."""
    query = select(DirectoryUser).where(DirectoryUser.user_name_key == key, DirectoryUser.tenant_id == tenant_id)
    return (await session.execute(query)).scalar_one_or_none()


async def find_users_of_external_id(session: AsyncSession, external_id: str, *, tenant_id: str) -> Sequence[User]:
    """Return the first two users with this id at the identity provider."""
    query = _users(tenant_id).where(DirectoryUser.external_id == external_id)
    return [row[1] for row in (await session.execute(query.limit(2))).all()]


async def list_users(
    session: AsyncSession,
    *,
    tenant_id: str,
    conditions: Sequence[ColumnElement[bool]],
    order: Sequence[ColumnElement[Any]],
    offset: int,
    limit: int,
) -> tuple[int, Sequence[UserRow]]:
    """Return the number of matching users of the directory, and a page of them."""
    query = _users(tenant_id).where(*conditions)
    total = (await session.execute(select(func.count()).select_from(query.subquery()))).scalar_one()
    page = query.order_by(*order, DirectoryUser.user_id).offset(offset).limit(limit)
    return total, (await session.execute(page)).all() if limit else []


async def known_users(session: AsyncSession, user_ids: Collection[str], *, tenant_id: str) -> frozenset[str]:
    """Return the ids that belong to users of the directory."""
    known_ids: set[str] = set()
    for some in in_parts(user_ids):
        conditions = (DirectoryUser.tenant_id == tenant_id, DirectoryUser.user_id.in_(some))
        known_ids.update((await session.execute(select(DirectoryUser.user_id).where(*conditions))).scalars())
    return frozenset(known_ids)


async def groups_of(
    session: AsyncSession, user_ids: Collection[str], *, tenant_id: str
) -> dict[str, list[tuple[str, str]]]:
    """Return the groups of users: id and name of each, by user."""
    query = (
        select(DirectoryGroupMember.user_id, DirectoryGroup.id, DirectoryGroup.name)
        .join(DirectoryGroup, DirectoryGroup.id == DirectoryGroupMember.group_id)
        .where(DirectoryGroupMember.user_id.in_(user_ids), DirectoryGroupMember.tenant_id == tenant_id)
        .order_by(DirectoryGroup.id)
    )
    groups: dict[str, list[tuple[str, str]]] = {}
    for user_id, group_id, name in (await session.execute(query)).all():
        groups.setdefault(user_id, []).append((group_id, name))
    return groups


async def forget_user(session: AsyncSession, user_id: str, *, tenant_id: str) -> None:
    """Remove a user's directory data, and increment the versions of the user's groups."""
    group_ids = select(DirectoryGroupMember.group_id).where(
        DirectoryGroupMember.user_id == user_id, DirectoryGroupMember.tenant_id == tenant_id
    )
    await session.execute(
        update(DirectoryGroup)
        .where(DirectoryGroup.id.in_(group_ids), DirectoryGroup.tenant_id == tenant_id)
        .values(revision=DirectoryGroup.revision + 1, updated_at=now()),
        execution_options={"synchronize_session": False},
    )
    for table in (DirectoryGroupMember, DirectoryUser):
        await session.execute(delete(table).where(table.user_id == user_id, table.tenant_id == tenant_id))


async def find_group(session: AsyncSession, group_id: str, *, tenant_id: str) -> DirectoryGroup | None:
    """Return a group of the directory."""
    query = select(DirectoryGroup).where(DirectoryGroup.id == group_id, DirectoryGroup.tenant_id == tenant_id)
    return (await session.execute(query)).scalar_one_or_none()


async def list_groups(
    session: AsyncSession,
    *,
    tenant_id: str,
    conditions: Sequence[ColumnElement[bool]],
    order: Sequence[ColumnElement[Any]],
    offset: int,
    limit: int,
) -> tuple[int, Sequence[DirectoryGroup]]:
    """Return the number of matching groups, and a page of them."""
    query = select(DirectoryGroup).where(DirectoryGroup.tenant_id == tenant_id, *conditions)
    total = (await session.execute(select(func.count()).select_from(query.subquery()))).scalar_one()
    page = query.order_by(*order, DirectoryGroup.id).offset(offset).limit(limit)
    return total, (await session.execute(page)).scalars().all() if limit else []


async def members_of(
    session: AsyncSession, group_ids: Collection[str], *, tenant_id: str
) -> dict[str, list[tuple[str, str]]]:
    """Return the members of groups: id and name of each, by group."""
    query = (
        select(DirectoryGroupMember.group_id, User.id, User.name)
        .join(User, and_(User.id == DirectoryGroupMember.user_id, User.tenant_id == DirectoryGroupMember.tenant_id))
        .where(DirectoryGroupMember.group_id.in_(group_ids), DirectoryGroupMember.tenant_id == tenant_id)
        .order_by(User.id)
    )
    members: dict[str, list[tuple[str, str]]] = {}
    for group_id, user_id, name in (await session.execute(query)).all():
        members.setdefault(group_id, []).append((user_id, name))
    return members


async def count_members(session: AsyncSession, group_ids: Collection[str], *, tenant_id: str) -> dict[str, int]:
    """Return the number of members of groups."""
    query = (
        select(DirectoryGroupMember.group_id, func.count())
        .where(DirectoryGroupMember.group_id.in_(group_ids), DirectoryGroupMember.tenant_id == tenant_id)
        .group_by(DirectoryGroupMember.group_id)
    )
    return {row[0]: row[1] for row in (await session.execute(query)).all()}


async def join_group(session: AsyncSession, group_id: str, user_ids: Collection[str], *, tenant_id: str) -> None:
    """Add users of the directory to a group; existing members stay."""
    for some in in_parts(user_ids):
        rows = [{"group_id": group_id, "user_id": user_id, "tenant_id": tenant_id} for user_id in some]
        await session.execute(insert_into(session, DirectoryGroupMember).values(rows).on_conflict_do_nothing())


async def leave_group(session: AsyncSession, group_id: str, user_ids: Collection[str], *, tenant_id: str) -> None:
    """Remove users from a group."""
    for some in in_parts(user_ids):
        await session.execute(
            delete(DirectoryGroupMember).where(
                DirectoryGroupMember.group_id == group_id,
                DirectoryGroupMember.tenant_id == tenant_id,
                DirectoryGroupMember.user_id.in_(some),
            )
        )


async def roles_of(
    session: AsyncSession, group_ids: Collection[str], *, tenant_id: str
) -> Sequence[Row[str, str, str, str]]:
    """Return the roles of groups: group, space, name of the space and role."""
    query = (
        select(DirectoryGroupRole.group_id, Space.id, Space.name, DirectoryGroupRole.role)
        .join(Space, and_(Space.id == DirectoryGroupRole.space_id, Space.tenant_id == DirectoryGroupRole.tenant_id))
        .where(DirectoryGroupRole.group_id.in_(group_ids), DirectoryGroupRole.tenant_id == tenant_id)
        .order_by(Space.name, Space.id)
    )
    return (await session.execute(query)).all()


async def find_group_role(
    session: AsyncSession, group_id: str, space_id: str, *, tenant_id: str
) -> DirectoryGroupRole | None:
    """Return the role of a group in a space."""
    query = select(DirectoryGroupRole).where(
        DirectoryGroupRole.group_id == group_id,
        DirectoryGroupRole.space_id == space_id,
        DirectoryGroupRole.tenant_id == tenant_id,
    )
    return (await session.execute(query)).scalar_one_or_none()


async def hold_spaces(session: AsyncSession, space_ids: Collection[str], *, tenant_id: str) -> Sequence[Space]:
    """Lock spaces against concurrent changes of their members until the transaction ends."""
    query = select(Space).where(Space.id.in_(space_ids), Space.tenant_id == tenant_id).order_by(Space.id)
    return (await session.execute(query.with_for_update())).scalars().all()


async def roles_by_groups(
    session: AsyncSession, space_id: str, user_ids: Collection[str], *, tenant_id: str
) -> Sequence[tuple[str, str]]:
    """Return the roles of users in a space through groups: user and role, one for each group."""
    query = (
        select(DirectoryGroupMember.user_id, DirectoryGroupRole.role)
        .join(
            DirectoryGroupRole,
            and_(
                DirectoryGroupRole.group_id == DirectoryGroupMember.group_id,
                DirectoryGroupRole.tenant_id == DirectoryGroupMember.tenant_id,
            ),
        )
        .where(
            DirectoryGroupRole.space_id == space_id,
            DirectoryGroupRole.tenant_id == tenant_id,
            DirectoryGroupMember.user_id.in_(user_ids),
        )
    )
    return [(user_id, role) for user_id, role in (await session.execute(query)).all()]


async def members_in(
    session: AsyncSession, space_id: str, user_ids: Collection[str], *, tenant_id: str
) -> Sequence[SpaceMember]:
    """Return the memberships of users in a space."""
    query = select(SpaceMember).where(
        SpaceMember.space_id == space_id, SpaceMember.tenant_id == tenant_id, SpaceMember.user_id.in_(user_ids)
    )
    return (await session.execute(query.execution_options(populate_existing=True))).scalars().all()


async def count_all(session: AsyncSession, *, tenant_id: str) -> tuple[int, int]:
    """Return the number of users and groups of the directory."""
    users = select(func.count()).where(DirectoryUser.tenant_id == tenant_id).scalar_subquery()
    groups = select(func.count()).where(DirectoryGroup.tenant_id == tenant_id).scalar_subquery()
    row = (await session.execute(select(users, groups))).one()
    return row[0], row[1]


def in_parts(ids: Collection[str]) -> Iterator[list[str]]:
    """Yield the ids in order, in batches of the statement limit."""
    ordered = sorted(ids)
    for start in range(0, len(ordered), AT_ONCE):
        yield ordered[start : start + AT_ONCE]


def _users(tenant_id: str) -> Select[DirectoryUser, User]:
    same = and_(User.id == DirectoryUser.user_id, User.tenant_id == DirectoryUser.tenant_id)
    return select(DirectoryUser, User).join(User, same).where(DirectoryUser.tenant_id == tenant_id)
