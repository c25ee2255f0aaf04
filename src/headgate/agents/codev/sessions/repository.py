"""Every query on sessions and their events.

Those for people name the tenant. Those for a process that works on sessions name its lease: what it changes is
changed only while the session is its own (`mine`), so two processes never write one session's row.
"""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import and_, delete, false, func, insert, not_, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.agents.codev.tables import EventRow, SessionRow

IN_PROGRESS, PENDING, COMPLETED, STOPPED, ERROR = "in_progress", "pending_interrupt", "completed", "stopped", "error"
LEFT = {"leased_by": None, "lease_until": None}
"""Columns of a session that nobody works on."""
Event = tuple[str, dict[str, Any]]
"""Kind and data."""
_S = SessionRow


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


async def delete_session(session: AsyncSession, session_id: str) -> None:
    """Delete a session with its events and writes."""
    await session.execute(delete(_S).where(_S.id == session_id))


async def change(session: AsyncSession, session_id: str, *only: Any, **values: Any) -> SessionRow | None:  # noqa: ANN401
    """Change columns of a session where conditions hold; the row then, None where they do not."""
    query = update(_S).where(_S.id == session_id, *only).values(values).returning(_S)
    return (
        await session.execute(query, execution_options={"populate_existing": True, "synchronize_session": False})
    ).scalar_one_or_none()


async def advance(session: AsyncSession, session_id: str, *only: Any, **values: Any) -> int | None:  # noqa: ANN401
    """The same for what is done at every step: only the number of the last event then is read."""
    query = update(_S).where(_S.id == session_id, *only).values(values).returning(_S.events)
    return (await session.execute(query, execution_options={"synchronize_session": False})).scalar_one_or_none()


async def tell(session: AsyncSession, session_id: str, events: Sequence[Event], at: datetime) -> int | None:
    """Add events of a session; the number of the last, None where there is no such session."""
    last = await advance(session, session_id, events=_S.events + len(events), updated_at=at)
    if last is not None:
        await add_events(session, session_id, last - len(events), events, at)
    return last


async def add_events(session: AsyncSession, session_id: str, after: int, events: Sequence[Event], at: datetime) -> None:
    """Add events behind a number."""
    rows = [
        {"session_id": session_id, "number": after + index, "kind": kind, "data": data, "at": at}
        for index, (kind, data) in enumerate(events, start=1)
    ]
    if rows:
        await session.execute(insert(EventRow), rows)


async def read_events(session: AsyncSession, session_id: str, *, after: int, limit: int) -> Sequence[EventRow]:
    """Events behind a number, in order."""
    query = select(EventRow).where(EventRow.session_id == session_id, EventRow.number > after)
    return (await session.execute(query.order_by(EventRow.number).limit(limit))).scalars().all()


async def progress(session: AsyncSession, session_id: str) -> tuple[str, int] | None:
    """Status of a session and the number of its last event: what followers ask for again and again."""
    found = (await session.execute(select(_S.status, _S.events).where(_S.id == session_id))).one_or_none()
    return (found[0], found[1]) if found is not None else None


def mine(owner: str) -> Any:  # noqa: ANN401 - a condition
    """The session is worked on by this process, and nobody has ended it."""
    return and_(_S.leased_by == owner, _S.status == IN_PROGRESS)


def free(at: datetime) -> Any:  # noqa: ANN401 - a condition
    """Nobody has the session, or who had it is not heard of any more."""
    return or_(_S.lease_until.is_(None), _S.lease_until < at)


def _due(status: str, at: datetime) -> Any:  # noqa: ANN401 - a condition
    """Somebody has to take it up.

    One that waits for a person is due only while a notice of it was not sent: then it has a lease that has run out.
    """
    return and_(_S.status == status, free(at) if status == IN_PROGRESS else _S.lease_until < at)


OVER = (COMPLETED, STOPPED, ERROR)
"""States in which nobody has to do anything."""


def expired(over: datetime | None, waiting: datetime | None) -> Any:  # noqa: ANN401 - a condition
    """Over, or waiting for a person, and as it is since before these moments; None: never."""
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


async def find_due(session: AsyncSession, *, status: str, at: datetime, limit: int) -> Sequence[str]:
    """Ids of sessions of any tenant that somebody has to take up, in turns: first whose tenant has the fewest at work.

    Of one tenant, and where turns are the same, the longest waiting goes first. So a tenant with hundreds of sessions
    keeps no other waiting longer than until one session rests.
    """
    at_work = select(_S.tenant_id, func.count().label("sessions")).where(_S.status == status, not_(free(at)))
    busy = at_work.group_by(_S.tenant_id).subquery()
    place = func.row_number().over(partition_by=_S.tenant_id, order_by=(_S.updated_at, _S.id))
    turn = place + func.coalesce(busy.c.sessions, 0)
    query = select(_S.id).outerjoin(busy, busy.c.tenant_id == _S.tenant_id).where(_due(status, at))
    query = query.order_by(turn, _S.updated_at, _S.id).limit(limit)
    return (await session.execute(query)).scalars().all()


async def claim(
    session: AsyncSession, session_id: str, *, status: str, owner: str, at: datetime, until: datetime
) -> SessionRow | None:
    """Take a session that is due: compare-and-swap, so that one process has it. None when another was first."""
    return await change(session, session_id, _due(status, at), leased_by=owner, lease_until=until)


async def renew(session: AsyncSession, session_ids: Collection[str], *, owner: str, until: datetime) -> set[str]:
    """Keep leases; the ids of those sessions that still are this process's."""
    query = update(_S).where(_S.id.in_(session_ids), mine(owner)).values(lease_until=until).returning(_S.id)
    return set((await session.execute(query, execution_options={"synchronize_session": False})).scalars().all())


async def keep(session: AsyncSession, session_id: str, *, owner: str, until: datetime) -> bool:
    """Keep the lease of a session that rests; whether it still is this one's."""
    return await change(session, session_id, _S.leased_by == owner, lease_until=until) is not None


async def let_go(session: AsyncSession, session_id: str, *, owner: str) -> None:
    """Nobody works on it any more, for now."""
    query = update(_S).where(_S.id == session_id, _S.leased_by == owner).values(LEFT)
    await session.execute(query, execution_options={"synchronize_session": False})
