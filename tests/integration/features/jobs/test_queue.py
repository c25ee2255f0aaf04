"""Conformance of the statements over a table of jobs, on both databases."""

import asyncio

import pytest
from sqlalchemy import ColumnElement, Select, func, select

from headgate.features.jobs.leases import clock
from headgate.features.jobs.queue import Job, Queue
from headgate.foundation.database import Database
from tests.integration.features.jobs.conftest import LONG, QUEUE, SECOND, Rows, chores, lease

pytestmark = pytest.mark.both_databases


async def claim(database: Database, worker: str = "somebody", **options: object) -> list[Job]:
    async with database.writing() as session:
        return await QUEUE.claim(session, lease(worker), **{"limit": 100} | options)  # type: ignore[arg-type]


async def recovered(database: Database, *jobs: Job) -> int:
    async with database.writing() as session:
        return await QUEUE.recover(session, jobs)


class TestClaim:
    async def test_takes_what_is_due_longest_and_no_more_than_asked_for(self, database: Database, rows: Rows) -> None:
        await rows.add("later", due_at=clock() + 1000 * SECOND)
        await rows.add("never", due_at=None)
        for number in range(5):
            await rows.add(f"job-{number}", due_at=clock() - (number + 1) * SECOND)
        assert {job.id for job in await claim(database, limit=2)} == {"job-4", "job-3"}
        assert {job.id for job in await claim(database)} == {"job-0", "job-1", "job-2"}
        assert await claim(database) == []

    async def test_of_many_workers_one_has_each_job(self, database: Database, rows: Rows) -> None:
        await rows.add(*(f"job-{number:03}" for number in range(200)))

        async def work(name: str) -> list[str]:
            mine: list[str] = []
            while jobs := await claim(database, name, limit=7):
                mine += [job.id for job in jobs]
            return mine

        claimed = [job_id for mine in await asyncio.gather(*(work(f"w{n}") for n in range(8))) for job_id in mine]
        assert len(claimed) == len(set(claimed)) == 200
        async with database.reading() as session:
            assert (await session.execute(select(func.max(chores.c.attempts)))).scalar_one() == 1

    async def test_looks_only_at_some_where_it_is_asked_to(self, database: Database, rows: Rows) -> None:
        await rows.add("a", "b", "c")
        assert [job.id for job in await claim(database, ids=["a"])] == ["a"]
        assert [job.id for job in await claim(database, but=["b"])] == ["c"]

    async def test_takes_what_its_owner_picks(self, database: Database, rows: Rows) -> None:
        await rows.add("a", "b", "c")

        def last_first(due: ColumnElement[bool], _at: int) -> Select[tuple[str]]:
            return select(chores.c.id).where(due).order_by(chores.c.id.desc())

        async with database.writing() as session:
            picked = await Queue(chores, pick=last_first).claim(session, lease(), limit=2)
        assert {job.id for job in picked} == {"b", "c"}

    async def test_one_job_is_taken_by_one_due_or_not(self, database: Database, rows: Rows) -> None:
        await rows.add("a", due_at=None)

        async def take(name: str) -> Job | None:
            async with database.writing() as session:
                return await QUEUE.take(session, "a", lease(name))

        taken = [job for job in await asyncio.gather(*(take(f"w{n}") for n in range(6))) if job is not None]
        assert [(job.attempt, job.row.due_at) for job in taken] == [(1, None)]


class TestFence:
    async def test_a_late_holder_changes_nothing(self, database: Database, rows: Rows) -> None:
        await rows.add("a")
        (late,) = await claim(database, "late")
        assert await recovered(database, late) == 1
        (now,) = await claim(database, "now")
        before = await rows.row("a")
        async with database.writing() as session:
            assert not await QUEUE.finish(session, late, done=9)
            assert not await QUEUE.release(session, late, due_at=1, done=9)
            assert not await QUEUE.attempt_again(session, late, done=9)
            assert await QUEUE.renew(session, ["a"], lease("late")) == {}
            held = select(chores.c.id).where(QUEUE.held(late))
            assert (await session.execute(held)).one_or_none() is None
        assert await rows.row("a") == before
        assert (before.worker_id, before.attempts, now.attempt) == ("now", 2, 2)

    async def test_holds_against_an_earlier_claim_of_the_same_worker(self, database: Database, rows: Rows) -> None:
        await rows.add("a")
        (first,) = await claim(database)
        await recovered(database, first)
        (second,) = await claim(database)
        async with database.writing() as session:
            assert not await QUEUE.finish(session, first)
            assert await QUEUE.finish(session, second)

    async def test_counts_another_attempt_of_the_same_holder(self, database: Database, rows: Rows) -> None:
        await rows.add("a")
        (job,) = await claim(database)
        async with database.writing() as session:
            assert await QUEUE.attempt_again(session, job)
        assert (job.attempt, (await rows.row("a")).attempts) == (2, 2)
        async with database.writing() as session:
            assert await QUEUE.finish(session, job)

    async def test_a_settled_job_is_free_and_says_so(self, database: Database, rows: Rows) -> None:
        await rows.add("a", "b", event="go")
        first, second = sorted(await claim(database), key=lambda job: job.id)
        async with database.writing() as session:
            await QUEUE.finish(session, first)
            await QUEUE.release(session, second, due_at=clock() + 9 * SECOND, event="other")
        over, later = await rows.row("a"), await rows.row("b")
        assert first.settled
        assert (over.worker_id, over.lease_until, over.due_at, over.event) == (None, None, None, None)
        assert (later.worker_id, later.lease_until, later.event) == (None, None, "other")
        assert later.due_at > clock()


class TestLease:
    async def test_is_renewed_for_those_that_are_still_held(self, database: Database, rows: Rows) -> None:
        await rows.add("a", "b")
        await claim(database, "me", ids=["a"])
        await claim(database, "other")
        longer = lease("me", 2 * LONG)
        async with database.writing() as session:
            assert await QUEUE.renew(session, ["a", "b", "gone"], longer) == {"a": True}
        assert (await rows.row("a")).lease_until == longer.until
        assert (await rows.row("b")).lease_until < longer.until

    async def test_a_claim_that_was_renewed_meanwhile_is_not_recovered(self, database: Database, rows: Rows) -> None:
        await rows.add("a")
        (seen,) = await claim(database, "me")
        async with database.writing() as session:
            await QUEUE.renew(session, ["a"], lease("me", 2 * LONG))
        assert await recovered(database, seen) == 0
        assert (await rows.row("a")).worker_id == "me"

    async def test_two_that_recover_it_at_once_do_it_once(self, database: Database, rows: Rows) -> None:
        await rows.add("a")
        (seen,) = await claim(database)
        assert sum(await asyncio.gather(*(recovered(database, seen) for _ in range(5)))) == 1
        assert (await rows.row("a")).due_at <= clock()


class TestEvent:
    async def test_wakes_each_job_that_waits_for_it_once(self, database: Database, rows: Rows) -> None:
        await rows.add("a", "b", due_at=None, event="go")
        await rows.add("c", due_at=None, event="stop")

        async def wake() -> int:
            async with database.writing() as session:
                return len(await QUEUE.wake(session, "go"))

        assert sum(await asyncio.gather(*(wake() for _ in range(6)))) == 2
        assert {job.id for job in await claim(database)} == {"a", "b"}
        assert await wake() == 0
        assert await claim(database) == []

    async def test_before_its_time_wins_over_the_time(self, database: Database, rows: Rows) -> None:
        await rows.add("a", due_at=clock() + 1000 * SECOND, event="go")
        async with database.writing() as session:
            await QUEUE.wake(session, "go")
        (job,) = await claim(database)
        assert job.row.event is None

    async def test_a_job_that_timed_out_still_has_its_key(self, database: Database, rows: Rows) -> None:
        await rows.add("a", due_at=clock() - SECOND, event="go")
        (job,) = await claim(database)
        assert job.row.event == "go"

    @pytest.mark.parametrize("later", [None, 1000])
    async def test_that_comes_while_the_job_is_claimed_is_kept(
        self, database: Database, rows: Rows, later: int | None
    ) -> None:
        await rows.add("a", event="go")
        (job,) = await claim(database)
        async with database.writing() as session:
            assert await QUEUE.wake(session, "go") == ["a"]
        assert await claim(database, "other") == []
        async with database.writing() as session:
            await QUEUE.release(session, job, due_at=None if later is None else clock() + later * SECOND)
        assert [one.id for one in await claim(database)] == ["a"]

    async def test_that_is_rolled_back_wakes_nobody(self, database: Database, rows: Rows) -> None:
        await rows.add("a", due_at=None, event="go")
        async with database.writing() as session:
            assert await QUEUE.wake(session, "go") == ["a"]
            await session.rollback()
        assert await claim(database) == []

    async def test_after_the_end_wakes_nobody(self, database: Database, rows: Rows) -> None:
        await rows.add("a", event="go")
        (job,) = await claim(database)
        async with database.writing() as session:
            await QUEUE.finish(session, job)
            assert await QUEUE.wake(session, "go") == []


class TestLocks:
    async def test_of_renewed_claims_are_taken_by_id_as_those_of_others(self, database: Database, rows: Rows) -> None:
        await rows.add("b")
        await rows.add("a")
        await claim(database)
        locked = asyncio.Event()

        async def renew() -> dict[str, bool]:
            await locked.wait()
            async with database.writing() as session:
                return await QUEUE.renew(session, ["b", "a"], lease("somebody"))

        async def lock_both() -> None:
            async with database.writing() as session:
                await session.execute(select(chores.c.id).where(chores.c.id == "a").with_for_update())
                locked.set()
                await asyncio.sleep(0.3 if database.dialect == "postgresql" else 0)  # the renewal waits by now
                await session.execute(select(chores.c.id).where(chores.c.id == "b").with_for_update())

        renewed, _ = await asyncio.gather(renew(), lock_both())
        assert renewed == {"a": True, "b": True}
