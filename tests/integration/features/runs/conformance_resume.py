"""What every execution backend must do with runs that stopped: resume them, build on them, end them."""

import asyncio
import signal
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from headgate.features.runs.engine.backend import ExecutionBackend, RunRequest
from headgate.features.runs.states import RunStatus
from headgate.features.runs.transitions import Resumed, Reuse, RunKey
from headgate.foundation.database import Database
from headgate.graph.model import Flow
from tests.integration.features.runs.conformance import appears, finish, over, until
from tests.support.engine import make_chain, make_flow, new_run, store_flow
from tests.support.rows import attempt_rows, attempts, execute, run_row, statuses, tamper

RESUMED = Resumed(RunStatus.RUNNING, changed=True)


class ResumeConformance:
    """Resuming in place, and runs that take results over."""

    async def test_resumes_a_failed_run_at_the_step_that_failed(
        self, engine: ExecutionBackend, database: Database, tmp_path: Path
    ) -> None:
        request = new_run(await store_flow(database, mendable(tmp_path)), "x")
        await finish(engine, request)
        assert (await run_row(database, request.key.run_id)).status == "failed"
        (tmp_path / "mended").touch()
        assert await engine.resume(request.key) == RESUMED
        await over(engine, request.key.run_id)
        row = await run_row(database, request.key.run_id)
        assert (row.status, row.resumes, row.error_code, row.output_payload["text"]) == ("completed", 1, None, "x")
        assert await attempts(database, request.key.run_id) == [
            ("one", 1, "completed"),
            ("need", 1, "failed"),
            ("need", 2, "completed"),
            ("two", 1, "completed"),
        ]
        assert (tmp_path / "tally").read_text().split() == ["one", "need", "need", "two"]

    async def test_resumes_again_and_again_until_it_is_mended(
        self, engine: ExecutionBackend, database: Database, tmp_path: Path
    ) -> None:
        request = new_run(await store_flow(database, mendable(tmp_path)))
        await finish(engine, request)
        for times in (1, 2):
            assert await engine.resume(request.key) == RESUMED
            await over(engine, request.key.run_id)
            row = await run_row(database, request.key.run_id)
            assert (row.status, row.resumes, row.error_code) == ("failed", times, "invalid")
        (tmp_path / "mended").touch()
        await engine.resume(request.key)
        await over(engine, request.key.run_id)
        assert [one for one in await attempts(database, request.key.run_id) if one[0] == "need"] == [
            ("need", 1, "failed"),
            ("need", 2, "failed"),
            ("need", 3, "failed"),
            ("need", 4, "completed"),
        ]

    async def test_resumes_once_when_asked_twice_at_once(
        self, engine: ExecutionBackend, database: Database, tmp_path: Path
    ) -> None:
        request = new_run(await store_flow(database, mendable(tmp_path)))
        await finish(engine, request)
        (tmp_path / "mended").touch()
        found = await asyncio.gather(*(engine.resume(request.key) for _ in range(5)))
        assert [one.changed for one in found if one is not None].count(True) == 1
        await over(engine, request.key.run_id)
        assert (tmp_path / "tally").read_text().split() == ["one", "need", "need", "two"]

    async def test_resumes_beside_a_step_that_never_stopped(
        self, engine: ExecutionBackend, database: Database, tmp_path: Path
    ) -> None:
        request = new_run(await store_flow(database, mendable_beside_gate(tmp_path)), "x")
        await engine.start(request)
        await appears(tmp_path / "gate.started")
        (tmp_path / "go.open").touch()
        await until(lambda: has_status(database, request.key, "failed"))
        (tmp_path / "mended").touch()
        assert await engine.resume(request.key) == RESUMED
        await until(lambda: step_is(database, request.key, "need", "completed"))
        assert (await statuses(database, request.key.run_id))["gate"] == "running"
        (tmp_path / "gate.open").touch()
        await over(engine, request.key.run_id)
        assert (await run_row(database, request.key.run_id)).output_payload["text"] == "x+x"
        assert ("gate", 1, "completed") in await attempts(database, request.key.run_id)
        assert len([one for one in await attempts(database, request.key.run_id) if one[0] == "gate"]) == 1

    async def test_resumes_with_branches_and_skipped_steps(
        self, engine: ExecutionBackend, database: Database, tmp_path: Path
    ) -> None:
        flow = make_flow(
            {"start": "Start", "fork": "Fork", "need": "Needs", "right": "Echo", "end": "Join"},
            [
                "start.text -> fork.input",
                "fork.left -> need.input",
                "fork.right -> right.input",
                "need.text -> end.parts",
                "right.text -> end.parts",
            ],
            need=_need(tmp_path),
        )
        request = new_run(await store_flow(database, flow), "left")
        await finish(engine, request)
        (tmp_path / "mended").touch()
        await engine.resume(request.key)
        await over(engine, request.key.run_id)
        row = await run_row(database, request.key.run_id)
        assert (row.status, row.output_payload["text"]) == ("completed", "left")
        assert (await statuses(database, request.key.run_id))["right"] == "skipped"

    async def test_resumes_neither_a_cancelled_nor_a_completed_run(
        self, engine: ExecutionBackend, database: Database, tmp_path: Path
    ) -> None:
        done = new_run(await store_flow(database, make_chain(2)))
        await finish(engine, done)
        assert await engine.resume(done.key) == Resumed(RunStatus.COMPLETED, changed=False)
        gone = new_run(await store_flow(database, make_flow({"g": "Gate"}, g={"folder": str(tmp_path)})))
        await engine.start(gone)
        await engine.cancel(gone.key.run_id, gone.key.tenant_id)
        assert await engine.resume(gone.key) == Resumed(RunStatus.CANCELLED, changed=False)
        assert await engine.resume(new_run(gone.key).key) is None

    async def test_carries_out_only_what_a_run_does_not_take_over(
        self, engine: ExecutionBackend, database: Database, tmp_path: Path
    ) -> None:
        version = await store_flow(database, mendable(tmp_path))
        source = new_run(version, "x")
        await finish(engine, source)
        (tmp_path / "mended").touch()
        request = replace(new_run(version, "x"), reuse=Reuse(source.key.run_id, ("one",), "need"))
        await finish(engine, request)
        row = await run_row(database, request.key.run_id)
        assert (row.status, row.output_payload["text"], row.source_run_id) == ("completed", "x", source.key.run_id)
        assert await attempts(database, request.key.run_id) == [("need", 1, "completed"), ("two", 1, "completed")]
        assert (tmp_path / "tally").read_text().split() == ["one", "need", "need", "two"]
        assert (await run_row(database, source.key.run_id)).status == "failed"

    async def test_a_run_that_takes_over_all_but_skipped_steps_ends(
        self, engine: ExecutionBackend, database: Database
    ) -> None:
        flow = make_flow(
            {"start": "Start", "fork": "Fork", "a": "Echo", "b": "Echo"},
            ["start.text -> fork.input", "fork.left -> a.input", "fork.right -> b.input"],
        )
        version = await store_flow(database, flow)
        source = new_run(version, "left")
        await finish(engine, source)
        request = replace(new_run(version, "left"), reuse=Reuse(source.key.run_id, ("start", "fork", "a"), "b"))
        await finish(engine, request)
        row = await run_row(database, request.key.run_id)
        assert (row.status, row.output_payload["text"]) == ("completed", "left")
        assert (await statuses(database, request.key.run_id))["b"] == "skipped"


class ReconcilerConformance:
    """Runs and steps that were left: by workers that died, by clocks that jumped, by flows that were deleted."""

    async def test_ends_a_step_of_a_failed_run_whose_worker_died(
        self, processes: Any, make_engine: Any, database: Database, tmp_path: Path
    ) -> None:
        version = await store_flow(database, mendable_beside_gate(tmp_path))
        process, run_id = await processes.start(version, "x")
        await appears(tmp_path / "gate.started")
        (tmp_path / "go.open").touch()
        key = replace(version, run_id=run_id)
        await until(lambda: has_status(database, key, "failed"))
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert (await statuses(database, run_id))["gate"] == "running"
        engine = await make_engine()
        await until(lambda: step_is(database, key, "gate", "failed"))
        tries = {(row.step_id, row.attempt_no): row for row in await attempt_rows(database, run_id)}
        assert (tries["gate", 1].status, tries["gate", 1].error_code) == ("failed", "worker_lost")
        assert (await run_row(database, run_id)).error_code == "invalid"
        for name in ("mended", "gate.open"):
            (tmp_path / name).touch()
        assert await engine.resume(key) == RESUMED
        await over(engine, run_id)
        assert (await run_row(database, run_id)).output_payload["text"] == "x+x"
        assert ("gate", 2, "completed") in await attempts(database, run_id)

    async def test_names_what_a_killed_worker_left(
        self, processes: Any, make_engine: Any, database: Database, tmp_path: Path
    ) -> None:
        version = await store_flow(database, make_flow({"g": "Gate"}, g={"folder": str(tmp_path)}))
        process, run_id = await processes.start(version)
        await appears(tmp_path / "gate.started")
        process.send_signal(signal.SIGKILL)
        process.wait()
        (tmp_path / "gate.open").touch()
        await over(await make_engine(), run_id)
        first, second = await attempt_rows(database, run_id)
        assert (first.status, first.error_code, second.status) == ("retried", "worker_lost", "completed")
        assert "died" in first.error_message

    async def test_ends_a_run_that_works_longer_than_it_may(
        self, make_engine: Any, database: Database, tmp_path: Path
    ) -> None:
        engine = await make_engine(run_timeout_seconds=3600)
        request = new_run(await store_flow(database, make_flow({"g": "Gate"}, g={"folder": str(tmp_path)})))
        await engine.start(request)
        await appears(tmp_path / "gate.started")
        await engine.recover()
        assert (await run_row(database, request.key.run_id)).status == "running"
        began = time.time_ns() // 1000 - 3601 * 1_000_000
        await execute(database, "UPDATE flow_runs SET started_at = :at", at=began)
        await engine.recover()
        assert (await run_row(database, request.key.run_id)).status == "running", "nobody worked on it for that long"
        await tamper(database, "UPDATE flow_step_attempts SET started_at = :at", at=began)
        await engine.recover()
        await over(engine, request.key.run_id)
        row = await run_row(database, request.key.run_id)
        assert (row.status, row.error_code) == ("failed", "run_stale")
        assert await attempts(database, request.key.run_id) == [("g", 1, "cancelled")]
        (tmp_path / "gate.open").touch()
        await engine.resume(request.key)
        await over(engine, request.key.run_id)
        assert (await run_row(database, request.key.run_id)).status == "completed"

    async def test_counts_no_down_time(
        self, processes: Any, make_engine: Any, database: Database, tmp_path: Path
    ) -> None:
        process, run_id = await processes.start(await store_flow(database, tallied_gate(tmp_path)))
        await appears(tmp_path / "gate.started")
        process.kill()
        process.wait()
        three_days = 3 * 86_400 * 1_000_000
        for table, column in (
            ("flow_runs", "started_at"),
            ("flow_step_attempts", "started_at"),
            ("flow_step_attempts", "finished_at"),
            ("flow_step_results", "started_at"),
            ("flow_step_results", "finished_at"),
            ("flow_step_results", "lease_until"),
        ):
            await tamper(database, f"UPDATE {table} SET {column} = {column} - :us", us=three_days)
        (tmp_path / "gate.open").touch()
        engine = await make_engine(run_timeout_seconds=3600)
        await over(engine, run_id)
        assert (await run_row(database, run_id)).status == "completed"

    async def test_takes_a_step_over_whose_lease_lies_in_the_future_of_a_clock_set_back(
        self, processes: Any, make_engine: Any, database: Database, tmp_path: Path
    ) -> None:
        process, run_id = await processes.start(await store_flow(database, tallied_gate(tmp_path)), lease=0.5)
        await appears(tmp_path / "gate.started")
        process.kill()
        process.wait()
        for lock in (tmp_path / "workers").glob("*.lock"):
            lock.unlink()
        later = time.time_ns() // 1000 + 3600 * 1_000_000
        await execute(database, "UPDATE flow_step_results SET lease_until = :at WHERE status = 'running'", at=later)
        (tmp_path / "gate.open").touch()
        engine = await make_engine(lease_seconds=0.3)
        await over(engine, run_id)
        assert (await run_row(database, run_id)).status == "completed"
        assert (tmp_path / "tally").read_text().split() == ["one", "two"]
        assert ("gate", 2, "completed") in await attempts(database, run_id)

    async def test_a_clock_set_forward_repeats_at_most_the_step_at_work(
        self, processes: Any, make_engine: Any, database: Database, tmp_path: Path
    ) -> None:
        _, run_id = await processes.start(await store_flow(database, tallied_gate(tmp_path)), lease=30)
        await appears(tmp_path / "gate.started")
        for lock in (tmp_path / "workers").glob("*.lock"):
            lock.unlink()
        long_ago = time.time_ns() // 1000 - 3600 * 1_000_000
        await execute(database, "UPDATE flow_step_results SET lease_until = :at WHERE status = 'running'", at=long_ago)
        engine = await make_engine()
        await until(lambda: attempts_are(database, run_id, 3))
        (tmp_path / "gate.open").touch()
        await over(engine, run_id)
        assert (await run_row(database, run_id)).status == "completed"
        assert (tmp_path / "tally").read_text().split() == ["one", "two"]
        assert [one for one in await attempts(database, run_id) if one[0] == "gate"] == [
            ("gate", 1, "retried"),
            ("gate", 2, "completed"),
        ]

    async def test_ends_a_queued_run_of_a_deleted_flow(
        self, make_engine: Any, database: Database, tmp_path: Path
    ) -> None:
        first = await make_engine(max_concurrent_runs=1)
        await first.start(new_run(await store_flow(database, make_flow({"g": "Gate"}, g={"folder": str(tmp_path)}))))
        request = new_run(await store_flow(database, make_chain(2)))
        assert await first.start(request) is RunStatus.QUEUED
        await execute(database, "UPDATE flows SET deleted_at = 1 WHERE id = :id", id=request.key.flow_id)
        await first.recover()
        await over(first, request.key.run_id)
        row = await run_row(database, request.key.run_id)
        assert (row.status, row.error_code) == ("failed", "flow_deleted")
        assert await engine_resume_is_refused(first, request)
        (tmp_path / "gate.open").touch()


async def engine_resume_is_refused(engine: ExecutionBackend, request: RunRequest) -> bool:
    """Whether a resume changes nothing."""
    found = await engine.resume(request.key)
    return found == Resumed(RunStatus.FAILED, changed=False)


async def has_status(database: Database, key: RunKey, status: str) -> bool:
    """Whether a run is in that state."""
    return bool((await run_row(database, key.run_id)).status == status)


async def step_is(database: Database, key: RunKey, step: str, status: str) -> bool:
    """Whether a step is in that state."""
    return (await statuses(database, key.run_id))[step] == status


async def attempts_are(database: Database, run_id: str, number: int) -> bool:
    """Whether so many attempts were made."""
    return len(await attempts(database, run_id)) == number


def _need(folder: Path) -> dict[str, Any]:
    return {"file": str(folder / "mended"), "path": str(folder / "tally")}


def mendable(folder: Path) -> Flow:
    """An effect, a step that fails until it is mended, an effect; an input that goes through."""
    return make_flow(
        {"one": "Tally", "need": "Needs", "two": "Tally"},
        ["one.text -> need.input", "need.text -> two.input"],
        one={"path": str(folder / "tally"), "input": "{{flow_input.text}}"},
        need=_need(folder),
        two={"path": str(folder / "tally")},
    )


def mendable_beside_gate(folder: Path) -> Flow:
    """A step that fails until it is mended, once `go` lets it, beside a gate that works until it is let go; joined."""
    return make_flow(
        {"start": "Start", "gate": "Gate", "go": "Gate", "need": "Needs", "end": "Join"},
        [
            "start.text -> gate.input",
            "start.text -> go.input",
            "go.text -> need.input",
            "gate.text -> end.parts",
            "need.text -> end.parts",
        ],
        gate={"folder": str(folder)},
        go={"folder": str(folder), "name": "go"},
        need=_need(folder),
    )


def tallied_gate(folder: Path) -> Flow:
    """An effect, a step that waits, an effect."""
    return make_flow(
        {"one": "Tally", "gate": "Gate", "two": "Tally"},
        ["one.text -> gate.input", "gate.text -> two.input"],
        one={"path": str(folder / "tally")},
        gate={"folder": str(folder)},
        two={"path": str(folder / "tally")},
    )
