"""What every execution backend must do, on every database.

Derive a test class and give it the fixtures `engine`, `make_engine`, `connections_out` and `processes` (see
`conftest` and `celery_fixtures`), and it runs here unchanged: for the embedded engine in `test_embedded`, for Celery
in `test_celery`. Steps are the small components of `tests.support.engine`; nothing is replaced but what leaves the
machine.
"""

import asyncio
import json
import signal
import time
from pathlib import Path
from typing import Any

from headgate.features.runs.engine.backend import ExecutionBackend, RunRequest
from headgate.features.runs.states import RunStatus
from headgate.foundation.database import Database
from headgate.foundation.settings import LimitSettings
from headgate.graph.model import InputSource, Node, OutputType, StepPolicy
from tests.support.engine import make_chain, make_flow, new_run, store_flow
from tests.support.patience import PATIENCE_SECONDS
from tests.support.rows import attempt_rows, attempts, execute, run_row, statuses, step_rows, tamper


async def finish(engine: ExecutionBackend, request: RunRequest) -> None:
    """Start a run and wait for its end."""
    await engine.start(request)
    await over(engine, request.key.run_id)


async def over(engine: ExecutionBackend, run_id: str) -> None:
    """Wait for the end of a run."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        await engine.wait(run_id)


async def appears(path: Path) -> None:
    """Wait for a file."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not path.exists():  # noqa: ASYNC110, ASYNC240 - another process may make it
            await asyncio.sleep(0.005)


async def until(condition: Any) -> None:
    """Wait until an async condition holds."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not await condition():  # noqa: ASYNC110
            await asyncio.sleep(0.01)


def value_of(row: Any, output: str = "text") -> Any:
    """The stored value of a step's output."""
    return row.output_payload["outputs"][output]["value"]


class BackendConformance:
    """The order of steps, branches, failures, cancelling, recovery, limits."""

    begins = RunStatus.RUNNING
    """What a run is when it has just been started and there is room for it."""

    async def test_runs_a_chain_to_the_end(self, engine: ExecutionBackend, database: Database) -> None:
        flow = make_chain(4, s2={"mark": "!"}, s4={"mark": "?"})
        request = new_run(await store_flow(database, flow), "hej")
        await finish(engine, request)
        row = await run_row(database, request.key.run_id)
        assert (row.status, row.unfinished, row.output_payload["text"]) == ("completed", 0, "hej!?")
        assert set((await statuses(database, request.key.run_id)).values()) == {"completed"}
        found = await attempts(database, request.key.run_id)
        assert found == [(f"s{number}", 1, "completed") for number in range(1, 5)]

    async def test_runs_branches_side_by_side_and_joins_them_in_edge_order(
        self, engine: ExecutionBackend, database: Database, tmp_path: Path
    ) -> None:
        gates = {name: {"folder": str(tmp_path), "name": name} for name in ("left", "right")}
        flow = make_flow(
            {"top": "Start", "left": "Gate", "right": "Gate", "bottom": "Join"},
            [
                "top.text -> left.input",
                "top.text -> right.input",
                "right.text -> bottom.parts",
                "left.text -> bottom.parts",
                "top.text -> bottom.parts",
            ],
            **gates,
        )
        request = new_run(await store_flow(database, flow), "x")
        await engine.start(request)
        await asyncio.gather(appears(tmp_path / "left.started"), appears(tmp_path / "right.started"))
        (tmp_path / "left.open").touch()
        await until(lambda: _is(database, request, "left", "completed"))
        assert (await statuses(database, request.key.run_id))["bottom"] == "pending"
        (tmp_path / "right.open").touch()
        await over(engine, request.key.run_id)
        steps = await step_rows(database, request.key.run_id)
        assert value_of(steps["bottom"]) == "x+x+x"
        assert steps["bottom"].attempts == 1

    async def test_runs_no_more_steps_at_once_than_it_may(
        self, make_engine: Any, database: Database, tmp_path: Path
    ) -> None:
        engine = await make_engine(max_concurrent_steps=2)
        names = [f"g{number}" for number in range(5)]
        flow = make_flow(
            {"top": "Start", **dict.fromkeys(names, "Gate"), "end": "Join"},
            [f"top.text -> {name}.input" for name in names] + [f"{name}.text -> end.parts" for name in names],
            **{name: {"folder": str(tmp_path), "name": name} for name in names},
        )
        request = new_run(await store_flow(database, flow))
        await engine.start(request)
        await asyncio.gather(appears(tmp_path / "g0.started"), appears(tmp_path / "g1.started"))
        await until(lambda: _is(database, request, "g0", "running"))
        await until(lambda: _is(database, request, "g1", "running"))
        found = await statuses(database, request.key.run_id)
        assert [found[name] for name in names] == ["running", "running", "pending", "pending", "pending"]
        for name in names:
            (tmp_path / f"{name}.open").touch()
        await over(engine, request.key.run_id)
        assert (await run_row(database, request.key.run_id)).status == "completed"

    async def test_skips_the_branch_not_taken_and_all_behind_it(
        self, engine: ExecutionBackend, database: Database
    ) -> None:
        request = new_run(await store_flow(database, _forked()), "left")
        await finish(engine, request)
        assert await statuses(database, request.key.run_id) == {
            "start": "completed",
            "fork": "completed",
            "a": "completed",
            "a2": "completed",
            "b": "skipped",
            "b2": "skipped",
            "end": "completed",
        }
        steps = await step_rows(database, request.key.run_id)
        assert steps["fork"].output_payload["not_taken"] == ["right"]
        assert value_of(steps["end"]) == "left1"
        assert [
            row.step_id for row in await attempt_rows(database, request.key.run_id) if row.step_id in {"b", "b2"}
        ] == []

    async def test_joins_both_branches_when_both_are_taken(self, engine: ExecutionBackend, database: Database) -> None:
        request = new_run(await store_flow(database, _forked()), "both")
        await finish(engine, request)
        assert value_of((await step_rows(database, request.key.run_id))["end"]) == "both1+both2"

    async def test_skips_everything_when_no_branch_is_taken(self, engine: ExecutionBackend, database: Database) -> None:
        request = new_run(await store_flow(database, _forked()), "neither")
        await finish(engine, request)
        found = await statuses(database, request.key.run_id)
        assert [step for step, status in found.items() if status == "skipped"] == ["a", "a2", "b", "b2", "end"]
        row = await run_row(database, request.key.run_id)
        assert (row.status, row.output_payload["text"]) == ("completed", None)

    async def test_skips_a_step_whose_required_input_is_dead_though_another_is_not(
        self, engine: ExecutionBackend, database: Database
    ) -> None:
        flow = make_flow(
            {"start": "Start", "fork": "Fork", "mark": "Echo", "end": "Join"},
            [
                "start.text -> fork.input",
                "fork.right -> mark.input",
                "start.text -> end.parts",
                "mark.text -> end.parts",
            ],
        )
        request = new_run(await store_flow(database, flow), "left")
        await finish(engine, request)
        found = await statuses(database, request.key.run_id)
        assert (found["mark"], found["end"]) == ("skipped", "completed")

    async def test_skips_a_step_that_refers_only_to_outputs_that_were_not_taken(
        self, engine: ExecutionBackend, database: Database
    ) -> None:
        flow = make_flow(
            {"start": "Start", "fork": "Fork", "no": "Echo", "yes": "Echo", "either": "Echo", "again": "Echo"},
            ["start.text -> fork.input"],
            no={"input": "Refused: {{fork.right}}"},
            yes={"input": "{{fork.left}}"},
            either={"input": "{{fork.left}} {{fork.right}}"},
            again={"input": "{{no.text}}"},
        )
        request = new_run(await store_flow(database, flow), "left")
        await finish(engine, request)
        found = await statuses(database, request.key.run_id)
        assert [step for step, status in found.items() if status == "skipped"] == ["no", "again"]
        steps = await step_rows(database, request.key.run_id)
        assert value_of(steps["yes"]) == "left"
        assert value_of(steps["either"]) == "left {{fork.right}}"

    async def test_skips_a_step_whose_required_field_refers_to_what_was_not_taken(
        self, engine: ExecutionBackend, database: Database
    ) -> None:
        flow = make_flow(
            {"start": "Start", "fork": "Fork", "no": "Titled", "yes": "Titled"},
            ["start.text -> fork.input", "start.text -> no.note", "start.text -> yes.note"],
            no={"title": "{{fork.right}}"},
            yes={"title": "{{fork.left}}"},
        )
        request = new_run(await store_flow(database, flow), "left")
        await finish(engine, request)
        found = await statuses(database, request.key.run_id)
        assert (found["no"], found["yes"]) == ("skipped", "completed")

    async def test_fails_the_run_with_the_step_and_keeps_what_was_done(
        self, engine: ExecutionBackend, database: Database
    ) -> None:
        flow = make_flow(
            {"start": "Start", "bad": "Broken", "after": "Echo"}, ["start.text -> bad.input", "bad.text -> after.input"]
        )
        request = new_run(await store_flow(database, flow))
        await finish(engine, request)
        row = await run_row(database, request.key.run_id)
        assert (row.status, row.error_code) == ("failed", "invalid")
        assert row.error_message == "This step cannot work. Take it out."
        assert await statuses(database, request.key.run_id) == {
            "start": "completed",
            "bad": "failed",
            "after": "pending",
        }
        assert await attempts(database, request.key.run_id) == [("start", 1, "completed"), ("bad", 1, "failed")]

    async def test_keeps_secrets_out_of_what_an_exception_says(
        self, engine: ExecutionBackend, database: Database
    ) -> None:
        flow = make_flow(
            {"start": "Start", "bad": "Broken"},
            ["start.text -> bad.input"],
            bad={"how": "refused: Authorization: Bearer abcdef123456"},
        )
        request = new_run(await store_flow(database, flow))
        await finish(engine, request)
        row = await run_row(database, request.key.run_id)
        assert row.error_code == "internal_error"
        assert "abcdef123456" not in row.error_message

    async def test_stores_an_error_that_holds_what_no_database_stores(
        self, engine: ExecutionBackend, database: Database
    ) -> None:
        flow = make_flow({"start": "Start", "bad": "Broken"}, ["start.text -> bad.input"], bad={"how": "unstorable"})
        request = new_run(await store_flow(database, flow))
        await finish(engine, request)
        row = await run_row(database, request.key.run_id)
        assert row.error_message == "RuntimeError: a NUL \ufffd and half a pair \ufffd"

    async def test_lets_steps_beside_a_failing_one_finish(
        self, engine: ExecutionBackend, database: Database, tmp_path: Path
    ) -> None:
        flow = make_flow(
            {"start": "Start", "slow": "Gate", "first": "Gate", "bad": "Broken", "end": "Join"},
            [
                "start.text -> slow.input",
                "start.text -> first.input",
                "first.text -> bad.input",
                "slow.text -> end.parts",
                "bad.text -> end.parts",
            ],
            slow={"folder": str(tmp_path)},
            first={"folder": str(tmp_path), "name": "first"},
        )
        request = new_run(await store_flow(database, flow))
        await engine.start(request)
        await asyncio.gather(appears(tmp_path / "gate.started"), appears(tmp_path / "first.started"))
        (tmp_path / "first.open").touch()
        await over(engine, request.key.run_id)
        assert (await run_row(database, request.key.run_id)).status == "failed"
        (tmp_path / "gate.open").touch()
        await until(lambda: _is(database, request, "slow", "completed"))
        found = await statuses(database, request.key.run_id)
        assert (found["bad"], found["end"]) == ("failed", "pending")
        assert (await run_row(database, request.key.run_id)).status == "failed"

    async def test_ends_a_step_that_takes_too_long(self, make_engine: Any, database: Database, tmp_path: Path) -> None:
        engine = await make_engine(step_timeout_seconds=0.05)
        flow = make_flow({"slow": "Gate"}, slow={"folder": str(tmp_path)})
        request = new_run(await store_flow(database, flow))
        await finish(engine, request)
        assert (await run_row(database, request.key.run_id)).error_code == "step_timeout"

    async def test_cancels_a_running_run_at_once(
        self, engine: ExecutionBackend, database: Database, tmp_path: Path
    ) -> None:
        flow = make_flow(
            {"slow": "Gate", "after": "Tally"},
            ["slow.text -> after.input"],
            slow={"folder": str(tmp_path)},
            after={"path": str(tmp_path / "tally")},
        )
        request = new_run(await store_flow(database, flow))
        await engine.start(request)
        await appears(tmp_path / "gate.started")
        found = await engine.cancel(request.key.run_id, request.key.tenant_id)
        assert found is not None
        assert found.changed
        await over(engine, request.key.run_id)
        (tmp_path / "gate.open").touch()
        await asyncio.sleep(0.05)
        assert await statuses(database, request.key.run_id) == {"slow": "cancelled", "after": "cancelled"}
        assert await attempts(database, request.key.run_id) == [("slow", 1, "cancelled")]
        assert not (tmp_path / "tally").exists()

    async def test_cancels_a_queued_run_before_it_begins(
        self, make_engine: Any, database: Database, tmp_path: Path
    ) -> None:
        engine = await make_engine(max_concurrent_runs=1)
        version = await store_flow(database, make_flow({"slow": "Gate"}, slow={"folder": str(tmp_path)}))
        first, second = new_run(version), new_run(version)
        assert await engine.start(first) is self.begins
        assert await engine.start(second) is RunStatus.QUEUED
        await appears(tmp_path / "gate.started")
        await engine.cancel(second.key.run_id, second.key.tenant_id)
        (tmp_path / "gate.open").touch()
        await asyncio.gather(over(engine, first.key.run_id), over(engine, second.key.run_id))
        assert (await run_row(database, second.key.run_id)).status == "cancelled"
        assert await attempts(database, second.key.run_id) == []

    async def test_cancelling_twice_or_too_late_changes_nothing(
        self, engine: ExecutionBackend, database: Database
    ) -> None:
        request = new_run(await store_flow(database, make_chain(2)))
        await finish(engine, request)
        for _ in range(2):
            found = await engine.cancel(request.key.run_id, request.key.tenant_id)
            assert found is not None
            assert (found.status, found.changed) == (RunStatus.COMPLETED, False)

    async def test_a_run_cancelled_elsewhere_has_no_further_effect(
        self, engine: ExecutionBackend, make_engine: Any, database: Database, tmp_path: Path
    ) -> None:
        other = await make_engine(recover_on_start=False)
        flow = make_flow(
            {"slow": "Gate", "after": "Tally"},
            ["slow.text -> after.input"],
            slow={"folder": str(tmp_path)},
            after={"path": str(tmp_path / "tally")},
        )
        request = new_run(await store_flow(database, flow))
        await engine.start(request)
        await appears(tmp_path / "gate.started")
        await other.cancel(request.key.run_id, request.key.tenant_id)
        (tmp_path / "gate.open").touch()
        await over(engine, request.key.run_id)
        await asyncio.sleep(0.05)
        assert not (tmp_path / "tally").exists()
        assert set((await statuses(database, request.key.run_id)).values()) == {"cancelled"}

    async def test_cancel_and_finish_at_the_same_time_leave_one_clear_end(
        self, engine: ExecutionBackend, database: Database
    ) -> None:
        version = await store_flow(database, make_chain(6))
        for pause in range(12):
            request = new_run(version)
            await engine.start(request)
            for _ in range(pause):
                await asyncio.sleep(0)
            await engine.cancel(request.key.run_id, request.key.tenant_id)
            await over(engine, request.key.run_id)
            status = (await run_row(database, request.key.run_id)).status
            steps = set((await statuses(database, request.key.run_id)).values())
            assert (status, steps) in [("completed", {"completed"}), ("cancelled", steps & {"completed", "cancelled"})]
            assert "started" not in {attempt[2] for attempt in await attempts(database, request.key.run_id)}

    async def test_queues_what_is_over_its_limit_and_runs_it_in_order(
        self, make_engine: Any, database: Database, tmp_path: Path
    ) -> None:
        engine = await make_engine(max_concurrent_runs=1)
        version = await store_flow(database, make_flow({"slow": "Gate"}, slow={"folder": str(tmp_path)}))
        requests = [new_run(version) for _ in range(5)]
        begun = [await engine.start(request) for request in requests]
        assert begun == [self.begins] + [RunStatus.QUEUED] * 4
        (tmp_path / "gate.open").touch()
        await asyncio.gather(*(over(engine, request.key.run_id) for request in requests))
        rows = [await run_row(database, request.key.run_id) for request in requests]
        assert {row.status for row in rows} == {"completed"}
        assert [row.started_at for row in rows] == sorted(row.started_at for row in rows)

    async def test_an_output_over_the_cap_is_stored_as_an_artifact_and_handed_on_whole(
        self, make_engine: Any, database: Database
    ) -> None:
        limits = LimitSettings(max_inline_text_bytes=1000, max_inline_json_bytes=1000, max_inline_preview_bytes=100)
        engine = await make_engine(limits=limits)
        flow = make_flow(
            {"big": "Big", "copy": "Echo"}, ["big.text -> copy.input"], big={"size": 600}, copy={"mark": "end"}
        )
        request = new_run(await store_flow(database, flow))
        await finish(engine, request)
        steps = await step_rows(database, request.key.run_id)
        entry = steps["copy"].output_payload["outputs"]["text"]
        assert (entry["truncated"], entry["size_bytes"], entry["media_type"]) == (
            True,
            1203,
            "text/plain; charset=utf-8",
        )
        assert entry["preview"] == "å" * 50
        content = await engine.services.files.read(request.key.tenant_id, entry["file_id"])
        assert content.decode() == "å" * 600 + "end"
        assert len(json.dumps(steps["copy"].output_payload)) < 1000

    async def test_refuses_an_output_that_no_artifact_may_hold(self, make_engine: Any, database: Database) -> None:
        limits = LimitSettings(max_inline_text_bytes=1000, max_artifact_bytes=1024)
        engine = await make_engine(limits=limits)
        request = new_run(await store_flow(database, make_flow({"big": "Big"}, big={"size": 2000})))
        await finish(engine, request)
        assert (await run_row(database, request.key.run_id)).error_code == "output_too_large"

    async def test_fails_a_step_that_breaks_its_contract_and_names_the_path(
        self, engine: ExecutionBackend, database: Database
    ) -> None:
        policy = StepPolicy(
            output_type=OutputType.JSON,
            output_contract={"type": "json", "schema": {"type": "object", "properties": {"n": {"type": "integer"}}}},
        )
        flow = make_flow(
            {"start": "Start", "check": Node(id="check", type="Echo", policy=policy)}, ["start.text -> check.input"]
        )
        version = await store_flow(database, flow)
        good, bad = new_run(version, '```json\n{"n": 1}\n```'), new_run(version, '{"n": "one"}')
        await asyncio.gather(finish(engine, good), finish(engine, bad))
        assert value_of((await step_rows(database, good.key.run_id))["check"]) == '{"n": 1}'
        row = await run_row(database, bad.key.run_id)
        assert row.error_code == "contract_broken"
        assert "$.n" in row.error_message

    async def test_takes_no_new_step_of_a_deleted_flow(
        self, engine: ExecutionBackend, database: Database, tmp_path: Path
    ) -> None:
        flow = make_flow(
            {"slow": "Gate", "after": "Tally"},
            ["slow.text -> after.input"],
            slow={"folder": str(tmp_path)},
            after={"path": str(tmp_path / "tally")},
        )
        request = new_run(await store_flow(database, flow))
        await engine.start(request)
        await appears(tmp_path / "gate.started")
        await execute(database, "UPDATE flows SET deleted_at = 1 WHERE id = :id", id=request.key.flow_id)
        (tmp_path / "gate.open").touch()
        await over(engine, request.key.run_id)
        row = await run_row(database, request.key.run_id)
        assert (row.status, row.error_code) == ("failed", "flow_deleted")
        assert await statuses(database, request.key.run_id) == {"slow": "completed", "after": "pending"}
        assert not (tmp_path / "tally").exists()

    async def test_keeps_the_evidence_of_a_step(self, engine: ExecutionBackend, database: Database) -> None:
        flow = make_flow({"start": "Start", "say": "Speak"}, ["start.text -> say.input"])
        request = new_run(await store_flow(database, flow), "one two")
        await finish(engine, request)
        row = (await step_rows(database, request.key.run_id))["say"]
        assert (row.effective_prompt, row.num_tokens_input, row.num_tokens_output) == ("one two", 3, 4)
        assert row.model_parameters == {
            "provider": "test",
            "name": "echo",
            "temperature": 0.5,
            "api_key": "[redacted]",
        }
        assert row.tool_calls == [{"name": "look_up", "arguments": {"word": "head"}, "result": {"found": True}}]
        assert (row.log[0]["message"], row.log[0]["details"]) == ("spoke", {"words": 2})
        assert len(row.execution_hash) == 64

    async def test_reads_every_step_before_it_when_its_policy_says_so(
        self, engine: ExecutionBackend, database: Database
    ) -> None:
        policy = StepPolicy(input_source=InputSource.ALL_PREVIOUS_STEPS)
        flow = make_flow(
            {"start": "Start", "two": "Echo", "all": Node(id="all", type="Echo", policy=policy)},
            ["start.text -> two.input", "two.text -> all.input"],
            two={"mark": "!"},
        )
        request = new_run(await store_flow(database, flow), "x")
        await finish(engine, request)
        steps = await step_rows(database, request.key.run_id)
        assert value_of(steps["all"]) == "<step_1_output>\nx\n</step_1_output>\n<step_2_output>\nx!\n</step_2_output>"
        assert steps["all"].input_payload == {"source": "all_previous_steps"}

    async def test_three_runs_share_two_connections_because_a_working_step_holds_none(
        self, connections_out: Any, engine: ExecutionBackend, database: Database, tmp_path: Path
    ) -> None:
        version = await store_flow(database, make_flow({"slow": "Gate"}, slow={"folder": str(tmp_path)}))
        requests = [new_run(version) for _ in range(3)]
        for request in requests:
            await engine.start(request)
        await appears(tmp_path / "gate.started")
        # A heartbeat or a sweep may be under way; a step that held one would hold it until its gate is opened.
        await until(lambda: _none(connections_out))
        (tmp_path / "gate.open").touch()
        await asyncio.gather(*(over(engine, request.key.run_id) for request in requests))
        assert {(await run_row(database, request.key.run_id)).status for request in requests} == {"completed"}

    async def test_two_backends_on_one_run_execute_each_step_once(
        self, make_engine: Any, database: Database, tmp_path: Path
    ) -> None:
        first, second = await make_engine(max_concurrent_runs=1), await make_engine(recover_on_start=False)
        names = [f"t{number}" for number in range(4)]
        flow = make_flow(
            {**dict.fromkeys(names, "Tally"), "end": "Join"},
            [f"{name}.text -> end.parts" for name in names],
            **{name: {"path": str(tmp_path / "tally"), "seconds": 0.02} for name in names},
        )
        version = await store_flow(database, flow)
        blocker = new_run(await store_flow(database, make_flow({"g": "Gate"}, g={"folder": str(tmp_path)})))
        await first.start(blocker)
        queued = [new_run(version) for _ in range(5)]
        for request in queued:
            await first.start(request)
        await second.recover()
        (tmp_path / "gate.open").touch()
        await asyncio.gather(*(over(first, request.key.run_id) for request in queued))
        for request in queued:
            found = await attempts(database, request.key.run_id)
            assert found == [(name, 1, "completed") for name in (*names, "end")]
        assert len((tmp_path / "tally").read_text().splitlines()) == 20


class DeathConformance:
    """What happens when the process that works on a run is killed."""

    begins = RunStatus.RUNNING

    async def test_goes_on_after_kill_9_without_repeating_a_finished_step(
        self, processes: Any, make_engine: Any, database: Database, tmp_path: Path
    ) -> None:
        process, run_id = await processes.start(await store_flow(database, _tallied(tmp_path)), "x")
        await appears(tmp_path / "gate.started")
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert (await run_row(database, run_id)).status == "running"
        (tmp_path / "gate.open").touch()
        engine = await make_engine()
        await over(engine, run_id)
        assert (await run_row(database, run_id)).status == "completed"
        assert await attempts(database, run_id) == [
            ("one", 1, "completed"),
            ("big", 1, "completed"),
            ("gate", 1, "retried"),
            ("gate", 2, "completed"),
            ("two", 1, "completed"),
        ]
        assert (tmp_path / "tally").read_text().split() == ["one", "two"]
        steps = await step_rows(database, run_id)
        assert len(value_of(steps["two"])) == 3000
        assert "interrupted" in steps["gate"].log[0]["message"]

    async def test_takes_up_what_was_queued(
        self, processes: Any, make_engine: Any, database: Database, tmp_path: Path
    ) -> None:
        version = await store_flow(database, make_chain(3))
        first = await make_engine(max_concurrent_runs=1)
        gate = await store_flow(database, make_flow({"g": "Gate"}, g={"folder": str(tmp_path)}))
        await first.start(new_run(gate))
        request = new_run(version)
        assert await first.start(request) is RunStatus.QUEUED
        second = await make_engine()
        await over(second, request.key.run_id)
        assert (await run_row(database, request.key.run_id)).status == "completed"
        (tmp_path / "gate.open").touch()

    async def test_leaves_steps_of_living_workers_alone(
        self, make_engine: Any, database: Database, tmp_path: Path
    ) -> None:
        first = await make_engine()
        request = new_run(await store_flow(database, make_flow({"g": "Gate"}, g={"folder": str(tmp_path)})))
        await first.start(request)
        await appears(tmp_path / "gate.started")
        second = await make_engine()
        assert await second.recover() == 0
        (tmp_path / "gate.open").touch()
        await over(first, request.key.run_id)
        assert await attempts(database, request.key.run_id) == [("g", 1, "completed")]

    async def test_takes_over_a_worker_it_cannot_see_once_its_lease_is_past(
        self, make_engine: Any, database: Database, tmp_path: Path, processes: Any
    ) -> None:
        process, run_id = await processes.start(await store_flow(database, _tallied(tmp_path)), lease=0.5)
        await appears(tmp_path / "gate.started")
        process.kill()
        process.wait()
        for lock in (tmp_path / "workers").glob("*.lock"):
            lock.unlink()
        (tmp_path / "gate.open").touch()
        engine = await make_engine(lease_seconds=0.6)
        await over(engine, run_id)
        assert ("gate", 2, "completed") in await attempts(database, run_id)

    async def test_keeps_the_lease_of_a_step_that_works_longer_than_it(
        self, make_engine: Any, database: Database, tmp_path: Path
    ) -> None:
        first = await make_engine(lease_seconds=0.3)
        request = new_run(await store_flow(database, make_flow({"g": "Gate"}, g={"folder": str(tmp_path)})))
        await first.start(request)
        await appears(tmp_path / "gate.started")
        second = await make_engine(lease_seconds=0.3)
        for _ in range(8):
            await asyncio.sleep(0.1)
            assert await second.recover() == 0
        (tmp_path / "gate.open").touch()
        await over(first, request.key.run_id)
        assert await attempts(database, request.key.run_id) == [("g", 1, "completed")]

    async def test_gives_a_living_worker_time_that_is_late_with_its_heartbeat(
        self, make_engine: Any, database: Database, tmp_path: Path
    ) -> None:
        first = await make_engine()
        request = new_run(await store_flow(database, make_flow({"g": "Gate"}, g={"folder": str(tmp_path)})))
        await first.start(request)
        await appears(tmp_path / "gate.started")
        second = await make_engine()
        now = time.time_ns() // 1000
        await execute(database, "UPDATE flow_step_results SET lease_until = :at", at=now - 60_000_000)
        assert await second.recover() == 0
        recovered = 0
        while not recovered:  # unless a heartbeat comes in between
            await execute(database, "UPDATE flow_step_results SET lease_until = :at", at=now - 400_000_000)
            recovered = await second.recover()
        (tmp_path / "gate.open").touch()
        await over(second, request.key.run_id)

    async def test_gives_up_a_step_that_kills_every_worker(
        self, processes: Any, make_engine: Any, database: Database, tmp_path: Path
    ) -> None:
        version = await store_flow(database, make_flow({"g": "Gate"}, g={"folder": str(tmp_path)}))
        process, run_id = await processes.start(version)
        await appears(tmp_path / "gate.started")
        process.kill()
        process.wait()
        await execute(database, "UPDATE flow_step_results SET attempts = 5, interruptions = 5")
        await tamper(database, "UPDATE flow_step_attempts SET attempt_no = 5")
        engine = await make_engine()
        await over(engine, run_id)
        row = await run_row(database, run_id)
        assert (row.status, row.error_code) == ("failed", "worker_lost")

    async def test_stopping_leaves_what_is_at_work_to_the_next(
        self, processes: Any, make_engine: Any, database: Database, tmp_path: Path
    ) -> None:
        process, run_id = await processes.start(await store_flow(database, _tallied(tmp_path)))
        await appears(tmp_path / "gate.started")
        await processes.stop(process)
        assert (await statuses(database, run_id))["gate"] == "running"
        (tmp_path / "gate.open").touch()
        engine = await make_engine()
        await over(engine, run_id)
        assert (await run_row(database, run_id)).status == "completed"
        assert (tmp_path / "tally").read_text().split() == ["one", "two"]

    async def test_ends_the_left_run_of_a_deleted_flow(
        self, processes: Any, make_engine: Any, database: Database, tmp_path: Path
    ) -> None:
        process, run_id = await processes.start(await store_flow(database, _tallied(tmp_path)))
        await appears(tmp_path / "gate.started")
        process.kill()
        process.wait()
        await execute(database, "UPDATE flows SET deleted_at = 1")
        engine = await make_engine()
        await over(engine, run_id)
        row = await run_row(database, run_id)
        assert (row.status, row.error_code) == ("failed", "flow_deleted")
        assert "started" not in {attempt[2] for attempt in await attempts(database, run_id)}


async def _none(count: Any) -> bool:
    return bool(await count() == 0)


async def _is(database: Database, request: RunRequest, step: str, status: str) -> bool:
    return (await statuses(database, request.key.run_id))[step] == status


def _forked() -> Any:
    """`start -> fork`, two steps on each branch, joined at the end."""
    return make_flow(
        {"start": "Start", "fork": "Fork", "a": "Echo", "a2": "Echo", "b": "Echo", "b2": "Echo", "end": "Join"},
        [
            "start.text -> fork.input",
            "fork.left -> a.input",
            "a.text -> a2.input",
            "fork.right -> b.input",
            "b.text -> b2.input",
            "a2.text -> end.parts",
            "b2.text -> end.parts",
        ],
        a={"mark": "1"},
        b={"mark": "2"},
    )


def _tallied(folder: Path) -> Any:
    """An effect, a large output, a step that waits, an effect."""
    return make_flow(
        {"one": "Tally", "big": "Big", "gate": "Gate", "two": "Tally"},
        ["one.text -> big.input", "big.text -> gate.input", "gate.text -> two.input"],
        one={"path": str(folder / "tally")},
        big={"size": 3000},
        gate={"folder": str(folder)},
        two={"path": str(folder / "tally")},
    )
