"""Faults that were fixed, put back one by one: the simulator must find each. A mutation is applied to the real code."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any
from unittest import mock

from headgate.features.runs.engine.distributed.sweeper import Sweeper
from headgate.features.runs.engine.reconciler import Reconciler
from headgate.features.runs.engine.run_registry import OwnedRun, RunRegistry
from headgate.features.runs.errors import NEVER_BEGUN
from headgate.features.runs.event_log import EventPage
from headgate.features.runs.steps.active import ActiveRun
from headgate.features.runs.store.sqlite_writer import SqliteWriter
from headgate.features.runs.transitions import RunKey, clock
from headgate.features.runs.views.stream import RunStream
from headgate.foundation.fair_places import Share
from tests.simulation.cluster import SqliteDispatchStore

MOST_DISPATCHES = 20


def writer_ends_with_a_failed_checkpoint() -> None:
    """A checkpoint that fails in the writer's thread ends the thread; who waits for it waits for ever."""
    back = SqliteWriter._back

    def mutated(self: SqliteWriter, batch: Any, done: "asyncio.Future[Any]") -> None:
        if not done.cancelled() and done.exception() is None and done.result().log_error is not None:
            return
        back(self, batch, done)

    _patch(SqliteWriter, "_back", mutated)


def sweep_queues_a_run_twice() -> None:
    """A sweep reads which runs are busy first, and queues the runs that it reads later without checking their owner."""
    enqueue, sweep = RunRegistry.enqueue, Reconciler.sweep

    def twice(self: RunRegistry, run_id: str, share: Share, run: ActiveRun | None = None) -> bool:
        self._entries.pop(run_id, None)
        return enqueue(self, run_id, share, run)

    def release(self: RunRegistry, entry: OwnedRun) -> None:
        self._entries.pop(entry.run_id, None)
        if entry.ticket is not None:
            self._queue.release(entry.ticket)

    async def with_snapshot(self: Reconciler, busy: Any = ()) -> Any:
        return await sweep(self, frozenset(entry.run_id for entry in busy))

    _patch(RunRegistry, "enqueue", twice)
    _patch(RunRegistry, "release", release)
    _patch(Reconciler, "sweep", with_snapshot)


def undelivered_messages_count_as_attempts() -> None:
    """A sweep sends though the queue is away, and ends a run that was sent too often."""
    wanted_runs, sweep = Sweeper._wanted, Sweeper.sweep

    async def all_of_them(self: Sweeper, runs: Any) -> Any:
        return runs if await self._broker.depths() is None else await wanted_runs(self, runs)

    async def ends_them(self: Sweeper) -> Any:
        outcome = await sweep(self)
        store = self._store
        assert isinstance(store, SqliteDispatchStore)
        for run in await store.live_runs():
            for one in await store.sent([run.key.run_id]):
                if one.dispatches >= MOST_DISPATCHES and one.claimed_at is None:
                    await _end(store, run.key)
        return outcome

    _patch(Sweeper, "_wanted", all_of_them)
    _patch(Sweeper, "sweep", ends_them)


def reader_takes_what_memory_holds() -> None:
    """A reader that reconnects continues with the newest event and misses those in between."""
    read_page = RunStream._page

    async def newest(self: RunStream) -> EventPage:
        page = await read_page(self)
        return replace(page, events=page.events[-1:]) if self._last == 0 and self._position[0] else page

    _patch(RunStream, "_page", newest)


async def _end(store: SqliteDispatchStore, key: RunKey) -> None:
    await store.end(key, NEVER_BEGUN, "The run was handed to a worker too often.", clock())


def _patch(owner: Any, name: str, value: Any) -> None:
    mock.patch.object(owner, name, value).start()


MUTATIONS: Mapping[str, Callable[[], None]] = {
    "writer": writer_ends_with_a_failed_checkpoint,
    "sweep": sweep_queues_a_run_twice,
    "reader": reader_takes_what_memory_holds,
    "dispatch": undelivered_messages_count_as_attempts,
}
