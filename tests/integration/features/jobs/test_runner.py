"""Conformance of the runner: several processes over one database, on both databases."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, cast

import pytest
from sqlalchemy import insert
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.jobs.errors import JobBusy, LeaseLost
from headgate.features.jobs.leases import clock
from headgate.features.jobs.queue import Job, Queue
from headgate.foundation.database import Database
from headgate.foundation.errors import Unavailable
from tests.integration.features.jobs.conftest import QUEUE, SECOND, MakeProcess, Process, Rows, chores
from tests.support.patience import PATIENCE_SECONDS
from tests.support.properties import sized

pytestmark = pytest.mark.both_databases


class Gate:
    """A handler that begins, waits to be let on, and then finishes its job."""

    def __init__(self, process: Process) -> None:
        self.process = process
        self.began: asyncio.Queue[Job] = asyncio.Queue()
        self.open = asyncio.Event()
        self.cancelled = asyncio.Event()
        self.finished: list[bool] = []
        self.ended = asyncio.Event()

    async def __call__(self, job: Job) -> None:
        self.process.runs.append(job.id)
        self.began.put_nowait(job)
        try:
            await self.open.wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise
        async with self.process.database.writing() as session:
            self.finished.append(await QUEUE.finish(session, job, done=chores.c.done + 1))
        self.ended.set()

    async def next(self) -> Job:
        async with asyncio.timeout(PATIENCE_SECONDS):
            return await self.began.get()


class TestDue:
    async def test_thousands_of_due_rows_run_once_each(self, rows: Rows, make_process: MakeProcess) -> None:
        first, second = make_process(), make_process()
        names = [f"job-{number}" for number in range(sized(2_000, 10_000))]
        await rows.add(*names)
        await rows.add(*(f"waits-{number}" for number in range(1_000)), due_at=clock() + 10_000 * SECOND)
        first.work(limit=64)
        second.work(limit=64)
        await rows.until_done(len(names))
        assert sorted([*first.runs, *second.runs]) == sorted(names)
        assert await rows.done() == len(names)
        assert min(len(first.runs), len(second.runs)) > 0

    async def test_runs_at_its_time_and_not_before(self, rows: Rows, make_process: MakeProcess) -> None:
        process = make_process(poll_seconds=PATIENCE_SECONDS)
        gate = Gate(process)
        due_at = clock() + SECOND // 4
        await rows.add("a", due_at=due_at)
        process.work(gate)
        job = await gate.next()
        assert (job.attempt, clock() >= due_at) == (1, True)

    async def test_no_more_run_at_once_than_the_limit(self, rows: Rows, make_process: MakeProcess) -> None:
        process = make_process()
        await rows.add(*(f"job-{number}" for number in range(40)))
        process.work(limit=3)
        await rows.until_done(40)
        assert process.most_at_once == 3

    async def test_what_is_enqueued_often_runs_once(self, rows: Rows, make_process: MakeProcess) -> None:
        process = make_process(poll_seconds=PATIENCE_SECONDS)
        gate = Gate(process)
        process.work(gate)
        await rows.add("a")
        for _ in range(50):
            process.runner.enqueue("chores", "a")
        await gate.next()
        for _ in range(50):
            process.runner.enqueue("chores", "a")
            await asyncio.sleep(0)
        gate.open.set()
        await process.runner.settle("chores")
        assert (process.runs, gate.finished) == (["a"], [True])

    async def test_a_job_that_is_due_again_waits_until_its_handler_has_ended(
        self, rows: Rows, make_process: MakeProcess
    ) -> None:
        process = make_process()
        released, go, at_once, twice = asyncio.Event(), asyncio.Event(), 0, False

        async def handle(job: Job) -> None:
            nonlocal at_once, twice
            at_once += 1
            twice = twice or at_once > 1
            process.runs.append(job.id)
            async with process.database.writing() as session:
                if job.attempt == 1:
                    await QUEUE.release(session, job, due_at=clock())
                else:
                    await QUEUE.finish(session, job, done=1)
            if job.attempt == 1:
                released.set()
                await go.wait()
            at_once -= 1

        await rows.add("a")
        process.work(handle)
        await released.wait()
        assert await process.runner.recover() == 0
        for _ in range(3):
            process.runner.enqueue("chores", "a")
            await asyncio.sleep(0.03)
        assert process.runs == ["a"]
        go.set()
        await rows.until_done(1)
        assert (process.runs, twice) == (["a", "a"], False)

    async def test_a_command_runs_what_it_enqueued_and_nothing_else(
        self, rows: Rows, make_process: MakeProcess
    ) -> None:
        command = make_process(scans=False)
        await rows.add("mine", "others")
        command.work()
        command.runner.enqueue("chores", "mine")
        await command.runner.settle("chores")
        assert (command.runs, (await rows.row("others")).attempts) == (["mine"], 0)
        assert await rows.done() == 1


class PausedDatabase:
    """A database whose first transaction that writes is committed, and then does not return before `go` is set."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.committed, self.go = asyncio.Event(), asyncio.Event()

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[AsyncSession]:
        async with self._database.writing() as session:
            yield session
        self.committed.set()
        await self.go.wait()

    def reading(self) -> AbstractAsyncContextManager[AsyncSession]:
        return self._database.reading()


class TestSettling:
    async def test_waits_for_a_job_that_is_just_being_claimed(self, rows: Rows, make_process: MakeProcess) -> None:
        command = make_process(scans=False)
        paused = PausedDatabase(command.database)
        command.runner.database = cast("Database", paused)
        command.work()
        await rows.add("a")
        command.runner.enqueue("chores", "a")
        await paused.committed.wait()
        settling = asyncio.create_task(command.runner.settle("chores"))
        await asyncio.sleep(0.2)  # long enough to conclude that nothing is due and nothing runs
        assert not settling.done()
        paused.go.set()
        async with asyncio.timeout(PATIENCE_SECONDS):
            await settling
        assert (command.runs, await rows.done()) == (["a"], 1)


class TestEvents:
    async def test_an_event_wakes_a_job_in_another_process_once(self, rows: Rows, make_process: MakeProcess) -> None:
        processes = [make_process(), make_process()]
        await rows.add("a", due_at=None, event="approved")
        for process in processes:
            process.work()

        async def approve() -> None:
            async with rows.database.writing() as session:
                await QUEUE.wake(session, "approved")

        await asyncio.gather(*(approve() for _ in range(5)))
        await rows.until_done(1)
        for process in processes:
            await process.runner.close()
        assert [*processes[0].runs, *processes[1].runs] == ["a"]


class TestDeath:
    async def test_the_jobs_of_a_killed_process_continue_elsewhere_and_it_writes_nothing_late(
        self, rows: Rows, make_process: MakeProcess
    ) -> None:
        killed, other = make_process(), make_process(lease_seconds=0.3)
        gate = Gate(killed)
        await rows.add("a")
        killed.work(gate)
        await gate.next()
        await killed.die()
        other.work()
        await rows.until_done(1)
        gate.open.set()
        await gate.ended.wait()
        assert (gate.finished, await rows.done(), (await rows.row("a")).attempts) == ([False], 1, 2)

    async def test_one_that_lives_and_is_late_keeps_its_jobs_for_a_while(
        self, rows: Rows, make_process: MakeProcess
    ) -> None:
        late, other = make_process(lease_seconds=10), make_process(lease_seconds=10)
        gate = Gate(late)
        await rows.add("a")
        late.work(gate)
        await gate.next()
        other.runner.register(*late.runner._kinds.values())
        await rows.set(lease_until=clock() - 50 * SECOND)
        assert await other.runner.recover() == 0
        await rows.set(lease_until=clock() - 500 * SECOND)
        assert await late.runner.recover() == 0
        assert await other.runner.recover() == 1

    async def test_one_that_cannot_be_seen_is_judged_by_its_lease(
        self, rows: Rows, make_process: MakeProcess, tmp_path: Path
    ) -> None:
        far, other = make_process(folder=tmp_path / "far"), make_process()
        gate = Gate(far)
        await rows.add("a")
        far.work(gate)
        await gate.next()
        other.runner.register(*far.runner._kinds.values())
        assert await other.runner.recover() == 0
        await rows.set(lease_until=clock() - 1)
        assert await other.runner.recover() == 1

    async def test_a_claim_in_its_own_name_that_no_task_has_is_recovered(
        self, rows: Rows, make_process: MakeProcess
    ) -> None:
        process = make_process(lease_seconds=0.3)
        await rows.add("a", worker_id=process.worker.id, lease_until=clock() + 10_000 * SECOND, due_at=None)
        process.work()
        await rows.until_done(1)

    async def test_a_lease_from_before_the_clock_was_set_back_ends(
        self, rows: Rows, make_process: MakeProcess, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        process = make_process(lease_seconds=10)
        process.runner.register(*(_kinds(process)))
        steady = 1_000.0
        monkeypatch.setattr("headgate.features.jobs.leases.time.monotonic", lambda: steady)
        await rows.add("a", worker_id="far:1:x", lease_until=clock() + 9_000 * SECOND, due_at=None)
        assert await process.runner.recover() == 0
        steady += 9
        assert await process.runner.recover() == 0
        steady += 2
        assert await process.runner.recover() == 1


def _kinds(process: Process) -> list[Any]:
    process.runner.scans = False  # nothing runs by itself
    process.work()
    return list(process.runner._kinds.values())


class TestLost:
    async def test_a_lost_claim_cancels_the_handler(self, rows: Rows, make_process: MakeProcess) -> None:
        process = make_process(lease_seconds=3.0)  # shorter, and on a busy machine the thief's is over meanwhile
        gate = Gate(process)
        await rows.add("a")
        process.work(gate)
        await gate.next()
        await rows.set(worker_id="thief")
        async with asyncio.timeout(PATIENCE_SECONDS):
            await gate.cancelled.wait()
        await process.runner.settle("chores")
        row = await rows.row("a")
        assert (row.worker_id, row.attempts, row.done) == ("thief", 1, 0)

    async def test_a_heartbeat_keeps_claims_longer_than_a_lease(self, rows: Rows, make_process: MakeProcess) -> None:
        process, other = make_process(lease_seconds=0.3), make_process(lease_seconds=0.3)
        gate = Gate(process)
        await rows.add("a")
        process.work(gate)
        job = await gate.next()
        other.work()

        async def renewed_twice() -> bool:
            return bool((await rows.row("a")).lease_until > job.row.lease_until + SECOND // 2)

        await rows.until(renewed_twice)
        gate.open.set()
        await rows.until_done(1)
        assert (other.runs, gate.finished) == ([], [True])

    async def test_a_job_that_is_none_any_more_is_cancelled_and_claimed_until_it_ended(
        self, rows: Rows, make_process: MakeProcess
    ) -> None:
        process, other = make_process(lease_seconds=0.3), make_process()
        gate = Gate(process)
        cancelled, end = asyncio.Event(), asyncio.Event()

        async def handle(job: Job) -> None:
            try:
                await gate(job)
            except asyncio.CancelledError:
                cancelled.set()
                await end.wait()  # as one that finishes a write
                raise

        await rows.add("a")
        process.work(handle, queue=Queue(chores, only=chores.c.done == 0))
        await gate.next()
        await rows.set(done=7)
        async with asyncio.timeout(PATIENCE_SECONDS):
            await cancelled.wait()
        await process.runner._renew()  # the next heartbeat cancels nothing twice
        other.runner.register(*process.runner._kinds.values())
        with pytest.raises(JobBusy):
            async with other.runner.hold("chores", "a"):
                pass
        end.set()
        await process.runner.wait("chores", "a", PATIENCE_SECONDS)
        assert ((await rows.row("a")).worker_id, process.runs) == (None, ["a"])


class TestFailure:
    async def test_a_job_that_fails_is_put_off_and_the_others_run(self, rows: Rows, make_process: MakeProcess) -> None:
        process = make_process()

        async def handle(job: Job) -> None:
            if job.id == "bad" and job.attempt < 3:
                raise ValueError("bad")
            await process.handle(job)

        await rows.add("bad", "good")
        process.work(handle)
        await rows.until_done(2)
        assert (await rows.row("bad")).attempts == 3

    async def test_a_job_that_its_handler_forgot_is_due_again(self, rows: Rows, make_process: MakeProcess) -> None:
        process = make_process()

        async def handle(job: Job) -> None:
            if job.attempt > 1:
                await process.handle(job)

        await rows.add("a")
        process.work(handle)
        await rows.until_done(1)

    async def test_goes_on_after_the_database_was_away(self, rows: Rows, make_process: MakeProcess) -> None:
        process = make_process(lease_seconds=0.3)
        away = Away(rows.database)
        process.runner.database = cast("Database", away)
        await rows.add("a")
        process.work()
        await rows.until_done(1)
        assert away.left == 0


class Away:
    """A database that cannot be read a few times."""

    def __init__(self, database: Database) -> None:
        self.left = 10
        self.writing = database.writing
        self._reading = database.reading

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[Any]:
        if self.left:
            self.left -= 1
            raise Unavailable("The database is away.")
        async with self._reading() as session:
            yield session


class TestClose:
    async def test_releases_what_is_not_done_so_that_another_continues_at_once(
        self, rows: Rows, make_process: MakeProcess
    ) -> None:
        closing, other = make_process(), make_process()
        gate = Gate(closing)
        await rows.add("a", "b")
        closing.work(gate, limit=1)
        await gate.next()
        await closing.runner.close(grace_seconds=0)
        assert gate.cancelled.is_set()
        row = await rows.row("a")
        assert (row.worker_id, row.due_at is not None and row.due_at <= clock()) == (None, True)
        assert (await rows.row("b")).attempts == 0
        other.work()
        await rows.until_done(2)

    async def test_lets_a_job_end_that_is_about_to(self, rows: Rows, make_process: MakeProcess) -> None:
        process = make_process()
        gate = Gate(process)
        await rows.add("a")
        process.work(gate)
        await gate.next()
        closing = asyncio.create_task(process.runner.close(grace_seconds=PATIENCE_SECONDS))
        await asyncio.sleep(0)
        gate.open.set()
        await closing
        assert (gate.finished, await rows.done()) == ([True], 1)

    async def test_cancel_ends_the_handler_and_the_job_is_due_again(
        self, rows: Rows, make_process: MakeProcess
    ) -> None:
        process = make_process()
        gate = Gate(process)
        await rows.add("a")
        process.work(gate)
        await gate.next()
        await process.runner.cancel("chores", "a")
        assert gate.cancelled.is_set()
        assert (await gate.next()).attempt == 2


class TestHold:
    async def test_keeps_a_job_from_running_and_leaves_it_as_it_was(
        self, rows: Rows, make_process: MakeProcess
    ) -> None:
        process, other = make_process(), make_process()
        await rows.add("a", due_at=clock() + 10_000 * SECOND, event="go")
        process.work()
        other.work()
        async with process.runner.hold("chores", "a", chores.c.done == 0):
            with pytest.raises(JobBusy):
                async with process.runner.hold("chores", "a"):
                    pass
            with pytest.raises(JobBusy):
                async with other.runner.hold("chores", "a"):
                    pass
            async with rows.database.writing() as session:
                await QUEUE.wake(session, "go")
            await asyncio.sleep(0.1)
            assert (process.runs, other.runs) == ([], [])
        await rows.until_done(1)
        assert len([*process.runs, *other.runs]) == 1

    async def test_takes_a_job_whose_holder_is_gone(self, rows: Rows, make_process: MakeProcess) -> None:
        killed, command = make_process(), make_process(scans=False)
        gate = Gate(killed)
        await rows.add("a")
        killed.work(gate)
        await gate.next()
        await killed.die()
        command.work()
        async with command.runner.hold("chores", "a") as job:
            assert job.attempt == 2
        gate.open.set()
        await gate.ended.wait()
        assert gate.finished == [False]

    async def test_waits_for_a_task_that_has_settled_its_job(self, rows: Rows, make_process: MakeProcess) -> None:
        process, settled, go = make_process(), asyncio.Event(), asyncio.Event()

        async def handle(job: Job) -> None:
            async with process.database.writing() as session:
                await QUEUE.release(session, job)
            settled.set()
            await go.wait()

        async def hold() -> int:
            async with process.runner.hold("chores", "a") as job:
                return job.attempt

        await rows.add("a")
        process.work(handle)
        await settled.wait()
        holding = asyncio.create_task(hold())
        await asyncio.sleep(0.05)
        assert not holding.done()
        go.set()
        async with asyncio.timeout(PATIENCE_SECONDS):
            assert await holding == 2

    async def test_refuses_where_the_condition_does_not_hold(self, rows: Rows, make_process: MakeProcess) -> None:
        process = make_process()
        await rows.add("a", due_at=None)
        process.work()
        with pytest.raises(JobBusy):
            async with process.runner.hold("chores", "a", chores.c.done == 7):
                pass
        assert not process.runner.owns("chores", "a")

    async def test_tells_when_it_was_lost(self, rows: Rows, make_process: MakeProcess) -> None:
        process = make_process(lease_seconds=0.3)
        await rows.add("a", due_at=None)
        process.work()

        async def hold_on() -> None:
            async with process.runner.hold("chores", "a"):
                await rows.set(worker_id="thief", lease_until=clock() + 10_000 * SECOND)
                await asyncio.sleep(PATIENCE_SECONDS)

        with pytest.raises(LeaseLost):
            await hold_on()
        assert (await rows.row("a")).worker_id == "thief"


class TestStarting:
    async def test_a_new_row_is_claimed_from_the_beginning(self, rows: Rows, make_process: MakeProcess) -> None:
        process, other = make_process(), make_process()
        other.work()
        process.work()
        async with process.runner.starting("chores", "a") as columns, rows.database.writing() as session:
            await session.execute(insert(chores).values(id="a", **columns))
        await rows.until_done(1)
        assert (process.runs, other.runs) == (["a"], [])

    async def test_nothing_runs_when_the_row_is_not_written(self, rows: Rows, make_process: MakeProcess) -> None:
        process = make_process()
        process.work()
        with pytest.raises(ValueError, match="no"):
            async with process.runner.starting("chores", "a"):
                raise ValueError("no")
        assert not process.runner.owns("chores", "a")
        assert process.runs == []
