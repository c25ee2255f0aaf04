"""Every query on sessions and their events, and the queues of sessions and notices.

Queries for users name the tenant. What a process changes of a session that it works on is changed only while the claim
is its own (`mine`), so two processes never write one session's row.
"""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any, cast

from sqlalchemy import ColumnElement, Select, Table, and_, delete, false, func, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.agents.codev.tables import EventRow, NoticeRow, SessionRow
from headgate.features.jobs.queue import Job, Queue

IN_PROGRESS, PENDING, COMPLETED, STOPPED, ERROR = "in_progress", "pending_interrupt", "completed", "stopped", "error"
_S = SessionRow
_TABLE = cast("Table", SessionRow.__table__)
_C = _TABLE.c
RESTS = _C.status != IN_PROGRESS
"""Condition of a session that needs no worker."""


def turns(due: ColumnElement[bool], _at: int) -> Select[tuple[str]]:
    """Ids of sessions of any tenant that are due, in turns: first those of tenants with the fewest in progress.

    Of one tenant, and where turns are the same, the longest waiting comes first. So a tenant with hundreds of sessions
    keeps no other waiting longer than until one session rests.
    """
    running = select(_C.tenant_id, func.count().label("sessions"))
    busy = running.where(~RESTS, _C.worker_id.is_not(None)).group_by(_C.tenant_id).subquery()
    place = func.row_number().over(partition_by=_C.tenant_id, order_by=(_C.updated_at, _C.id))
    query = select(_C.id).outerjoin(busy, busy.c.tenant_id == _C.tenant_id).where(due)
    return query.order_by(place + func.coalesce(busy.c.sessions, 0), _C.updated_at, _C.id)


SESSIONS = Queue(_TABLE, only=~RESTS, pick=turns)
NOTICES = Queue(cast("Table", NoticeRow.__table__))


async def find_session(session: AsyncSession, session_id: str, *, tenant_id: str) -> SessionRow | None:
    """A session of the tenant."""
    query = select(_S).where(_S.id == session_id, _S.tenant_id == tenant_id)
    return (await session.execute(query)).scalar_one_or_none()


async def list_sessions(
    session: AsyncSession,
    *,
    tenant_id: str,
    spaces: Collection[str] | None,
    before: str | None,
    status: str | None,
    limit: int,
) -> Sequence[SessionRow]:
    """Sessions of these spaces, or of all, newest first, behind an id."""
    query = select(_S).where(_S.tenant_id == tenant_id)
    if spaces is not None:
        query = query.where(_S.space_id.in_(spaces))
    if before is not None:
        query = query.where(_S.id < before)
    if status is not None:
        query = query.where(_S.status == status)
    return (await session.execute(query.order_by(_S.id.desc()).limit(limit))).scalars().all()


async def delete_session(session: AsyncSession, session_id: str, *only: ColumnElement[bool]) -> bool:
    """Delete a session with its events and writes, under conditions. Returns whether it existed."""
    deleted = await session.execute(delete(_S).where(_S.id == session_id, *only).returning(_S.id))
    return deleted.scalar_one_or_none() is not None


async def change(session: AsyncSession, session_id: str, *only: Any, **values: Any) -> SessionRow | None:  # noqa: ANN401
    """Update a session under conditions. Returns the row, None if they are not met."""
    query = update(_S).where(_S.id == session_id, *only).values(values).returning(_S)
    return (
        await session.execute(query, execution_options={"populate_existing": True, "synchronize_session": False})
    ).scalar_one_or_none()


async def read_events(session: AsyncSession, session_id: str, *, after: int, limit: int) -> Sequence[EventRow]:
    """Events behind a number, in order."""
    query = select(EventRow).where(EventRow.session_id == session_id, EventRow.number > after)
    return (await session.execute(query.order_by(EventRow.number).limit(limit))).scalars().all()


async def progress(session: AsyncSession, session_id: str) -> tuple[str, int] | None:
    """Return status and last event number of a session, which followers poll."""
    row = (await session.execute(select(_S.status, _S.events).where(_S.id == session_id))).one_or_none()
    return (row[0], row[1]) if row is not None else None


def mine(job: Job) -> ColumnElement[bool]:
    """Condition: the session runs under this claim, and has not been ended."""
    return and_(SESSIONS.held(job), _S.status == IN_PROGRESS)


OVER = (COMPLETED, STOPPED, ERROR)
"""Final statuses."""


def expired(over: datetime | None, waiting: datetime | None) -> Any:  # noqa: ANN401 - a condition
    """Condition: over, or waiting for a user, since before these times; None: never."""
    return or_(
        and_(_S.status.in_(OVER), _S.updated_at < over) if over is not None else false(),
        and_(_S.status == PENDING, _S.updated_at < waiting) if waiting is not None else false(),
    )


async def find_expired(session: AsyncSession, only: Any, *, after: str, limit: int) -> Sequence[SessionRow]:  # noqa: ANN401
    """Sessions of any tenant that are expired, by id, behind one."""
    query = select(_S).where(only, _S.id > after).order_by(_S.id).limit(limit)
    return (await session.execute(query)).scalars().all()


async def known_among(session: AsyncSession, session_ids: Collection[str]) -> set[str]:
    """Those of the ids that are of a session."""
    return set((await session.execute(select(_S.id).where(_S.id.in_(session_ids)))).scalars())
