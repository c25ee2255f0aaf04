"""Queries on what users have dismissed, and to whom items are assigned. The tenant is always required."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from sqlalchemy import Row, delete, select
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.accounts.tables import User
from headgate.features.attention.tables import AttentionAssignmentRow, AttentionDismissalRow
from headgate.foundation.database import insert_into

AnyRow = Row[*tuple[Any, ...]]


async def dismissals(session: AsyncSession, user_id: str, *, tenant_id: str) -> Mapping[str, AnyRow]:
    """Return the dismissed items of a user by key: when each was dismissed, and until when it is muted."""
    row = AttentionDismissalRow
    query = select(row.item_key, row.dismissed_at, row.muted_until)
    query = query.where(row.user_id == user_id, row.tenant_id == tenant_id)
    return {item.item_key: item for item in (await session.execute(query)).all()}


async def dismiss(
    session: AsyncSession, key: str, user_id: str, at: int, *, until: int | None = None, tenant_id: str
) -> None:
    """Store that a user dismissed an item."""
    change = {"dismissed_at": at, "muted_until": until}
    values = {"user_id": user_id, "item_key": key, "tenant_id": tenant_id, **change}
    insert = insert_into(session, AttentionDismissalRow).values(values)
    await session.execute(insert.on_conflict_do_update(index_elements=["user_id", "item_key"], set_=change))


async def restore(session: AsyncSession, key: str, user_id: str, *, tenant_id: str) -> None:
    """Show a dismissed item again."""
    row = AttentionDismissalRow
    where = (row.user_id == user_id, row.item_key == key, row.tenant_id == tenant_id)
    await session.execute(delete(row).where(*where))


async def assignments(session: AsyncSession, keys: Collection[str], *, tenant_id: str) -> Mapping[str, AnyRow]:
    """Return id and name of the users to whom these items are assigned, by key."""
    row = AttentionAssignmentRow
    query = select(row.item_key, User.id, User.name).join(User, User.id == row.user_id)
    query = query.where(row.tenant_id == tenant_id, User.tenant_id == tenant_id, row.item_key.in_(keys))
    return {item.item_key: item for item in (await session.execute(query)).all()}


async def assign(session: AsyncSession, key: str, user_id: str, at: int, *, tenant_id: str) -> None:
    """Assign an item to a user, instead of anyone before."""
    change = {"user_id": user_id, "assigned_at": at}
    insert = insert_into(session, AttentionAssignmentRow).values(tenant_id=tenant_id, item_key=key, **change)
    await session.execute(insert.on_conflict_do_update(index_elements=["tenant_id", "item_key"], set_=change))


async def unassign(session: AsyncSession, keys: Sequence[str], *, tenant_id: str) -> None:
    """Assign items to nobody."""
    row = AttentionAssignmentRow
    await session.execute(delete(row).where(row.tenant_id == tenant_id, row.item_key.in_(keys)))


async def delete_old_assignments(session: AsyncSession, before: int, *, tenant_id: str) -> None:
    """Delete assignments of before a time: their items have left the list."""
    row = AttentionAssignmentRow
    await session.execute(delete(row).where(row.tenant_id == tenant_id, row.assigned_at < before))
