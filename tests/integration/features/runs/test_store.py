"""`RunStore`, the same on both databases."""

import asyncio
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy.exc import IntegrityError

from headgate.features.access.principal import LOCAL
from headgate.features.runs.engine.build import build_store
from headgate.features.runs.states import RunStatus, StepStatus
from headgate.features.runs.store.port import RunStore
from headgate.features.runs.transitions import (
    Claim,
    Delivery,
    Failed,
    Finished,
    Held,
    Holder,
    Lease,
    NewRun,
    Onward,
    RunKey,
    Seed,
    StepRecord,
    clock,
)
from headgate.foundation.database import Database
from headgate.foundation.ids import new_id
from tests.support.engine import make_chain, make_flow, store_flow
from tests.support.rows import attempt_rows, attempts, delivery_rows, execute, run_row, statuses, step_rows
from tests.support.tenants import add_person

pytestmark = pytest.mark.both_databases

PAYLOAD = '{"outputs": {"text": {"type": "Text", "value": "å"}}, "main": "text"}'
DONE = StepRecord(output_payload=PAYLOAD)


def lease(worker: str = "w1", seconds: float = 60) -> Lease:
    now = clock()
    return Lease(worker, now, now + int(seconds * 1_000_000))


def finished(step: str, attempt: int = 1, record: StepRecord = DONE) -> Finished:
    return Finished(Claim(step, attempt), record)


@pytest.fixture
async def version(database: Database) -> RunKey:
    """A stored chain of three steps: s1, s2, s3."""
    return await store_flow(database, make_chain(3))


@pytest.fixture
async def diamond(database: Database) -> RunKey:
    """`top` before `left` and `right`, both before `bottom`."""
    flow = make_flow(
        {"top": "Start", "left": "Echo", "right": "Echo", "bottom": "Join"},
        [
            "top.text -> left.input",
            "top.text -> right.input",
            "left.text -> bottom.parts",
            "right.text -> bottom.parts",
        ],
    )
    return await store_flow(database, flow)


CHAIN = (Seed("s1", 1, 0), Seed("s2", 2, 1), Seed("s3", 3, 1))
DIAMOND = (Seed("top", 1, 0), Seed("left", 2, 1), Seed("right", 3, 1), Seed("bottom", 4, 2))


async def begin(
    store: RunStore, version: RunKey, steps: Sequence[Seed] = CHAIN, claim: tuple[str, ...] = ("s1",), **more: Any
) -> RunKey:
    key = replace(version, run_id=new_id())
    await store.create(NewRun(key, '{"text": "hi"}', tuple(steps), claim=claim, **more), lease())
    return key


async def holder(store: RunStore, key: RunKey, step: str = "s1") -> Holder:
    """Who holds a step, as a sweep sees it."""
    stored = await store.load(key.run_id)
    assert stored is not None
    return stored.steps[step].holder


class TestCreate:
    async def test_seeds_every_step_and_claims_the_named_ones(
        self, store: RunStore, version: RunKey, database: Database
    ) -> None:
        key = await begin(store, version)
        assert await statuses(database, key.run_id) == {"s1": "running", "s2": "pending", "s3": "pending"}
        assert await attempts(database, key.run_id) == [("s1", 1, "started")]
        row = await run_row(database, key.run_id)
        assert (row.status, row.unfinished, row.input_payload) == ("running", 3, {"text": "hi"})
        assert row.started_at == row.created_at

    async def test_queues_a_run_without_claims(self, store: RunStore, version: RunKey, database: Database) -> None:
        key = await begin(store, version, claim=())
        row = await run_row(database, key.run_id)
        assert (row.status, row.started_at) == ("queued", None)
        assert await attempts(database, key.run_id) == []

    async def test_leaves_nothing_when_a_step_is_not_of_the_version(
        self, store: RunStore, version: RunKey, database: Database
    ) -> None:
        key = replace(version, run_id=new_id())
        run = NewRun(key, "{}", (*CHAIN, Seed("stranger", 4, 0)), claim=("s1",))
        with pytest.raises(Exception, match=r"(?i)foreign key"):
            await store.create(run, lease())
        assert await store.load(key.run_id) is None

    async def test_a_failing_job_leaves_the_others_of_its_tick_alone(self, store: RunStore, version: RunKey) -> None:
        good = [replace(version, run_id=new_id()) for _ in range(3)]
        bad = replace(version, run_id=new_id(), version=99)
        runs = [NewRun(key, "{}", CHAIN) for key in (good[0], bad, *good[1:])]
        outcomes = await asyncio.gather(*(store.create(run, lease()) for run in runs), return_exceptions=True)
        assert [type(one) for one in outcomes].count(type(None)) == 3
        assert [await store.status(key.run_id) for key in good] == [RunStatus.QUEUED] * 3
        assert await store.status(bad.run_id) is None


class TestAdvance:
    async def test_finishes_a_step_and_claims_the_next_at_once(
        self, store: RunStore, version: RunKey, database: Database
    ) -> None:
        key = await begin(store, version)
        progress = await store.advance(key, Onward({"s2": 1}, claim=("s2",)), lease(), finished("s1"))
        assert progress.claims == (Claim("s2", 1),)
        assert progress.status is RunStatus.RUNNING
        assert await statuses(database, key.run_id) == {"s1": "completed", "s2": "running", "s3": "pending"}
        assert await attempts(database, key.run_id) == [("s1", 1, "completed"), ("s2", 1, "started")]
        assert (await run_row(database, key.run_id)).unfinished == 2

    async def test_stores_everything_a_step_leaves(self, store: RunStore, version: RunKey, database: Database) -> None:
        key = await begin(store, version)
        record = StepRecord(
            output_payload=PAYLOAD,
            input_payload='{"source": "http_get"}',
            effective_prompt="Säg hej",
            model_parameters='{"provider": "x"}',
            tool_calls="[1]",
            log="[2]",
            tokens_input=5,
            tokens_output=6,
            execution_hash="ab",
        )
        await store.advance(key, Onward(), lease(), finished("s1", record=record))
        row = (await step_rows(database, key.run_id))["s1"]
        assert row.output_payload["outputs"]["text"]["value"] == "å"
        assert (row.input_payload, row.model_parameters) == ({"source": "http_get"}, {"provider": "x"})
        assert (row.effective_prompt, row.tool_calls, row.log) == ("Säg hej", [1], [2])
        assert (row.num_tokens_input, row.num_tokens_output, row.execution_hash) == (5, 6, "ab")
        assert row.lease_until is None

    async def test_keeps_missing_json_as_sql_null(self, store: RunStore, version: RunKey, database: Database) -> None:
        key = await begin(store, version)
        await store.advance(key, Onward(), lease(), finished("s1"))
        await execute(
            database,
            "UPDATE flow_step_results SET effective_prompt = 'null found'"
            " WHERE log IS NULL AND tool_calls IS NULL AND model_parameters IS NULL AND input_payload IS NULL",
        )
        assert (await step_rows(database, key.run_id))["s1"].effective_prompt == "null found"

    async def test_ends_the_run_with_the_last_step(self, store: RunStore, version: RunKey, database: Database) -> None:
        key = await begin(store, version)
        for step, following in (("s1", "s2"), ("s2", "s3")):
            await store.advance(key, Onward({following: 1}, claim=(following,)), lease(), finished(step))
        progress = await store.advance(key, Onward(output_payload='{"text": "end"}'), lease(), finished("s3"))
        assert progress.status is RunStatus.COMPLETED
        row = await run_row(database, key.run_id)
        assert (row.status, row.unfinished, row.output_payload) == ("completed", 0, {"text": "end"})
        assert row.finished_at >= row.started_at

    async def test_counts_a_fan_in_down_and_claims_behind_the_last_parent(
        self, store: RunStore, diamond: RunKey, database: Database
    ) -> None:
        key = await begin(store, diamond, DIAMOND, ("top",))
        fan = Onward({"left": 1, "right": 1}, claim=("left", "right"))
        assert len((await store.advance(key, fan, lease(), finished("top"))).claims) == 2
        join = Onward({"bottom": 1}, claim=("bottom",))
        first = await store.advance(key, join, lease(), finished("left"))
        assert (first.claims, first.ready) == ((), ())
        second = await store.advance(key, join, lease(), finished("right"))
        assert second.claims == (Claim("bottom", 1),)

    async def test_tells_of_ready_steps_it_did_not_claim(self, store: RunStore, diamond: RunKey) -> None:
        key = await begin(store, diamond, DIAMOND, ("top",))
        progress = await store.advance(key, Onward({"left": 1, "right": 1}, claim=("left",)), lease(), finished("top"))
        assert progress.claims == (Claim("left", 1),)
        assert progress.ready == ("right",)

    async def test_claims_a_step_that_became_ready_earlier(self, store: RunStore, diamond: RunKey) -> None:
        key = await begin(store, diamond, DIAMOND, ("top",))
        await store.advance(key, Onward({"left": 1, "right": 1}), lease(), finished("top"))
        progress = await store.advance(key, Onward(claim=("right", "bottom")), lease())
        assert progress.claims == (Claim("right", 1),)

    async def test_skips_steps_and_counts_them_as_done(
        self, store: RunStore, diamond: RunKey, database: Database
    ) -> None:
        key = await begin(store, diamond, DIAMOND, ("top",))
        onward = Onward({"left": 1, "bottom": 1}, skip=("right",), claim=("left",))
        await store.advance(key, onward, lease(), finished("top"))
        assert (await statuses(database, key.run_id))["right"] == "skipped"
        assert (await run_row(database, key.run_id)).unfinished == 2
        progress = await store.advance(key, Onward({"bottom": 1}, claim=("bottom",)), lease(), finished("left"))
        assert progress.claims == (Claim("bottom", 1),)

    async def test_ends_the_run_by_skipping_what_is_left(self, store: RunStore, version: RunKey) -> None:
        key = await begin(store, version)
        progress = await store.advance(key, Onward(skip=("s2", "s3"), output_payload="{}"), lease(), finished("s1"))
        assert progress.status is RunStatus.COMPLETED

    async def test_completes_a_run_only_with_its_output(
        self, store: RunStore, version: RunKey, database: Database
    ) -> None:
        key = await begin(store, version)
        progress = await store.advance(key, Onward(skip=("s2", "s3")), lease(), finished("s1"))
        assert progress.status is RunStatus.RUNNING
        progress = await store.advance(key, Onward(output_payload='{"text": "late"}'), lease())
        row = await run_row(database, key.run_id)
        assert (progress.status, row.status, row.output_payload) == (RunStatus.COMPLETED, "completed", {"text": "late"})

    async def test_starts_a_queued_run(self, store: RunStore, version: RunKey, database: Database) -> None:
        key = await begin(store, version, claim=())
        progress = await store.advance(key, Onward(claim=("s1",)), lease())
        assert (progress.status, progress.claims) == (RunStatus.RUNNING, (Claim("s1", 1),))
        assert (await run_row(database, key.run_id)).started_at is not None

    async def test_records_a_result_once(self, store: RunStore, version: RunKey, database: Database) -> None:
        key = await begin(store, version)
        onward = Onward({"s2": 1}, claim=("s2",))
        assert (await store.advance(key, onward, lease(), finished("s1"))).recorded
        again = await store.advance(key, onward, lease(), finished("s1"))
        assert (again.recorded, again.claims) == (False, ())
        assert await attempts(database, key.run_id) == [("s1", 1, "completed"), ("s2", 1, "started")]
        assert (await run_row(database, key.run_id)).unfinished == 2

    async def test_refuses_the_result_of_an_attempt_that_was_taken_over(
        self, store: RunStore, version: RunKey, database: Database
    ) -> None:
        key = await begin(store, version)
        assert await store.take_over(key, [await holder(store, key)], lease("w2")) == (Claim("s1", 2),)
        late = await store.advance(key, Onward({"s2": 1}, claim=("s2",)), lease(), finished("s1", 1))
        assert not late.recorded
        assert await attempts(database, key.run_id) == [("s1", 1, "retried"), ("s1", 2, "started")]
        assert (await store.advance(key, Onward({"s2": 1}), lease("w2"), finished("s1", 2))).recorded

    async def test_writes_a_delivery_down_with_its_step_or_not_at_all(
        self, store: RunStore, version: RunKey, database: Database
    ) -> None:
        key = await begin(store, version)
        made = Delivery(new_id(), b"sealed", "https://example.org/...", "key")
        whole = replace(finished("s1"), delivery=made)
        late = await store.advance(key, Onward({"s2": 1}), lease(), replace(whole, claim=Claim("s1", 7)))
        assert (late.recorded, await delivery_rows(database, key.run_id)) == (False, [])
        went_on = await store.advance(key, Onward({"s2": 1}, claim=("s2",)), lease(), whole)
        assert went_on.claims == (Claim("s2", 1),)
        assert not (await store.advance(key, Onward({"s2": 1}), lease(), whole)).recorded
        (row,) = await delivery_rows(database, key.run_id)
        assert (row.id, row.tenant_id, row.step_id) == (made.id, key.tenant_id, "s1")
        assert (row.status, row.target, row.url_shown) == ("pending", b"sealed", "https://example.org/...")
        assert await statuses(database, key.run_id) == {"s1": "completed", "s2": "running", "s3": "pending"}

    async def test_gives_a_step_to_one_of_two_workers(
        self, store: RunStore, diamond: RunKey, database: Database
    ) -> None:
        other = build_store(database)
        await other.open()
        try:
            for _ in range(10):
                key = await begin(store, diamond, DIAMOND, ())
                onward = Onward(claim=("top",))
                both = await asyncio.gather(
                    store.advance(key, onward, lease("w1")), other.advance(key, onward, lease("w2"))
                )
                assert sorted(len(progress.claims) for progress in both) == [0, 1]
                assert await attempts(database, key.run_id) == [("top", 1, "started")]
        finally:
            await other.close()

    async def test_counts_right_when_two_parents_finish_in_two_processes(
        self, store: RunStore, diamond: RunKey, database: Database
    ) -> None:
        other = build_store(database)
        await other.open()
        try:
            for _ in range(10):
                key = await begin(store, diamond, DIAMOND, ("top",))
                await store.advance(
                    key, Onward({"left": 1, "right": 1}, claim=("left", "right")), lease(), finished("top")
                )
                join = Onward({"bottom": 1}, claim=("bottom",))
                both = await asyncio.gather(
                    store.advance(key, join, lease("w1"), finished("left")),
                    other.advance(key, join, lease("w2"), finished("right")),
                )
                assert sorted(len(progress.claims) for progress in both) == [0, 1]
                assert (await run_row(database, key.run_id)).unfinished == 1
        finally:
            await other.close()

    async def test_fails_the_run_of_a_deleted_flow_in_place_of_claiming(
        self, store: RunStore, version: RunKey, database: Database
    ) -> None:
        key = await begin(store, version)
        await execute(database, "UPDATE flows SET deleted_at = 1 WHERE id = :id", id=key.flow_id)
        progress = await store.advance(key, Onward({"s2": 1}, claim=("s2",)), lease(), finished("s1"))
        assert (progress.status, progress.claims) == (RunStatus.FAILED, ())
        row = await run_row(database, key.run_id)
        assert (row.error_code, row.unfinished) == ("flow_deleted", 2)
        assert (await statuses(database, key.run_id))["s1"] == "completed"

    async def test_completes_the_run_of_a_deleted_flow_whose_last_step_finishes(
        self, store: RunStore, version: RunKey, database: Database
    ) -> None:
        key = await begin(store, version, claim=("s1",))
        await execute(database, "UPDATE flows SET deleted_at = 1 WHERE id = :id", id=key.flow_id)
        progress = await store.advance(key, Onward(skip=("s2", "s3"), output_payload="{}"), lease(), finished("s1"))
        assert progress.status is RunStatus.COMPLETED

    async def test_knows_no_run_of_another_tenant(self, store: RunStore, version: RunKey, database: Database) -> None:
        key = await begin(store, version)
        stranger = replace(key, tenant_id=new_id())
        progress = await store.advance(stranger, Onward({"s2": 1}, claim=("s2",)), lease(), finished("s1"))
        assert (progress.status, progress.recorded) == (None, False)
        assert (await statuses(database, key.run_id))["s1"] == "running"


class TestFail:
    async def test_fails_step_attempt_and_run_and_leaves_the_rest_pending(
        self, store: RunStore, version: RunKey, database: Database
    ) -> None:
        key = await begin(store, version)
        failed = Failed(Claim("s1", 1), "invalid", "No good.", StepRecord(effective_prompt="asked"))
        assert (await store.fail(key, failed, clock())).status is RunStatus.FAILED
        assert await statuses(database, key.run_id) == {"s1": "failed", "s2": "pending", "s3": "pending"}
        assert await attempts(database, key.run_id) == [("s1", 1, "failed")]
        row = await run_row(database, key.run_id)
        assert (row.status, row.error_code, row.error_message) == ("failed", "invalid", "No good.")
        assert (await step_rows(database, key.run_id))["s1"].effective_prompt == "asked"

    async def test_keeps_the_result_of_a_step_beside_the_failed_one(
        self, store: RunStore, diamond: RunKey, database: Database
    ) -> None:
        key = await begin(store, diamond, DIAMOND, ("top",))
        await store.advance(key, Onward({"left": 1, "right": 1}, claim=("left", "right")), lease(), finished("top"))
        await store.fail(key, Failed(Claim("left", 1), "invalid", "No."), clock())
        progress = await store.advance(key, Onward({"bottom": 1}, claim=("bottom",)), lease(), finished("right"))
        assert (progress.status, progress.recorded, progress.claims) == (RunStatus.FAILED, True, ())
        found = await statuses(database, key.run_id)
        assert (found["right"], found["bottom"]) == ("completed", "pending")

    async def test_changes_nothing_for_a_lost_attempt(
        self, store: RunStore, version: RunKey, database: Database
    ) -> None:
        key = await begin(store, version)
        await store.take_over(key, [await holder(store, key)], lease("w2"))
        assert not (await store.fail(key, Failed(Claim("s1", 1), "invalid", "No."), clock())).recorded
        assert (await run_row(database, key.run_id)).status == "running"


class TestTakeOver:
    async def test_takes_only_the_attempt_that_was_seen(self, store: RunStore, version: RunKey) -> None:
        key = await begin(store, version)
        seen = await holder(store, key)
        assert await store.take_over(key, [seen], lease("w2")) == (Claim("s1", 2),)
        assert await store.take_over(key, [seen], lease("w3")) == ()

    async def test_takes_nothing_from_a_holder_that_renewed_since(self, store: RunStore, version: RunKey) -> None:
        key = await begin(store, version)
        seen = await holder(store, key)
        later = replace(lease(), until=seen.lease_until + 1)
        assert await store.renew([Held(key.run_id, "s1", 1)], later)
        assert await store.take_over(key, [seen], lease("w2")) == ()
        assert await store.take_over(key, [await holder(store, key)], lease("w2")) == (Claim("s1", 2),)

    async def test_ends_the_attempt_with_its_lease(self, store: RunStore, version: RunKey, database: Database) -> None:
        key = await begin(store, version)
        await execute(database, "UPDATE flow_step_results SET lease_until = started_at + 5 WHERE status = 'running'")
        seen = await holder(store, key)
        now = replace(lease("w2"), at=seen.lease_until + 1_000_000_000)
        await store.take_over(key, [seen], now)
        row = (await attempt_rows(database, key.run_id))[0]
        assert (row.status, row.finished_at) == ("retried", seen.lease_until)

    async def test_counts_no_down_time_as_work(self, store: RunStore, version: RunKey, database: Database) -> None:
        key = await begin(store, version)
        await execute(database, "UPDATE flow_step_results SET lease_until = started_at + 5 WHERE status = 'running'")
        seen = await holder(store, key)
        began, at = seen.lease_until - 5, seen.lease_until + 3_000_000
        assert await store.worked(key.run_id, since=began, until=at) == 5
        await store.take_over(key, [seen], Lease("w2", at, at + 1_000))
        assert await store.worked(key.run_id, since=began, until=at + 7) == 12
        assert await store.worked(key.run_id, since=began + 1, until=at + 7) == 7

    async def test_takes_nothing_of_a_run_that_is_over(self, store: RunStore, version: RunKey) -> None:
        key = await begin(store, version)
        await store.cancel(key.run_id, key.tenant_id, clock())
        assert await store.take_over(key, [await holder(store, key)], lease("w2")) == ()


class TestCancel:
    async def test_cancels_run_steps_and_attempts(self, store: RunStore, version: RunKey, database: Database) -> None:
        key = await begin(store, version)
        await store.advance(key, Onward({"s2": 1}, claim=("s2",)), lease(), finished("s1"))
        found = await store.cancel(key.run_id, key.tenant_id, clock())
        assert found is not None
        assert found.changed
        assert await statuses(database, key.run_id) == {"s1": "completed", "s2": "cancelled", "s3": "cancelled"}
        assert await attempts(database, key.run_id) == [("s1", 1, "completed"), ("s2", 1, "cancelled")]
        row = await run_row(database, key.run_id)
        assert row.cancelled_at is not None
        assert row.cancelled_at == row.finished_at

    async def test_is_idempotent(self, store: RunStore, version: RunKey, database: Database) -> None:
        key = await begin(store, version)
        await store.cancel(key.run_id, key.tenant_id, 1)
        again = await store.cancel(key.run_id, key.tenant_id, 2)
        assert again is not None
        assert (again.status, again.changed) == (RunStatus.CANCELLED, False)
        assert (await run_row(database, key.run_id)).cancelled_at == 1

    async def test_leaves_a_finished_run_as_it_is(self, store: RunStore, version: RunKey) -> None:
        key = await begin(store, version)
        await store.advance(key, Onward(skip=("s2", "s3"), output_payload="{}"), lease(), finished("s1"))
        found = await store.cancel(key.run_id, key.tenant_id, clock())
        assert found is not None
        assert (found.status, found.changed) == (RunStatus.COMPLETED, False)

    async def test_finds_no_run_of_another_tenant(self, store: RunStore, version: RunKey) -> None:
        key = await begin(store, version)
        assert await store.cancel(key.run_id, new_id(), clock()) is None
        assert not await store.is_cancelled(key.run_id)

    async def test_leaves_nothing_open_when_a_claim_is_made_at_the_same_time(
        self, store: RunStore, version: RunKey, database: Database
    ) -> None:
        other = build_store(database)
        await other.open()
        try:
            for _ in range(20):
                key = await begin(store, version)
                progress, _ = await asyncio.gather(
                    store.advance(key, Onward({"s2": 1}, claim=("s2",)), lease(), finished("s1")),
                    other.cancel(key.run_id, key.tenant_id, clock()),
                )
                left = {status for _, _, status in await attempts(database, key.run_id)}
                assert "started" not in left
                assert set((await statuses(database, key.run_id)).values()) <= {"completed", "cancelled"}
                assert (await run_row(database, key.run_id)).status == "cancelled"
                assert progress.recorded == (progress.status is RunStatus.RUNNING)
        finally:
            await other.close()


class TestEnd:
    async def test_fails_a_run_and_closes_what_was_at_work(
        self, store: RunStore, version: RunKey, database: Database
    ) -> None:
        key = await begin(store, version)
        assert await store.end(key, "flow_deleted", "Gone.", clock())
        assert await statuses(database, key.run_id) == {"s1": "cancelled", "s2": "pending", "s3": "pending"}
        assert await attempts(database, key.run_id) == [("s1", 1, "cancelled")]
        assert not await store.end(key, "flow_deleted", "Gone.", clock())


class TestRenew:
    async def test_lengthens_the_leases_of_several_runs_and_says_which_are_still_held(
        self, store: RunStore, version: RunKey, database: Database
    ) -> None:
        first, second = await begin(store, version), await begin(store, version)
        await store.cancel(second.run_id, second.tenant_id, clock())
        held = [Held(first.run_id, "s1", 1), Held(second.run_id, "s1", 1)]
        later = lease(seconds=1000)
        assert await store.renew(held, later) == {held[0]}
        assert (await step_rows(database, first.run_id))["s1"].lease_until == later.until

    async def test_does_not_lengthen_the_lease_of_another_worker(self, store: RunStore, version: RunKey) -> None:
        key = await begin(store, version)
        assert await store.renew([Held(key.run_id, "s1", 1)], lease("w2")) == frozenset()


class TestReading:
    async def test_loads_a_run_with_its_steps(self, store: RunStore, version: RunKey) -> None:
        key = await begin(store, version, session_id="chat", user_id=None)
        await store.advance(key, Onward({"s2": 1}, claim=("s2",)), lease(), finished("s1"))
        stored = await store.load(key.run_id)
        assert stored is not None
        assert (stored.key, stored.status, stored.session_id) == (key, RunStatus.RUNNING, "chat")
        assert {step.step_id: step.status for step in stored.steps.values()} == {
            "s1": StepStatus.COMPLETED,
            "s2": StepStatus.RUNNING,
            "s3": StepStatus.PENDING,
        }
        assert '"å"' in (stored.steps["s1"].output_payload or "")
        assert (stored.steps["s2"].attempts, stored.steps["s2"].worker_id) == (1, "w1")

    async def test_reads_a_run_as_it_is_shown_with_the_outputs_of_its_last_steps_only(
        self, store: RunStore, version: RunKey
    ) -> None:
        key = await begin(store, version)
        for step, following in (("s1", "s2"), ("s2", "s3")):
            await store.advance(key, Onward({following: 1}, claim=(following,)), lease(), finished(step))
        await store.advance(key, Onward(output_payload='{"text": "å"}'), lease(), finished("s3"))
        found = await store.read(key.run_id, key.tenant_id)
        assert found is not None
        assert (found.id, found.status, found.input_payload) == (key.run_id, "completed", {"text": "hi"})
        assert found.output_payload == {"text": "å"}
        assert [(step.step_id, step.step_order, step.type, step.status) for step in found.steps] == [
            ("s1", 1, "Start", "completed"),
            ("s2", 2, "Echo", "completed"),
            ("s3", 3, "Echo", "completed"),
        ]
        assert [step.output_payload is None for step in found.steps] == [True, True, False]
        assert await store.read(key.run_id, new_id()) is None

    async def test_lists_live_runs_with_who_holds_their_steps(
        self, store: RunStore, version: RunKey, database: Database
    ) -> None:
        queued = await begin(store, version, claim=())
        running = await begin(store, version)
        over = await begin(store, version)
        await store.cancel(over.run_id, over.tenant_id, clock())
        await execute(database, "UPDATE flows SET deleted_at = 1 WHERE id = :id", id=version.flow_id)
        found = {live.key.run_id: live for live in await store.live_runs()}
        assert list(found) == [queued.run_id, running.run_id]
        assert found[queued.run_id].holders == ()
        (holder,) = found[running.run_id].holders
        assert (holder.step_id, holder.attempt, holder.worker_id) == ("s1", 1, "w1")
        assert found[running.run_id].flow_deleted

    async def test_knows_the_earlier_turns_of_a_chat(
        self, store: RunStore, version: RunKey, database: Database
    ) -> None:
        other = replace(LOCAL, user_id=new_id())
        await add_person(database, other, name="other")
        keys = []
        for number, whose in enumerate((LOCAL.user_id, LOCAL.user_id, other.user_id, None, LOCAL.user_id)):
            key = await begin(store, version, session_id="chat", user_id=whose)
            output = f'{{"text": "answer {number}"}}'
            await store.advance(key, Onward(skip=("s2", "s3"), output_payload=output), lease(), finished("s1"))
            keys.append(key)
        await begin(store, version, session_id="other", user_id=LOCAL.user_id)

        async def turns(user_id: str | None, limit: int = 10) -> list[str]:
            found = await store.past_turns(keys[-1], "chat", user_id, limit)
            return [json.loads(turn.output_payload or "")["text"] for turn in found]

        assert await turns(LOCAL.user_id) == ["answer 0", "answer 1"]
        assert await turns(LOCAL.user_id, 1) == ["answer 1"]
        assert await turns(other.user_id) == ["answer 2"]
        assert await turns(None) == ["answer 3"]
        assert await turns(new_id()) == []


class TestConstraints:
    async def test_the_database_refuses_an_unknown_status(
        self, store: RunStore, version: RunKey, database: Database
    ) -> None:
        key = await begin(store, version)
        with pytest.raises(IntegrityError):
            await execute(database, "UPDATE flow_runs SET status = 'odd' WHERE id = :id", id=key.run_id)

    async def test_the_database_refuses_a_step_of_another_tenant(
        self, store: RunStore, version: RunKey, database: Database
    ) -> None:
        key = await begin(store, version)
        with pytest.raises(IntegrityError):
            await execute(
                database, "UPDATE flow_step_results SET tenant_id = 'x' WHERE flow_run_id = :id", id=key.run_id
            )
