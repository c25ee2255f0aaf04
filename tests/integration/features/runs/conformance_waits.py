"""What every execution backend must do with steps that wait, on every database: see `conformance`."""

from typing import Any

from headgate.features.runs.engine.backend import ExecutionBackend, RunRequest
from headgate.foundation.database import Database
from headgate.graph.model import Flow
from tests.integration.features.runs.conformance import finish, over, until
from tests.support.engine import make_chain, make_flow, new_run, store_flow
from tests.support.rows import attempts, execute, run_row, statuses, step_rows

SECOND = 1_000_000


def waiting_flow(seconds: float) -> Flow:
    """A step before and a step after one that waits."""
    return make_flow(
        {"start": "Start", "wait": "Wait", "after": "Echo"},
        ["start.text -> wait.value", "wait.value -> after.input"],
        wait={"seconds": seconds},
    )


async def waits(database: Database, request: RunRequest) -> None:
    """Wait until a run only waits."""

    async def is_waiting() -> bool:
        row = await run_row(database, request.key.run_id)
        assert row.status not in {"failed", "completed"}, row.error_message
        return bool(row.status == "waiting")

    await until(is_waiting)


class WaitConformance:
    """Waiting holds no place, survives every process, and ends once."""

    async def test_a_waiting_run_gives_its_place_back_and_is_woken_in_time(
        self, make_engine: Any, database: Database
    ) -> None:
        engine = await make_engine(max_concurrent_runs=1, spare_concurrent_runs=0)
        request = new_run(await store_flow(database, waiting_flow(4)), "hi")
        await engine.start(request)
        await waits(database, request)
        step = (await step_rows(database, request.key.run_id))["wait"]
        assert (step.status, step.worker_id, step.lease_until) == ("waiting", None, None)
        await finish(engine, new_run(await store_flow(database, make_chain(2))))
        await over(engine, request.key.run_id)
        found = await attempts(database, request.key.run_id)
        assert found == [
            ("start", 1, "completed"),
            ("wait", 1, "suspended"),
            ("wait", 2, "completed"),
            ("after", 1, "completed"),
        ]
        woken = (await step_rows(database, request.key.run_id))["wait"].started_at
        assert 0 <= woken - step.due_at < 3 * SECOND
        assert (await run_row(database, request.key.run_id)).output_payload["text"] == "hi"

    async def test_a_run_waits_once_nothing_else_of_it_runs(
        self, engine: ExecutionBackend, database: Database, tmp_path: Any
    ) -> None:
        flow = make_flow(
            {"top": "Start", "wait": "Wait", "gate": "Gate", "next": "Echo", "end": "Join"},
            [
                "top.text -> wait.value",
                "top.text -> gate.input",
                "gate.text -> next.input",
                "wait.value -> end.parts",
                "next.text -> end.parts",
            ],
            wait={"seconds": 3600},
            gate={"folder": str(tmp_path), "name": "gate"},
        )
        request = new_run(await store_flow(database, flow), "x")
        await engine.start(request)

        async def suspended() -> bool:
            return (await statuses(database, request.key.run_id))["wait"] == "waiting"

        await until(suspended)
        assert (await run_row(database, request.key.run_id)).status == "running"
        (tmp_path / "gate.open").touch()
        await waits(database, request)
        assert (await statuses(database, request.key.run_id))["next"] == "completed"
        await execute(database, "UPDATE flow_step_results SET due_at = 1 WHERE status = 'waiting'")
        await over(engine, request.key.run_id)
        row = await run_row(database, request.key.run_id)
        assert (row.status, row.output_payload["text"]) == ("completed", "x+x")

    async def test_a_waiting_run_is_woken_by_a_process_that_starts_later(
        self, make_engine: Any, database: Database
    ) -> None:
        first = await make_engine()
        request = new_run(await store_flow(database, waiting_flow(3600)), "hi")
        await first.start(request)
        await waits(database, request)
        await first.close()
        await execute(database, "UPDATE flow_step_results SET due_at = 1 WHERE status = 'waiting'")
        await over(await make_engine(), request.key.run_id)
        assert (await run_row(database, request.key.run_id)).status == "completed"
        assert not (await step_rows(database, request.key.run_id))["wait"].log

    async def test_a_waiting_run_can_be_cancelled(self, engine: ExecutionBackend, database: Database) -> None:
        request = new_run(await store_flow(database, waiting_flow(86_400 * 365)))
        await engine.start(request)
        await waits(database, request)
        await engine.cancel(request.key.run_id, request.key.tenant_id)
        step = (await step_rows(database, request.key.run_id))["wait"]
        assert (step.status, step.due_at) == ("cancelled", None)
        assert (await run_row(database, request.key.run_id)).status == "cancelled"

    async def test_a_waiting_run_of_a_deleted_flow_fails(self, engine: Any, database: Database) -> None:
        request = new_run(await store_flow(database, waiting_flow(3600)))
        await engine.start(request)
        await waits(database, request)
        await execute(database, "UPDATE flows SET deleted_at = 1 WHERE id = :id", id=request.key.flow_id)
        await engine.recover()
        row = await run_row(database, request.key.run_id)
        assert (row.status, row.error_code) == ("failed", "flow_deleted")
        assert (await statuses(database, request.key.run_id))["wait"] == "cancelled"
