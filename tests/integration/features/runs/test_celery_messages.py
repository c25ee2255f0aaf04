# ruff: noqa: F811 - fixtures are asked for by their names
"""Messages that are lost, doubled, or come for runs that are over."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
import redis

from headgate.features.runs.engine.backend import ExecutionBackend
from headgate.features.runs.engine.distributed.lanes import all_lanes
from headgate.features.runs.engine.distributed.orders import Queues
from headgate.features.runs.views.stream import RunStream
from headgate.foundation.database import Database
from tests.integration.features.runs.celery_fixtures import (  # noqa: F401 - fixtures
    SOLO,
    Engines,
    engine,
    engines,
    make_engine,
    settings,
    workers,
)
from tests.integration.features.runs.conformance import appears, finish, over, until
from tests.support.engine import make_chain, make_flow, new_run, store_flow
from tests.support.rows import attempts, execute, run_row, statuses, tamper

pytestmark = pytest.mark.xdist_group("celery")


class TestLostMessages:
    async def test_are_sent_again_when_redis_forgot_them(
        self,
        make_engine: Any,
        engines: Engines,
        database: Database,
        tmp_path: Path,
    ) -> None:
        engine = await make_engine(max_concurrent_runs=1)
        gate = new_run(await store_flow(database, make_flow({"g": "Gate"}, g={"folder": str(tmp_path)})))
        await engine.start(gate)
        await appears(tmp_path / "gate.started")
        version = await store_flow(database, make_chain(3, s3={"mark": "!"}))
        waiting = [new_run(version, f"run {number}") for number in range(4)]
        for request in waiting:
            await engine.start(request)
        client = redis.Redis.from_url(engines.workers.server.url(0))
        lanes = [Queues(SOLO).first(lane) for lane in all_lanes()]
        assert sum(client.llen(lane) for lane in lanes) >= 4  # a slow machine sends again what waits
        client.delete(*lanes)
        client.close()
        (tmp_path / "gate.open").touch()
        await asyncio.gather(*(over(engine, request.key.run_id) for request in waiting))
        for request in waiting:
            assert (await run_row(database, request.key.run_id)).status == "completed"
            assert await attempts(database, request.key.run_id) == [(f"s{n}", 1, "completed") for n in (1, 2, 3)]

    async def test_are_found_where_a_run_was_never_sent(
        self,
        engine: ExecutionBackend,
        database: Database,
    ) -> None:
        request = new_run(await store_flow(database, make_chain(2)))
        await finish(engine, request)
        await execute(database, "UPDATE flow_runs SET status = 'queued', dispatched_at = NULL, unfinished = 2")
        await tamper(database, "DELETE FROM flow_step_attempts")
        await execute(
            database,
            "UPDATE flow_step_results SET status = 'pending', attempts = 0, output_payload = NULL,"
            " waiting = step_order - 1",
        )
        await over(engine, request.key.run_id)
        assert (await run_row(database, request.key.run_id)).status == "completed"


class TestJoins:
    async def test_of_a_run_that_failed_are_not_carried_out_and_leave_no_message(
        self, engine: ExecutionBackend, database: Database, tmp_path: Path
    ) -> None:
        """The chord's error path: one branch fails while the other works."""
        flow = make_flow(
            {"start": "Start", "gate": "Gate", "go": "Gate", "bad": "Broken", "end": "Join"},
            [
                "start.text -> gate.input",
                "start.text -> go.input",
                "go.text -> bad.input",
                "gate.text -> end.parts",
                "bad.text -> end.parts",
            ],
            gate={"folder": str(tmp_path)},
            go={"folder": str(tmp_path), "name": "go"},
        )
        request = new_run(await store_flow(database, flow))
        await engine.start(request)
        await asyncio.gather(appears(tmp_path / "gate.started"), appears(tmp_path / "go.started"))
        (tmp_path / "go.open").touch()
        await over(engine, request.key.run_id)
        (tmp_path / "gate.open").touch()
        await until(lambda: _is_settled(database, request.key.run_id, "gate"))
        await finish(engine, new_run(await store_flow(database, make_chain(3))))
        assert (await run_row(database, request.key.run_id)).status == "failed"
        assert (await statuses(database, request.key.run_id))["end"] == "pending"
        assert "end" not in {step for step, _, _ in await attempts(database, request.key.run_id)}
        await until(lambda: _is_empty(engine))

    async def test_that_the_result_database_forgot_are_carried_out_all_the_same(
        self, engine: ExecutionBackend, engines: Engines, database: Database, tmp_path: Path
    ) -> None:
        """Celery counts the branches of a chord in Redis; here the count is lost between the two."""
        names = ("left", "right")
        flow = make_flow(
            {"start": "Start", "left": "Gate", "right": "Gate", "end": "Join"},
            [f"start.text -> {name}.input" for name in names] + [f"{name}.text -> end.parts" for name in names],
            **{name: {"folder": str(tmp_path), "name": name} for name in names},
        )
        request = new_run(await store_flow(database, flow), "x")
        await engine.start(request)
        await asyncio.gather(*(appears(tmp_path / f"{name}.started") for name in names))
        (tmp_path / "left.open").touch()
        client = redis.Redis.from_url(engines.workers.server.url(1))
        await until(lambda: _counts(client))
        client.flushdb()
        client.close()
        (tmp_path / "right.open").touch()
        await over(engine, request.key.run_id)
        assert (await run_row(database, request.key.run_id)).output_payload["text"] == "x+x"
        assert [one for one in await attempts(database, request.key.run_id) if one[0] == "end"] == [
            ("end", 1, "completed")
        ]


class TestEvents:
    async def test_of_a_run_in_several_tasks_tell_the_time_of_all_of_it(
        self, engine: ExecutionBackend, database: Database, tmp_path: Path
    ) -> None:
        """Whoever carries out the last segment has only just begun; the run has not."""
        names = ("left", "right")
        flow = make_flow(
            {"start": "Start", "left": "Tally", "right": "Tally", "end": "Join"},
            [f"start.text -> {name}.input" for name in names] + [f"{name}.text -> end.parts" for name in names],
            **{name: {"path": str(tmp_path / "tally"), "seconds": 0.3} for name in names},
        )
        request = new_run(await store_flow(database, flow))
        await finish(engine, request)
        stream = RunStream(engine, request.key.tenant_id, request.key.run_id)
        events = [event async for event in stream.events()]
        row = await run_row(database, request.key.run_id)
        assert events[-1].kind == "run_completed"
        milliseconds = events[-1].data["ms"]
        assert isinstance(milliseconds, float)
        assert milliseconds >= (row.finished_at - row.started_at) // 1000 >= 300


async def _is_settled(database: Database, run_id: str, step: str) -> bool:
    return (await statuses(database, run_id))[step] == "completed"


async def _is_empty(engine: ExecutionBackend) -> bool:
    return (await engine.health()).queue_depth == 0


async def _counts(client: "redis.Redis") -> bool:
    """Whether a chord has seen its first branch."""
    return bool(client.keys("*.j"))


class TestHealth:
    async def test_counts_workers_and_messages(self, engine: ExecutionBackend, database: Database) -> None:
        await finish(engine, new_run(await store_flow(database, make_chain(1))))
        health = await engine.health()
        assert (health.kind, health.broker, health.results, health.queue_depth) == ("celery", True, True, 0)
        assert health.workers >= 1
        assert health.ready
