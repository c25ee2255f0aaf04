"""The fixtures of the conformance suite for Celery: real workers on a real Redis, shared by the tests of a session."""

import asyncio
import contextlib
import shutil
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import redis
from sqlalchemy import text

from headgate.features.runs.engine.backend import ExecutionBackend
from headgate.features.runs.engine.build import build_engine, open_events
from headgate.features.runs.terms import Stops
from headgate.features.runs.transitions import RunKey
from headgate.foundation.database import Database
from headgate.foundation.settings import EngineSettings, LimitSettings, Settings
from tests.support.databases import Postgres, make_settings
from tests.support.engine import make_services, new_run, on_disk
from tests.support.workers import OwnRedis, WorkerGroup, celery_settings, write_order

MakeEngine = Callable[..., Awaitable[ExecutionBackend]]
MAIN, SOLO = "main", "solo"
"""Queues: one worker with four children, one with a single child."""
CHILDREN = {MAIN: 4, SOLO: 1}


class Workers:
    """The workers of a session, each started when it is first needed."""

    def __init__(self, folder: Path, server: OwnRedis) -> None:
        self.folder = folder
        self.server = server
        self._groups: dict[str, WorkerGroup] = {}
        self._count = 0

    def take(self, queue: str) -> WorkerGroup:
        """A worker that many tests share."""
        found = self._groups.get(queue)
        if found is None or found.process.poll() is not None:
            found = self._groups[queue] = self._new(queue, CHILDREN[queue])
            found.wait_until_up()
        return found

    def doomed(self, **engine: Any) -> WorkerGroup:
        """A worker of two children, for a test to kill."""
        self._count += 1
        return self._new(f"doomed{self._count}", 2)

    def _new(self, queue: str, children: int) -> WorkerGroup:
        return WorkerGroup(self.folder, celery_settings(self.server, queue, concurrency=children))

    def flush(self) -> None:
        """Forget every message and event."""
        client = redis.Redis.from_url(self.server.url(0))
        client.flushall()
        client.close()

    def close(self) -> None:
        """Kill what still runs."""
        for group in self._groups.values():
            group.kill()


@pytest.fixture(scope="session")
def workers() -> Iterator[Workers]:
    folder = Path(tempfile.mkdtemp(prefix="headgate-workers-"))
    server = OwnRedis(folder / "redis", durable=False)
    server.start()
    found = Workers(folder, server)
    yield found
    found.close()
    server.stop()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def settings(postgres: Postgres, tmp_path: Path) -> Iterator[Settings]:
    """The distributed engine needs PostgreSQL."""
    with postgres.fresh() as url:
        yield make_settings(tmp_path, url)


class Engines:
    """Opens engines, each with the worker that its settings ask for."""

    def __init__(self, workers: Workers, settings: Settings, database: Database) -> None:
        self.workers = workers
        self._settings = settings
        self._database = database
        self._stack = contextlib.AsyncExitStack()

    async def open(
        self, group: WorkerGroup | None = None, *, limits: LimitSettings | None = None, **engine: Any
    ) -> ExecutionBackend:
        """An engine on the queue of a worker; the worker is told to work on this test's database."""
        alone = engine.pop("max_concurrent_runs", None) == 1
        found = group if group is not None else await asyncio.to_thread(self.workers.take, SOLO if alone else MAIN)
        chosen = EngineSettings(**engine)
        celery = self._settings.model_copy(
            update={"engine": chosen.model_copy(update={"backend": "celery"}), "celery": found.celery}
        )
        write_order(found.order, celery, limits)
        bus = await self._stack.enter_async_context(open_events(celery))
        services = make_services(
            self._database, engine=chosen, limits=limits, files=on_disk(self._database, self._settings)
        )
        backend = build_engine(celery, self._database, replace(services, bus=bus))
        await backend.open()
        self._stack.push_async_callback(backend.close)
        return backend

    async def close(self) -> None:
        await self._stack.aclose()


@pytest.fixture
async def engines(
    workers: Workers, settings: Settings, database: Database, request: pytest.FixtureRequest
) -> AsyncIterator[Engines]:
    """Engines of one test. A test that failed may have left steps that wait for ever: the next one has new workers."""
    found, failed = Engines(workers, settings, database), request.session.testsfailed
    yield found
    await found.close()
    if request.session.testsfailed > failed:
        await asyncio.to_thread(workers.close)
    workers.flush()


@pytest.fixture
def make_engine(engines: Engines) -> MakeEngine:
    return engines.open


@pytest.fixture
async def engine(make_engine: MakeEngine) -> ExecutionBackend:
    return await make_engine()


@pytest.fixture
def connections_out(database: Database) -> Callable[[], Awaitable[int]]:
    """Connections to the test's database that are at work or in a transaction, of any process but this question's."""

    async def count() -> int:
        asked = (
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state <> 'idle'"
            " AND backend_type = 'client backend' AND pid <> pg_backend_pid()"
        )
        async with database.reading() as session:
            return int((await session.execute(text(asked))).scalar_one())

    return count


class WorkerProcesses:
    """Workers that have begun a run, to be killed."""

    def __init__(self, engines: Engines) -> None:
        self._engines = engines
        self.running: list[WorkerGroup] = []

    async def start(
        self,
        version: RunKey,
        text: str = "hello",
        *,
        lease: float = 8.0,
        stop_before: Sequence[str] = (),
        **more: Any,
    ) -> tuple[WorkerGroup, str]:
        """A worker that has taken a run: the worker, and the run's id."""
        group = self._engines.workers.doomed()
        self.running.append(group)
        await asyncio.to_thread(group.wait_until_up)
        engine = await self._engines.open(group, recover_on_start=False, lease_seconds=lease, **more)
        request = new_run(version, text, stops=Stops(tuple(stop_before)) if stop_before else None)
        await engine.start(request)
        return group, request.key.run_id

    async def stop(self, group: WorkerGroup) -> None:
        """Stop it as it is meant to be stopped."""
        await asyncio.to_thread(group.stop)


@pytest.fixture
async def processes(engines: Engines) -> AsyncIterator[WorkerProcesses]:
    found = WorkerProcesses(engines)
    yield found
    for group in found.running:
        await asyncio.to_thread(group.kill)
