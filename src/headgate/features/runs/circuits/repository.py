"""Queries on circuit breakers. The tenant is always required."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import delete, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.runs.circuits.tables import host_circuits
from headgate.foundation.database import insert_into


async def find_circuit(session: AsyncSession, host: str, *, tenant_id: str, lock: bool = False) -> Any:  # noqa: ANN401 - a row
    """Return the circuit of a host; None without failures."""
    table = host_circuits.c
    query = select(host_circuits).where(table.tenant_id == tenant_id, table.host == host)
    return (await session.execute(query.with_for_update() if lock else query)).one_or_none()


async def list_circuits(session: AsyncSession, *, tenant_id: str, limit: int) -> Sequence[Any]:
    """Return the circuits of a tenant, those that changed last first."""
    table = host_circuits.c
    query = select(host_circuits).where(table.tenant_id == tenant_id).order_by(table.changed_at.desc(), table.host)
    return (await session.execute(query.limit(limit))).all()


async def add_circuit(session: AsyncSession, values: dict[str, Any], *, tenant_id: str, before: int) -> None:
    """Insert the circuit of a host that failed, unless there is one; forget hosts that last failed before a time."""
    table = host_circuits.c
    await session.execute(delete(host_circuits).where(table.tenant_id == tenant_id, table.changed_at < before))
    await session.execute(
        insert_into(session, host_circuits).values(tenant_id=tenant_id, **values).on_conflict_do_nothing()
    )


async def change_circuit(session: AsyncSession, host: str, values: dict[str, Any], *, tenant_id: str) -> None:
    """Change the circuit of a host, which is locked."""
    table = host_circuits.c
    await session.execute(
        update(host_circuits).where(table.tenant_id == tenant_id, table.host == host).values(**values)
    )


async def claim_probe(session: AsyncSession, host: str, at: int, until: int, *, tenant_id: str) -> bool:
    """Claim the one request that tries a host again. False while another one does."""
    table = host_circuits.c
    free = or_(table.probe_until.is_(None), table.probe_until <= at)
    changed = await session.execute(
        update(host_circuits)
        .where(table.tenant_id == tenant_id, table.host == host, table.open_until <= at, free)
        .values(probe_until=until)
        .returning(table.host)
    )
    return changed.first() is not None


async def close_circuit(session: AsyncSession, host: str, *, tenant_id: str) -> None:
    """Delete the circuit of a host, unless it is open and no request tries it again."""
    table = host_circuits.c
    closes = or_(table.open_until.is_(None), table.probe_until.is_not(None))
    await session.execute(delete(host_circuits).where(table.tenant_id == tenant_id, table.host == host, closes))


async def delete_circuit(session: AsyncSession, host: str, *, tenant_id: str) -> bool:
    """Delete the circuit of a host. False when there was none."""
    table = host_circuits.c
    deleted = await session.execute(
        delete(host_circuits).where(table.tenant_id == tenant_id, table.host == host).returning(table.host)
    )
    return deleted.first() is not None
