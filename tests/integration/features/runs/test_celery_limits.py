# ruff: noqa: F811 - fixtures are asked for by their names
"""Cancelling, and limits of tasks: what workers are told from outside while they are at work."""

import asyncio
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from celery import Celery

from headgate.features.runs.engine.distributed import opening
from headgate.features.runs.engine.distributed.celery_app import make_app
from headgate.features.runs.engine.distributed.limits import TaskLimits
from headgate.foundation.database import Database
from headgate.foundation.settings import Settings
from headgate.graph.model import Flow
from tests.integration.features.runs.celery_fixtures import (  # noqa: F401 - fixtures
    SOLO,
    Engines,
    engines,
    make_engine,
    settings,
    workers,
)
from tests.integration.features.runs.conformance import appears, finish, over, until
from tests.integration.features.runs.priorities import runs_in_order_of_priority
from tests.support.engine import make_chain, make_flow, new_run, store_flow
from tests.support.rows import attempt_rows, attempts, run_row, statuses, step_rows
from tests.support.workers import celery_settings

pytestmark = pytest.mark.xdist_group("celery")


class TestCancel:
    async def test_reaches_the_worker_at_once_and_not_by_its_heartbeat(
        self, make_engine: Any, database: Database, tmp_path: Path
    ) -> None:
        """The heartbeat is minutes away; the only child is free for the next run as soon as it let go."""
        engine = await make_engine(max_concurrent_runs=1, lease_seconds=600.0)
        stuck = new_run(await store_flow(database, make_flow({"g": "Gate"}, g={"folder": str(tmp_path)})))
        await engine.start(stuck)
        await appears(tmp_path / "gate.started")
        await engine.cancel(stuck.key.run_id, stuck.key.tenant_id)
        await finish(engine, new_run(await store_flow(database, make_chain(2))))
        assert await attempts(database, stuck.key.run_id) == [("g", 1, "cancelled")]

    async def test_takes_queued_messages_back_so_that_none_is_carried_out(
        self, make_engine: Any, engines: Engines, database: Database, tmp_path: Path
    ) -> None:
        engine = await make_engine(max_concurrent_runs=1)
        gate = new_run(await store_flow(database, make_flow({"g": "Gate"}, g={"folder": str(tmp_path)})))
        await engine.start(gate)
        await appears(tmp_path / "gate.started")
        tally = make_flow({"t": "Tally", "u": "Tally"}, ["t.text -> u.input"], t=_tally(tmp_path), u=_tally(tmp_path))
        waiting = [new_run(await store_flow(database, tally)) for _ in range(3)]
        for request in waiting:
            await engine.start(request)
            await engine.cancel(request.key.run_id, request.key.tenant_id)
        expected = {f"{request.key.run_id}:1:t" for request in waiting}
        app = make_app(Settings(_env_file=None, celery=celery_settings(engines.workers.server, SOLO)))
        await until(lambda: asyncio.to_thread(lambda: expected <= _revoked(app)))
        (tmp_path / "gate.open").touch()
        await over(engine, gate.key.run_id)
        await finish(engine, new_run(await store_flow(database, make_chain(2))))
        for request in waiting:
            assert await attempts(database, request.key.run_id) == []
            assert set((await statuses(database, request.key.run_id)).values()) == {"cancelled"}
        assert not (tmp_path / "tally").exists()


async def _in_lanes_of_their_own(engine: Any, version: Any, *, beside: str = "", count: int = 2) -> list[str]:
    """Visitors of whom no two share a lane, nor one with `beside`, whatever the runs are."""

    async def lanes_of(visitor: str) -> set[str]:
        return {await engine._dispatcher._lane(new_run(version).key, visitor) for _ in range(40)}

    taken = await lanes_of(beside) if beside else set()
    visitors: list[str] = []
    for visitor in map(str, range(100)):
        lanes = await lanes_of(visitor)
        if lanes.isdisjoint(taken) and len(visitors) < count:
            visitors.append(visitor)
            taken |= lanes
    return visitors


class TestFairness:
    async def test_a_run_does_not_wait_for_all_that_another_visitor_queued_before(
        self, make_engine: Any, database: Database, tmp_path: Path
    ) -> None:
        engine = await make_engine(max_concurrent_runs=1)
        gate = new_run(await store_flow(database, make_flow({"g": "Gate"}, g={"folder": str(tmp_path)})))
        await engine.start(gate)
        await appears(tmp_path / "gate.started")
        version = await store_flow(database, make_chain(2))
        flooding, alone = await _in_lanes_of_their_own(engine, version)
        many = [new_run(version, visitor=flooding) for _ in range(20)]
        one = new_run(version, visitor=alone)
        for request in [*many, one]:
            await engine.start(request)
        (tmp_path / "gate.open").touch()
        for request in [*many, one]:
            await over(engine, request.key.run_id)
        own = await run_row(database, one.key.run_id)
        others = [await run_row(database, request.key.run_id) for request in many]
        assert sum(row.finished_at < own.finished_at for row in others) <= 2

    async def test_a_visitor_of_weight_three_has_three_turns_where_another_has_one(
        self, make_engine: Any, database: Database, tmp_path: Path
    ) -> None:
        engine = await make_engine(max_concurrent_runs=1, weights={"heavy": 3.0})
        gate = new_run(await store_flow(database, make_flow({"g": "Gate"}, g={"folder": str(tmp_path)})))
        await engine.start(gate)
        await appears(tmp_path / "gate.started")
        version = await store_flow(database, make_chain(2))
        (other,) = await _in_lanes_of_their_own(engine, version, beside="heavy", count=1)
        ours = [new_run(version, visitor="heavy") for _ in range(30)]
        theirs = [new_run(version, visitor=other) for _ in range(6)]
        for request in [*theirs, *ours]:
            await engine.start(request)
        (tmp_path / "gate.open").touch()
        for request in [*theirs, *ours]:
            await over(engine, request.key.run_id)
        last = max([(await run_row(database, request.key.run_id)).finished_at for request in theirs])
        rows = [await run_row(database, request.key.run_id) for request in ours]
        assert sum(row.finished_at < last for row in rows) >= 10  # 6 with equal turns


class TestPriorities:
    async def test_order_the_runs_that_wait_for_a_worker_also_after_a_change(
        self, make_engine: Any, database: Database, tmp_path: Path
    ) -> None:
        order = await runs_in_order_of_priority(await make_engine(max_concurrent_runs=1), database, tmp_path)
        assert set(order[:2]) == {"high", "raised"}


class TestLimits:
    @pytest.fixture(autouse=True)
    def short(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Messages that this process sends are given seconds where production gives minutes."""
        monkeypatch.setattr(opening, "TaskLimits", partial(TaskLimits, margin_seconds=0.5, grace_seconds=3.0))

    async def test_end_a_step_that_blocks_its_loop_and_the_run_once(self, make_engine: Any, database: Database) -> None:
        engine = await make_engine(max_concurrent_runs=1, step_timeout_seconds=0.5)
        request = new_run(await store_flow(database, _broken("hangs")))
        await finish(engine, request)
        row = await run_row(database, request.key.run_id)
        assert (row.status, row.error_code) == ("failed", "step_timeout")
        found = await attempt_rows(database, request.key.run_id)
        assert [(one.step_id, one.status, one.error_code) for one in found] == [
            ("start", "completed", None),
            ("bad", "failed", "step_timeout"),
        ]
        await finish(engine, new_run(await store_flow(database, make_chain(2))))
        assert len(await attempts(database, request.key.run_id)) == 2

    async def test_end_a_step_that_blocks_its_whole_process_and_the_run(
        self, make_engine: Any, database: Database
    ) -> None:
        """No thread of the child can do anything: its process is killed, and the main process tells why."""
        engine = await make_engine(max_concurrent_runs=1, step_timeout_seconds=0.5)
        request = new_run(await store_flow(database, _broken("holds the interpreter")))
        await finish(engine, request)
        row = await run_row(database, request.key.run_id)
        assert (row.status, row.error_code) == ("failed", "step_timeout")
        await finish(engine, new_run(await store_flow(database, make_chain(2))))
        found = await attempts(database, request.key.run_id)
        assert found[0] == ("start", 1, "completed")
        assert {status for _, _, status in found[1:]} <= {"cancelled", "retried"}
        assert len(found) <= 3


class TestWait:
    @pytest.fixture(autouse=True)
    def short(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A task of this process's messages may take a second."""
        monkeypatch.setattr(opening, "TaskLimits", partial(TaskLimits, margin_seconds=0.5, grace_seconds=3.0))

    async def test_longer_than_its_task_may_take_completes(self, make_engine: Any, database: Database) -> None:
        engine = await make_engine(max_concurrent_runs=1, step_timeout_seconds=0.5)
        request = new_run(await store_flow(database, _waiting(seconds=2.5)))
        await finish(engine, request)
        assert (await run_row(database, request.key.run_id)).status == "completed"
        found = await attempt_rows(database, request.key.run_id)
        assert [(one.step_id, one.attempt_no, one.status, one.error_code) for one in found] == [
            ("start", 1, "completed", None),
            ("wait", 1, "suspended", None),
            ("wait", 2, "completed", None),
            ("after", 1, "completed", None),
        ]
        assert found[2].started_at - found[0].finished_at >= 2_000_000
        assert not (await step_rows(database, request.key.run_id))["wait"].log

    async def test_holds_no_worker_and_can_be_cancelled(self, make_engine: Any, database: Database) -> None:
        engine = await make_engine(max_concurrent_runs=1, step_timeout_seconds=0.5)
        request = new_run(await store_flow(database, _waiting(seconds=86_400)))
        await engine.start(request)
        await until(lambda: _is_suspended(database, request.key.run_id))
        await finish(engine, new_run(await store_flow(database, make_chain(2))))
        assert await _is_suspended(database, request.key.run_id)
        await engine.cancel(request.key.run_id, request.key.tenant_id)
        assert (await run_row(database, request.key.run_id)).status == "cancelled"
        assert (await statuses(database, request.key.run_id))["wait"] == "cancelled"


def _waiting(*, seconds: float) -> Flow:
    return make_flow(
        {"start": "Start", "wait": "Wait", "after": "Echo"},
        ["start.text -> wait.value", "wait.value -> after.input"],
        wait={"seconds": seconds},
    )


async def _is_suspended(database: Database, run_id: str) -> bool:
    return ("wait", 1, "suspended") in await attempts(database, run_id)


def _broken(how: str) -> Flow:
    return make_flow(
        {"start": "Start", "bad": "Broken", "after": "Echo"},
        ["start.text -> bad.input", "bad.text -> after.input"],
        bad={"how": how},
    )


def _tally(folder: Path) -> dict[str, str]:
    return {"path": str(folder / "tally")}


def _revoked(app: Celery) -> set[str]:
    """Ids of messages that the workers will not carry out."""
    told = app.control.inspect(timeout=1.0).revoked() or {}
    return {one for ids in told.values() for one in ids}
