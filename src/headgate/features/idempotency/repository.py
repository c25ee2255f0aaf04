"""Queries on idempotency keys."""

from typing import Any

from sqlalchemy import Row, delete, func, select, text, update
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.idempotency.keys import CLAIM, EXPIRY_MICROSECONDS, StartKey
from headgate.features.idempotency.tables import idempotency_keys

_K = idempotency_keys.c


async def find(session: AsyncSession, key: StartKey, at: int) -> Row[Any] | None:
    """Return the row of a key that is in use; None also when its work is lost."""
    query = select(idempotency_keys).where(
        _K.tenant_id == key.tenant_id, _K.key == key.key, _K.created_at >= at - EXPIRY_MICROSECONDS
    )
    row = (await session.execute(query)).one_or_none()
    return None if row is None or (row.pending_until is not None and row.pending_until < at) else row


async def hold(session: AsyncSession, key: StartKey, resource_id: str, at: int, pending_until: int) -> bool:
    """Reserve a key for work without a row; false when the key is in use. Times are microseconds in UTC."""
    values = key.values(resource_id, at, pending_until=pending_until)
    return (await session.execute(text(CLAIM), values)).one_or_none() is not None


async def settle(session: AsyncSession, key: StartKey, resource_id: str, answer: str) -> None:
    """Store the result of reserved work."""
    statement = update(idempotency_keys).where(*_reserved(key, resource_id))
    await session.execute(statement.values(answer=answer, pending_until=None))


async def release(session: AsyncSession, key: StartKey, resource_id: str) -> None:
    """Delete the key of reserved work that has no result: the same request starts it again."""
    await session.execute(delete(idempotency_keys).where(*_reserved(key, resource_id), _K.pending_until.is_not(None)))


async def delete_expired(session: AsyncSession, before: int) -> int:
    """Delete the keys inserted before this time, in microseconds. Returns how many."""
    result = await session.execute(delete(idempotency_keys).where(_K.created_at < before))
    return int(result.rowcount)  # type: ignore[attr-defined]


async def count_expired(session: AsyncSession, before: int) -> int:
    """Return how many `delete_expired` would delete."""
    query = select(func.count()).select_from(idempotency_keys).where(_K.created_at < before)
    return (await session.execute(query)).scalar_one()


def _reserved(key: StartKey, resource_id: str) -> tuple[Any, ...]:
    return _K.tenant_id == key.tenant_id, _K.key == key.key, _K.resource_id == resource_id
