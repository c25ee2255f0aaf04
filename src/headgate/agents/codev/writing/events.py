"""Events of a session: rows with numbers, added in the transaction of what they report."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, insert, update
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.agents.codev.tables import EventRow, SessionRow
from headgate.foundation.database import Database, now

Event = tuple[str, dict[str, Any]]
"""Kind and data."""
Record = Callable[[Event], AbstractAsyncContextManager[AsyncSession]]
"""A transaction that adds an event: with what the block writes, or not at all."""


async def advance(
    session: AsyncSession,
    session_id: str,
    *only: ColumnElement[bool],
    **values: Any,  # noqa: ANN401 - columns
) -> int | None:
    """Change columns of a session where conditions hold: the number of its last event, None where they do not."""
    query = update(SessionRow).where(SessionRow.id == session_id, *only).values(values).returning(SessionRow.events)
    return (await session.execute(query, execution_options={"synchronize_session": False})).scalar_one_or_none()


async def emit(session: AsyncSession, session_id: str, events: Sequence[Event], at: datetime) -> int | None:
    """Add events of a session; the number of the last, None where there is no such session."""
    last = await advance(session, session_id, events=SessionRow.events + len(events), updated_at=at)
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


def recording(database: Database, session_id: str) -> Record:
    """Records events of a session that no process works on."""

    @asynccontextmanager
    async def record(event: Event) -> AsyncIterator[AsyncSession]:
        async with database.writing() as session:
            await emit(session, session_id, [event], now())
            yield session

    return record
