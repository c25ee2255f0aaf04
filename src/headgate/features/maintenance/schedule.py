"""When each job is due. Of several processes the one that moves the due time on runs the job: compare-and-swap."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import select, text, update
from sqlalchemy.engine import CursorResult

from headgate.features.maintenance.tables import scheduled_jobs
from headgate.features.runs.transitions import clock
from headgate.foundation.database import Database

_ADD = text("INSERT INTO scheduled_jobs (name, due_at) VALUES (:name, :due_at) ON CONFLICT (name) DO NOTHING")


class Schedule:
    """The rows of jobs.

    Args:
        database: Where they are.
        every_seconds: How long after a run of a job the next one is due.
    """

    def __init__(self, database: Database, every_seconds: float) -> None:
        self._database = database
        self._every = int(every_seconds * 1_000_000)

    async def claim_due(self, names: Sequence[str]) -> list[str]:
        """The jobs that are due and this process's to run now. A job seen for the first time is due at once."""
        now = clock()
        async with self._database.reading() as session:
            due = {row.name: row.due_at for row in await session.execute(select(scheduled_jobs))}
        for name in names:
            if name not in due:
                due[name] = await self._add(name, now)
        return [name for name in names if self._is_due(due[name], now) and await self._claim(name, due[name], now)]

    async def begin(self, name: str) -> None:
        """Record that a job runs now, on request; when it is due next does not change."""
        now = clock()
        await self._add(name, now + self._every)
        change = update(scheduled_jobs).where(scheduled_jobs.c.name == name)
        async with self._database.writing() as session:
            await session.execute(change.values(started_at=now, finished_at=None, outcome=None))

    async def finish(self, name: str, outcome: Mapping[str, Any]) -> None:
        """Write down what a job came to."""
        done = {"finished_at": clock(), "outcome": dict(outcome)}
        async with self._database.writing() as session:
            await session.execute(update(scheduled_jobs).where(scheduled_jobs.c.name == name).values(done))

    async def rows(self) -> dict[str, Any]:
        """Job to its row."""
        async with self._database.reading() as session:
            return {row.name: row for row in await session.execute(select(scheduled_jobs))}

    def _is_due(self, due_at: int, now: int) -> bool:
        """Whether the time has come; one that lies further ahead than any may was set by a clock that was ahead."""
        return due_at <= now or due_at - now > 2 * self._every

    async def _add(self, name: str, now: int) -> int:
        async with self._database.writing() as session:
            await session.execute(_ADD, {"name": name, "due_at": now})
            query = select(scheduled_jobs.c.due_at).where(scheduled_jobs.c.name == name)
            return int((await session.execute(query)).scalar_one())

    async def _claim(self, name: str, seen: int, now: int) -> bool:
        change = (
            update(scheduled_jobs)
            .where(scheduled_jobs.c.name == name, scheduled_jobs.c.due_at == seen)
            .values(due_at=now + self._every, started_at=now, finished_at=None, outcome=None)
        )
        async with self._database.writing() as session:
            found = await session.execute(change)
            return isinstance(found, CursorResult) and found.rowcount == 1
