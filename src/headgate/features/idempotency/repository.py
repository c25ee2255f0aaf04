"""Queries on idempotency keys."""

from typing import Any

from sqlalchemy import Row, delete, select, text, update
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.idempotency.keys import CLAIM, KEPT_MICROSECONDS, StartKey
from headgate.features.idempotency.tables import idempotency_keys

_K = idempotency_keys.c


async def find(session: AsyncSession, key: StartKey, at: int) -> Row[Any] | None:
    """The row of a key that is in use; one whose work is lost counts as none."""
    query = select(idempotency_keys).where(
        _K.tenant_id == key.tenant_id, _K.key == key.key, _K.created_at >= at - KEPT_MICROSECONDS
    )
    row = (await session.execute(query)).one_or_none()
    return None if row is None or (row.pending_until is not None and row.pending_until < at) else row


async def hold(session: AsyncSession, key: StartKey, resource_id: str, at: int, pending_until: int) -> bool:
    """Insert a key whose work has no row of its own; false where it is in use."""
    values = key.values(resource_id, at, pending_until=pending_until)
    return (await session.execute(text(CLAIM), values)).one_or_none() is not None


async def settle(session: AsyncSession, key: StartKey, resource_id: str, answer: str) -> None:
    """Store the result of held work."""
    mine = update(idempotency_keys).where(*_held(key, resource_id))
    await session.execute(mine.values(answer=answer, pending_until=None))


async def release(session: AsyncSession, key: StartKey, resource_id: str) -> None:
    """Delete the key of held work that has no result: the same request starts it again."""
    await session.execute(delete(idempotency_keys).where(*_held(key, resource_id), _K.pending_until.is_not(None)))


async def delete_expired(session: AsyncSession, before: int) -> int:
    """Delete keys that were inserted before a moment; how many."""
    found = await session.execute(delete(idempotency_keys).where(_K.created_at < before))
    return int(found.rowcount)  # type: ignore[attr-defined]


async def count_expired(session: AsyncSession, before: int) -> int:
    """How many `delete_expired` would delete."""
    rows = await session.execute(select(_K.key).where(_K.created_at < before))
    return len(rows.all())


def _held(key: StartKey, resource_id: str) -> tuple[Any, ...]:
    return _K.tenant_id == key.tenant_id, _K.key == key.key, _K.resource_id == resource_id
