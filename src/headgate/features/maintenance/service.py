"""Runs the scheduled tasks of an installation: each when it is due, in one process, or one on request.

A task is a durable job: a row that is due again when its time has come.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import and_, select, text, update

from headgate.features.files.storage import Storage
from headgate.features.jobs.leases import MICROSECONDS, clock
from headgate.features.jobs.queue import Job as Held
from headgate.features.jobs.queue import Queue
from headgate.features.jobs.runner import JobKind, JobRunner
from headgate.features.maintenance.expired_keys import delete_expired_keys
from headgate.features.maintenance.heads import log_audit_heads
from headgate.features.maintenance.orphans import sweep_orphans
from headgate.features.maintenance.outcome import Outcome
from headgate.features.maintenance.retention import delete_expired_runs
from headgate.features.maintenance.tables import scheduled_jobs
from headgate.foundation.database import Database, moment
from headgate.foundation.errors import HeadgateError, NotFound
from headgate.foundation.log import get_logger
from headgate.foundation.settings import RetentionSettings
from headgate.graph.names import listed


@dataclass(frozen=True, slots=True)
class Job:
    """What is done, given the database, the storage, the settings and `dry`; and that in a sentence."""

    carry_out: Callable[..., Awaitable[Outcome]]
    summary: str


JOBS: Mapping[str, Job] = {
    "retention": Job(
        delete_expired_runs,
        "Deletes runs, and what they made, older than their flow or HEADGATE_RETENTION__RUN_DAYS allows.",
    ),
    "orphan_sweep": Job(
        sweep_orphans,
        "Deletes what failed and cancelled runs left and no result names, and contents without a record.",
    ),
    "idempotency_keys": Job(delete_expired_keys, "Deletes idempotency keys that are a day old."),
    "audit_heads": Job(log_audit_heads, "Writes the end of each audit log into the server's log."),
}
"""Every job of this floor, in the order in which they run: what retention leaves behind the sweep may take."""
KIND = "maintenance"
RETRY_SECONDS = 60.0
"""How long after a fault of Headgate itself a task is run again."""
_ADD = text("INSERT INTO scheduled_jobs (name, due_at) VALUES (:name, :due_at) ON CONFLICT (name) DO NOTHING")
log = get_logger(__name__)


class JobNotFound(NotFound):
    """There is no such job."""

    code = "job_not_found"
    title = "Job not found"


@dataclass(frozen=True, slots=True)
class JobState:
    """A job and how it last went. Times are ISO 8601 in UTC."""

    name: str
    summary: str
    due_at: str | None
    started_at: str | None
    finished_at: str | None
    outcome: dict[str, Any] | None


class Maintenance:
    """The scheduled tasks of one installation.

    Args:
        database: Rows of runs, files and tasks.
        storage: Contents of files.
        settings: What is kept how long, and how often that is looked after.
        runner: Runs what is due.
        more: Tasks of the layers above, by name.
    """

    def __init__(
        self,
        database: Database,
        storage: Storage,
        settings: RetentionSettings,
        runner: JobRunner,
        more: Mapping[str, Job] | None = None,
    ) -> None:
        self.jobs: Mapping[str, Job] = {**JOBS, **(more or {})}
        self._database = database
        self._storage = storage
        self._settings = settings
        self._every = int(settings.every_minutes * 60 * MICROSECONDS)
        self._runner = runner
        self._queue = Queue(scheduled_jobs, key="name", only=scheduled_jobs.c.name.in_(self.jobs))
        # One at a time in a process and in their order: what retention leaves behind the sweep may take.
        kind = JobKind(KIND, self._queue, self._run_scheduled, 1, retry_seconds=RETRY_SECONDS, upkeep=self.schedule)
        runner.register(kind)

    @property
    def retention(self) -> RetentionSettings:
        """What is kept how long."""
        return self._settings

    async def schedule(self) -> None:
        """Add the rows of tasks that have none, due at once; make due what a clock that was ahead put off."""
        now = clock()
        rows = await self._rows()
        missing = [name for name in self.jobs if name not in rows]
        ahead = [name for name, row in rows.items() if row.due_at is not None and row.due_at - now > 2 * self._every]
        if not missing and not ahead:
            return
        order = {name: now + place for place, name in enumerate(self.jobs)}
        async with self._database.writing() as session:
            for name in missing:
                await session.execute(_ADD, {"name": name, "due_at": order[name]})
            for name in ahead:
                same = and_(scheduled_jobs.c.name == name, scheduled_jobs.c.due_at == rows[name].due_at)
                await session.execute(update(scheduled_jobs).where(same).values(due_at=order.get(name, now)))

    async def run_job(self, name: str, *, dry: bool = False) -> Outcome:
        """Run one task now, whenever it is due; `dry` only counts.

        Raises `JobNotFound`, or `JobBusy` while a process runs it.
        """
        job = self.jobs.get(name)
        if job is None:
            raise JobNotFound(f"There is no job '{name}'.", remedy=f"The jobs are: {listed(self.jobs)}.")
        if dry:
            return await self._carry_out(name, job, dry=True)
        await self.schedule()
        async with self._runner.hold(KIND, name) as held:
            return await self._recorded(held)

    async def status(self) -> list[JobState]:
        """Every task and how it last went."""
        rows = await self._rows()
        return [_state(name, job.summary, rows.get(name)) for name, job in self.jobs.items()]

    async def _rows(self) -> dict[str, Any]:
        async with self._database.reading() as session:
            return {row.name: row for row in await session.execute(select(scheduled_jobs))}

    async def _carry_out(self, name: str, job: Job, *, dry: bool) -> Outcome:
        outcome = await job.carry_out(self._database, self._storage, self._settings, dry=dry)
        log.info("maintenance", job=name, dry=dry, **outcome.as_json())
        return outcome

    async def _run_scheduled(self, held: Held) -> None:
        """A task that fails says so in its row and is run again when it is next due."""
        due_at = clock() + self._every
        try:
            await self._recorded(held)
        except HeadgateError as error:
            log.warning("maintenance job failed", job=held.id, problem=error.detail)
        async with self._database.writing() as session:
            await self._queue.release(session, held, due_at=due_at)

    async def _recorded(self, held: Held) -> Outcome:
        """Run a claimed task, with its times and its outcome in its row. Raises what the task raises."""
        await self._write(held, started_at=clock(), finished_at=None, outcome=None)
        try:
            outcome = await self._carry_out(held.id, self.jobs[held.id], dry=False)
        except HeadgateError as error:
            await self._write(held, finished_at=clock(), outcome={"error": error.code, "message": str(error)})
            raise
        await self._write(held, finished_at=clock(), outcome=outcome.as_json())
        return outcome

    async def _write(self, held: Held, **values: Any) -> None:  # noqa: ANN401 - columns
        async with self._database.writing() as session:
            await session.execute(update(scheduled_jobs).where(self._queue.held(held)).values(values))


def _state(name: str, summary: str, row: Any) -> JobState:  # noqa: ANN401 - a row of scheduled_jobs, or nothing
    if row is None:
        return JobState(name, summary, None, None, None, None)
    due, started, finished = (
        None if at is None else moment(at).isoformat() for at in (row.due_at, row.started_at, row.finished_at)
    )
    return JobState(name, summary, due, started, finished, row.outcome)
