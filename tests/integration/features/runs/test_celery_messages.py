# ruff: noqa: F811 - fixtures are asked for by their names
"""Messages that are lost, doubled, or come for runs that are over."""

import asyncio
from pathlib import Path
from typing import Any

import redis

from headgate.features.runs.engine.backend import ExecutionBackend
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
from tests.integration.features.runs.conformance import appears, finish, over
from tests.support.engine import make_chain, make_flow, new_run, store_flow
from tests.support.rows import attempts, execute, run_row


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
        assert client.llen(SOLO) == 4
        client.delete(SOLO)
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
        await execute(database, "DELETE FROM flow_step_attempts")
        await execute(
            database,
            "UPDATE flow_step_results SET status = 'pending', attempts = 0, output_payload = NULL,"
            " waiting = step_order - 1",
        )
        await over(engine, request.key.run_id)
        assert (await run_row(database, request.key.run_id)).status == "completed"


class TestHealth:
    async def test_counts_workers_and_messages(self, engine: ExecutionBackend, database: Database) -> None:
        await finish(engine, new_run(await store_flow(database, make_chain(1))))
        health = await engine.health()
        assert (health.kind, health.broker, health.results, health.queue_depth) == ("celery", True, True, 0)
        assert health.workers >= 1
        assert health.ready
