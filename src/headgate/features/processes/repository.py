"""Queries on the processes of an installation. They belong to no tenant."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import delete, func, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.processes.tables import processes
from headgate.foundation.database import insert_into

_P = processes.c


async def save_process(session: AsyncSession, values: dict[str, Any]) -> None:
    """Store a process, or renew it."""
    statement = insert_into(session, processes).values(values)
    renewed = {name: values[name] for name in ("seen_at", "work")}
    await session.execute(statement.on_conflict_do_update(index_elements=["id"], set_=renewed))


async def find_process(session: AsyncSession, process_id: str) -> Any:  # noqa: ANN401 - a row, or None
    """Return a process."""
    return (await session.execute(select(processes).where(_P.id == process_id))).one_or_none()


async def list_process_rows(session: AsyncSession) -> Sequence[Any]:
    """Return all processes, oldest first."""
    return (await session.execute(select(processes).order_by(_P.started_at, _P.id))).all()


async def list_dead_processes(session: AsyncSession, *, before: int, limit: int) -> Sequence[Any]:
    """Return servers and workers that were last seen before a time, the latest first."""
    query = select(processes).where(_P.parent_id.is_(None), _P.seen_at < before).order_by(_P.seen_at.desc())
    return (await session.execute(query.limit(limit))).all()


async def set_drain(
    session: AsyncSession, process_id: str, *, draining_at: int | None, hand_over_at: int | None
) -> None:
    """Drain a server or worker, or end that."""
    since = None if draining_at is None else func.coalesce(_P.draining_at, draining_at)
    change = update(processes).where(_P.id == process_id, _P.parent_id.is_(None))
    await session.execute(change.values(draining_at=since, hand_over_at=hand_over_at))


async def forget_processes(session: AsyncSession, process_id: str, *, before: int) -> None:
    """Delete a process that stops, its children, and all that died before a time."""
    await session.execute(delete(processes).where(or_(_P.parent_id == process_id, _P.parent_id.in_(_old(before)))))
    await session.execute(delete(processes).where(or_(_P.id == process_id, _P.seen_at < before)))


def _old(before: int) -> Any:  # noqa: ANN401 - a query
    return select(_P.id).where(_P.seen_at < before)
