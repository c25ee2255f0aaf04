"""Headgate with workers: the server's side of the engine in this process, a real `headgate worker` beside it.

The steps are those of the embedded figures (`Start`, `Echo`); `tests.support.headgate_process` gives them to the
worker, which is otherwise what users start.
"""

import asyncio
import os
import signal
import subprocess
import sys
import tempfile
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path

from tests.support.databases import make_settings
from tests.support.engine import make_chain, make_services, new_run, store_flow

from benchmarks.peers.port import STEPS, Peer
from headgate.features.runs.engine.build import build_engine, open_events
from headgate.foundation.database import Database
from headgate.foundation.database.migrate import upgrade
from headgate.foundation.settings import CelerySettings, EngineSettings


class HeadgateWorkers:
    """Hands runs to a worker that it starts, with a child a core, and waits for their ends."""

    def __init__(self, postgres: str, redis: str) -> None:
        self._stack = AsyncExitStack()
        self._folder = Path(self._stack.enter_context(tempfile.TemporaryDirectory()))
        base = redis.rpartition("/")[0]
        self._celery = CelerySettings(
            broker_url=f"{base}/1",
            result_url=f"{base}/2",
            events_url=f"{base}/3",
            concurrency=os.cpu_count() or 1,
        )
        url = postgres.replace("postgresql://", "postgresql+psycopg://", 1)
        engine = EngineSettings(backend="celery")
        self._settings = make_settings(self._folder, url, engine=engine, celery=self._celery)

    async def open(self) -> None:
        """Migrate, start the worker, store the flow, wait for a first run."""
        self._database = Database(self._settings)
        self._stack.push_async_callback(self._database.close)
        await upgrade(self._database)
        self._start_worker()
        bus = await self._stack.enter_async_context(open_events(self._settings))
        services = replace(make_services(self._database, engine=self._settings.engine), bus=bus)
        self._engine = build_engine(self._settings, self._database, services)
        await self._engine.open()
        self._stack.push_async_callback(self._engine.close)
        self._version = await store_flow(self._database, make_chain(STEPS))
        await self.run()

    def _start_worker(self) -> None:
        celery = self._celery
        told = {
            "DATA_DIR": str(self._folder),
            "DATABASE__URL": self._settings.database.url,
            "LOG__LEVEL": "error",
            "CELERY__BROKER_URL": celery.broker_url,
            "CELERY__RESULT_URL": celery.result_url,
            "CELERY__EVENTS_URL": celery.events_url,
            "CELERY__CONCURRENCY": str(celery.concurrency),
        }
        self.worker = subprocess.Popen(
            [sys.executable, "-m", "tests.support.headgate_process", "worker"],
            env=os.environ | {f"HEADGATE_{name}": value for name, value in told.items()},
            stdout=subprocess.DEVNULL,
        )
        self._stack.callback(self._end_worker)

    def _end_worker(self) -> None:
        self.worker.send_signal(signal.SIGTERM)
        self.worker.wait(timeout=20)

    async def run(self) -> None:
        """One run: written down, handed out, carried out by the worker, heard of."""
        request = new_run(self._version)
        await self._engine.start(request)
        async with asyncio.timeout(60):
            await self._engine.wait(request.key.run_id)

    async def close(self) -> None:
        """End the worker, disconnect."""
        await self._stack.aclose()


def make(postgres: str, redis: str) -> Peer:
    """Headgate's own entry."""
    return HeadgateWorkers(postgres, redis)
