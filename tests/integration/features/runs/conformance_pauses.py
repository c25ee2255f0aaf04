"""What every execution backend must do with runs that a user pauses, on every database: see `conformance`."""

from pathlib import Path
from typing import Any

from headgate.features.runs.engine.backend import ExecutionBackend
from headgate.foundation.database import Database
from headgate.graph.model import Flow
from tests.integration.features.runs.conformance import appears, finish, over, until
from tests.integration.features.runs.conformance_subflows import calling, published
from tests.integration.features.runs.conformance_waits import waiting_flow, waits
from tests.support.engine import make_chain, make_flow, new_run, store_flow
from tests.support.rows import attempts, child_rows, execute, run_row, statuses, step_rows


def gated(folder: Path) -> Flow:
    """A step that a test lets through, and two after it."""
    return make_flow(
        {"start": "Start", "gate": "Gate", "next": "Echo", "last": "Tally"},
        ["start.text -> gate.input", "gate.text -> next.input", "next.text -> last.input"],
        gate={"folder": str(folder), "name": "gate"},
        last={"path": str(folder / "lines")},
    )


class PauseConformance:
    """A paused run finishes what runs, starts nothing, holds no place, and continues where it was."""

    async def test_a_paused_run_finishes_its_running_step_and_continues_with_the_next(
        self, engine: ExecutionBackend, database: Database, tmp_path: Path
    ) -> None:
        request = new_run(await store_flow(database, gated(tmp_path)), "x")
        await engine.start(request)
        await appears(tmp_path / "gate.started")
        paused = await engine.pause(request.key)
        assert paused is not None
        assert paused.changed
        (tmp_path / "gate.open").touch()

        async def passed() -> bool:
            return (await statuses(database, request.key.run_id))["gate"] == "completed"

        await until(passed)
        assert (await statuses(database, request.key.run_id))["next"] == "pending"
        assert (await run_row(database, request.key.run_id)).status == "paused"
        assert await engine.recover() == 0
        await engine.unpause(request.key)
        await over(engine, request.key.run_id)
        assert (await run_row(database, request.key.run_id)).status == "completed"
        assert await attempts(database, request.key.run_id) == [
            (step, 1, "completed") for step in ("start", "gate", "next", "last")
        ]
        assert len((tmp_path / "lines").read_text().splitlines()) == 1

    async def test_a_run_that_continues_before_its_step_has_finished_loses_and_repeats_nothing(
        self, engine: ExecutionBackend, database: Database, tmp_path: Path
    ) -> None:
        request = new_run(await store_flow(database, gated(tmp_path)), "x")
        await engine.start(request)
        await appears(tmp_path / "gate.started")
        await engine.pause(request.key)
        await engine.unpause(request.key)
        (tmp_path / "gate.open").touch()
        await over(engine, request.key.run_id)
        assert {attempt[1:] for attempt in await attempts(database, request.key.run_id)} == {(1, "completed")}

    async def test_a_paused_run_holds_no_place(self, make_engine: Any, database: Database) -> None:
        engine = await make_engine(max_concurrent_runs=1, spare_concurrent_runs=0)
        request = new_run(await store_flow(database, waiting_flow(3600)), "hi")
        await engine.start(request)
        await waits(database, request)
        await engine.pause(request.key)
        await finish(engine, new_run(await store_flow(database, make_chain(2))))
        assert (await run_row(database, request.key.run_id)).status == "paused"

    async def test_a_wait_that_ends_during_the_pause_continues_after_it(
        self, engine: ExecutionBackend, database: Database
    ) -> None:
        request = new_run(await store_flow(database, waiting_flow(3600)), "hi")
        await engine.start(request)
        await waits(database, request)
        await engine.pause(request.key)
        await execute(database, "UPDATE flow_step_results SET due_at = 1 WHERE status = 'waiting'")

        async def held() -> bool:
            return (await step_rows(database, request.key.run_id))["wait"].due_at is None

        await until(held)
        assert (await statuses(database, request.key.run_id))["wait"] == "waiting"
        await engine.unpause(request.key)
        await over(engine, request.key.run_id)
        assert (await run_row(database, request.key.run_id)).output_payload["text"] == "hi"

    async def test_a_paused_run_can_be_cancelled(self, engine: ExecutionBackend, database: Database) -> None:
        request = new_run(await store_flow(database, waiting_flow(3600)))
        await engine.start(request)
        await waits(database, request)
        await engine.pause(request.key)
        cancelled = await engine.cancel(request.key.run_id, request.key.tenant_id)
        assert cancelled is not None
        assert cancelled.changed
        await over(engine, request.key.run_id)
        assert set((await statuses(database, request.key.run_id)).values()) == {"completed", "cancelled"}

    async def test_flows_that_a_paused_run_runs_are_paused_and_each_is_run_once(
        self, engine: ExecutionBackend, database: Database, tmp_path: Path
    ) -> None:
        child = await published(database, gated(tmp_path))
        request = new_run(await store_flow(database, calling("ForEach", "items", child, output="results")), "a\nb")
        await engine.start(request)
        await appears(tmp_path / "gate.started")
        paused = await engine.pause(request.key)
        assert paused is not None
        assert {row.status for row in await child_rows(database, request.key.run_id)} == {"paused"}
        (tmp_path / "gate.open").touch()
        await engine.unpause(request.key)
        await over(engine, request.key.run_id)
        assert (await run_row(database, request.key.run_id)).status == "completed"
        rows = await child_rows(database, request.key.run_id)
        assert [(row.parent_iteration, row.status) for row in rows] == [(0, "completed"), (1, "completed")]
        assert len((tmp_path / "lines").read_text().splitlines()) == 2
