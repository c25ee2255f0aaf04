"""What the distributed engine writes besides: PostgreSQL only."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from headgate.features.runs.store.postgres_dispatches import PostgresDispatchStore
from headgate.features.runs.transitions import Claim, Finished, Holder, NewRun, Onward, RunKey, Seed, StepRecord
from headgate.foundation.database import Database
from headgate.foundation.ids import new_id
from headgate.foundation.settings import Settings
from tests.integration.features.runs.test_store import lease
from tests.support.databases import Postgres, make_settings
from tests.support.engine import make_chain, store_flow
from tests.support.rows import attempts, execute, run_row, statuses

pytestmark = pytest.mark.both_databases

SEEDS = (Seed("s1", 1, 0), Seed("s2", 2, 1))


@pytest.fixture
def settings(postgres: Postgres, tmp_path: Path) -> Iterator[Settings]:
    with postgres.fresh() as url:
        yield make_settings(tmp_path, url)


@pytest.fixture
async def dispatches(database: Database) -> AsyncIterator[PostgresDispatchStore]:
    url = database.url.set(drivername="postgresql").render_as_string(hide_password=False)
    found = PostgresDispatchStore(url, 2)
    await found.open()
    yield found
    await found.close()


async def queue(store: PostgresDispatchStore, version: RunKey) -> RunKey:
    key = RunKey(new_id(), version.tenant_id, version.flow_id, version.version)
    await store.create(NewRun(key, '{"text":"hello"}', SEEDS, session_id="chat", dispatched=True), lease())
    return key


@pytest.mark.postgres
class TestBegin:
    async def test_claims_the_first_step_and_tells_of_the_run(
        self, dispatches: PostgresDispatchStore, database: Database
    ) -> None:
        key = await queue(dispatches, await store_flow(database, make_chain(2)))
        now = lease("w1")
        begun = await dispatches.begin(key, "s1", now)
        assert begun is not None
        assert (begun.key, begun.session_id, begun.steps, begun.started_at) == (key, "chat", {}, now.at)
        row = await run_row(database, key.run_id)
        assert (row.status, row.started_at, row.unfinished) == ("running", now.at, 2)
        assert await statuses(database, key.run_id) == {"s1": "running", "s2": "pending"}
        assert await attempts(database, key.run_id) == [("s1", 1, "started")]

    async def test_is_had_by_one_of_two(self, dispatches: PostgresDispatchStore, database: Database) -> None:
        key = await queue(dispatches, await store_flow(database, make_chain(2)))
        found = await asyncio.gather(*(dispatches.begin(key, "s1", lease(worker)) for worker in ("w1", "w2")))
        assert [one is None for one in found].count(True) == 1
        assert await attempts(database, key.run_id) == [("s1", 1, "started")]

    async def test_changes_nothing_where_the_step_waits_or_the_flow_is_deleted(
        self, dispatches: PostgresDispatchStore, database: Database
    ) -> None:
        key = await queue(dispatches, await store_flow(database, make_chain(2)))
        assert await dispatches.begin(key, "s2", lease()) is None
        other = RunKey(key.run_id, new_id(), key.flow_id, key.version)
        assert await dispatches.begin(other, "s1", lease()) is None
        await execute(database, "UPDATE flows SET deleted_at = 1")
        assert await dispatches.begin(key, "s1", lease()) is None
        assert (await run_row(database, key.run_id)).status == "queued"
        assert await attempts(database, key.run_id) == []


@pytest.mark.postgres
class TestPickUp:
    async def test_counts_until_a_step_is_claimed(self, dispatches: PostgresDispatchStore, database: Database) -> None:
        key = await queue(dispatches, await store_flow(database, make_chain(2)))
        assert [await dispatches.pick_up(key.run_id) for _ in range(2)] == [1, 2]
        held = lease("w1")
        assert await dispatches.begin(key, "s1", held) is not None
        assert await dispatches.pick_up(key.run_id) == 1
        assert await dispatches.take_over(key, [Holder("s1", 1, "w1", held.until)], lease("w2")) == (Claim("s1", 2),)
        assert await dispatches.pick_up(key.run_id) == 1
        await dispatches.advance(key, Onward(), lease("w2"), Finished(Claim("s1", 2), StepRecord()))
        assert await dispatches.pick_up(key.run_id) == 2
        claimed = await dispatches.advance(key, Onward(settles={"s2": 1}, claim=("s2",)), lease("w2"))
        assert claimed.claims == (Claim("s2", 1),)
        assert await dispatches.pick_up(key.run_id) == 1

    async def test_of_a_worker_that_outlives_it_is_taken_back(
        self, dispatches: PostgresDispatchStore, database: Database
    ) -> None:
        key = await queue(dispatches, await store_flow(database, make_chain(2)))
        for _ in range(2):
            await dispatches.pick_up(key.run_id)
        await dispatches.put_back(key.run_id)
        assert await dispatches.pick_up(key.run_id) == 2
        assert await dispatches.begin(key, "s1", lease("w1")) is not None
        await dispatches.put_back(key.run_id)
        assert await dispatches.pick_up(key.run_id) == 1

    async def test_is_none_of_a_run_that_is_over(self, dispatches: PostgresDispatchStore, database: Database) -> None:
        key = await queue(dispatches, await store_flow(database, make_chain(2)))
        await dispatches.end(key, "over", "It is over.", 1)
        assert await dispatches.pick_up(key.run_id) is None
