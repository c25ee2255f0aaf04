"""What every execution backend must do with steps that fail and whose policy says what follows: see `conformance`."""

import signal
from pathlib import Path
from typing import Any

from headgate.features.runs.engine.backend import ExecutionBackend, RunRequest
from headgate.foundation.database import Database
from headgate.graph.model import Flow, FlowSettings, RetryPolicy, StepPolicy
from tests.integration.features.runs.conformance import appears, finish, over, until
from tests.support.engine import make_flow, new_run, store_flow
from tests.support.rows import attempt_rows, attempts, execute, run_row, statuses, step_rows

SOON = RetryPolicy(max_attempts=3, delay_seconds=0, codes=("invalid",))
LATER = RetryPolicy(max_attempts=3, delay_seconds=3600, max_delay_seconds=3600, jitter=0, codes=("*",))
NODES = {"start": "Start", "need": "Needs", "after": "Echo"}
EDGES = ["start.text -> need.input", "need.text -> after.input"]


def with_policies(flow: Flow, **policies: StepPolicy) -> Flow:
    """The flow with policies by node id."""
    nodes = [node.model_copy(update={"policy": policies.get(node.id, node.policy)}) for node in flow.nodes]
    return flow.model_copy(update={"nodes": tuple(nodes)})


def needing(folder: Path, **policy: Any) -> Flow:
    """A step that fails until the file `fixed` is there, between two others."""
    need = {"file": str(folder / "fixed"), "path": str(folder / "tally")}
    return with_policies(make_flow(NODES, EDGES, need=need), need=StepPolicy(**policy))


def tally(folder: Path) -> int:
    """How often the step was executed."""
    return len((folder / "tally").read_text().split())


async def retry_waits(database: Database, request: RunRequest) -> None:
    """Wait until a run only waits for a retry."""

    async def is_waiting() -> bool:
        return bool((await run_row(database, request.key.run_id)).status == "waiting")

    await until(is_waiting)


async def make_due(database: Database) -> None:
    """Let every delay end now."""
    await execute(database, "UPDATE flow_step_results SET due_at = 1 WHERE status = 'waiting'")


class RetryConformance:
    """Retries wait in the database, count across deaths and resumes, and end in what the policy says."""

    async def test_a_failed_step_is_attempted_as_often_as_its_policy_says(
        self, engine: ExecutionBackend, database: Database, tmp_path: Path
    ) -> None:
        request = new_run(await store_flow(database, needing(tmp_path, retry=SOON)), "x")
        await finish(engine, request)
        row = await run_row(database, request.key.run_id)
        assert (row.status, row.error_code) == ("failed", "invalid")
        assert [one for one in await attempts(database, request.key.run_id) if one[0] == "need"] == [
            ("need", 1, "failed"),
            ("need", 2, "failed"),
            ("need", 3, "failed"),
        ]
        assert tally(tmp_path) == 3
        assert (await step_rows(database, request.key.run_id))["need"].failures == 2

    async def test_a_delay_is_a_row_that_any_process_wakes(
        self, make_engine: Any, database: Database, tmp_path: Path
    ) -> None:
        first = await make_engine()
        request = new_run(await store_flow(database, needing(tmp_path, retry=LATER)), "x")
        await first.start(request)
        await retry_waits(database, request)
        step = (await step_rows(database, request.key.run_id))["need"]
        assert (step.status, step.waits_for, step.failures, step.error_code) == ("waiting", "retry", 1, "invalid")
        failed = next(row for row in await attempt_rows(database, request.key.run_id) if row.step_id == "need")
        assert (failed.status, failed.error_code) == ("failed", "invalid")
        assert abs(step.due_at - failed.finished_at - 3_600_000_000) < 60_000_000
        await first.close()
        (tmp_path / "fixed").touch()
        await make_due(database)
        await over(await make_engine(), request.key.run_id)
        row = await run_row(database, request.key.run_id)
        assert (row.status, row.output_payload["text"]) == ("completed", "x")
        step = (await step_rows(database, request.key.run_id))["need"]
        assert (step.status, step.error_code, step.error_message) == ("completed", None, None)

    async def test_an_error_that_is_not_listed_is_not_retried(
        self, engine: ExecutionBackend, database: Database, tmp_path: Path
    ) -> None:
        other = RetryPolicy(max_attempts=3, delay_seconds=0)
        request = new_run(await store_flow(database, needing(tmp_path, retry=other)))
        await finish(engine, request)
        assert (await run_row(database, request.key.run_id)).status == "failed"
        assert tally(tmp_path) == 1

    async def test_the_retries_of_the_flow_hold_for_steps_without_their_own(
        self, engine: ExecutionBackend, database: Database, tmp_path: Path
    ) -> None:
        flow = needing(tmp_path).model_copy(update={"settings": FlowSettings(retry=SOON)})
        await finish(engine, new_run(await store_flow(database, flow)))
        assert tally(tmp_path) == 3

    async def test_a_resumed_step_has_all_its_attempts_again(
        self, engine: ExecutionBackend, database: Database, tmp_path: Path
    ) -> None:
        request = new_run(await store_flow(database, needing(tmp_path, retry=SOON)))
        await finish(engine, request)
        await engine.resume(request.key)
        await over(engine, request.key.run_id)
        assert [one[1] for one in await attempts(database, request.key.run_id) if one[0] == "need"] == [*range(1, 7)]
        assert tally(tmp_path) == 6

    async def test_a_waiting_retry_is_cancelled_with_its_run(
        self, engine: ExecutionBackend, database: Database, tmp_path: Path
    ) -> None:
        request = new_run(await store_flow(database, needing(tmp_path, retry=LATER)))
        await engine.start(request)
        await retry_waits(database, request)
        await engine.cancel(request.key.run_id, request.key.tenant_id)
        assert (await statuses(database, request.key.run_id))["need"] == "cancelled"
        assert tally(tmp_path) == 1

    async def test_the_limit_of_all_attempts_ends_the_retries(
        self, engine: ExecutionBackend, database: Database, tmp_path: Path
    ) -> None:
        flow = needing(tmp_path, retry=LATER, total_timeout_seconds=60)
        request = new_run(await store_flow(database, flow))
        await finish(engine, request)
        assert (await run_row(database, request.key.run_id)).status == "failed"
        assert tally(tmp_path) == 1

    async def test_an_attempt_takes_no_longer_than_its_policy_says(
        self, engine: ExecutionBackend, database: Database, tmp_path: Path
    ) -> None:
        flow = with_policies(
            make_flow({"gate": "Gate"}, gate={"folder": str(tmp_path)}), gate=StepPolicy(timeout_seconds=0.1)
        )
        request = new_run(await store_flow(database, flow))
        await finish(engine, request)
        row = await run_row(database, request.key.run_id)
        assert (row.status, row.error_code) == ("failed", "step_timeout")
        assert "0.1 seconds" in row.error_message

    async def test_a_default_value_replaces_the_output(
        self, engine: ExecutionBackend, database: Database, tmp_path: Path
    ) -> None:
        flow = needing(tmp_path, on_error="default_value", default_value="nothing")
        request = new_run(await store_flow(database, flow), "x")
        await finish(engine, request)
        row = await run_row(database, request.key.run_id)
        assert (row.status, row.output_payload["text"]) == ("completed", "nothing")
        step = (await step_rows(database, request.key.run_id))["need"]
        assert (step.status, step.error_code) == ("completed", "invalid")
        assert ("need", 1, "failed") in await attempts(database, request.key.run_id)

    async def test_the_error_as_data_says_what_failed_and_on_what(
        self, engine: ExecutionBackend, database: Database, tmp_path: Path
    ) -> None:
        flow = needing(tmp_path, on_error="error_data", retry=SOON)
        request = new_run(await store_flow(database, flow), "x")
        await finish(engine, request)
        row = await run_row(database, request.key.run_id)
        assert row.status == "completed"
        text = row.output_payload["text"]
        assert '"code": "invalid"' in text
        assert '"attempt": 3' in text
        assert '"input": "x"' in text

    async def test_the_error_edge_is_taken_instead_of_the_others(
        self, engine: ExecutionBackend, database: Database, tmp_path: Path
    ) -> None:
        request = new_run(await store_flow(database, branching(tmp_path)), "x")
        await finish(engine, request)
        assert await statuses(database, request.key.run_id) == {
            "start": "completed",
            "need": "completed",
            "after": "skipped",
            "rescue": "completed",
            "end": "completed",
        }
        assert '"step": "need"' in (await run_row(database, request.key.run_id)).output_payload["text"]
        (tmp_path / "fixed").touch()
        again = new_run(await store_flow(database, branching(tmp_path)), "x")
        await finish(engine, again)
        found = await statuses(database, again.key.run_id)
        assert (found["after"], found["rescue"], found["end"]) == ("completed", "skipped", "completed")

    async def test_a_disabled_step_is_passed_through_or_skipped(
        self, engine: ExecutionBackend, database: Database, tmp_path: Path
    ) -> None:
        request = new_run(await store_flow(database, needing(tmp_path, disabled="pass_through")), "x")
        await finish(engine, request)
        assert (await run_row(database, request.key.run_id)).output_payload["text"] == "x"
        skipped = new_run(await store_flow(database, needing(tmp_path, disabled="skip")), "x")
        await finish(engine, skipped)
        assert await statuses(database, skipped.key.run_id) == {
            "start": "completed",
            "need": "skipped",
            "after": "skipped",
        }
        assert not (tmp_path / "tally").exists()

    async def test_a_disabled_first_step_is_skipped(self, engine: ExecutionBackend, database: Database) -> None:
        flow = make_flow(
            {"off": "Start", "on": "Start", "end": "Join"}, ["off.text -> end.parts", "on.text -> end.parts"]
        )
        request = new_run(await store_flow(database, with_policies(flow, off=StepPolicy(disabled="skip"))), "x")
        await finish(engine, request)
        row = await run_row(database, request.key.run_id)
        assert (row.status, row.output_payload["text"]) == ("completed", "x")
        assert (await statuses(database, request.key.run_id))["off"] == "skipped"


class RetryDeathConformance:
    """Deaths of workers are no failures of the step."""

    async def test_a_death_is_not_counted_as_a_failed_attempt(
        self, processes: Any, make_engine: Any, database: Database, tmp_path: Path
    ) -> None:
        retry = RetryPolicy(max_attempts=2, delay_seconds=0, codes=("step_timeout",))
        flow = make_flow({"gate": "Gate"}, gate={"folder": str(tmp_path)})
        flow = with_policies(flow, gate=StepPolicy(retry=retry, timeout_seconds=2))
        process, run_id = await processes.start(await store_flow(database, flow), "x")
        await appears(tmp_path / "gate.started")
        process.send_signal(signal.SIGKILL)
        process.wait()
        await over(await make_engine(), run_id)
        assert await attempts(database, run_id) == [
            ("gate", 1, "retried"),
            ("gate", 2, "failed"),
            ("gate", 3, "failed"),
        ]
        assert (await run_row(database, run_id)).error_code == "step_timeout"


def branching(folder: Path) -> Flow:
    """What fails goes another way, and both ways end in the same step."""
    need = {"file": str(folder / "fixed"), "path": str(folder / "tally")}
    flow = make_flow(
        {**NODES, "rescue": "Echo", "end": "Join"},
        [*EDGES, "need.error -> rescue.input", "after.text -> end.parts", "rescue.text -> end.parts"],
        need=need,
    )
    return with_policies(flow, need=StepPolicy(on_error="error_edge"))
