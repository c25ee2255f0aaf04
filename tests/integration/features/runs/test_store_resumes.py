"""Resuming, and taking results over, in the stores: the same on both databases."""

from dataclasses import replace

import pytest

from headgate.features.runs import repository
from headgate.features.runs.errors import SourceGone
from headgate.features.runs.states import RunStatus
from headgate.features.runs.store.port import RunStore
from headgate.features.runs.transitions import (
    Claim,
    Failed,
    Finished,
    Lease,
    NewRun,
    Onward,
    Resumed,
    Reuse,
    RunKey,
    Seed,
    StepRecord,
    clock,
)
from headgate.foundation.database import Database
from headgate.foundation.ids import new_id
from tests.support.engine import make_chain, store_flow
from tests.support.rows import attempts, execute, run_row, statuses, step_rows
from tests.support.tenants import add_tenant

pytestmark = pytest.mark.both_databases

SEEDS = (Seed("s1", 1, 0), Seed("s2", 2, 1), Seed("s3", 3, 1))
PAID = StepRecord(
    output_payload='{"outputs": {"text": {"type": "Text", "value": "å"}}, "main": "text"}',
    input_payload='{"source": "flow_input"}',
    effective_prompt="Säg hej",
    model_parameters='{"provider": "x"}',
    tool_calls="[1]",
    log="[2]",
    tokens_input=5,
    tokens_output=6,
    execution_hash="ab",
)
PAID_COLUMNS = (
    "output_payload",
    "input_payload",
    "effective_prompt",
    "model_parameters",
    "tool_calls",
    "log",
    "num_tokens_input",
    "num_tokens_output",
    "execution_hash",
    "started_at",
    "finished_at",
    "classification",
)


def _lease(worker: str = "w1") -> Lease:
    now = clock()
    return Lease(worker, now, now + 60_000_000)


@pytest.fixture
async def failed(store: RunStore, database: Database) -> RunKey:
    """A run whose first step was paid and whose second failed."""
    key = replace(await store_flow(database, make_chain(3)), run_id=new_id())
    await store.create(NewRun(key, '{"text": "hi"}', SEEDS, claim=("s1",)), _lease())
    await store.advance(key, Onward({"s2": 1}, claim=("s2",)), _lease(), Finished(Claim("s1", 1), PAID))
    lost = replace(PAID, output_payload=None)
    await store.fail(key, Failed(Claim("s2", 1), "invalid", "no", lost), clock())
    return key


class TestResume:
    async def test_lets_the_failed_step_be_claimed_again_and_keeps_the_finished_one(
        self, store: RunStore, failed: RunKey, database: Database
    ) -> None:
        paid = (await step_rows(database, failed.run_id))["s1"]
        assert await store.resume(failed, clock()) == Resumed(RunStatus.RUNNING, changed=True)
        row = await run_row(database, failed.run_id)
        assert (row.status, row.error_code, row.finished_at, row.resumes) == ("running", None, None, 1)
        steps = await step_rows(database, failed.run_id)
        assert steps["s1"] == paid
        assert (steps["s2"].status, steps["s2"].error_code, steps["s2"].effective_prompt) == ("pending", None, None)
        progress = await store.advance(failed, Onward(claim=("s2",)), _lease("w2"))
        assert progress.claims == (Claim("s2", 2),)
        assert await attempts(database, failed.run_id) == [
            ("s1", 1, "completed"),
            ("s2", 1, "failed"),
            ("s2", 2, "started"),
        ]

    async def test_leaves_nothing_of_the_failed_try_in_what_follows(
        self, store: RunStore, failed: RunKey, database: Database
    ) -> None:
        await store.resume(failed, clock())
        await store.advance(failed, Onward(claim=("s2",)), _lease())
        bare = StepRecord(output_payload=PAID.output_payload)
        await store.advance(failed, Onward({"s3": 1}), _lease(), Finished(Claim("s2", 2), bare))
        row = (await step_rows(database, failed.run_id))["s2"]
        assert (row.log, row.tool_calls, row.num_tokens_input, row.error_code) == (None, None, None, None)

    async def test_keeps_with_the_attempt_what_the_failed_try_had_left(
        self, store: RunStore, failed: RunKey, database: Database
    ) -> None:
        await store.resume(failed, clock())
        async with database.reading() as session:
            tries = await repository.list_attempts(session, failed.run_id, tenant_id=failed.tenant_id)
        assert [(one.step_id, one.record) for one in tries] == [
            ("s1", None),
            (
                "s2",
                {
                    "input": {"source": "flow_input"},
                    "effective_prompt": "Säg hej",
                    "model_parameters": {"provider": "x"},
                    "tool_calls": [1],
                    "log": [2],
                    "tokens_input": 5,
                    "tokens_output": 6,
                },
            ),
        ]

    async def test_takes_up_what_was_cancelled_when_the_run_was_ended(
        self, store: RunStore, database: Database
    ) -> None:
        key = replace(await store_flow(database, make_chain(3)), run_id=new_id())
        await store.create(NewRun(key, "{}", SEEDS, claim=("s1",)), _lease())
        await store.end(key, "run_stale", "too long", clock())
        assert (await statuses(database, key.run_id))["s1"] == "cancelled"
        assert (await store.resume(key, clock())) == Resumed(RunStatus.RUNNING, changed=True)
        assert await statuses(database, key.run_id) == dict.fromkeys(("s1", "s2", "s3"), "pending")

    async def test_leaves_a_step_alone_whose_worker_lives(
        self, store: RunStore, failed: RunKey, database: Database
    ) -> None:
        await execute(database, "UPDATE flow_step_results SET status = 'running' WHERE step_id = 's3'")
        await store.resume(failed, clock())
        assert (await statuses(database, failed.run_id))["s3"] == "running"

    @pytest.mark.parametrize("status", ["queued", "running", "completed", "cancelled"])
    async def test_changes_nothing_in_a_run_that_has_not_failed(
        self, store: RunStore, failed: RunKey, database: Database, status: str
    ) -> None:
        await execute(database, "UPDATE flow_runs SET status = :status", status=status)
        before = await step_rows(database, failed.run_id)
        assert await store.resume(failed, clock()) == Resumed(RunStatus(status), changed=False)
        assert await step_rows(database, failed.run_id) == before

    async def test_changes_nothing_when_the_flow_is_deleted(
        self, store: RunStore, failed: RunKey, database: Database
    ) -> None:
        await execute(database, "UPDATE flows SET deleted_at = 1")
        assert await store.resume(failed, clock()) == Resumed(RunStatus.FAILED, changed=False)

    async def test_knows_no_run_of_another_tenant(self, store: RunStore, failed: RunKey, database: Database) -> None:
        other = await add_tenant(database)
        assert await store.resume(replace(failed, tenant_id=other.tenant_id), clock()) is None
        assert (await run_row(database, failed.run_id)).status == "failed"


class TestCreateFrom:
    async def test_copies_what_was_paid_and_queues_the_rest(
        self, store: RunStore, failed: RunKey, database: Database
    ) -> None:
        await execute(database, "UPDATE flow_step_results SET classification = 2 WHERE step_id = 's1'")
        key = replace(failed, run_id=new_id())
        seeds = (SEEDS[0], Seed("s2", 2, 0), SEEDS[2])
        await store.create(NewRun(key, '{"text": "hi"}', seeds, reuse=Reuse(failed.run_id, ("s1",), "s2")), _lease())
        row = await run_row(database, key.run_id)
        assert (row.status, row.unfinished, row.source_run_id, row.source_step_id) == (
            "queued",
            2,
            failed.run_id,
            "s2",
        )
        old, new = (await step_rows(database, failed.run_id))["s1"], (await step_rows(database, key.run_id))["s1"]
        assert [getattr(new, name) for name in PAID_COLUMNS] == [getattr(old, name) for name in PAID_COLUMNS]
        assert (new.status, new.attempts, new.reused_from_run_id) == ("completed", 0, failed.run_id)
        assert await statuses(database, key.run_id) == {"s1": "completed", "s2": "pending", "s3": "pending"}
        assert await attempts(database, key.run_id) == []
        progress = await store.advance(key, Onward(claim=("s2",)), _lease())
        assert progress.claims == (Claim("s2", 1),)

    async def test_names_the_run_that_paid_when_results_are_passed_on(
        self, store: RunStore, failed: RunKey, database: Database
    ) -> None:
        second, third = replace(failed, run_id=new_id()), replace(failed, run_id=new_id())
        await store.create(NewRun(second, "{}", SEEDS, reuse=Reuse(failed.run_id, ("s1",), "s2")), _lease())
        await store.create(NewRun(third, "{}", SEEDS, reuse=Reuse(second.run_id, ("s1",), "s2")), _lease())
        assert (await step_rows(database, third.run_id))["s1"].reused_from_run_id == failed.run_id
        assert (await run_row(database, third.run_id)).source_run_id == second.run_id

    @pytest.mark.parametrize("step", ["s2", "s3"])
    async def test_makes_no_run_from_results_that_are_not_there(
        self, store: RunStore, failed: RunKey, step: str
    ) -> None:
        key = replace(failed, run_id=new_id())
        with pytest.raises(SourceGone):
            await store.create(NewRun(key, "{}", SEEDS, reuse=Reuse(failed.run_id, ("s1", step), None)), _lease())
        assert await store.load(key.run_id) is None

    async def test_makes_no_run_from_results_of_another_tenant_or_flow(
        self, store: RunStore, failed: RunKey, database: Database
    ) -> None:
        other = replace(await store_flow(database, make_chain(3)), run_id=new_id())
        with pytest.raises(SourceGone):
            await store.create(NewRun(other, "{}", SEEDS, reuse=Reuse(failed.run_id, ("s1",), None)), _lease())
        assert await store.load(other.run_id) is None


class TestStragglers:
    async def test_are_running_steps_of_failed_runs_since_a_moment(
        self, store: RunStore, failed: RunKey, database: Database
    ) -> None:
        assert await store.stragglers(since=0) == []
        await execute(database, "UPDATE flow_step_results SET status = 'running', worker_id = 'w' WHERE step_id = 's3'")
        at = (await run_row(database, failed.run_id)).finished_at
        (found,) = await store.stragglers(since=at)
        assert (found.key, found.holder.step_id, found.holder.worker_id) == (failed, "s3", "w")
        assert await store.stragglers(since=at + 1) == []
        assert [one.key for one in await store.stragglers(since=0, run_id=failed.run_id)] == [failed]
        assert await store.stragglers(since=0, run_id=new_id()) == []
