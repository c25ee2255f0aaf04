"""A worker of the tests' own components: `python -m tests.support.celery_worker <settings JSON> <order file>`.

It is real in all but one thing: which database it works on, and with which engine settings and limits, it reads from
the order file before each task. So one worker serves many tests, each with its own.
"""

import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from celery import Celery

from headgate.entrypoints.worker.processes import run_worker
from headgate.features.runs.engine.distributed.opening import WorkerChild, open_relay, open_worker
from headgate.features.runs.engine.distributed.orders import Order
from headgate.features.runs.engine.distributed.segment_worker import Outcome
from headgate.features.runs.ports.flows import Definitions
from headgate.features.runs.transitions import Held, RunKey
from headgate.foundation.database import Database
from headgate.foundation.settings import CelerySettings, EngineSettings, LimitSettings, LogSettings, Settings
from headgate.graph.model import Flow
from tests.support.databases import make_settings
from tests.support.engine import make_services, on_disk
from tests.support.lifeline import tie


def write_order(path: Path, settings: Settings, limits: LimitSettings | None = None) -> None:
    """Tell the worker which database to work on from now on, and how."""
    told = {
        "folder": str(settings.data_dir),
        "url": settings.database.url,
        "engine": settings.engine.model_dump(mode="json"),
        "limits": (limits or LimitSettings()).model_dump(mode="json"),
    }
    part = path.with_suffix(".part")
    part.write_text(json.dumps(told))
    part.replace(path)


DEADLY = "Deadly"
"""Name of a flow that ends every process that reads it."""


class DeadlyDefinitions:
    """Versions as they are stored; the process ends at one named `DEADLY`, as at a plan that breaks the interpreter."""

    def __init__(self, stored: Definitions) -> None:
        self._stored = stored

    async def __call__(self, key: RunKey) -> Flow:
        flow = await self._stored(key)
        if flow.name == DEADLY:
            os._exit(os.EX_SOFTWARE)
        return flow


class FollowingParts:
    """What a child works with, opened anew whenever the order changes."""

    def __init__(self, path: Path, celery: CelerySettings, app: Celery) -> None:
        self._path = path
        self._celery = celery
        self._app = app
        self._read = ""
        self._stack = AsyncExitStack()
        self._child: WorkerChild | None = None
        self.beaten_at = 0.0

    @property
    def segments(self) -> Any:
        return self

    async def execute(self, order: Order, *, again: bool = False) -> Outcome:
        return await (await self._current()).segments.execute(order, again=again)

    async def end(self, key: RunKey, code: str, message: str) -> bool:
        return await (await self._current()).segments.end(key, code, message)

    async def time_out(self, run_id: str, seconds: float) -> None:
        if self._child is not None:
            await self._child.segments.time_out(run_id, seconds)

    async def recover(self) -> int:
        return await (await self._current()).recover()

    async def settle(self) -> None:
        if self._child is not None:
            await self._child.settle()

    def held(self) -> dict[Held, Any]:
        return {} if self._child is None else self._child.segments.held()

    def retried(self) -> None:
        if self._child is not None:
            self._child.retried()

    def renew_from_outside(self) -> None:
        if self._child is not None:
            self._child.renew_from_outside()

    def time_out_from_outside(self, run_id: str, seconds: float) -> None:
        if self._child is not None:
            self._child.time_out_from_outside(run_id, seconds)

    async def close(self) -> None:
        self._child = None
        await self._stack.aclose()

    async def _current(self) -> WorkerChild:
        told = self._path.read_text()
        if self._child is None or told != self._read:
            await self.close()
            self._stack = AsyncExitStack()
            self._child = await self._open(json.loads(told))
            self._read = told
        return self._child

    async def _open(self, told: dict[str, Any]) -> WorkerChild:
        engine, limits = EngineSettings(**told["engine"]), LimitSettings(**told["limits"])
        settings = make_settings(Path(told["folder"]), told["url"], engine=engine, limits=limits, celery=self._celery)
        database = Database(settings)
        self._stack.push_async_callback(database.close)
        relay = open_relay(settings)
        self._stack.push_async_callback(relay.aclose)
        services = make_services(database, engine=engine, limits=limits, files=on_disk(database, settings))
        services = replace(services, bus=relay, definitions=DeadlyDefinitions(services.definitions))
        opening = open_worker(settings, database, services, relay, self._app)
        return await self._stack.enter_async_context(opening)


def main(told: dict[str, Any], path: Path) -> int:
    """Work until told to stop."""

    @asynccontextmanager
    async def open_parts(settings: Settings, app: Celery) -> AsyncIterator[FollowingParts]:
        parts = FollowingParts(path, settings.celery, app)
        try:
            yield parts
        finally:
            await parts.close()

    settings = make_settings(
        Path(told["folder"]),
        engine=EngineSettings(backend="celery", **told.get("engine", {})),
        celery=CelerySettings(**told["celery"]),
        log=LogSettings(level="warning", format="json"),
    )
    return run_worker(settings, open_parts)


if __name__ == "__main__":
    tie()
    sys.exit(main(json.loads(sys.argv[1]), Path(sys.argv[2])))
