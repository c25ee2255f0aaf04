"""Every query on spaces and their members. The tenant is always required."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import and_, column, delete, func, select, table, update
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.accounts.tables import Space, SpaceMember, User

_FLOWS = table("flows", column("space_id"), column("tenant_id"), column("owner_user_id"))
"""Flows are a feature above this one: only whether there are any is read, and the owner of a deleted user's removed."""


@dataclass(frozen=True, slots=True)
class Member:
    """A person of a space."""

    user_id: str
    name: str
    email: str | None
    active: bool
    role: str
    created_at: datetime
    """When they were added."""
    directory_role: str | None = None
    """The role that groups of the directory give them; `role` is at least that."""
    assigned_role: str | None = None
    """The role that was assigned in Headgate; None: they are here through the directory alone."""


def member_of(membership: SpaceMember, user: User) -> Member:
    """A membership with its user."""
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
    """Whether the tenant has that space; `lock` lets nobody delete it until the transaction ends."""
    query = select(Space.id).where(Space.id == space_id, Space.tenant_id == tenant_id)
    query = query.with_for_update(read=True, key_share=True) if lock else query
    return (await session.execute(query)).scalar_one_or_none() is not None


async def find_space(session: AsyncSession, space_id: str, *, tenant_id: str, lock: bool = False) -> Space | None:
    """One space; `lock` lets nobody else change it, its members, or put a flow into it."""
    query = select(Space).where(Space.id == space_id, Space.tenant_id == tenant_id)
    return (await session.execute(query.with_for_update() if lock else query)).scalar_one_or_none()


async def find_spaces_named(
    session: AsyncSession, name: str, *, tenant_id: str, space_ids: Collection[str] | None, limit: int = 20
) -> Sequence[Space]:
    """The spaces of that name, oldest first; `space_ids` None: among all."""
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
    """Spaces in the order they were made, each with that person's role in it.

    `after` is the id of the last one of the page before, `space_ids` None: all of them.
    """
    theirs = and_(
        SpaceMember.space_id == Space.id, SpaceMember.tenant_id == Space.tenant_id, SpaceMember.user_id == user_id
    )
    query = select(Space, SpaceMember.role).outerjoin(SpaceMember, theirs).where(Space.tenant_id == tenant_id)
    if space_ids is not None:
        query = query.where(Space.id.in_(space_ids))
    if after is not None:
        query = query.where(Space.id > after)
    rows = (await session.execute(query.order_by(Space.id).limit(limit))).all()
    return [(row[0], row[1]) for row in rows]


async def find_member(session: AsyncSession, space_id: str, user_id: str, *, tenant_id: str) -> SpaceMember | None:
    """A person's membership of a space."""
    query = select(SpaceMember).where(
        SpaceMember.space_id == space_id, SpaceMember.user_id == user_id, SpaceMember.tenant_id == tenant_id
    )
    return (await session.execute(query)).scalar_one_or_none()


async def hold_member(
    session: AsyncSession, space_id: str, user_id: str, *, tenant_id: str
) -> tuple[SpaceMember, User] | None:
    """A membership and its user; nobody changes or deletes either until the transaction ends."""
    query = (
        select(SpaceMember, User)
        .join(User, and_(User.id == SpaceMember.user_id, User.tenant_id == SpaceMember.tenant_id))
        .where(SpaceMember.space_id == space_id, SpaceMember.user_id == user_id, SpaceMember.tenant_id == tenant_id)
        .with_for_update(read=True)
        .execution_options(populate_existing=True)
    )
    found = (await session.execute(query)).one_or_none()
    return (found[0], found[1]) if found is not None else None


async def disown_flows(session: AsyncSession, user_id: str, *, tenant_id: str) -> None:
    """Leave the flows that a user owns without an owner."""
    owned = (_FLOWS.c.owner_user_id == user_id, _FLOWS.c.tenant_id == tenant_id)
    await session.execute(update(_FLOWS).where(*owned).values(owner_user_id=None))


async def has_flows(session: AsyncSession, space_id: str, *, tenant_id: str) -> bool:
    """Whether a flow is in the space, or one that was deleted and is kept as evidence."""
    query = select(_FLOWS.c.space_id).where(_FLOWS.c.space_id == space_id, _FLOWS.c.tenant_id == tenant_id).limit(1)
    return (await session.execute(query)).first() is not None


async def count_made_by(session: AsyncSession, user_id: str, *, tenant_id: str) -> int:
    """How many spaces there are that a person made, whoever owns them now."""
    query = select(func.count()).where(Space.tenant_id == tenant_id, Space.owner_user_id == user_id)
    return (await session.execute(query)).scalar_one()


async def add_space(session: AsyncSession, space: Space) -> None:
    """Keep a new space."""
    session.add(space)
    await session.flush()


async def delete_space(session: AsyncSession, space_id: str, *, tenant_id: str) -> None:
    """Remove a space with its members, assistants and MCP servers. It must have no flows."""
    await leave_home(session, space_id, tenant_id=tenant_id)
    await session.execute(delete(Space).where(Space.id == space_id, Space.tenant_id == tenant_id))


async def list_members(
    session: AsyncSession, space_id: str, *, tenant_id: str, limit: int, after: str | None = None
) -> Sequence[Member]:
    """The members of a space by the id of the person; `after` is the last one of the page before."""
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
    """How many people who may come in own the space, that one apart."""
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
        )
    )
    return (await session.execute(query)).scalar_one()


async def memberships_of(session: AsyncSession, user_id: str, *, tenant_id: str) -> Sequence[SpaceMember]:
    """The memberships of a user, in the order of the spaces."""
    query = select(SpaceMember).where(SpaceMember.user_id == user_id, SpaceMember.tenant_id == tenant_id)
    return (await session.execute(query.order_by(SpaceMember.space_id))).scalars().all()


async def spaces_made_by(session: AsyncSession, user_id: str, *, tenant_id: str) -> Sequence[Space]:
    """The spaces that a user made."""
    query = select(Space).where(Space.owner_user_id == user_id, Space.tenant_id == tenant_id)
    return (await session.execute(query.order_by(Space.id))).scalars().all()


async def add_member(session: AsyncSession, member: SpaceMember) -> None:
    """Keep a new member. Their new things go here when they had no place to go to."""
    await add_members(session, [member])


async def add_members(session: AsyncSession, members: Sequence[SpaceMember]) -> None:
    """Keep new members of one space. The new things of those who had no place for them go here."""
    if not members:
        return
    session.add_all(members)
    await session.flush()
    homeless = (User.id.in_([member.user_id for member in members]), User.home_space_id.is_(None))
    mine = User.tenant_id == members[0].tenant_id
    await session.execute(
        update(User).where(mine, *homeless).values(home_space_id=members[0].space_id),
        execution_options={"synchronize_session": "fetch"},
    )


async def remove_member(session: AsyncSession, member: SpaceMember) -> None:
    """Take a member out. Their new things go to another space of theirs when they went here."""
    await leave_home(session, member.space_id, tenant_id=member.tenant_id, user_ids=[member.user_id])
    await session.delete(member)
    await session.flush()


async def remove_members(session: AsyncSession, space_id: str, user_ids: Sequence[str], *, tenant_id: str) -> None:
    """Take users out of a space. Their new things go to another space of theirs when they went here."""
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
    """The new things of users that went to the space, of these or of all, go to the space they were added to first."""
    others = (
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
        query.values(home_space_id=others.scalar_subquery()), execution_options={"synchronize_session": False}
    )
