"""Statements on data keys. The tenant is always required."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import Row, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.encryption.states import DataKeyState
from headgate.features.encryption.tables import data_keys
from headgate.foundation.database import insert_into

_C = data_keys.c


async def find_active_key(session: AsyncSession, *, tenant_id: str) -> Row[Any] | None:
    """Return the key for a tenant's new content."""
    query = select(data_keys).where(_C.tenant_id == tenant_id, _C.state == DataKeyState.ACTIVE)
    return (await session.execute(query)).one_or_none()


async def find_data_key(session: AsyncSession, data_key_id: str, *, tenant_id: str) -> Row[Any] | None:
    """Return a key of a tenant, in any state."""
    query = select(data_keys).where(_C.id == data_key_id, _C.tenant_id == tenant_id)
    return (await session.execute(query)).one_or_none()


async def list_data_keys(session: AsyncSession, *, tenant_id: str) -> Sequence[Row[Any]]:
    """Return the keys of a tenant, oldest first."""
    query = select(data_keys).where(_C.tenant_id == tenant_id).order_by(_C.created_at, _C.id)
    return (await session.execute(query)).all()


async def find_or_add_key(
    session: AsyncSession, data_key_id: str, wrapped: bytes, at: int, *, tenant_id: str
) -> Row[Any] | None:
    """Return the active key of a tenant, inserted with this id when missing."""
    values = {"id": data_key_id, "tenant_id": tenant_id, "wrapped": wrapped, "created_at": at}
    statement = insert_into(session, data_keys).values(**values, state=DataKeyState.ACTIVE)
    await session.execute(statement.on_conflict_do_nothing())
    return await find_active_key(session, tenant_id=tenant_id)


async def stop_using_keys(session: AsyncSession, *, tenant_id: str) -> int:
    """Stop using the tenant's keys for new content. Returns their number."""
    active = update(data_keys).where(_C.tenant_id == tenant_id, _C.state == DataKeyState.ACTIVE)
    return int((await session.execute(active.values(state=DataKeyState.OLD))).rowcount)  # type: ignore[attr-defined]


async def destroy_data_keys(session: AsyncSession, at: int, *, tenant_id: str) -> int:
    """Delete the material of every key of a tenant. Returns their number."""
    statement = update(data_keys).where(_C.tenant_id == tenant_id, _C.wrapped.is_not(None))
    values = {"state": DataKeyState.DESTROYED, "wrapped": None, "destroyed_at": at}
    return int((await session.execute(statement.values(**values))).rowcount)  # type: ignore[attr-defined]
