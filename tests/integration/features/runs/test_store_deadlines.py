"""Runs with a deadline in the store, the same on both databases."""

import asyncio
from dataclasses import replace

import pytest

from headgate.features.runs.errors import DEADLINE_EXCEEDED
from headgate.features.runs.states import RunStatus
from headgate.features.runs.store.port import RunStore
from headgate.features.runs.transitions import Failed, NewRun, Parent, RunKey, clock
from headgate.features.runs.waiting import OverdueRun
from headgate.foundation.database import Database
from headgate.foundation.ids import new_id
from tests.integration.features.runs.test_store import lease
from tests.integration.features.runs.test_store_waits import HOUR, PAIR, A, B, suspend
from tests.support.engine import make_chain, store_flow
from tests.support.rows import run_row, statuses

pytestmark = pytest.mark.both_databases


@pytest.fixture
async def version(database: Database) -> RunKey:
    """A flow of two steps, which the tests start at once."""
    return await store_flow(database, make_chain(2))


async def begin(store: RunStore, version: RunKey, deadline_after: int = HOUR, parent: Parent | None = None) -> RunKey:
    key = replace(version, run_id=new_id())
    run = NewRun(key, "{}", PAIR, claim=("s1", "s2"), deadline_after=deadline_after, parent=parent)
    await store.create(run, lease())
    return key


async def end(store: RunStore, key: RunKey, at: int) -> bool:
    return await store.end(key, DEADLINE_EXCEEDED, "late", at, overdue=True)


class TestOverdue:
    async def test_are_runs_past_their_deadline_running_or_waiting(self, store: RunStore, version: RunKey) -> None:
        running, waiting = await begin(store, version), await begin(store, version)
        for claim in (A, B):
            await suspend(store, waiting, claim, clock() + 10 * HOUR)
        queued = replace(version, run_id=new_id())
        await store.create(NewRun(queued, "{}", PAIR, deadline_after=2 * HOUR), lease())
        await store.create(NewRun(replace(version, run_id=new_id()), "{}", PAIR, claim=("s1",)), lease())
        assert await store.overdue(clock(), 10) == []
        late = clock() + HOUR
        assert [run.key for run in await store.overdue(late, 10)] == [running, waiting]
        assert await store.overdue(late + HOUR, 1) == [OverdueRun(running, HOUR)]
        assert [run.key for run in await store.overdue(late + HOUR, 10)] == [running, waiting, queued]

    async def test_end_once_with_their_steps_and_the_runs_of_these(
        self, store: RunStore, version: RunKey, database: Database
    ) -> None:
        key = await begin(store, version)
        child = await begin(store, version, 10 * HOUR, Parent(key.run_id, "s1", 0, 1))
        late = clock() + HOUR
        ends = await asyncio.gather(*(end(store, key, late) for _ in range(10)))
        assert ends.count(True) == 1
        row = await run_row(database, key.run_id)
        assert (row.status, row.error_code, row.error_message) == ("failed", "deadline_exceeded", "late")
        assert set((await statuses(database, key.run_id)).values()) == {"cancelled"}
        assert await store.status(child.run_id) is RunStatus.CANCELLED
        assert await store.overdue(late, 10) == []

    async def test_are_not_ended_before_their_deadline(self, store: RunStore, version: RunKey) -> None:
        key = await begin(store, version)
        child = await begin(store, version, HOUR, Parent(key.run_id, "s1", 0, 1))
        assert not await end(store, key, clock())
        assert await store.status(key.run_id) is RunStatus.RUNNING
        assert await store.status(child.run_id) is RunStatus.RUNNING


class TestAPause:
    async def test_stops_the_clock_of_the_deadline(self, store: RunStore, version: RunKey, database: Database) -> None:
        key, at = await begin(store, version), clock()
        deadline = (await run_row(database, key.run_id)).deadline_at
        await store.pause(key, at)
        assert await store.overdue(at + 5 * HOUR, 10) == []
        assert not await end(store, key, at + 5 * HOUR)
        await store.unpause(key, at + 5 * HOUR)
        assert (await run_row(database, key.run_id)).deadline_at == deadline + 5 * HOUR
        assert await store.overdue(at + 5 * HOUR, 10) == []

    async def test_and_the_end_at_once_leave_one_of_them(self, store: RunStore, version: RunKey) -> None:
        for _ in range(10):
            key, late = await begin(store, version), clock() + HOUR
            paused, ended = await asyncio.gather(store.pause(key, late), end(store, key, late))
            assert paused is not None
            assert paused.changed is not ended
            assert await store.status(key.run_id) is (RunStatus.FAILED if ended else RunStatus.PAUSED)


class TestAResume:
    async def test_gives_the_run_its_time_again(self, store: RunStore, version: RunKey, database: Database) -> None:
        key = await begin(store, version)
        await store.fail(key, Failed(A, "invalid", "no"), clock())
        at = clock() + 5 * HOUR
        await store.resume(key, at)
        assert (await run_row(database, key.run_id)).deadline_at == at + HOUR
