"""Every query on writes. A write belongs to a session, whose tenant the caller checked."""

from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import ColumnElement, func, select, update
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import defer

from headgate.agents.codev.tables import SessionRow, WriteRow
from headgate.agents.codev.writing.events import advance

INTENDED, DONE, REFUSED, ROLLED_BACK = "intended", "done", "refused", "rolled_back"
KEPT = "kept"
"""A write that stays although the session was rolled back: others changed the flow since, and that was kept."""
ROLLBACK = "rollback"
"""The tool's name of a write that takes others back."""

_OPEN = (INTENDED, DONE)


async def find_write(session: AsyncSession, call_key: str) -> WriteRow | None:
    """The write of a call."""
    return (await session.execute(select(WriteRow).where(WriteRow.call_key == call_key))).scalar_one_or_none()


async def list_writes(session: AsyncSession, session_id: str, *states: str) -> Sequence[WriteRow]:
    """The writes of a session in these states, or in any, oldest first."""
    query = select(WriteRow).where(WriteRow.session_id == session_id).order_by(WriteRow.number)
    return (await session.execute(query.where(WriteRow.state.in_(states)) if states else query)).scalars().all()


async def list_notes(session: AsyncSession, session_id: str) -> Sequence[WriteRow]:
    """What a session wrote, oldest first, without the flows: each holds two, and no list shows them."""
    query = select(WriteRow).where(WriteRow.session_id == session_id).order_by(WriteRow.number)
    light = query.options(defer(WriteRow.before, raiseload=True), defer(WriteRow.change, raiseload=True))
    return (await session.execute(light)).scalars().all()


def is_to_take_back(row: WriteRow) -> bool:
    """Whether a write is one that can be rolled back."""
    return row.state in _OPEN and row.tool != ROLLBACK


async def lock_numbers(session: AsyncSession, session_id: str) -> None:
    """Lock the session's row until the transaction ends: no other process takes the next number."""
    await advance(session, session_id, events=SessionRow.events)


async def next_number(session: AsyncSession, session_id: str) -> int:
    """The number of the next write of a session."""
    query = select(func.coalesce(func.max(WriteRow.number), 0) + 1).where(WriteRow.session_id == session_id)
    return int((await session.execute(query)).scalar_one())


async def change_write(
    session: AsyncSession,
    write_id: str,
    *,
    was: Collection[str],
    **values: Any,  # noqa: ANN401 - columns
) -> bool:
    """Change columns of a write that is in one of these states; whether it was. What others found out stays."""
    query = update(WriteRow).where(WriteRow.id == write_id, WriteRow.state.in_(was)).values(**values)
    return (await session.execute(query.returning(WriteRow.id))).scalar_one_or_none() is not None


async def note_flow(session: AsyncSession, session_id: str, *, flow_id: str | None, name: str) -> None:
    """Store in a session's row which flow it works on."""
    query = update(SessionRow).where(SessionRow.id == session_id).values(flow_id=flow_id, flow_name=name[:300])
    await session.execute(query)


async def is_owned(session: AsyncSession, session_id: str, mine: ColumnElement[bool]) -> bool:
    """Whether a condition holds of a session. The row is held until the transaction ends."""
    return await advance(session, session_id, mine, events=SessionRow.events) is not None


async def can_roll_back(session: AsyncSession, session_ids: Sequence[str]) -> set[str]:
    """Which of these sessions have a write that is not rolled back."""
    query = select(WriteRow.session_id).where(
        WriteRow.session_id.in_(session_ids), WriteRow.state.in_(_OPEN), WriteRow.tool != ROLLBACK
    )
    return set((await session.execute(query.distinct())).scalars().all())
