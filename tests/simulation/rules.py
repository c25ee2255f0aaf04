"""What must hold at every moment of a simulation, and at its end."""

import asyncio
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from headgate.features.runs.events import ENDINGS
from headgate.features.runs.states import LIVE_RUNS, sql_list
from tests.simulation.cluster import ClusterEngine
from tests.simulation.flows import BUDGETS, WAIT_SECONDS
from tests.simulation.loop import SimulatedLoop
from tests.simulation.plan import Plan, PlannedRun
from tests.simulation.readers import Reader
from tests.simulation.server import Server

MARGIN_LEASES = 12
"""Leases around a fault in which a step may be lost by a worker that lives."""
LAST_ATTEMPT = 5
SUSPENDED_ATTEMPTS = "FROM flow_step_attempts WHERE status = 'suspended'"


class Rules:
    """Looks at the rows and at the processes.

    Args:
        plan: What happens.
        path: The database.
        loop: Whose time it is.
        servers: Every server there ever was, by its worker's id.
        fail: Called with what never may be.
        flow_ids: Name to id of every flow.
    """

    def __init__(
        self,
        plan: Plan,
        path: Path,
        loop: SimulatedLoop,
        servers: Mapping[str, Server],
        fail: Callable[[str], None],
        *,
        flow_ids: Mapping[str, str],
    ) -> None:
        self._plan = self.plan = plan
        self.fail = fail
        self.flow_ids = flow_ids
        self._names = {flow_id: name for name, flow_id in flow_ids.items()}
        self._audit = sqlite3.connect(path, isolation_level=None, timeout=0)
        self._loop = loop
        self._servers = servers
        self._fail = fail
        self.started: dict[str, PlannedRun] = {}
        """Requested runs, by id."""
        self.acknowledged: list[str] = []
        """Ids of the runs that a process accepted."""
        self._bodies: dict[tuple[str, str], list[Server]] = defaultdict(list)
        """Step to where bodies of it are running."""
        self._begun: set[tuple[str, str, int, str]] = set()

    def row(self, query: str, *values: Any) -> Any:
        """The first row of a query."""
        return self._audit.execute(query, values).fetchone()

    def rows(self, query: str, *values: Any) -> list[Any]:
        """The rows of a query."""
        return self._audit.execute(query, values).fetchall()

    @property
    def open_runs(self) -> int:
        """Runs that are not over."""
        return int(self.row(f"SELECT count(*) FROM flow_runs WHERE status IN {sql_list(LIVE_RUNS)}")[0])

    @property
    def now(self) -> float:
        """Seconds since the simulation began."""
        return self._loop.time()

    @property
    def calm_bodies(self) -> list[tuple[str, str]]:
        """Run and step of the bodies that run in living processes around which nothing went wrong."""
        return [
            place
            for place, servers in self._bodies.items()
            for server in servers
            if server.process.alive and not self.was_disturbed(server)
        ]

    def planned(self, run_id: str) -> PlannedRun:
        """The run that a client started: itself, the one that started it, or the one whose failure it handles."""
        while run_id not in self.started:
            row = self.row(
                "SELECT coalesce(r.parent_run_id, h.failed_run_id) FROM flow_runs r LEFT JOIN failure_handlers h"
                " ON h.handler_run_id = r.id WHERE r.id = ?",
                run_id,
            )
            if row is None or row[0] is None:
                self._fail(f"nobody started: run {run_id}")
            run_id = row[0]
        return self.started[run_id]

    def flow_of(self, run_id: str) -> str:
        """Name of the flow of a run."""
        return self._names[self.row("SELECT flow_id FROM flow_runs WHERE id = ?", run_id)[0]]

    def status(self, run_id: str) -> str | None:
        """Status of a run."""
        row = self.row("SELECT status FROM flow_runs WHERE id = ?", run_id)
        return None if row is None else str(row[0])

    def is_over(self, run_id: str) -> bool:
        """Whether a run has ended."""
        return self.status(run_id) in {"completed", "failed", "cancelled"}

    def body_begins(self, server: Server, run_id: str, step: str) -> int:
        """A process begins to execute a step; which attempt it is by the rows."""
        status, attempt, worker = self.row(
            "SELECT status, attempts, worker_id FROM flow_step_results WHERE flow_run_id = ? AND step_id = ?",
            run_id,
            step,
        )
        where = f"step {step} of run {self.planned(run_id).number}"
        calm = not self.was_disturbed(server)
        if status == "completed" and calm:
            self._fail(f"executed again: {where} is completed")
        if worker == server.worker.id:
            place = (run_id, step, attempt, worker)
            if place in self._begun:
                self._fail(f"executed twice: attempt {attempt} at {where} by one worker")
            self._begun.add(place)
        elif calm and status == "running":
            self._fail(f"not its own: {where} is held by another worker")
        for other in self._bodies[run_id, step]:
            if other.process.alive and not self.was_disturbed(other):
                self._fail(f"two at once: {where} runs already in a living process")
        self._bodies[run_id, step].append(server)
        return int(attempt)

    def body_ended(self, server: Server, run_id: str, step: str) -> None:
        """The body returned, failed or was cancelled."""
        self._bodies[run_id, step].remove(server)

    def was_disturbed(self, server: Server) -> bool:
        """Whether something went wrong around a process lately, so that others may take its steps."""
        since = self._loop.time() - MARGIN_LEASES * self._plan.lease_seconds
        return any(until >= since for _, until in server.disturbed)

    def check_ends(self, *, deaths: int) -> None:
        """Every run ended as it should; no step was taken from a worker that lived undisturbed."""
        for run_id in self.acknowledged:
            if not self.is_over(run_id):
                self._fail(f"lost: run {self.started[run_id].number} was accepted and is {self.status(run_id)}")
        for run_id, status, unfinished, code in self.rows("SELECT id, status, unfinished, error_code FROM flow_runs"):
            planned = self.planned(run_id)
            steps = dict(self.rows("SELECT step_id, status FROM flow_step_results WHERE flow_run_id = ?", run_id))
            left = self.rows(
                "SELECT step_id FROM flow_step_attempts WHERE flow_run_id = ? AND status = 'started'", run_id
            )
            if left:
                self._fail(f"left open: run {planned.number} is {status} and has open attempts at {left}")
            if status == "completed" and (unfinished or set(steps.values()) - {"completed", "skipped"}):
                self._fail(f"incomplete: run {planned.number} is completed with {unfinished} open steps: {steps}")
            ended_above = run_id not in self.started and planned.deadline_seconds is not None
            if status == "cancelled" and planned.cancel_after is None and not ended_above:
                self._fail(f"cancelled: nobody cancelled run {planned.number}")
            if status == "failed" and not self._may_fail(run_id, planned, code, deaths):
                self._fail(f"failed: run {planned.number} failed with {code}")
        for run_id, step, number, worker in self.rows(
            "SELECT flow_run_id, step_id, attempt_no, worker_id FROM flow_step_attempts WHERE status = 'retried'",
        ):
            holder = self._servers[worker]
            if holder.process.alive and not holder.disturbed:
                self._fail(
                    f"taken from the living: attempt {number} at step {step} of run {self.planned(run_id).number}"
                )

    def check_waits(self) -> None:
        """No wait ended before its time, where every clock was right."""
        if self._plan.sets_clocks:
            return
        for run_id, began, ended in self.rows(
            "SELECT flow_run_id, min(started_at), max(finished_at) FROM flow_step_attempts WHERE step_id = 'w'"
            " GROUP BY flow_run_id HAVING max(status = 'completed')"
        ):
            if ended - began < WAIT_SECONDS * 1_000_000:
                self._fail(f"early: run {self.started[run_id].number} waited {(ended - began) / 1e6:.1f} seconds")

    def _may_fail(self, run_id: str, planned: PlannedRun, code: str, deaths: int) -> bool:
        if code == "worker_lost":
            most = self.row(
                "SELECT max(a.attempt_no) FROM flow_step_attempts a JOIN flow_runs r ON r.id = a.flow_run_id"
                " WHERE r.id = ? OR r.parent_run_id = ?",
                run_id,
                run_id,
            )[0]
            return bool(most >= LAST_ATTEMPT)
        if code == "deadline_exceeded":
            return run_id in self.started and planned.deadline_seconds is not None
        if code == "budget_exceeded":
            return self.flow_of(run_id) in BUDGETS
        if code == "invalid" and self.flow_of(run_id) == "handled":
            return True
        # The client resumes a run that fails once, unless a process died with its request.
        return code == "invalid" and planned.fails_once and deaths > 0

    def check_readers(self, readers: Mapping["asyncio.Task[None]", Reader]) -> None:
        """Every reader got each durable event of its run once, in order, to the end."""
        for task, reader in readers.items():
            number = self.started[reader.run_id].number
            if not task.done():
                self._fail(f"not read: a reader of run {number} never came to its end, behind {reader.seen[-1:]}")
            rows = self.rows("SELECT seq, kind FROM flow_run_events WHERE flow_run_id = ? ORDER BY seq", reader.run_id)
            # A reader ends with an end of the run; an earlier one, since resumed, is none any more.
            last = reader.seen[-1][0]
            expected = [row for row in rows if row[0] == last or (row[0] < last and row[1] not in ENDINGS)]
            missing = [row for row in expected if row not in reader.seen]
            if missing:
                self._fail(f"missed: a reader of run {number} never got {missing}")
            if [row[0] for row in rows] != list(range(1, len(rows) + 1)):
                self._fail(f"gaps: the events of run {number} are numbered {[row[0] for row in rows]}")

    def check_memory(self) -> None:
        """An idle process has no events, tasks, runs or waiters in memory."""
        for server in self._servers.values():
            if not server.answers:
                continue
            engine, name = server.engine, server.process.name
            if server.bus.size_bytes or server.bus._topics:
                self._fail(f"leaked: {name} has {server.bus.size_bytes} bytes of events after all runs ended")
            tasks = [one for one in self._loop.tasks if one.process is server.process and not one.done()]
            upkeep = engine.upkeep if isinstance(engine, ClusterEngine) else len(engine._upkeep)
            upkeep += len(server.jobs._upkeep) if server.jobs is not None else 0
            if len(tasks) > upkeep:
                self._fail(f"leaked: {name} has {len(tasks)} tasks after all runs ended: {tasks[-1]}")
            if isinstance(engine, ClusterEngine):
                continue
            if owned := list(engine._runs):
                self._fail(f"leaked: {name} owns {len(owned)} runs after all ended")
            if len(engine._waiters):
                self._fail(f"leaked: {name} has waiters for {len(engine._waiters)} runs")
