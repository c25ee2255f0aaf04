"""A drained server of the embedded engine: what it has and what others take over, with two servers on one database."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from headgate.features.jobs.worker import Worker
from headgate.features.processes import repository
from headgate.features.processes.heartbeat import Drain, Heartbeat
from headgate.features.runs.engine.backend import ExecutionBackend
from headgate.features.runs.transitions import RunKey
from headgate.foundation.database import Database
from tests.integration.features.runs.conformance import appears, over, until
from tests.integration.features.runs.conftest import make_engine, quiet_logs
from tests.support.engine import make_flow, new_run, store_flow
from tests.support.rows import attempt_rows, run_row

__all__ = ["make_engine", "quiet_logs"]
LEASE = 0.6
GATED = {"start": "Start", "gate": "Gate", "last": "Echo"}
EDGES = ["start.text -> gate.input", "gate.text -> last.input"]


@pytest.fixture
async def gated(database: Database, tmp_path: Path) -> RunKey:
    """A flow whose second step works until a file is there."""
    return await store_flow(database, make_flow(GATED, EDGES, gate={"folder": str(tmp_path)}, last={"mark": "!"}))


async def workers_of(database: Database, run_id: str) -> dict[str, str]:
    """The worker of each step; every step has one attempt."""
    rows = await attempt_rows(database, run_id)
    assert {row.attempt_no for row in rows} == {1}
    return {row.step_id: row.worker_id for row in rows}


class TestServer:
    async def test_that_is_drained_finishes_its_runs_and_others_take_the_new_ones(
        self, database: Database, make_engine: Any, gated: RunKey, tmp_path: Path
    ) -> None:
        drained, other = [await make_engine(lease_seconds=LEASE) for _ in range(2)]
        request = new_run(gated)
        await drained.start(request)
        await appears(tmp_path / "gate.started")
        drained.drain(draining=True, handing_over=False)
        assert drained.working == 1
        (tmp_path / "gate.open").touch()
        new = [new_run(gated, f"new {number}") for number in range(5)]
        for each in new:
            assert await drained.start(each) == "queued"
        for each in (request, *new):
            await over(drained, each.key.run_id)
            assert (await run_row(database, each.key.run_id)).status == "completed"
        assert drained.working == 0
        mine = await workers_of(database, request.key.run_id)
        assert len(set(mine.values())) == 1
        theirs = {worker for each in new for worker in (await workers_of(database, each.key.run_id)).values()}
        assert len(theirs) == 1
        assert theirs.isdisjoint(mine.values())
        assert other.working == 0

    async def test_that_hands_over_lets_others_continue_at_the_next_step(
        self, database: Database, make_engine: Any, gated: RunKey, tmp_path: Path
    ) -> None:
        drained, _ = [await make_engine(lease_seconds=LEASE) for _ in range(2)]
        request = new_run(gated)
        await drained.start(request)
        await appears(tmp_path / "gate.started")
        drained.drain(draining=True, handing_over=True)
        (tmp_path / "gate.open").touch()
        await over(drained, request.key.run_id)
        assert (await run_row(database, request.key.run_id)).status == "completed"
        workers = await workers_of(database, request.key.run_id)
        assert workers["start"] == workers["gate"] != workers["last"]
        assert drained.working == 0

    async def test_alone_keeps_new_runs_until_it_takes_work_again(
        self, database: Database, make_engine: Any, gated: RunKey, tmp_path: Path
    ) -> None:
        engine: ExecutionBackend = await make_engine(lease_seconds=LEASE)
        (tmp_path / "gate.open").touch()
        engine.drain(draining=True, handing_over=False)
        request = new_run(gated)
        await engine.start(request)
        await asyncio.sleep(2 * LEASE)
        assert await engine.recover() == 0
        assert (await run_row(database, request.key.run_id)).status == "queued"
        engine.drain(draining=False, handing_over=False)
        await over(engine, request.key.run_id)
        assert (await run_row(database, request.key.run_id)).status == "completed"


class TestHeartbeat:
    async def test_applies_what_is_stored_and_leaves_no_row(self, database: Database, tmp_path: Path) -> None:
        applied: list[Drain] = []
        async with beating(database, tmp_path, applied) as heartbeat:
            await change(database, heartbeat.process_id, draining_at=1, hand_over_at=2**62)
            await heartbeat.beat()
            await change(database, heartbeat.process_id, draining_at=1, hand_over_at=1)
            await heartbeat.beat()
            await change(database, heartbeat.process_id, draining_at=None, hand_over_at=None)
            await until(lambda: _is(len(applied) == 3))  # by itself
        assert applied == [Drain(draining=True), Drain(draining=True, handing_over=True), Drain()]
        assert await ids(database) == []

    async def test_of_a_child_follows_its_worker(self, database: Database, tmp_path: Path) -> None:
        applied: list[Drain] = []
        async with (
            beating(database, tmp_path, []) as parent,
            beating(database, tmp_path, applied, parent_id=parent.process_id) as child,
        ):
            await change(database, parent.process_id, draining_at=1, hand_over_at=None)
            await child.beat()
            assert applied == [Drain(draining=True)]
            assert len(await ids(database)) == 2
        assert await ids(database) == []


async def _is(condition: bool) -> bool:
    return condition


@asynccontextmanager
async def beating(
    database: Database, folder: Path, applied: list[Drain], parent_id: str | None = None
) -> AsyncIterator[Heartbeat]:
    """A worker's heartbeat."""
    process_id = Worker(folder).id
    made = Heartbeat(database, "worker", process_id, work=dict, apply=applied.append, parent_id=parent_id)
    async with made.running():
        yield made


async def change(database: Database, process_id: str, **values: Any) -> None:
    """Store what an operator asks for."""
    async with database.writing() as session:
        await repository.set_drain(session, process_id, **values)


async def ids(database: Database) -> list[str]:
    """The processes that are listed."""
    async with database.reading() as session:
        return [row.id for row in await repository.list_process_rows(session)]
