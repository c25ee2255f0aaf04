"""The event log that the transitions of `RunStore` write, the same on both databases."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace

import pytest
from sqlalchemy import text

from headgate.features.runs.event_log import EventPage, RunEvent
from headgate.features.runs.states import RunStatus
from headgate.features.runs.store.port import RunStore
from headgate.features.runs.transitions import (
    Claim,
    Failed,
    Finished,
    Holder,
    Lease,
    NewRun,
    Onward,
    Part,
    Pinned,
    Reuse,
    RunKey,
    Seed,
    StepRecord,
    clock,
)
from headgate.foundation.database import Database
from headgate.foundation.ids import new_id
from tests.support.engine import make_chain, make_flow, store_flow
from tests.support.rows import execute

pytestmark = pytest.mark.both_databases

PAYLOAD = '{"outputs": {"text": {"type": "Text", "value": "å"}}, "main": "text"}'
DONE = StepRecord(output_payload=PAYLOAD, tokens_input=3, tokens_output=5)
CHAIN = (Seed("s1", 1, 0), Seed("s2", 2, 1), Seed("s3", 3, 1))
DIAMOND = (Seed("top", 1, 0), Seed("left", 2, 1), Seed("right", 3, 1), Seed("bottom", 4, 2))


def lease(worker: str = "w1") -> Lease:
    return Lease(worker, clock(), clock() + 60_000_000)


def finished(step: str, attempt: int = 1, preview: str = "") -> Finished:
    return Finished(Claim(step, attempt), DONE, preview=preview)


@pytest.fixture
async def version(database: Database) -> RunKey:
    return await store_flow(database, make_chain(3))


@pytest.fixture
async def diamond(database: Database) -> RunKey:
    edges = ["top.text -> left.input", "top.text -> right.input"]
    edges += ["left.text -> bottom.parts", "right.text -> bottom.parts"]
    return await store_flow(
        database, make_flow({"top": "Start", "left": "Echo", "right": "Echo", "bottom": "Join"}, edges)
    )


async def begin(
    store: RunStore, version: RunKey, steps: Sequence[Seed] = CHAIN, claim: tuple[str, ...] = ("s1",)
) -> RunKey:
    key = replace(version, run_id=new_id())
    await store.create(NewRun(key, '{"text": "hi"}', tuple(steps), claim=claim), lease())
    return key


async def holder_of(store: RunStore, key: RunKey, step: str) -> Holder:
    run = await store.load(key.run_id)
    assert run is not None
    return run.steps[step].holder


async def page_of(store: RunStore, key: RunKey, after: int = 0, limit: int = 1000) -> EventPage:
    page = await store.events_after(key.run_id, key.tenant_id, after, limit)
    assert page is not None
    return page


async def log_of(store: RunStore, key: RunKey) -> list[str]:
    """The log as words; its numbers have to have no gap."""
    page = await page_of(store, key)
    assert [event.seq for event in page.events] == list(range(1, page.last + 1))
    return [_words(event) for event in page.events]


def _words(event: RunEvent) -> str:
    attempt = "" if event.attempt is None else str(event.attempt)
    return " ".join(filter(None, (event.kind, event.step_id, attempt)))


class TestLog:
    async def test_of_a_run_from_its_start_to_its_end(self, store: RunStore, version: RunKey) -> None:
        key = await begin(store, version)
        await store.advance(key, Onward({"s2": 1}, claim=("s2",)), lease(), finished("s1", preview="å"))
        await store.advance(key, Onward({"s3": 1}, claim=("s3",)), lease(), finished("s2"))
        await store.advance(key, Onward(output_payload='{"text": "end"}'), lease(), finished("s3"))
        assert await log_of(store, key) == [
            "run_started",
            "step_started s1 1",
            "step_completed s1 1",
            "step_started s2 1",
            "step_completed s2 1",
            "step_started s3 1",
            "step_completed s3 1",
            "run_completed",
        ]
        page = await page_of(store, key)
        assert page.events[2].data == {"tokens_input": 3, "tokens_output": 5, "preview": "å"}
        assert page.events[0].data == {}
        assert page.key == key

    async def test_of_a_queued_run(self, store: RunStore, diamond: RunKey) -> None:
        key = await begin(store, diamond, DIAMOND, claim=())
        await store.advance(key, Onward(claim=("top",)), lease())
        onward = Onward({"left": 1, "right": 1, "bottom": 1}, skip=("right",), claim=("left",))
        await store.advance(key, onward, lease(), finished("top"))
        assert await log_of(store, key) == [
            "run_queued",
            "run_started",
            "step_started top 1",
            "step_completed top 1",
            "step_skipped right",
            "step_started left 1",
        ]

    async def test_of_a_failed_run_that_is_resumed(self, store: RunStore, version: RunKey) -> None:
        key = await begin(store, version)
        await store.fail(key, Failed(Claim("s1", 1), "invalid", "It failed."), clock())
        await store.resume(key, clock())
        await store.advance(key, Onward(claim=("s1",)), lease())
        assert await log_of(store, key) == [
            "run_started",
            "step_started s1 1",
            "step_failed s1 1",
            "run_failed s1",
            "run_started",
            "step_started s1 2",
        ]
        page = await page_of(store, key)
        assert page.events[2].data == page.events[3].data == {"code": "invalid", "message": "It failed."}
        assert page.events[4].data == {"resumed": True}
        assert page.resumes == 1

    async def test_of_steps_that_fail_and_complete_after_the_run_has_failed(
        self, store: RunStore, diamond: RunKey
    ) -> None:
        key = await begin(store, diamond, DIAMOND, claim=("top",))
        await store.advance(key, Onward({"left": 1, "right": 1}, claim=("left", "right")), lease(), finished("top"))
        await store.fail(key, Failed(Claim("left", 1), "invalid", "It failed."), clock())
        await store.advance(key, Onward({"bottom": 1}), lease(), finished("right"))
        assert (await log_of(store, key))[3:] == [
            "step_started left 1",
            "step_started right 1",
            "step_failed left 1",
            "run_failed left",
            "step_completed right 1",
        ]
        assert await store.status(key.run_id) is RunStatus.FAILED

    async def test_of_a_second_failure_in_a_failed_run(
        self, store: RunStore, diamond: RunKey, database: Database
    ) -> None:
        key = await begin(store, diamond, DIAMOND, claim=("top",))
        await store.advance(key, Onward({"left": 1, "right": 1}, claim=("left", "right")), lease(), finished("top"))
        await store.fail(key, Failed(Claim("left", 1), "first", "One."), clock())
        await store.fail(key, Failed(Claim("right", 1), "second", "Two."), clock())
        assert (await log_of(store, key))[-3:] == ["step_failed left 1", "run_failed left", "step_failed right 1"]
        run = await store.read(key.run_id, key.tenant_id)
        assert run is not None
        assert (run.error_code, run.error_message) == ("first", "One.")

    async def test_of_a_step_that_another_worker_recovers(self, store: RunStore, version: RunKey) -> None:
        key = await begin(store, version)
        seen = await holder_of(store, key, "s1")
        assert await store.take_over(key, [seen], lease("w2")) == (Claim("s1", 2),)
        assert await store.take_over(key, [seen], lease("w3")) == ()
        late = await store.advance(key, Onward({"s2": 1}, claim=("s2",)), lease(), finished("s1"))
        assert not late.recorded
        assert await log_of(store, key) == ["run_started", "step_started s1 1", "run_started", "step_started s1 2"]

    async def test_of_runs_that_are_ended_and_cancelled(self, store: RunStore, version: RunKey) -> None:
        ended, cancelled = await begin(store, version), await begin(store, version)
        for _ in range(2):
            await store.end(ended, "run_stale", "It took too long.", clock())
            await store.cancel(cancelled.run_id, cancelled.tenant_id, clock())
        assert (await log_of(store, ended))[2:] == ["run_failed"]
        assert (await log_of(store, cancelled))[2:] == ["run_cancelled"]
        assert (await page_of(store, ended, 2)).events[0].data == {"code": "run_stale", "message": "It took too long."}

    async def test_of_a_run_whose_flow_is_deleted(self, store: RunStore, version: RunKey, database: Database) -> None:
        key = await begin(store, version)
        await execute(database, "UPDATE flows SET deleted_at = 1")
        await store.advance(key, Onward({"s2": 1}, claim=("s2",)), lease(), finished("s1"))
        assert (await log_of(store, key))[2:] == ["step_completed s1 1", "run_failed"]
        assert (await page_of(store, key, 3)).events[0].data["code"] == "flow_deleted"

    async def test_of_runs_with_settled_steps(self, store: RunStore, version: RunKey) -> None:
        source = await begin(store, version)
        await store.advance(source, Onward({"s2": 1}), lease(), finished("s1"))
        again, part = replace(version, run_id=new_id()), replace(version, run_id=new_id())
        seeds = (CHAIN[0], Seed("s2", 2, 0), CHAIN[2])
        await store.create(NewRun(again, "{}", seeds, reuse=Reuse(source.run_id, ("s1",), "s2")), lease())
        chosen = Part("s2", None, (Pinned("s1", PAYLOAD),), ("s3",))
        await store.create(NewRun(part, "{}", seeds, part=chosen), lease())
        assert await log_of(store, again) == await log_of(store, part) == ["run_queued"]


class TestNumbers:
    async def test_have_no_gap_whatever_happens_at_once(self, store: RunStore, diamond: RunKey) -> None:
        """Two workers settle the two sides; the loser of each race writes nothing."""
        for _ in range(5):
            key = await begin(store, diamond, DIAMOND, claim=("top",))
            await store.advance(key, Onward({"left": 1, "right": 1}, claim=("left", "right")), lease(), finished("top"))
            join = Onward({"bottom": 1}, claim=("bottom",))
            seen = await holder_of(store, key, "left")
            await asyncio.gather(
                store.advance(key, join, lease("a"), finished("left")),
                store.advance(key, join, lease("b"), finished("right")),
                store.advance(key, join, lease("c"), finished("left")),
                store.take_over(key, [seen], lease("d")),
                store.events_after(key.run_id, key.tenant_id, 0, 100),
                return_exceptions=False,
            )
            await store.end(key, "run_stale", "Over.", clock())
            assert (await log_of(store, key))[-1] == "run_failed"

    async def test_stay_whole_where_another_process_claims_the_next_step(
        self, store: RunStore, diamond: RunKey
    ) -> None:
        key = await begin(store, diamond, DIAMOND, claim=("top",))
        await store.advance(key, Onward({"left": 1, "right": 1}, claim=("left",)), lease(), finished("top"))
        await store.advance(key, Onward(claim=("right",)), lease("other"))
        await store.advance(key, Onward({"bottom": 1}, claim=("right", "bottom")), lease(), finished("left"))
        assert (await log_of(store, key))[-2:] == ["step_started right 1", "step_completed left 1"]


class TestReading:
    async def test_gives_pages_behind_a_number(self, store: RunStore, version: RunKey) -> None:
        key = await begin(store, version)
        await store.advance(key, Onward({"s2": 1}, claim=("s2",)), lease(), finished("s1"))
        first, second = await page_of(store, key, 0, 3), await page_of(store, key, 3, 3)
        assert [event.seq for event in (*first.events, *second.events)] == [1, 2, 3, 4]
        assert (first.last, second.last) == (4, 4)
        assert (await page_of(store, key, 4)).events == ()

    async def test_knows_no_run_of_another_tenant(self, store: RunStore, version: RunKey) -> None:
        key = await begin(store, version)
        assert await store.events_after(key.run_id, new_id(), 0, 10) is None
        assert await store.events_after(new_id(), key.tenant_id, 0, 10) is None

    async def test_goes_with_its_run(self, store: RunStore, version: RunKey, database: Database) -> None:
        await begin(store, version)
        await execute(database, "DELETE FROM flow_runs")
        async with database.reading() as session:
            assert (await session.execute(text("SELECT count(*) FROM flow_run_events"))).scalar_one() == 0
