"""What every execution backend must do with runs that stop at breakpoints, on every database: see `conformance`."""

import asyncio
import signal
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from headgate.features.access.principal import LOCAL
from headgate.features.runs.breakpoints import BreakpointContinueOut, continue_stopped
from headgate.features.runs.engine.backend import ExecutionBackend, RunRequest
from headgate.features.runs.errors import RunOver
from headgate.features.runs.terms import StopRule, Stops
from headgate.foundation.database import Database
from headgate.graph.model import Flow
from tests.integration.features.runs.conformance import appears, finish, over, until
from tests.integration.features.runs.conformance_retries import SOON, needing, tally
from tests.integration.features.runs.conformance_subflows import calling, published
from tests.support.engine import make_chain, make_flow, new_run, store_flow
from tests.support.rows import attempts, child_rows, execute, run_row, statuses, step_rows

STEPS = ("a", "b", "c", "d")


def counted(folder: Path) -> Flow:
    """Four steps in sequence; each adds a line to its own file when it is executed."""
    return make_flow(
        {"start": "Start", **dict.fromkeys(STEPS, "Tally")},
        [f"{above}.text -> {below}.input" for above, below in zip(("start", *STEPS), STEPS, strict=False)],
        **{name: {"path": str(folder / name)} for name in STEPS},
    )


def executed(folder: Path) -> list[str]:
    """The steps that were executed; once for each time."""
    return [name for name in STEPS if (folder / name).exists() for _ in (folder / name).read_text().splitlines()]


async def stopped(database: Database, run_id: str, *expected: str) -> None:
    """Wait until a run is stopped before exactly these steps."""

    async def is_stopped() -> bool:
        row = await run_row(database, run_id)
        assert row.status not in {"failed", "completed"}, (row.status, row.error_message)
        steps = await step_rows(database, run_id)
        names = {name for name, step in steps.items() if step.status == "waiting" and step.answered_at is None}
        return bool(row.status == "waiting" and names == set(expected))

    await until(is_stopped)


async def proceed(
    database: Database, engine: ExecutionBackend, run_id: str, then: StopRule = "breakpoints"
) -> BreakpointContinueOut:
    """Continue a run as its user does."""
    return await continue_stopped(database, engine, LOCAL, run_id, then)


async def proceed_if_stopped(database: Database, engine: ExecutionBackend, run_id: str) -> None:
    """Continue a run that is not over."""
    with suppress(RunOver):
        await proceed(database, engine, run_id, "next")
    await asyncio.sleep(0.05)


async def begin(engine: ExecutionBackend, database: Database, flow: Flow, *steps: str, **more: Any) -> RunRequest:
    """Start a run with breakpoints."""
    request = new_run(await store_flow(database, flow), "x", stops=Stops(steps, **more))
    await engine.start(request)
    return request


class BreakpointConformance:
    """A run stops before a step executes anything, holds nothing meanwhile, and continues as its user says."""

    async def test_a_run_stops_before_each_breakpoint_and_executes_each_step_once(
        self, make_engine: Any, database: Database, tmp_path: Path
    ) -> None:
        engine = await make_engine(max_concurrent_runs=1, spare_concurrent_runs=0)
        run_id = (await begin(engine, database, counted(tmp_path), "b", "d")).key.run_id
        await stopped(database, run_id, "b")
        step = (await step_rows(database, run_id))["b"]
        assert (step.waits_for, step.due_at, step.worker_id, step.lease_until) == ("breakpoint", None, None, None)
        assert step.input_payload is None
        assert executed(tmp_path) == ["a"]
        await finish(engine, new_run(await store_flow(database, make_chain(2))))  # the place is free
        outcome = await proceed(database, engine, run_id)
        assert (outcome.changed, outcome.steps) == (True, ["b"])
        await stopped(database, run_id, "d")
        assert executed(tmp_path) == ["a", "b", "c"]
        assert (await proceed(database, engine, run_id)).steps == ["d"]
        await over(engine, run_id)
        assert executed(tmp_path) == list(STEPS)
        assert [row for row in await attempts(database, run_id) if row[0] in {"b", "c"}] == [
            ("b", 1, "suspended"),
            ("b", 2, "completed"),
            ("c", 1, "completed"),
        ]

    async def test_a_run_is_stepped_through_from_its_start_and_then_continues_to_a_breakpoint_and_to_its_end(
        self, engine: ExecutionBackend, database: Database, tmp_path: Path
    ) -> None:
        run_id = (await begin(engine, database, counted(tmp_path), "c", then="next")).key.run_id
        for name in ("start", "a"):
            await stopped(database, run_id, name)
            assert (await proceed(database, engine, run_id, "next")).steps == [name]
        await stopped(database, run_id, "b")
        assert executed(tmp_path) == ["a"]
        await proceed(database, engine, run_id)
        await stopped(database, run_id, "c")
        await proceed(database, engine, run_id, "end")
        await over(engine, run_id)
        assert executed(tmp_path) == list(STEPS)
        with pytest.raises(RunOver):
            await proceed(database, engine, run_id)

    async def test_two_branches_stop_and_continue_together(self, engine: ExecutionBackend, database: Database) -> None:
        flow = make_flow(
            {"top": "Start", "left": "Echo", "right": "Echo", "bottom": "Join"},
            [
                "top.text -> left.input",
                "top.text -> right.input",
                "left.text -> bottom.parts",
                "right.text -> bottom.parts",
            ],
        )
        run_id = (await begin(engine, database, flow, "left", "right")).key.run_id
        await stopped(database, run_id, "left", "right")
        requests = (proceed(database, engine, run_id) for _ in range(5))
        outcomes = await asyncio.gather(*requests, return_exceptions=True)
        changed = [
            outcome.steps for outcome in outcomes if isinstance(outcome, BreakpointContinueOut) and outcome.changed
        ]
        assert [sorted(steps) for steps in changed] == [["left", "right"]]
        assert all(isinstance(outcome, BreakpointContinueOut | RunOver) for outcome in outcomes)
        await over(engine, run_id)
        row = await run_row(database, run_id)
        assert (row.status, row.output_payload["text"]) == ("completed", "x+x")

    async def test_a_branch_that_runs_meanwhile_stops_at_its_next_step(
        self, engine: ExecutionBackend, database: Database, tmp_path: Path
    ) -> None:
        flow = make_flow(
            {"top": "Start", "gate": "Gate", "after": "Echo", "other": "Echo"},
            ["top.text -> gate.input", "gate.text -> after.input", "top.text -> other.input"],
            gate={"folder": str(tmp_path), "name": "gate"},
        )
        run_id = (await begin(engine, database, flow, "other")).key.run_id
        await appears(tmp_path / "gate.started")

        async def waits() -> bool:
            return (await statuses(database, run_id))["other"] == "waiting"

        await until(waits)
        await proceed(database, engine, run_id, "next")
        (tmp_path / "gate.open").touch()
        await stopped(database, run_id, "after")
        await proceed(database, engine, run_id, "end")
        await over(engine, run_id)

    async def test_the_runs_of_its_steps_do_not_stop(
        self, engine: ExecutionBackend, database: Database, tmp_path: Path
    ) -> None:
        child = await published(database, counted(tmp_path))
        run_id = (
            await begin(engine, database, calling("ForEach", "items", child, output="results"), then="next")
        ).key.run_id
        while (await run_row(database, run_id)).status != "completed":
            await proceed_if_stopped(database, engine, run_id)
        assert executed(tmp_path) == list(STEPS)
        assert {row.status for row in await child_rows(database, run_id)} == {"completed"}

    async def test_a_retry_and_a_resume_do_not_stop_again(
        self, engine: ExecutionBackend, database: Database, tmp_path: Path
    ) -> None:
        request = await begin(engine, database, needing(tmp_path, retry=SOON), "need")
        run_id = request.key.run_id
        await stopped(database, run_id, "need")
        assert not (tmp_path / "tally").exists()
        await proceed(database, engine, run_id)
        await over(engine, run_id)
        assert ((await run_row(database, run_id)).status, tally(tmp_path)) == ("failed", 3)
        (tmp_path / "fixed").touch()
        assert await engine.resume(request.key)
        await over(engine, run_id)
        assert ((await run_row(database, run_id)).status, tally(tmp_path)) == ("completed", 4)

    async def test_a_run_that_is_cancelled_or_paused_at_a_breakpoint(
        self, engine: ExecutionBackend, database: Database, tmp_path: Path
    ) -> None:
        request = await begin(engine, database, counted(tmp_path), "b", "c")
        run_id = request.key.run_id
        await stopped(database, run_id, "b")
        await engine.pause(request.key)
        assert (await proceed(database, engine, run_id)).status == "paused"
        await engine.unpause(request.key)
        await stopped(database, run_id, "c")
        await engine.cancel(run_id, request.key.tenant_id)
        await over(engine, run_id)
        assert (await statuses(database, run_id))["c"] == "cancelled"
        assert executed(tmp_path) == ["a", "b"]

    async def test_an_interrupted_first_attempt_stops_and_a_resumed_step_does_not(
        self, engine: ExecutionBackend, database: Database, tmp_path: Path
    ) -> None:
        run_id = (await begin(engine, database, counted(tmp_path), "b")).key.run_id
        await stopped(database, run_id, "b")
        of_step = "UPDATE flow_step_results SET attempts = :attempts, interruptions = :lost WHERE flow_run_id = :run"
        for attempt, lost, stops in ((1, 0, True), (3, 2, True), (2, 0, False), (4, 1, False)):
            await execute(database, f"{of_step} AND step_id = 'b'", run=run_id, attempts=attempt, lost=lost)
            assert await engine.store.stops_before(run_id, "b") is stops


class BreakpointDeathConformance:
    """A stopped run outlives its worker."""

    async def test_a_run_stays_stopped_after_its_worker_was_killed(
        self, processes: Any, make_engine: Any, database: Database, tmp_path: Path
    ) -> None:
        version = await store_flow(database, counted(tmp_path))
        process, run_id = await processes.start(version, "x", stop_before=["b", "c"])
        await stopped(database, run_id, "b")
        process.send_signal(signal.SIGKILL)
        process.wait()
        engine = await make_engine()
        await engine.recover()
        await asyncio.sleep(1)
        assert executed(tmp_path) == ["a"]
        await proceed(database, engine, run_id)
        await stopped(database, run_id, "c")
        await proceed(database, engine, run_id, "end")
        await over(engine, run_id)
        assert executed(tmp_path) == list(STEPS)
