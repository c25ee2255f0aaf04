"""Runs the maintenance jobs of an installation: each on schedule in one process, or manually.

Each is a durable job: a row that is due again after every interval.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import and_, select, text, update

from headgate.features.files.storage import Storage
from headgate.features.jobs.leases import MICROSECONDS, clock
from headgate.features.jobs.queue import Job as ClaimedJob
from headgate.features.jobs.queue import Queue
from headgate.features.jobs.runner import JobKind, JobRunner
from headgate.features.maintenance.documents import delete_expired_documents
from headgate.features.maintenance.expired import (
    delete_expired_events,
    delete_expired_keys,
    delete_old_alerts,
    delete_old_occurrences,
    delete_unsent_uploads,
)
from headgate.features.maintenance.heads import log_audit_heads
from headgate.features.maintenance.orphans import sweep_orphans
from headgate.features.maintenance.outcome import Outcome
from headgate.features.maintenance.retention import delete_expired_runs
from headgate.features.maintenance.statistics import update_statistics
from headgate.features.maintenance.tables import scheduled_jobs
from headgate.features.maintenance.trash import empty_trash
from headgate.features.maintenance.vectors import group_vectors
from headgate.foundation.database import Database, moment
from headgate.foundation.errors import HeadgateError, NotFound
from headgate.foundation.log import get_logger
from headgate.foundation.settings import RetentionSettings
from headgate.graph.names import listed


@dataclass(frozen=True, slots=True)
class Job:
    """A maintenance job: its function (database, storage, settings, `dry`) and a one-line summary."""

    execute: Callable[..., Awaitable[Outcome]]
    summary: str


JOBS: Mapping[str, Job] = {
    "retention": Job(
        delete_expired_runs,
        (
            "Deletes runs, and the files they created, that are older than their flow or "
            "HEADGATE_RETENTION__RUN_DAYS allows."
        ),
    ),
    "trash": Job(
        empty_trash,
        "Deletes flows that were moved to the trash more than HEADGATE_RETENTION__TRASH_DAYS days ago.",
    ),
    "orphan_sweep": Job(
        sweep_orphans,
        "Deletes files of failed and cancelled runs that no result refers to, and content without a record.",
    ),
    "idempotency_keys": Job(delete_expired_keys, "Deletes idempotency keys that are older than a day."),
    "sent_events": Job(delete_expired_events, "Deletes sent events whose keep time is over."),
    "trigger_occurrences": Job(delete_old_occurrences, "Deletes occurrences of triggers that are older than 90 days."),
    "alerts": Job(delete_old_alerts, "Deletes resolved alerts that are older than 90 days."),
    "form_uploads": Job(delete_unsent_uploads, "Deletes files of forms that were not submitted within a day."),
    "knowledge_documents": Job(
        delete_expired_documents, "Deletes documents of knowledge bases that are older than their base allows."
    ),
    "statistics": Job(update_statistics, "Updates what SQLite knows of its large tables, to choose indexes."),
    "knowledge_vectors": Job(
        group_vectors, "Groups the embeddings of large knowledge bases for approximate search, and measures its recall."
    ),
    "audit_heads": Job(log_audit_heads, "Writes the latest entry of each audit log to the server log."),
}
"""The jobs of this layer in execution order: the sweep deletes what retention leaves behind."""
KIND = "maintenance"
RETRY_SECONDS = 60.0
"""Delay of the next attempt after an internal error."""
_ADD = text("INSERT INTO scheduled_jobs (name, due_at) VALUES (:name, :due_at) ON CONFLICT (name) DO NOTHING")
log = get_logger(__name__)


class JobNotFound(NotFound):
    """There is no such job."""

    code = "job_not_found"


@dataclass(frozen=True, slots=True)
class JobState:
    """A job and its last execution. Times are ISO 8601 in UTC."""

    name: str
    summary: str
    due_at: str | None
    started_at: str | None
    finished_at: str | None
    outcome: dict[str, Any] | None


class Maintenance:
    """The maintenance jobs of one installation.

    Args:
        database: Rows of runs, files and jobs.
        storage: Contents of files.
        settings: Retention times and the interval of the jobs.
        runner: Runs due jobs.
        more: Jobs of higher layers, by name.
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
        # One at a time per process and in order: the sweep deletes what retention leaves behind.
        kind = JobKind(KIND, self._queue, self._run_scheduled, 1, retry_seconds=RETRY_SECONDS, upkeep=self.schedule)
        runner.register(kind)

    @property
    def retention(self) -> RetentionSettings:
        """The retention settings."""
        return self._settings

    async def schedule(self) -> None:
        """Add missing rows, due now; correct due times that are too late because of a clock change."""
        now = clock()
        rows = await self._rows()
        missing = [name for name in self.jobs if name not in rows]
        ahead = [name for name, row in rows.items() if row.due_at is not None and row.due_at - now > 2 * self._every]
        if not missing and not ahead:
            return
        order = {name: now + position for position, name in enumerate(self.jobs)}
        async with self._database.writing() as session:
            for name in missing:
                await session.execute(_ADD, {"name": name, "due_at": order[name]})
            for name in ahead:
                same = and_(scheduled_jobs.c.name == name, scheduled_jobs.c.due_at == rows[name].due_at)
                await session.execute(update(scheduled_jobs).where(same).values(due_at=order.get(name, now)))

    async def run_job(self, name: str, *, dry: bool = False) -> Outcome:
        """Run one job now; `dry` only counts.

        Raises `JobNotFound`, or `JobBusy` while a process runs it.
        """
        job = self.jobs.get(name)
        if job is None:
            raise JobNotFound(f"There is no job '{name}'.", remedy=f"The jobs are: {listed(self.jobs)}.")
        if dry:
            return await self._execute(name, job, dry=True)
        await self.schedule()
        async with self._runner.hold(KIND, name) as claimed:
            return await self._recorded(claimed)

    async def status(self) -> list[JobState]:
        """Return every job and its last execution."""
        rows = await self._rows()
        return [_state(name, job.summary, rows.get(name)) for name, job in self.jobs.items()]

    async def _rows(self) -> dict[str, Any]:
        async with self._database.reading() as session:
            return {row.name: row for row in await session.execute(select(scheduled_jobs))}

    async def _execute(self, name: str, job: Job, *, dry: bool) -> Outcome:
        outcome = await job.execute(self._database, self._storage, self._settings, dry=dry)
        done = {count: value for count, value in outcome.as_json().items() if value}
        (log.info if done else log.debug)("maintenance", job=name, dry=dry, **done)
        return outcome

    async def _run_scheduled(self, claimed: ClaimedJob) -> None:
        """Run a due job. A failure is stored in its row; the job runs again after the interval."""
        due_at = clock() + self._every
        try:
            await self._recorded(claimed)
        except HeadgateError as error:
            log.warning("maintenance job failed", job=claimed.id, problem=error.detail)
        async with self._database.writing() as session:
            await self._queue.release(session, claimed, due_at=due_at)

    async def _recorded(self, claimed: ClaimedJob) -> Outcome:
        """Run a claimed job and store its times and outcome in its row. Raises what the job raises."""
        await self._write(claimed, started_at=clock(), finished_at=None, outcome=None)
        try:
            outcome = await self._execute(claimed.id, self.jobs[claimed.id], dry=False)
        except HeadgateError as error:
            await self._write(claimed, finished_at=clock(), outcome={"error": error.code, "message": str(error)})
            raise
        await self._write(claimed, finished_at=clock(), outcome=outcome.as_json())
        return outcome

    async def _write(self, claimed: ClaimedJob, **values: Any) -> None:  # noqa: ANN401 - columns
        async with self._database.writing() as session:
            await session.execute(update(scheduled_jobs).where(self._queue.held(claimed)).values(values))


def _state(name: str, summary: str, row: Any) -> JobState:  # noqa: ANN401 - a row of scheduled_jobs, or nothing
    if row is None:
        return JobState(name, summary, None, None, None, None)
    due, started, finished = (
        None if at is None else moment(at).isoformat() for at in (row.due_at, row.started_at, row.finished_at)
    )
    return JobState(name, summary, due, started, finished, row.outcome)
