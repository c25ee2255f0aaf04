"""A table of jobs, and processes that work on it: each has a worker, a lock file and a runner of its own."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Column, Integer, MetaData, String, Table, func, insert, select, update

from headgate.features.jobs.leases import Lease, Leases, clock
from headgate.features.jobs.queue import Job, Queue
from headgate.features.jobs.runner import JobKind, JobRunner
from headgate.features.jobs.tables import job_columns, job_indexes
from headgate.features.jobs.worker import Worker
from headgate.foundation.database import Database
from tests.support.patience import PATIENCE_SECONDS

SECOND = 1_000_000
LONG = 3600.0
"""A lease that outlasts any test, so that nothing is lost by a slow machine."""
chores = Table(
    "chores",
    MetaData(),
    Column("id", String(36), primary_key=True),
    Column("done", Integer, nullable=False, server_default="0"),
    *job_columns(),
    *job_indexes("chores"),
)
QUEUE = Queue(chores)


@dataclass
class Process:
    """One process of an installation."""

    database: Database
    worker: Worker
    runner: JobRunner
    runs: list[str] = field(default_factory=list)
    """Ids of the jobs whose handler began, in order."""
    at_once: int = 0
    most_at_once: int = 0
    ending: list[Job] = field(default_factory=list)
    finishing: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def handle(self, job: Job) -> None:
        """Finish the job, counting it in its row; those that end meanwhile are finished in the same transaction."""
        self.runs.append(job.id)
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        self.ending.append(job)
        try:
            async with self.finishing:
                together, self.ending = self.ending, []
                if together:
                    async with self.database.writing() as session:
                        for one in together:
                            assert await QUEUE.finish(session, one, done=chores.c.done + 1)
        finally:
            self.at_once -= 1

    def work(self, handle: Callable[[Job], Awaitable[None]] | None = None, **kind: Any) -> None:
        """Begin to work."""
        given: dict[str, Any] = {"name": "chores", "queue": QUEUE, "limit": 8, "retry_seconds": 0.0} | kind
        self.runner.register(JobKind(handle=handle or self.handle, **given))
        self.runner.open()

    async def die(self) -> None:
        """End as by a kill: the lock file is free, nothing is renewed or released; handlers know nothing of it."""
        for task in self.runner._upkeep:
            task.cancel()
        await asyncio.gather(*self.runner._upkeep, return_exceptions=True)
        self.worker.close()


@dataclass
class Rows:
    """The rows of the table."""

    database: Database

    async def add(self, *ids: str, **columns: Any) -> None:
        values = {"due_at": clock()} | columns
        async with self.database.writing() as session:
            await session.execute(insert(chores), [{"id": one, **values} for one in ids])

    async def set(self, **columns: Any) -> None:
        async with self.database.writing() as session:
            await session.execute(update(chores).values(columns))

    async def row(self, job_id: str) -> Any:
        async with self.database.reading() as session:
            return (await session.execute(select(chores).where(chores.c.id == job_id))).one()

    async def done(self) -> int:
        """How often jobs were finished, all together."""
        async with self.database.reading() as session:
            return int((await session.execute(select(func.coalesce(func.sum(chores.c.done), 0)))).scalar_one())

    async def until(self, condition: Callable[[], Awaitable[bool]]) -> None:
        """Return when a condition holds of the rows."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not await condition():  # noqa: ASYNC110 - the rows are written by other processes
                await asyncio.sleep(0.01)

    async def until_done(self, count: int) -> None:
        """Return when so many are done. Patience is for the next one, however many there are."""
        done = -1

        async def more() -> bool:
            return await self.done() > done

        while done < count:
            await self.until(more)
            done = await self.done()


MakeProcess = Callable[..., Process]


@pytest.fixture
async def rows(database: Database) -> AsyncIterator[Rows]:
    engine = database.engine.execution_options(headgate_writes=True)
    async with engine.begin() as connection:
        await connection.run_sync(chores.metadata.create_all)
    yield Rows(database)
    async with engine.begin() as connection:
        await connection.run_sync(chores.metadata.drop_all)


@pytest.fixture
async def make_process(rows: Rows, tmp_path: Path) -> AsyncIterator[MakeProcess]:
    """Processes on one database and one data folder."""
    made: list[JobRunner] = []

    def make(*, lease_seconds: float = LONG, folder: Path | None = None, **runner: Any) -> Process:
        worker = Worker(folder or tmp_path / "workers")
        runner = {"poll_seconds": 0.02} | runner
        made.append(JobRunner(rows.database, Leases(worker, lease_seconds), **runner))
        return Process(rows.database, worker, made[-1])

    yield make
    for one in made:
        with suppress(asyncio.CancelledError):
            await one.close(grace_seconds=0)


def lease(worker: str = "somebody", seconds: float = LONG) -> Lease:
    """A lease of a worker that nobody can see."""
    at = clock()
    return Lease(worker, at, at + int(seconds * SECOND))
