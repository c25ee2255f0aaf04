"""Queries on spaces and their members. The tenant is always required."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import and_, column, delete, func, select, table, update
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.accounts.tables import Space, SpaceMember, User

_BASES = table("knowledge_bases", column("space_id"), column("tenant_id"))
_FLOWS = table("flows", column("space_id"), column("tenant_id"), column("owner_user_id"))
"""Flows belong to a higher layer: only their existence is checked, and a deleted user's ownership removed."""


@dataclass(frozen=True, slots=True)
class Member:
    """A member of a space."""

    user_id: str
    name: str
    email: str | None
    active: bool
    role: str
    created_at: datetime
    """When the member was added."""
    directory_role: str | None = None
    """The role through groups of the directory; `role` is at least that."""
    assigned_role: str | None = None
    """The role assigned in Headgate; None: a member through the directory alone."""


def member_of(membership: SpaceMember, user: User) -> Member:
    """Return a membership with its user."""
    return Member(
        user_id=user.id,
        name=user.name,
        email=user.email,
        active=user.active,
        role=membership.role,
        created_at=membership.created_at,
        directory_role=membership.directory_role,
        assigned_role=membership.by_hand,
    )


async def space_exists(session: AsyncSession, space_id: str, *, tenant_id: str, lock: bool = False) -> bool:
    """Return whether the tenant has that space; with `lock`, it cannot be deleted until the transaction ends."""
    query = select(Space.id).where(Space.id == space_id, Space.tenant_id == tenant_id)
    query = query.with_for_update(read=True, key_share=True) if lock else query
    return (await session.execute(query)).scalar_one_or_none() is not None


async def find_space(session: AsyncSession, space_id: str, *, tenant_id: str, lock: bool = False) -> Space | None:
    """Return one space; with `lock`, it, its members and its flows cannot be changed concurrently."""
    query = select(Space).where(Space.id == space_id, Space.tenant_id == tenant_id)
    return (await session.execute(query.with_for_update() if lock else query)).scalar_one_or_none()


async def find_spaces_named(
    session: AsyncSession, name: str, *, tenant_id: str, space_ids: Collection[str] | None, limit: int = 20
) -> Sequence[Space]:
    """Return the spaces with that name, oldest first; all spaces when `space_ids` is None."""
    query = select(Space).where(Space.tenant_id == tenant_id, Space.name == name)
    if space_ids is not None:
        query = query.where(Space.id.in_(space_ids))
    return (await session.execute(query.order_by(Space.id).limit(limit))).scalars().all()


async def list_spaces(
    session: AsyncSession,
    *,
    tenant_id: str,
    user_id: str,
    space_ids: Collection[str] | None,
    limit: int,
    after: str | None = None,
) -> Sequence[tuple[Space, str | None]]:
    """Return spaces in order of creation, each with the user's role in it.

    `after` is the last id of the previous page; `space_ids` None means all spaces.
    """
    membership = and_(
        SpaceMember.space_id == Space.id, SpaceMember.tenant_id == Space.tenant_id, SpaceMember.user_id == user_id
    )
    query = select(Space, SpaceMember.role).outerjoin(SpaceMember, membership).where(Space.tenant_id == tenant_id)
    if space_ids is not None:
        query = query.where(Space.id.in_(space_ids))
    if after is not None:
        query = query.where(Space.id > after)
    rows = (await session.execute(query.order_by(Space.id).limit(limit))).all()
    return [(row[0], row[1]) for row in rows]


async def find_member(session: AsyncSession, space_id: str, user_id: str, *, tenant_id: str) -> SpaceMember | None:
    """Return a user's membership of a space."""
    query = select(SpaceMember).where(
        SpaceMember.space_id == space_id, SpaceMember.user_id == user_id, SpaceMember.tenant_id == tenant_id
    )
    return (await session.execute(query)).scalar_one_or_none()


async def hold_member(
    session: AsyncSession, space_id: str, user_id: str, *, tenant_id: str
) -> tuple[SpaceMember, User] | None:
    """Lock and return a membership and its user until the transaction ends."""
    query = (
        select(SpaceMember, User)
        .join(User, and_(User.id == SpaceMember.user_id, User.tenant_id == SpaceMember.tenant_id))
        .where(SpaceMember.space_id == space_id, SpaceMember.user_id == user_id, SpaceMember.tenant_id == tenant_id)
        .with_for_update(read=True)
        .execution_options(populate_existing=True)
    )
    row = (await session.execute(query)).one_or_none()
    return (row[0], row[1]) if row is not None else None


async def disown_flows(session: AsyncSession, user_id: str, *, tenant_id: str) -> None:
    """Remove the owner of the flows that a user owns."""
    conditions = (_FLOWS.c.owner_user_id == user_id, _FLOWS.c.tenant_id == tenant_id)
    await session.execute(update(_FLOWS).where(*conditions).values(owner_user_id=None))


async def has_flows(session: AsyncSession, space_id: str, *, tenant_id: str) -> bool:
    """Return whether the space has a flow, or a deleted one that is kept as evidence."""
    query = select(_FLOWS.c.space_id).where(_FLOWS.c.space_id == space_id, _FLOWS.c.tenant_id == tenant_id).limit(1)
    return (await session.execute(query)).first() is not None


async def has_knowledge(session: AsyncSession, space_id: str, *, tenant_id: str) -> bool:
    """Return whether the space has a knowledge base."""
    query = select(_BASES.c.space_id).where(_BASES.c.space_id == space_id, _BASES.c.tenant_id == tenant_id).limit(1)
    return (await session.execute(query)).first() is not None


async def count_made_by(session: AsyncSession, user_id: str, *, tenant_id: str) -> int:
    """Return the number of spaces that a user created, also those that others own now."""
    query = select(func.count()).where(Space.tenant_id == tenant_id, Space.owner_user_id == user_id)
    return (await session.execute(query)).scalar_one()


async def add_space(session: AsyncSession, space: Space) -> None:
    """Store a new space."""
    session.add(space)
    await session.flush()


async def delete_space(session: AsyncSession, space_id: str, *, tenant_id: str) -> None:
    """Delete a space with its members, assistants and MCP servers. It must have no flows."""
    await leave_home(session, space_id, tenant_id=tenant_id)
    await session.execute(delete(Space).where(Space.id == space_id, Space.tenant_id == tenant_id))


async def list_members(
    session: AsyncSession, space_id: str, *, tenant_id: str, limit: int, after: str | None = None
) -> Sequence[Member]:
    """Return the members of a space by user id; `after` is the last one of the previous page."""
    query = (
        select(SpaceMember, User)
        .join(User, and_(User.id == SpaceMember.user_id, User.tenant_id == SpaceMember.tenant_id))
        .where(SpaceMember.space_id == space_id, SpaceMember.tenant_id == tenant_id)
    )
    if after is not None:
        query = query.where(SpaceMember.user_id > after)
    rows = (await session.execute(query.order_by(SpaceMember.user_id).limit(limit))).all()
    return [member_of(membership, user) for membership, user in rows]


async def other_owners(session: AsyncSession, space_id: str, user_id: str, *, tenant_id: str) -> int:
    """Return the number of other active users who own the space; service accounts do not count."""
    query = (
        select(func.count())
        .select_from(SpaceMember)
        .join(User, and_(User.id == SpaceMember.user_id, User.tenant_id == SpaceMember.tenant_id))
        .where(
            SpaceMember.space_id == space_id,
            SpaceMember.tenant_id == tenant_id,
            SpaceMember.role == "owner",
            SpaceMember.user_id != user_id,
            User.active,
            User.kind == "user",
        )
    )
    return (await session.execute(query)).scalar_one()


async def memberships_of(session: AsyncSession, user_id: str, *, tenant_id: str) -> Sequence[SpaceMember]:
    """Return the memberships of a user, in the order of the spaces."""
    query = select(SpaceMember).where(SpaceMember.user_id == user_id, SpaceMember.tenant_id == tenant_id)
    return (await session.execute(query.order_by(SpaceMember.space_id))).scalars().all()


async def spaces_made_by(session: AsyncSession, user_id: str, *, tenant_id: str) -> Sequence[Space]:
    """Return the spaces that a user created."""
    query = select(Space).where(Space.owner_user_id == user_id, Space.tenant_id == tenant_id)
    return (await session.execute(query.order_by(Space.id))).scalars().all()


async def add_member(session: AsyncSession, member: SpaceMember) -> None:
    """Store a new member. The space becomes the user's default space when there is none."""
    await add_members(session, [member])


async def add_members(session: AsyncSession, members: Sequence[SpaceMember]) -> None:
    """Store new members of one space. It becomes the default space of those who had none."""
    if not members:
        return
    session.add_all(members)
    await session.flush()
    homeless = (User.id.in_([member.user_id for member in members]), User.home_space_id.is_(None))
    conditions = User.tenant_id == members[0].tenant_id
    await session.execute(
        update(User).where(conditions, *homeless).values(home_space_id=members[0].space_id),
        execution_options={"synchronize_session": "fetch"},
    )


async def remove_member(session: AsyncSession, member: SpaceMember) -> None:
    """Remove a member. When this was the user's default space, another one replaces it."""
    await leave_home(session, member.space_id, tenant_id=member.tenant_id, user_ids=[member.user_id])
    await session.delete(member)
    await session.flush()


async def remove_members(session: AsyncSession, space_id: str, user_ids: Sequence[str], *, tenant_id: str) -> None:
    """Remove users from a space. When this was their default space, another one replaces it."""
    if not user_ids:
        return
    await leave_home(session, space_id, tenant_id=tenant_id, user_ids=user_ids)
    await session.execute(
        delete(SpaceMember).where(
            SpaceMember.space_id == space_id, SpaceMember.tenant_id == tenant_id, SpaceMember.user_id.in_(user_ids)
        ),
        execution_options={"synchronize_session": False},
    )


async def leave_home(
    session: AsyncSession, space_id: str, *, tenant_id: str, user_ids: Sequence[str] | None = None
) -> None:
    """Replace the default space of its users, of these or of all, by the space they were added to first."""
    other_spaces = (
        select(SpaceMember.space_id)
        .where(
            SpaceMember.user_id == User.id,
            SpaceMember.tenant_id == User.tenant_id,
            SpaceMember.space_id != space_id,
        )
        .order_by(SpaceMember.created_at, SpaceMember.space_id)
        .limit(1)
    )
    query = update(User).where(User.home_space_id == space_id, User.tenant_id == tenant_id)
    if user_ids is not None:
        query = query.where(User.id.in_(user_ids))
    await session.execute(
        query.values(home_space_id=other_spaces.scalar_subquery()), execution_options={"synchronize_session": False}
    )
