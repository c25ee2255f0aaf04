"""What must be true after any fault: read from the rows and from the counter beside them."""

import asyncio
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sqlalchemy import func, select, text

from headgate.features.runs.states import LIVE_RUNS
from headgate.features.runs.tables import flow_runs, flow_step_attempts, flow_step_results
from headgate.foundation.database import Database
from tests.integration.faults.deaths import Death
from tests.support.fault_steps import BEGIN, END

ORPHANS = {
    "steps at work in a run that is over": (
        "SELECT count(*) FROM flow_step_results s JOIN flow_runs r ON r.id = s.flow_run_id"
        " WHERE s.status = 'running' AND r.status NOT IN ('queued', 'running')"
    ),
    "open attempts at steps that are not at work": (
        "SELECT count(*) FROM flow_step_attempts a JOIN flow_step_results s"
        " ON s.flow_run_id = a.flow_run_id AND s.step_id = a.step_id"
        " WHERE a.status = 'started' AND (s.status <> 'running' OR a.attempt_no <> s.attempts)"
    ),
    "steps without a run": (
        "SELECT count(*) FROM flow_step_results s"
        " WHERE NOT EXISTS (SELECT 1 FROM flow_runs r WHERE r.id = s.flow_run_id)"
    ),
    "attempts without a step": (
        "SELECT count(*) FROM flow_step_attempts a WHERE NOT EXISTS (SELECT 1 FROM flow_step_results s"
        " WHERE s.flow_run_id = a.flow_run_id AND s.step_id = a.step_id)"
    ),
    "runs without all their steps": (
        "SELECT count(*) FROM flow_runs r WHERE (SELECT count(*) FROM flow_step_results s WHERE s.flow_run_id = r.id)"
        " <> (SELECT count(*) FROM version_steps v WHERE v.flow_id = r.flow_id AND v.version = r.version)"
    ),
    "files of no run": (
        "SELECT count(*) FROM files f WHERE f.flow_run_id IS NOT NULL"
        " AND NOT EXISTS (SELECT 1 FROM flow_runs r WHERE r.id = f.flow_run_id)"
    ),
}
"""Rows that must not be, each as a query that counts them."""


Lines = dict[tuple[str, str, str], list[int]]
"""Run's text, step and `begin` or `end` to the moments of its lines."""


@dataclass(frozen=True)
class Counts:
    """What was found to be in order."""

    runs: int
    completed: int
    failed: int
    cancelled: int
    steps: int
    executions: int
    interrupted: int
    """Steps whose worker died."""
    repeats: int
    """Executions that began again after a death."""
    deaths: int
    reasons: tuple[str, ...]
    """Why runs failed."""

    def __str__(self) -> str:
        return (
            f"{self.runs} runs ({self.completed} completed, {self.failed} failed, {self.cancelled} cancelled), "
            f"{self.deaths} deaths, {self.steps} counted steps finished exactly once, {self.executions} executions, "
            f"{self.interrupted} interrupted, {self.repeats} repeated, 0 orphan rows"
        )


async def quiet(database: Database, seconds: float) -> None:
    """Wait until no run is live."""
    query = select(func.count()).select_from(flow_runs).where(flow_runs.c.status.in_(LIVE_RUNS))
    try:
        async with asyncio.timeout(seconds):
            while True:
                async with database.reading() as session:
                    if not (await session.execute(query)).scalar_one():
                        return
                await asyncio.sleep(0.1)
    except TimeoutError:
        raise AssertionError(f"Still live after {seconds:g} seconds: {await _live(database)}") from None


async def _live(database: Database) -> list[Any]:
    steps = (
        "SELECT r.id, r.status, s.step_id, s.status, s.waiting, s.attempts, s.worker_id, s.lease_until FROM flow_runs r"
        " JOIN flow_step_results s ON s.flow_run_id = r.id WHERE r.status IN ('queued', 'running')"
        " AND s.status <> 'completed' ORDER BY r.id LIMIT 12"
    )
    async with database.reading() as session:
        return [tuple(row) for row in (await session.execute(text(steps))).all()]


async def audit(database: Database, counter: Path, *, deaths: Sequence[Death], acknowledged: Sequence[str]) -> Counts:
    """Check everything; raises `AssertionError` with what is wrong."""
    async with database.reading() as session:
        runs = {row.id: row for row in (await session.execute(select(flow_runs))).all()}
        steps = (await session.execute(select(flow_step_results))).all()
        attempts = defaultdict(list)
        ordered = select(flow_step_attempts).order_by(flow_step_attempts.c.attempt_no)
        for row in (await session.execute(ordered)).all():
            attempts[row.flow_run_id, row.step_id].append(row)
        orphans = {name: (await session.execute(text(query))).scalar_one() for name, query in ORPHANS.items()}
    assert not any(orphans.values()), orphans
    lost = set(acknowledged) - runs.keys()
    assert not lost, f"{len(lost)} runs were acknowledged and are gone"
    live = [run.id for run in runs.values() if run.status in LIVE_RUNS]
    assert not live, f"{len(live)} runs are not over"
    lines = _lines(counter)
    found = [_Step(step, attempts[step.flow_run_id, step.step_id], lines, runs[step.flow_run_id]) for step in steps]
    faults = [fault for step in found for fault in step.faults(deaths)]
    assert not faults, f"{len(faults)} faults, for example:\n" + "\n".join(faults[:12])
    counted = [step for step in found if step.ends]
    by_status = [run.status for run in runs.values()]
    return Counts(
        runs=len(runs),
        completed=by_status.count("completed"),
        failed=by_status.count("failed"),
        cancelled=by_status.count("cancelled"),
        steps=len(counted),
        executions=sum(len(step.begins) for step in found),
        interrupted=sum(step.retries > 0 for step in found),
        repeats=sum(max(len(step.begins) - 1, 0) for step in found),
        deaths=len(deaths),
        reasons=tuple(f"{run.id} {run.error_code}: {run.error_message}" for run in runs.values() if run.error_code),
    )


def _lines(counter: Path) -> Lines:
    """What the counter holds."""
    found: Lines = defaultdict(list)
    if counter.exists():
        for line in counter.read_text().splitlines():
            label, step, what, at, _process = line.split(" ")
            found[label, step, what].append(int(at))
    return found


class _Step:
    """A step's row, its attempts and its lines."""

    def __init__(self, row: Any, attempts: Sequence[Any], lines: Lines, run: Any) -> None:
        self.row = row
        self.attempts = attempts
        self.run = run
        label = run.input_payload.get("text", "") if isinstance(run.input_payload, dict) else ""
        self.begins = lines.get((label, row.step_id, BEGIN), [])
        self.ends = lines.get((label, row.step_id, END), [])

    def faults(self, deaths: Sequence[Death]) -> list[str]:
        """What is wrong with it."""
        numbers = [attempt.attempt_no for attempt in self.attempts]
        told = [attempt.status for attempt in self.attempts]
        rules = {
            "attempts are not numbered from one to the row's count": numbers == list(range(1, self.row.attempts + 1)),
            "an earlier attempt is not closed": all(status in {"retried", "suspended"} for status in told[:-1]),
            "it began more often than it was claimed": len(self.begins) <= len(self.attempts),
            "it was repeated more often than processes died": self.retries <= self._deaths_near(deaths),
        }
        if self.run.status == "completed":
            rules["a step of a completed run is not settled"] = self.row.status in {"completed", "skipped"}
        if self.row.status == "completed":
            rules |= {
                "its last attempt is not completed": told[-1:] == ["completed"],
                "it began again after it was finished": all(
                    at <= self.row.finished_at or self._was_begun_by_a_zombie(at, deaths) for at in self.begins
                ),
                "it completed without an end": bool(self.ends) or not self.begins,
            }
        where = f"run {self.row.flow_run_id} step {self.row.step_id}"
        return [
            f"{where}: {rule} (row {self.row.status}/{self.row.attempts}, attempts {told}, begins {self.begins}, "
            f"finished {self.row.finished_at})"
            for rule, holds in rules.items()
            if not holds
        ]

    @property
    def retries(self) -> int:
        """Attempts that lost their worker."""
        return sum(attempt.status == "retried" for attempt in self.attempts)

    def _was_begun_by_a_zombie(self, at: int, deaths: Sequence[Death]) -> bool:
        """Whether a process that had claimed an attempt was stopped before it began, and returned."""
        lost = [attempt.started_at for attempt in self.attempts if attempt.status == "retried"]
        return any(
            death.returned and death.over <= at and any(started <= death.sent + 1000 for started in lost)
            for death in deaths
        )

    def _deaths_near(self, deaths: Sequence[Death]) -> int:
        """Deaths between its first claim and its last: each may cost one repeat."""
        if len(self.attempts) < 2:
            return 0
        first, last = self.attempts[0].started_at, self.attempts[-1].started_at
        return sum(first - 1000 <= death.over and death.sent <= last for death in deaths)
