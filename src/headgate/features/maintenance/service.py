"""Runs the jobs: those that are due, in whichever process gets to them first, or one on request."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from headgate.features.files.storage import Storage
from headgate.features.maintenance.expired_keys import delete_expired_keys
from headgate.features.maintenance.heads import log_audit_heads
from headgate.features.maintenance.orphans import sweep_orphans
from headgate.features.maintenance.outcome import Outcome
from headgate.features.maintenance.retention import delete_expired_runs
from headgate.features.maintenance.schedule import Schedule
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
POLL_SECONDS = 60.0
"""How often a server looks whether a job is due."""
GRACE_SECONDS = 5.0
"""How long jobs at work may go on when the server stops: none is left in the middle of a transaction."""
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
    """The jobs of one installation.

    Args:
        database: Rows of runs, files and jobs.
        storage: Contents of files.
        settings: What is kept how long, and how often that is looked after.
        more: Jobs of floors above, by name.
    """

    def __init__(
        self, database: Database, storage: Storage, settings: RetentionSettings, more: Mapping[str, Job] | None = None
    ) -> None:
        self.jobs: Mapping[str, Job] = {**JOBS, **(more or {})}
        self._database = database
        self._storage = storage
        self._settings = settings
        self._schedule = Schedule(database, settings.every_minutes * 60)

    @property
    def run_days(self) -> int | None:
        """Days that runs are kept where their flow says nothing; None: for good."""
        return self._settings.run_days

    async def run_due_jobs(self) -> list[str]:
        """Run the jobs that are due and that no other process has taken. Returns their names."""
        mine = await self._schedule.claim_due(list(self.jobs))
        for name in mine:
            await self._run_scheduled(name)
        return mine

    async def run_job(self, name: str, *, dry: bool = False) -> Outcome:
        """Run one job now, whenever it is due; `dry` only counts and is not recorded. Raises `JobNotFound`."""
        if name not in self.jobs:
            raise JobNotFound(f"There is no job '{name}'.", remedy=f"The jobs are: {listed(self.jobs)}.")
        if dry:
            return await self._carry_out(name, dry=True)
        await self._schedule.begin(name)
        try:
            found = await self._carry_out(name)
        except HeadgateError as error:
            await self._schedule.finish(name, _failure(error))
            raise
        await self._schedule.finish(name, found.as_json())
        return found

    async def _carry_out(self, name: str, *, dry: bool = False) -> Outcome:
        found = await self.jobs[name].carry_out(self._database, self._storage, self._settings, dry=dry)
        log.info("maintenance", job=name, dry=dry, **found.as_json())
        return found

    async def status(self) -> list[JobState]:
        """Every job and how it last went."""
        rows = await self._schedule.rows()
        return [_state(name, job.summary, rows.get(name)) for name, job in self.jobs.items()]

    async def keep_running(self, poll_seconds: float = POLL_SECONDS) -> None:
        """Run what is due, for as long as the server lives. When it is cancelled, jobs at work get a moment to end."""
        turn: asyncio.Task[None] | None = None
        try:
            while True:
                turn = asyncio.create_task(self._take_turn())
                await asyncio.shield(turn)
                await asyncio.sleep(poll_seconds)
        finally:
            if turn is not None and not turn.done():
                await asyncio.wait([turn], timeout=GRACE_SECONDS)
                turn.cancel()

    async def _take_turn(self) -> None:
        """Run what is due, once. Nothing it raises may end the loop: nothing would be tidied until the next start."""
        try:
            await self.run_due_jobs()
        except HeadgateError as error:
            log.warning("maintenance put off", problem=error.detail)
        except Exception:
            log.exception("maintenance failed")

    async def _run_scheduled(self, name: str) -> None:
        """A job that fails says so in its row and is run again when it is next due; the others are not kept from it."""
        try:
            outcome = (await self._carry_out(name)).as_json()
        except HeadgateError as error:
            log.warning("maintenance job failed", job=name, problem=error.detail)
            outcome = _failure(error)
        await self._schedule.finish(name, outcome)


def _failure(error: HeadgateError) -> dict[str, Any]:
    """The outcome of a job that failed."""
    return {"error": error.code, "message": str(error)}


def _state(name: str, summary: str, row: Any) -> JobState:  # noqa: ANN401 - a row of scheduled_jobs, or nothing
    if row is None:
        return JobState(name, summary, None, None, None, None)
    due, started, finished = (
        None if at is None else moment(at).isoformat() for at in (row.due_at, row.started_at, row.finished_at)
    )
    return JobState(name, summary, due, started, finished, row.outcome)
