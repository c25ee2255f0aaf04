"""A process works on a run once, however starts, sweeps and late heartbeats are interleaved."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from headgate.features.runs.engine import embedded
from headgate.features.runs.engine.backend import ExecutionBackend
from headgate.foundation.database import Database
from headgate.foundation.errors import Unavailable
from tests.integration.features.runs.conformance import appears, over
from tests.support.engine import make_flow, new_run, store_flow
from tests.support.rows import attempts, execute, run_row, tamper

pytestmark = pytest.mark.both_databases


async def _blocked(engine: ExecutionBackend, database: Database, folder: Path, name: str = "gate") -> str:
    """Fill a slot of the engine with a run that waits for the file `<name>.open`; its id."""
    flow = make_flow({"g": "Gate"}, g={"folder": str(folder), "name": name})
    request = new_run(await store_flow(database, flow))
    await engine.start(request)
    await appears(folder / f"{name}.started")
    return request.key.run_id


async def _rounds(engine: Any, count: int) -> None:
    """Let so many heartbeats and sweeps go by."""
    for _ in range(count):
        await engine._renew()
        await engine.recover()


class TestSweep:
    async def test_that_read_before_a_run_was_queued_does_not_queue_it_again(
        self, make_engine: Any, database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        engine = await make_engine(max_concurrent_runs=2, lease_seconds=0.2)
        await _blocked(engine, database, tmp_path, "one")
        await _blocked(engine, database, tmp_path, "two")
        requested, answer = asyncio.Event(), asyncio.Event()
        live_runs = engine.store.live_runs

        async def late() -> Any:
            requested.set()
            await answer.wait()
            return await live_runs()

        monkeypatch.setattr(engine.store, "live_runs", late)
        sweep = asyncio.create_task(engine.recover())
        await requested.wait()
        flow = make_flow({"t": "Tally"}, t={"path": str(tmp_path / "tally"), "seconds": 1.0})
        request = new_run(await store_flow(database, flow))
        await engine.start(request)
        answer.set()
        await sweep
        (tmp_path / "one.open").touch()
        (tmp_path / "two.open").touch()
        await over(engine, request.key.run_id)
        assert await attempts(database, request.key.run_id) == [("t", 1, "completed")]
        assert (tmp_path / "tally").read_text().split() == ["t"]


class TestLateHeartbeat:
    async def test_takes_no_step_from_its_own_process(
        self, make_engine: Any, database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        engine = await make_engine(max_concurrent_runs=1, lease_seconds=0.1)
        run_id = await _blocked(engine, database, tmp_path)

        async def away(*_: Any) -> Any:
            raise Unavailable("The database is away.")

        monkeypatch.setattr(engine.store, "renew", away)
        await execute(database, "UPDATE flow_step_results SET lease_until = 1, attempts = 5 WHERE status = 'running'")
        await tamper(database, "UPDATE flow_step_attempts SET attempt_no = 5")
        for _ in range(5):
            await engine.recover()
        assert (await run_row(database, run_id)).status == "running"
        assert await attempts(database, run_id) == [("g", 5, "started")]

    async def test_is_not_kept_up_by_a_sweep_that_takes_long(
        self, make_engine: Any, database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        engine = await make_engine(max_concurrent_runs=1, lease_seconds=0.3)
        stuck, renewed = asyncio.Event(), asyncio.Event()
        renew = engine.store.renew

        async def never() -> Any:
            stuck.set()
            await asyncio.Event().wait()

        async def seen(*given: Any) -> Any:
            if stuck.is_set():
                renewed.set()
            return await renew(*given)

        monkeypatch.setattr(engine.store, "live_runs", never)
        monkeypatch.setattr(engine.store, "renew", seen)
        run_id = await _blocked(engine, database, tmp_path)
        await asyncio.wait_for(renewed.wait(), 30)
        (tmp_path / "gate.open").touch()
        await over(engine, run_id)

    @pytest.mark.parametrize("transition", ["advance", "suspend"])
    async def test_between_a_transition_and_its_answer_loses_no_step(
        self, make_engine: Any, database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, transition: str
    ) -> None:
        engine = await make_engine(max_concurrent_runs=1)
        answer_of = getattr(engine.store, transition)

        async def answered_late(*given: Any) -> Any:
            answer = await answer_of(*given)
            await _rounds(engine, 1)  # the database has the step settled, this process does not know it yet
            return answer

        monkeypatch.setattr(engine.store, transition, answered_late)
        tallies = {name: {"path": str(tmp_path / "tally"), "seconds": 0.1} for name in ("first", "last")}
        steps = {"first": "Tally", "wait": "Wait", "last": "Tally"}
        edges = ["first.text -> wait.value", "wait.value -> last.input"]
        request = new_run(await store_flow(database, make_flow(steps, edges, wait={"seconds": 0.1}, **tallies)))
        await engine.start(request)
        await over(engine, request.key.run_id)
        assert {status for _, _, status in await attempts(database, request.key.run_id)} <= {"completed", "suspended"}
        assert (tmp_path / "tally").read_text().split() == ["first", "last"]


class TestWaiting:
    async def test_for_a_run_of_another_process_keeps_nothing(
        self, make_engine: Any, database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(embedded, "POLL_SECONDS", 0.01)
        working, waiting = await make_engine(), await make_engine(recover_on_start=False)
        run_id = await _blocked(working, database, tmp_path)
        waiter = asyncio.create_task(waiting.wait(run_id))
        for _ in range(10):
            await asyncio.sleep(0.01)
            assert len(waiting._waiters) <= 1
        (tmp_path / "gate.open").touch()
        await waiter
        assert not waiting._waiters


class TestManyRuns:
    async def test_with_a_short_lease_are_each_done_once(
        self, make_engine: Any, database: Database, tmp_path: Path
    ) -> None:
        engine = await make_engine(max_concurrent_runs=4, lease_seconds=0.05)
        flow = make_flow({"t": "Tally"}, t={"path": str(tmp_path / "tally"), "seconds": 0.02})
        version = await store_flow(database, flow)
        requests = [new_run(version) for _ in range(150)]

        async def start() -> None:
            for request in requests:
                await engine.start(request)

        sweeping = asyncio.create_task(_rounds(engine, 1000))
        await start()
        await asyncio.gather(*(over(engine, request.key.run_id) for request in requests))
        sweeping.cancel()
        assert len((tmp_path / "tally").read_text().split()) == len(requests)
        for request in requests:
            assert await attempts(database, request.key.run_id) == [("t", 1, "completed")]
