"""Stores and engines on real databases."""

import asyncio
import json
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any

import pytest

from headgate.features.runs.engine.backend import ExecutionBackend
from headgate.features.runs.engine.build import build_engine, build_store
from headgate.features.runs.engine.embedded import EmbeddedBackend
from headgate.features.runs.store.port import RunStore
from headgate.features.runs.store.postgres import PostgresRunStore
from headgate.features.runs.transitions import RunKey
from headgate.foundation.database import Database
from headgate.foundation.log import configure
from headgate.foundation.settings import EngineSettings, LimitSettings, LogSettings, Settings
from tests.support.engine import make_services, on_disk
from tests.support.forked import Forked, fork

MakeEngine = Callable[..., Awaitable[ExecutionBackend]]


@pytest.fixture(autouse=True)
def quiet_logs() -> None:
    """Logs as the server writes them; the default of the library draws every traceback for a second."""
    configure(LogSettings(level="error", format="json"))


@pytest.fixture
async def store(database: Database) -> AsyncIterator[RunStore]:
    found = build_store(database)
    await found.open()
    yield found
    await found.close()


@pytest.fixture
async def make_engine(database: Database, settings: Settings) -> AsyncIterator[MakeEngine]:
    """Opens embedded engines on the database; they are closed at the end of the test, without waiting for steps."""
    opened: list[ExecutionBackend] = []

    async def make(*, limits: LimitSettings | None = None, **engine: Any) -> ExecutionBackend:
        services = make_services(
            database, engine=EngineSettings(**engine), limits=limits, files=on_disk(database, settings)
        )
        found = build_engine(settings, database, services)
        await found.open()
        opened.append(found)
        return found

    yield make
    for engine in opened:
        await (engine.close(grace_seconds=0) if isinstance(engine, EmbeddedBackend) else engine.close())


@pytest.fixture
def connections_out(monkeypatch: pytest.MonkeyPatch) -> Callable[[], Awaitable[int]]:
    """Cuts the pools of stores made from now on to two connections; tells how many are in use, in all of them."""
    stores: list[PostgresRunStore] = []
    made = PostgresRunStore.__init__

    def small(self: PostgresRunStore, url: str, pool_size: int) -> None:
        made(self, url, min(pool_size, 2))
        stores.append(self)

    monkeypatch.setattr(PostgresRunStore, "__init__", small)

    async def count() -> int:
        return sum(store.connections_out for store in stores)

    return count


@pytest.fixture
async def engine(make_engine: MakeEngine) -> ExecutionBackend:
    return await make_engine()


class EngineProcesses:
    """Engines in processes of their own, to be killed."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.running: list[Forked] = []

    async def start(self, version: RunKey, text: str = "hello", **more: Any) -> tuple[Forked, str]:
        """A process that has begun a run: the process, and the run's id."""
        return await asyncio.to_thread(self._start, version, text, more)

    async def stop(self, process: Forked) -> None:
        """End a process as it is meant to be ended."""
        await asyncio.to_thread(process.communicate, b"end\n")

    def _start(self, version: RunKey, text: str, more: dict[str, Any]) -> tuple[Forked, str]:
        order = {
            "folder": str(self._settings.data_dir),
            "url": self._settings.database.url,
            "version": [version.tenant_id, version.flow_id, version.version],
            "text": text,
            **more,
        }
        process = fork("tests.support.engine_process", json.dumps(order), environment=os.environ, stdin=True)
        self.running.append(process)
        assert process.stdout is not None
        run_id = process.stdout.readline().decode().strip()
        assert run_id, "the engine process did not start"
        return process, run_id


@pytest.fixture
def processes(settings: Settings) -> Iterator[EngineProcesses]:
    found = EngineProcesses(settings)
    yield found
    for process in found.running:
        process.kill()
        process.communicate()
