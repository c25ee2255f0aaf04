"""Waiting steps in the store, the same on both databases."""

import asyncio
from dataclasses import replace

import pytest

from headgate.features.runs.states import RunStatus
from headgate.features.runs.store.port import RunStore
from headgate.features.runs.transitions import (
    Claim,
    Failed,
    Finished,
    NewRun,
    Onward,
    RunKey,
    Seed,
    StepRecord,
    clock,
)
from headgate.features.runs.waiting import Suspension, WaitReason
from headgate.features.runs.waking import wake_step
from headgate.foundation.database import Database
from headgate.foundation.ids import new_id
from tests.integration.features.runs.test_store import lease
from tests.support.engine import make_chain, store_flow
from tests.support.rows import attempts, execute, run_row, statuses, step_rows

pytestmark = pytest.mark.both_databases

HOUR = 3_600_000_000
PAIR = (Seed("s1", 1, 0), Seed("s2", 2, 0))
A, B = Claim("s1", 1), Claim("s2", 1)


@pytest.fixture
async def version(database: Database) -> RunKey:
    """A flow of two steps, which the tests start at once."""
    return await store_flow(database, make_chain(2))


async def begin(store: RunStore, version: RunKey) -> RunKey:
    key = replace(version, run_id=new_id())
    await store.create(NewRun(key, '{"text": "hi"}', PAIR, claim=("s1", "s2")), lease())
    return key


async def suspend(store: RunStore, key: RunKey, claim: Claim, until: int) -> bool:
    return await store.suspend(key, Suspension(claim, WaitReason.TIME, until), lease())


async def both_wait(store: RunStore, version: RunKey, until: int) -> RunKey:
    key = await begin(store, version)
    assert await suspend(store, key, A, until)
    assert await suspend(store, key, B, until + 1)
    return key


class TestSuspend:
    async def test_frees_the_step_and_its_run_when_nothing_else_runs(
        self, store: RunStore, version: RunKey, database: Database
    ) -> None:
        key, due = await begin(store, version), clock() + HOUR
        assert await suspend(store, key, A, due)
        assert (await run_row(database, key.run_id)).status == "running"
        assert await suspend(store, key, B, due)
        assert (await run_row(database, key.run_id)).status == "waiting"
        step = (await step_rows(database, key.run_id))["s1"]
        assert (step.status, step.worker_id, step.lease_until, step.due_at) == ("waiting", None, None, due)
        assert await attempts(database, key.run_id) == [("s1", 1, "suspended"), ("s2", 1, "suspended")]
        assert await store.live_runs() == []
        page = await store.events_after(key.run_id, key.tenant_id, 0, 100)
        assert page is not None
        assert [event.kind for event in page.events][-3:] == ["step_waiting", "step_waiting", "run_waiting"]
        assert page.events[-2].data == {"reason": "time", "until": due}

    async def test_is_refused_to_another_worker_attempt_and_tenant(self, store: RunStore, version: RunKey) -> None:
        key = await begin(store, version)
        waiting = Suspension(A, WaitReason.TIME, clock())
        assert not await store.suspend(key, waiting, lease("other"))
        assert not await suspend(store, key, Claim("s1", 2), clock())
        assert not await suspend(store, replace(key, tenant_id=new_id()), A, clock())
        assert not await suspend(store, replace(key, run_id=new_id()), A, clock())

    async def test_cancels_the_step_of_a_run_that_has_failed_and_a_resume_starts_it_again(
        self, store: RunStore, version: RunKey, database: Database
    ) -> None:
        key = await begin(store, version)
        await store.fail(key, Failed(B, "invalid", "no"), clock())
        assert await suspend(store, key, A, clock() + HOUR)
        assert await statuses(database, key.run_id) == {"s1": "cancelled", "s2": "failed"}
        await store.resume(key, clock())
        assert await statuses(database, key.run_id) == {"s1": "pending", "s2": "pending"}


class TestARunThatWaits:
    async def test_begins_when_its_last_running_step_completes(
        self, store: RunStore, version: RunKey, database: Database
    ) -> None:
        key = await begin(store, version)
        await suspend(store, key, A, clock() + HOUR)
        await store.advance(key, Onward(), lease(), Finished(B, StepRecord(output_payload="{}")))
        row = await run_row(database, key.run_id)
        assert (row.status, row.unfinished) == ("waiting", 1)

    @pytest.mark.parametrize("how", ["fail", "end", "cancel"])
    async def test_leaves_no_step_waiting_when_it_is_over(
        self, store: RunStore, version: RunKey, database: Database, how: str
    ) -> None:
        key = await begin(store, version)
        await suspend(store, key, A, clock() - 1)
        if how == "fail":
            await store.fail(key, Failed(B, "invalid", "no"), clock())
        else:
            await suspend(store, key, B, clock() - 1)
            await (
                store.end(key, "x", "y", clock()) if how == "end" else store.cancel(key.run_id, key.tenant_id, clock())
            )
        step = (await step_rows(database, key.run_id))["s1"]
        assert (step.status, step.due_at, step.waits_for) == ("cancelled", None, None)
        assert await store.next_due() is None
        assert not await store.wake(clock(), 10)

    async def test_of_a_deleted_flow_is_an_orphan(self, store: RunStore, version: RunKey, database: Database) -> None:
        key = await both_wait(store, version, clock() + HOUR)
        assert await store.orphans() == []
        await execute(database, "UPDATE flows SET deleted_at = 1")
        assert await store.orphans() == [key]


class TestWake:
    async def test_makes_due_steps_pending_and_their_run_running(
        self, store: RunStore, version: RunKey, database: Database
    ) -> None:
        due = clock() - 10
        key = await both_wait(store, version, due)
        assert await store.next_due() == due
        (woken,) = await store.wake(due, 10)
        assert woken.key == key
        assert await statuses(database, key.run_id) == {"s1": "pending", "s2": "waiting"}
        assert (await run_row(database, key.run_id)).status == "running"
        progress = await store.advance(key, Onward(claim=("s1",)), lease())
        assert progress.claims == (Claim("s1", 2),)
        assert await store.next_due() == due + 1

    async def test_lets_no_step_be_woken_before_it_is_due(self, store: RunStore, version: RunKey) -> None:
        key = await both_wait(store, version, clock() + HOUR)
        assert not await store.wake(clock(), 10)
        assert (await store.status(key.run_id)) is RunStatus.WAITING

    async def test_wakes_each_step_once_for_many_at_once(
        self, store: RunStore, version: RunKey, database: Database
    ) -> None:
        keys = [await both_wait(store, version, clock() - HOUR) for _ in range(5)]
        rounds = await asyncio.gather(*(store.wake(clock(), 3) for _ in range(20)))
        rounds += [await store.wake(clock(), 100)]
        page = [await store.events_after(key.run_id, key.tenant_id, 0, 100) for key in keys]
        assert {woken.key for found in rounds for woken in found} == set(keys)
        for one in page:
            assert one is not None
            kinds = [event.kind for event in one.events]
            assert kinds.count("run_started") == 2
            assert [event.seq for event in one.events] == list(range(1, one.last + 1))
        for key in keys:
            assert set((await statuses(database, key.run_id)).values()) == {"pending"}

    async def test_is_had_of_one_run(self, store: RunStore, version: RunKey) -> None:
        keys = [await both_wait(store, version, clock() - HOUR) for _ in range(2)]
        (woken,) = await store.wake(clock(), 10, run_id=keys[0].run_id)
        assert woken.key == keys[0]
        assert (await store.status(keys[1].run_id)) is RunStatus.WAITING

    async def test_and_cancel_at_once_leave_the_run_cancelled(
        self, store: RunStore, version: RunKey, database: Database
    ) -> None:
        for _ in range(10):
            key = await both_wait(store, version, clock() - HOUR)
            await asyncio.gather(
                store.wake(clock(), 10), store.cancel(key.run_id, key.tenant_id, clock()), store.wake(clock(), 10)
            )
            assert (await run_row(database, key.run_id)).status == "cancelled"
            assert set((await statuses(database, key.run_id)).values()) == {"cancelled"}


class TestAnswers:
    """A step that waits without an end, and the transaction that wakes it."""

    async def test_wake_a_step_that_waits(self, store: RunStore, version: RunKey, database: Database) -> None:
        key = await begin(store, version)
        assert await store.suspend(key, Suspension(A, WaitReason.APPROVAL, None), lease())
        assert await store.next_due() is None
        assert await answer(database, key)
        assert [woken.key.run_id for woken in await store.wake(clock(), 10)] == [key.run_id]
        step = (await step_rows(database, key.run_id))["s1"]
        assert (step.status, step.waits_for, step.due_at, step.answered_at) == ("pending", "approval", None, None)

    async def test_wake_a_step_that_is_about_to_wait(
        self, store: RunStore, version: RunKey, database: Database
    ) -> None:
        key = await begin(store, version)
        assert await answer(database, key)
        assert (await step_rows(database, key.run_id))["s1"].status == "running"
        assert await store.suspend(key, Suspension(A, WaitReason.EVENT, clock() + HOUR), lease())
        assert len(await store.wake(clock(), 10)) == 1

    async def test_do_not_reach_another_tenant(self, store: RunStore, version: RunKey, database: Database) -> None:
        key = await begin(store, version)
        assert await store.suspend(key, Suspension(A, WaitReason.RUN, None), lease())
        assert not await answer(database, replace(key, tenant_id=new_id()))
        assert not await answer(database, replace(key, run_id=new_id()))
        assert await store.next_due() is None

    async def test_of_a_run_that_is_over_change_nothing(
        self, store: RunStore, version: RunKey, database: Database
    ) -> None:
        key = await begin(store, version)
        assert await store.suspend(key, Suspension(A, WaitReason.APPROVAL, None), lease())
        assert await store.cancel(key.run_id, key.tenant_id, clock())
        assert await answer(database, key)
        assert await store.wake(clock(), 10) == []
        assert (await statuses(database, key.run_id))["s1"] == "cancelled"

    async def test_are_not_lost_beside_the_suspension(
        self, store: RunStore, version: RunKey, database: Database
    ) -> None:
        for _ in range(20):
            key = await begin(store, version)
            waiting = Suspension(A, WaitReason.APPROVAL, None)
            _, suspended = await asyncio.gather(answer(database, key), store.suspend(key, waiting, lease()))
            assert suspended
            assert len(await store.wake(clock(), 10)) == 1


async def answer(database: Database, key: RunKey) -> bool:
    async with database.writing() as session:
        return await wake_step(session, key.run_id, "s1", tenant_id=key.tenant_id, at=clock())
