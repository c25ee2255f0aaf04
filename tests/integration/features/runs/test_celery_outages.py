# ruff: noqa: F811 - fixtures are asked for by their names
"""Which runs a queue that loses messages, or a message that kills workers, may end: only the second."""

import asyncio
import re
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from headgate.features.runs.engine.backend import ExecutionBackend, RunRequest
from headgate.features.runs.engine.distributed.backend import CeleryBackend
from headgate.foundation.database import Database
from headgate.foundation.settings import Settings
from tests.integration.features.runs.celery_fixtures import (  # noqa: F401 - fixtures
    Engines,
    Workers,
    settings,
    workers,
)
from tests.integration.features.runs.conformance import appears, finish, over
from tests.support.celery_worker import DEADLY
from tests.support.engine import make_chain, make_flow, new_run, store_flow
from tests.support.rows import attempts, run_row
from tests.support.workers import OwnRedis, WorkerGroup, celery_settings

pytestmark = [pytest.mark.xdist_group("celery"), pytest.mark.timeout(120)]
SWEEPS = 30
"""More than a run may be picked up."""
MAX_PICKUPS = 3


@pytest.fixture
async def engines(tmp_path: Path, settings: Settings, database: Database) -> AsyncIterator[Engines]:
    """Engines and workers on a Redis of the test's own, which it may stop."""
    server = OwnRedis(tmp_path / "redis", durable=False)
    server.start()
    engines = Engines(Workers(tmp_path, server), settings, database)
    yield engines
    await engines.close()
    server.stop()


async def start_worker(group: WorkerGroup) -> None:
    await asyncio.to_thread(group.wait_until_up)


class TestBrokerOutage:
    async def test_leaves_queued_runs_queued_for_any_number_of_sweeps(
        self, engines: Engines, database: Database, tmp_path: Path
    ) -> None:
        """Some runs lose their messages with Redis, others are started while it is away."""
        server = engines.workers.server
        group = WorkerGroup(tmp_path, celery_settings(server, "outage", concurrency=2, redispatch_seconds=0.001))
        try:
            await start_worker(group)
            engine = await engines.open(group, recover_on_start=False)
            await asyncio.to_thread(group.kill)
            version = await store_flow(database, make_chain(3))
            runs = [new_run(version, str(number)) for number in range(6)]
            for request in runs[:3]:
                await engine.start(request)
            await asyncio.to_thread(server.stop)
            for request in runs[3:]:
                await engine.start(request)
            for _ in range(SWEEPS):
                await engine.recover()
            assert await self._statuses(database, runs) == {"queued"}
            await asyncio.to_thread(server.start)
            group = WorkerGroup(tmp_path, group.celery)
            await start_worker(group)
            await self._swept_to_the_end(engine, runs)
            assert await self._statuses(database, runs) == {"completed"}
            for request in runs:
                assert await attempts(database, request.key.run_id) == [(f"s{n}", 1, "completed") for n in (1, 2, 3)]
        finally:
            await asyncio.to_thread(group.kill)

    async def test_that_takes_every_message_with_it_counts_no_sending(
        self, engines: Engines, database: Database, tmp_path: Path
    ) -> None:
        """The broker accepts the messages of each sweep and forgets them: no worker ever saw one."""
        group = WorkerGroup(tmp_path, celery_settings(engines.workers.server, "forget", redispatch_seconds=0.001))
        try:
            await start_worker(group)
            engine = await engines.open(group, recover_on_start=False)
            await asyncio.to_thread(group.kill)
            run = new_run(await store_flow(database, make_chain(2)))
            await engine.start(run)
            for _ in range(SWEEPS):
                engines.workers.flush()
                await engine.recover()
            assert await self._statuses(database, [run]) == {"queued"}
            group = WorkerGroup(tmp_path, group.celery)
            await start_worker(group)
            await self._swept_to_the_end(engine, [run])
            assert await self._statuses(database, [run]) == {"completed"}
        finally:
            await asyncio.to_thread(group.kill)

    @staticmethod
    async def _swept_to_the_end(engine: ExecutionBackend, runs: Sequence[RunRequest]) -> None:
        waiting = [asyncio.create_task(over(engine, request.key.run_id)) for request in runs]
        while not all(task.done() for task in waiting):
            await engine.recover()
            await asyncio.wait(waiting, timeout=0.2)
        await asyncio.gather(*waiting)

    @staticmethod
    async def _statuses(database: Database, runs: Sequence[RunRequest]) -> set[str]:
        return {(await run_row(database, request.key.run_id)).status for request in runs}


class TestPoisonMessage:
    async def test_ends_its_run_when_it_killed_its_workers_often_enough(
        self, engines: Engines, database: Database, tmp_path: Path
    ) -> None:
        """No worker lives long enough to claim a step: each says first that it has the message."""
        celery = celery_settings(engines.workers.server, "poison", concurrency=2, max_pickups=MAX_PICKUPS)
        group = WorkerGroup(tmp_path, celery)
        try:
            await start_worker(group)
            engine = await engines.open(group)
            deadly = new_run(await store_flow(database, make_chain(2).model_copy(update={"name": DEADLY})))
            sound = new_run(await store_flow(database, make_chain(2)))
            await engine.start(deadly)
            await engine.start(sound)
            await asyncio.gather(over(engine, deadly.key.run_id), over(engine, sound.key.run_id))
            row = await run_row(database, deadly.key.run_id)
            assert (row.status, row.error_code) == ("failed", "never_begun")
            assert row.pickups > MAX_PICKUPS  # a message that a sweep doubled may be picked up at the same moment
            assert re.search(r"claimed the run \d+ times", row.error_message)
            assert (await run_row(database, sound.key.run_id)).status == "completed"
        finally:
            await asyncio.to_thread(group.kill)


class TestPickup:
    async def test_of_a_run_that_others_work_on_counts_for_nothing(
        self, engines: Engines, database: Database, tmp_path: Path
    ) -> None:
        """A message of a run comes again and again while a living worker is at its step."""
        celery = celery_settings(engines.workers.server, "busy", concurrency=2, max_pickups=1)
        group = WorkerGroup(tmp_path, celery)
        try:
            await start_worker(group)
            engine = await engines.open(group, recover_on_start=False)
            assert isinstance(engine, CeleryBackend)
            run = new_run(await store_flow(database, make_flow({"g": "Gate"}, g={"folder": str(tmp_path)})))
            await engine.start(run)
            await appears(tmp_path / "gate.started")
            for _ in range(3):
                (sent,) = await engine.store.sent([run.key.run_id])
                assert await engine._dispatcher.send_rest(sent)
            # The one child that is free takes what is behind them after them.
            await finish(engine, new_run(await store_flow(database, make_chain(1))))
            (tmp_path / "gate.open").touch()
            await over(engine, run.key.run_id)
            assert (await run_row(database, run.key.run_id)).status == "completed"
        finally:
            await asyncio.to_thread(group.kill)

    async def test_of_a_segment_that_is_settled_counts_for_nothing(
        self, engines: Engines, database: Database, tmp_path: Path
    ) -> None:
        """Late messages of the first segment arrive while the run is at its second."""
        celery = celery_settings(engines.workers.server, "late", concurrency=2, max_pickups=1)
        group = WorkerGroup(tmp_path, celery)
        try:
            await start_worker(group)
            engine = await engines.open(group, recover_on_start=False)
            assert isinstance(engine, CeleryBackend)
            nodes = {"first": "Start", "gate": "Gate", "other": "Echo"}
            edges = ["first.text -> gate.input", "first.text -> other.input"]
            run = new_run(await store_flow(database, make_flow(nodes, edges, gate={"folder": str(tmp_path)})))
            await engine.start(run)
            await appears(tmp_path / "gate.started")
            planned = await engine._dispatcher._plans.of(run.key)
            lane = await engine._dispatcher._lane(run.key, None)
            for dispatch in range(2, 5):
                await engine._dispatcher._send(run.key, planned.plan, dispatch, lane=lane, started=True, priority=0)
            await finish(engine, new_run(await store_flow(database, make_chain(1))))
            (tmp_path / "gate.open").touch()
            await over(engine, run.key.run_id)
            assert (await run_row(database, run.key.run_id)).status == "completed"
        finally:
            await asyncio.to_thread(group.kill)
