"""What every execution backend must do with runs that have a deadline, on every database: see `conformance`."""

import asyncio
from dataclasses import replace
from pathlib import Path

from headgate.features.runs.engine.backend import ExecutionBackend
from headgate.foundation.database import Database
from headgate.graph.model import FlowSettings
from tests.integration.features.runs.conformance import appears, over
from tests.integration.features.runs.conformance_pauses import gated
from tests.integration.features.runs.conformance_subflows import calling, published
from tests.integration.features.runs.conformance_waits import waiting_flow, waits
from tests.support.engine import new_run, store_flow
from tests.support.rows import child_rows, execute, run_row, statuses


class DeadlineConformance:
    """A run ends at its deadline, whatever it does then."""

    async def test_a_waiting_run_fails_at_the_deadline_of_its_flow(
        self, engine: ExecutionBackend, database: Database
    ) -> None:
        flow = waiting_flow(3600).model_copy(update={"settings": FlowSettings(run_deadline_seconds=86_400)})
        request = new_run(await store_flow(database, flow))
        await engine.start(request)
        await waits(database, request)
        row = await run_row(database, request.key.run_id)
        assert row.deadline_at == row.created_at + 86_400_000_000
        await execute(database, "UPDATE flow_runs SET deadline_at = 1")
        await over(engine, request.key.run_id)
        row = await run_row(database, request.key.run_id)
        assert (row.status, row.error_code) == ("failed", "deadline_exceeded")
        assert "86400 seconds" in row.error_message
        assert (await statuses(database, request.key.run_id))["wait"] == "cancelled"

    async def test_a_running_step_is_stopped_at_the_deadline_of_the_start(
        self, engine: ExecutionBackend, database: Database, tmp_path: Path
    ) -> None:
        flow = gated(tmp_path).model_copy(update={"settings": FlowSettings(run_deadline_seconds=86_400)})
        request = replace(new_run(await store_flow(database, flow)), deadline_seconds=3600.0)
        await engine.start(request)
        await appears(tmp_path / "gate.started")
        row = await run_row(database, request.key.run_id)
        assert row.deadline_at == row.created_at + 3_600_000_000
        await execute(database, "UPDATE flow_runs SET deadline_at = 1")
        await over(engine, request.key.run_id)
        (tmp_path / "gate.open").touch()
        await asyncio.sleep(0)
        found = await statuses(database, request.key.run_id)
        assert found == {"start": "completed", "gate": "cancelled", "next": "pending", "last": "pending"}

    async def test_a_flow_that_a_step_runs_ends_with_it_and_fails_the_step_at_its_own(
        self, engine: ExecutionBackend, database: Database
    ) -> None:
        child = await published(database, waiting_flow(3600))
        first = new_run(await store_flow(database, calling("RunFlow", "text", child)))
        second = new_run(await store_flow(database, calling("RunFlow", "text", child)))
        for request in (first, second):
            await engine.start(request)
            await waits(database, request)
        (cancelled,), (late,) = [await child_rows(database, request.key.run_id) for request in (first, second)]
        values = f"('{first.key.run_id}', '{late.id}')"
        await execute(database, f"UPDATE flow_runs SET deadline_after = 1000000, deadline_at = 1 WHERE id IN {values}")
        for request in (first, second):
            await over(engine, request.key.run_id)
            row = await run_row(database, request.key.run_id)
            assert (row.status, row.error_code) == ("failed", "deadline_exceeded")
        assert (await run_row(database, cancelled.id)).status == "cancelled"
