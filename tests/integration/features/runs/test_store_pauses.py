"""Paused runs in the store, the same on both databases."""

import asyncio
from dataclasses import replace

import pytest

from headgate.features.runs.errors import ParentPaused
from headgate.features.runs.states import RunStatus
from headgate.features.runs.store.port import RunStore
from headgate.features.runs.transitions import Finished, NewRun, Onward, Parent, RunKey, StepRecord, clock
from headgate.features.runs.waiting import Failure, Paused, Suspension, Tries, WaitReason, WokenRun
from headgate.foundation.database import Database
from headgate.foundation.ids import new_id
from tests.integration.features.runs.test_store import lease
from tests.integration.features.runs.test_store_waits import HOUR, PAIR, A, B, answer, begin, both_wait, suspend
from tests.support.engine import make_chain, store_flow
from tests.support.rows import execute, run_row, statuses, step_rows

pytestmark = pytest.mark.both_databases


@pytest.fixture
async def version(database: Database) -> RunKey:
    """A flow of two steps, which the tests start at once."""
    return await store_flow(database, make_chain(2))


async def queued(store: RunStore, version: RunKey) -> RunKey:
    key = replace(version, run_id=new_id())
    await store.create(NewRun(key, "{}", PAIR), lease())
    return key


async def child_of(store: RunStore, version: RunKey, parent: RunKey) -> RunKey:
    key = replace(version, run_id=new_id())
    origin = Parent(parent.run_id, "s1", 0, 1)
    await store.create(NewRun(key, "{}", PAIR, claim=("s1", "s2"), parent=origin), lease())
    return key


async def kinds(store: RunStore, key: RunKey) -> list[str]:
    page = await store.events_after(key.run_id, key.tenant_id, 0, 100)
    assert page is not None
    assert [event.seq for event in page.events] == list(range(1, page.last + 1))
    return [event.kind for event in page.events]


class TestPause:
    async def test_lets_running_steps_finish_and_claims_no_other(
        self, store: RunStore, version: RunKey, database: Database
    ) -> None:
        key = replace(version, run_id=new_id())
        await store.create(NewRun(key, "{}", PAIR, claim=("s1",)), lease())
        paused = await store.pause(key, clock())
        assert paused == Paused(RunStatus.PAUSED, changed=True, runs=(WokenRun(key, None),))
        done = Finished(A, StepRecord(output_payload="{}"))
        progress = await store.advance(key, Onward(claim=("s2",)), lease(), done)
        assert (progress.status, progress.recorded, progress.claims) == (RunStatus.PAUSED, True, ())
        assert await statuses(database, key.run_id) == {"s1": "completed", "s2": "pending"}
        assert await store.live_runs() == []
        assert (await kinds(store, key))[-2:] == ["run_paused", "step_completed"]

    async def test_leaves_a_step_whose_worker_died_until_the_run_continues(
        self, store: RunStore, version: RunKey
    ) -> None:
        key = await begin(store, version)
        stored = await store.load(key.run_id)
        assert stored is not None
        holder = stored.steps["s1"].holder
        await store.pause(key, clock())
        assert await store.take_over(key, [holder], lease("other")) == ()
        await store.unpause(key, clock())
        assert len(await store.take_over(key, [holder], lease("other"))) == 1

    async def test_completes_a_run_whose_last_step_finishes(self, store: RunStore, version: RunKey) -> None:
        key = await begin(store, version)
        await store.pause(key, clock())
        done = StepRecord(output_payload="{}")
        await store.advance(key, Onward(), lease(), Finished(A, done))
        progress = await store.advance(key, Onward(output_payload="{}"), lease(), Finished(B, done))
        assert (progress.status, progress.ended) == (RunStatus.COMPLETED, True)

    async def test_of_a_run_that_is_over_or_paused_changes_nothing(self, store: RunStore, version: RunKey) -> None:
        key = await begin(store, version)
        await store.pause(key, clock())
        assert await store.pause(key, clock()) == Paused(RunStatus.PAUSED, changed=False)
        await store.cancel(key.run_id, key.tenant_id, clock())
        assert await store.pause(key, clock()) == Paused(RunStatus.CANCELLED, changed=False)
        assert await store.unpause(key, clock()) == Paused(RunStatus.CANCELLED, changed=False)
        assert await store.pause(replace(key, tenant_id=new_id()), clock()) is None
        assert await store.unpause(replace(key, run_id=new_id()), clock()) is None

    async def test_of_a_deleted_flow_is_an_orphan(self, store: RunStore, version: RunKey, database: Database) -> None:
        key = await begin(store, version)
        await store.pause(key, clock())
        await execute(database, "UPDATE flows SET deleted_at = 1")
        assert await store.orphans() == [key]
        assert await store.end(key, "flow_deleted", "gone", clock())

    async def test_and_wake_and_cancel_at_once_leave_the_run_cancelled(
        self, store: RunStore, version: RunKey, database: Database
    ) -> None:
        for _ in range(10):
            key = await both_wait(store, version, clock() - HOUR)
            await asyncio.gather(
                store.pause(key, clock()),
                store.wake(clock(), 10),
                store.unpause(key, clock()),
                store.cancel(key.run_id, key.tenant_id, clock()),
            )
            assert (await run_row(database, key.run_id)).status == "cancelled"
            assert set((await statuses(database, key.run_id)).values()) == {"cancelled"}
            await kinds(store, key)

    async def test_by_many_at_once_is_one(self, store: RunStore, version: RunKey) -> None:
        key = await begin(store, version)
        outcomes = await asyncio.gather(*(store.pause(key, clock()) for _ in range(10)))
        assert sum(outcome is not None and outcome.changed for outcome in outcomes) == 1
        assert (await kinds(store, key)).count("run_paused") == 1


class TestWhatIsDueMeanwhile:
    async def test_waits_until_the_run_continues(self, store: RunStore, version: RunKey, database: Database) -> None:
        key = await both_wait(store, version, clock() - HOUR)
        await store.pause(key, clock())
        assert await store.wake(clock(), 10) == []
        assert await store.next_due() is None
        assert set((await statuses(database, key.run_id)).values()) == {"waiting"}
        continued = await store.unpause(key, clock())
        assert continued is not None
        assert (continued.status, continued.changed) == (RunStatus.WAITING, True)
        assert [woken.key for woken in await store.wake(clock(), 10)] == [key]
        assert await statuses(database, key.run_id) == {"s1": "pending", "s2": "pending"}
        assert (await step_rows(database, key.run_id))["s1"].answered_at is None

    async def test_keeps_no_other_run_waiting(self, store: RunStore, version: RunKey) -> None:
        for _ in range(3):
            await store.pause(await both_wait(store, version, clock() - 2 * HOUR), clock())
        other = await both_wait(store, version, clock() - HOUR)
        assert [woken.key for woken in await store.wake(clock(), 2)] == [other]

    async def test_and_what_is_not_due_yet_keeps_its_time(
        self, store: RunStore, version: RunKey, database: Database
    ) -> None:
        due = clock() + HOUR
        key = await both_wait(store, version, due)
        await store.pause(key, clock())
        await store.unpause(key, clock())
        assert (await step_rows(database, key.run_id))["s1"].due_at == due
        assert (await kinds(store, key))[-2:] == ["run_continued", "run_waiting"]

    async def test_is_woken_by_an_answer_given_during_the_pause(
        self, store: RunStore, version: RunKey, database: Database
    ) -> None:
        key = await begin(store, version)
        assert await store.suspend(key, Suspension(A, WaitReason.APPROVAL, None), lease())
        await store.pause(key, clock())
        assert await answer(database, key)
        assert await store.wake(clock(), 10) == []
        await store.unpause(key, clock())
        assert len(await store.wake(clock(), 10)) == 1

    async def test_may_be_a_step_that_suspends_during_the_pause(self, store: RunStore, version: RunKey) -> None:
        key = await begin(store, version)
        await store.pause(key, clock())
        assert await suspend(store, key, A, clock() - 1)
        assert await store.status(key.run_id) is RunStatus.PAUSED
        assert await store.wake(clock(), 10) == []
        await store.unpause(key, clock())
        assert len(await store.wake(clock(), 10)) == 1


class TestContinue:
    async def test_queues_a_run_that_has_not_started(self, store: RunStore, version: RunKey) -> None:
        key = await queued(store, version)
        await store.pause(key, clock())
        assert (await store.advance(key, Onward(claim=("s1",)), lease())).claims == ()
        continued = await store.unpause(key, clock())
        assert continued is not None
        assert continued.status is RunStatus.QUEUED
        assert (await store.advance(key, Onward(claim=("s1",)), lease())).claims == (A,)

    async def test_of_a_started_run_makes_it_running_without_a_message(
        self, store: RunStore, version: RunKey, database: Database
    ) -> None:
        key = await begin(store, version)
        await execute(database, "UPDATE flow_runs SET dispatched_at = 1, pickups = 3")
        await store.pause(key, clock())
        await store.unpause(key, clock())
        row = await run_row(database, key.run_id)
        assert (row.status, row.dispatched_at, row.pickups) == ("running", None, 0)

    async def test_adds_the_pause_to_the_time_that_retries_have(
        self, store: RunStore, version: RunKey, database: Database
    ) -> None:
        key, since = await begin(store, version), clock()
        failure = Failure("unavailable", "down", "{}", Tries(1, since), 3)
        assert await store.suspend(key, Suspension(A, WaitReason.RETRY, since + HOUR, failure), lease())
        at = clock()
        await store.pause(key, at)
        await store.unpause(key, at + HOUR)
        assert (await step_rows(database, key.run_id))["s1"].failing_since == since + HOUR


class TestRunsOfSteps:
    async def test_are_paused_and_continue_with_their_parent(self, store: RunStore, version: RunKey) -> None:
        parent = await begin(store, version)
        child = await child_of(store, version, parent)
        below = await child_of(store, version, child)
        paused = await store.pause(parent, clock())
        assert paused is not None
        assert [run.key for run in paused.runs] == [parent, child, below]
        assert {await store.status(key.run_id) for key in (parent, child, below)} == {RunStatus.PAUSED}
        continued = await store.unpause(parent, clock())
        assert continued is not None
        assert [run.key for run in continued.runs] == [parent, child, below]
        assert {await store.status(key.run_id) for key in (parent, child, below)} == {RunStatus.RUNNING}

    async def test_are_not_started_while_it_is_paused(self, store: RunStore, version: RunKey) -> None:
        parent = await begin(store, version)
        await store.pause(parent, clock())
        with pytest.raises(ParentPaused):
            await child_of(store, version, parent)
        await store.unpause(parent, clock())
        await child_of(store, version, parent)

    async def test_that_end_meanwhile_wake_it_when_it_continues(self, store: RunStore, version: RunKey) -> None:
        parent = await begin(store, version)
        child = await child_of(store, version, parent)
        assert await store.suspend(parent, Suspension(A, WaitReason.RUN, None), lease())
        await store.pause(parent, clock())
        await store.cancel(child.run_id, child.tenant_id, clock())
        assert await store.wake(clock(), 10) == []
        await store.unpause(parent, clock())
        assert [woken.key for woken in await store.wake(clock(), 10)] == [parent]

    async def test_are_cancelled_with_a_paused_parent(self, store: RunStore, version: RunKey) -> None:
        parent = await begin(store, version)
        child = await child_of(store, version, parent)
        await store.pause(parent, clock())
        outcome = await store.cancel(parent.run_id, parent.tenant_id, clock())
        assert outcome is not None
        assert outcome.children == (child.run_id,)
        assert await store.status(child.run_id) is RunStatus.CANCELLED

    async def test_never_run_beside_a_paused_parent(self, store: RunStore, version: RunKey) -> None:
        for _ in range(10):
            parent = await begin(store, version)
            _, child = await asyncio.gather(
                store.pause(parent, clock()), child_of(store, version, parent), return_exceptions=True
            )
            if isinstance(child, RunKey):
                assert await store.status(child.run_id) is RunStatus.PAUSED
            else:
                assert isinstance(child, ParentPaused)
