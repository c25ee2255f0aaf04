"""Carries out a flow's tests: every trial is a real run of one frozen version, in a chat of its own (DD-021)."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Again, Principal, bringing
from headgate.features.flows import versions
from headgate.features.flows.service import get_flow
from headgate.features.idempotency.keys import StartKey, claim
from headgate.features.runs import service as runs
from headgate.features.runs.engine.backend import ExecutionBackend
from headgate.features.runs.schemas import RunOut, RunStart
from headgate.features.testing import repository, results
from headgate.features.testing.results import INTERRUPTED, LEASE
from headgate.features.testing.schemas import TrialOut
from headgate.features.testing.tables import TrialRow
from headgate.foundation.database import Database, microseconds, now
from headgate.foundation.errors import HeadgateError, Unavailable
from headgate.foundation.log import get_logger
from headgate.foundation.quoting import clipped_to
from headgate.graph.cases import TestCase, misses

AT_ONCE = 3
"""Trials of one result that run side by side."""
LONGEST_TRIAL_SECONDS = 1800.0
SHOWN_CHARACTERS = 2_000
"""Of an answer; the whole is in the run's evidence."""
_BEAT_SECONDS = LEASE.total_seconds() / 6

log = get_logger(__name__)
Tell = Callable[[TrialOut], None]


@dataclass(frozen=True, slots=True)
class _Job:
    """A result that is being made."""

    result_id: str
    principal: Principal
    """As they were when it began: who may cancel its runs, whatever they may do by then."""
    again: Again
    flow_id: str
    version: int
    trials: int
    cases: Sequence[TestCase]
    tell: Tell


class TestRuns:
    """Runs tests in the background of this process.

    Args:
        database: Where the results are. It is not held while runs go on.
        engine: Who carries the runs out.
    """

    __test__ = False

    def __init__(self, database: Database, engine: ExecutionBackend) -> None:
        self._database = database
        self._engine = engine
        self._tasks: dict[str, asyncio.Task[None]] = {}

    async def begin(
        self,
        principal: Principal,
        flow_id: str,
        *,
        trials: int | None = None,
        tell: Tell = lambda _line: None,
        again: Again | None = None,
        once: StartKey | None = None,
    ) -> str:
        """Freeze the draft and begin to run its tests; the id of the result.

        With `again`, whoever began them is asked about before each trial: who may not run them any more ends them.
        Raises `NoTests`, `TestsRunning`, `KeyTaken`, `FlowNotFound`, `PermissionMissing`, or `FlowInvalid` when it
        cannot run.
        """
        async with self._database.reading() as session:
            await results.cases_to_run(session, principal, flow_id)
        principal = bringing(principal, Permission.RUNS_START, Permission.RUNS_VIEW)
        catalog = self._engine.services.components
        pinned = await versions.pin_version(self._database, principal, catalog, flow_id, wanted="draft")
        async with self._database.writing() as session:
            row, cases = await results.add_result(session, principal, flow_id, version=pinned.version, trials=trials)
            await claim(session, once, row.id, microseconds(now()))

        async def unchanged() -> Principal:
            return principal

        job = _Job(row.id, principal, again or unchanged, flow_id, row.version, row.trials, cases, tell)
        task = asyncio.create_task(self._carry_out(job))
        self._tasks[row.id] = task
        task.add_done_callback(lambda _task: self._tasks.pop(row.id, None))
        return row.id

    async def wait(self, result_id: str, *, seconds: float | None = None) -> None:
        """Return when the result is over, or after so many seconds; of another process's result at once."""
        task = self._tasks.get(result_id)
        if task is not None:
            await asyncio.wait([task], timeout=seconds)

    async def cancel(self, principal: Principal, flow_id: str, result_id: str) -> bool:
        """End a result, and the runs it waits for; whether it was running. Raises `TestResultNotFound`."""
        async with self._database.writing() as session:
            changed = await results.cancel_result(session, principal, flow_id, result_id)
        task = self._tasks.get(result_id)
        if task is not None:
            task.cancel()
            await asyncio.wait([task])
        return changed

    async def sweep(self) -> int:
        """End the results whose process is gone. Returns how many there were."""
        async with self._database.reading() as session:
            if not await repository.has_abandoned(session):
                return 0
        async with self._database.writing() as session:
            return await repository.end_abandoned(session, reason=INTERRUPTED)

    async def keep_sweeping(self) -> None:
        """Sweep now and then, until cancelled."""
        while True:
            await asyncio.sleep(LEASE.total_seconds() / 2)
            with suppress(Unavailable):
                await self.sweep()

    async def close(self) -> None:
        """End what runs in this process."""
        for task in list(self._tasks.values()):
            task.cancel()
        if self._tasks:
            await asyncio.wait(list(self._tasks.values()))

    async def _carry_out(self, job: _Job) -> None:
        """Run every trial; whatever happens, the result is over afterwards."""
        beating = asyncio.create_task(self._beat(job, asyncio.current_task()))
        status, reason = "cancelled", INTERRUPTED
        try:
            passed = await self._run_all(job)
            status, reason = ("passed" if passed else "failed"), ""
        except* _Over:
            pass
        except* HeadgateError as group:
            reason = f"The tests could not be run: {group.exceptions[0]}"
        except* Exception:  # the result must not stay as if it were being made
            log.exception("tests_crashed", result_id=job.result_id)
            reason = "The tests could not be run: something went wrong in Headgate. Its log says what."
        finally:
            beating.cancel()
            await asyncio.shield(self._end(job, status, reason))

    async def _run_all(self, job: _Job) -> bool:
        slots = asyncio.Semaphore(AT_ONCE)

        async def trial(position: int, number: int) -> bool:
            async with slots:
                return await self._trial(job, position, number)

        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(trial(position, number))
                for number in range(1, job.trials + 1)
                for position in range(len(job.cases))
            ]
        return all(task.result() for task in tasks)

    async def _trial(self, job: _Job, position: int, number: int) -> bool:
        case, caller, began = job.cases[position], None, time.monotonic()
        run_id, run, error, answer = "", None, "", ""
        start = RunStart(
            text=case.text,
            form_data=case.form,
            file_ids=case.file_ids,
            session_id=f"test-{job.result_id}-{position}-{number}",
            version=job.version,
        )
        try:
            caller = await self._caller(job)
            run_id = await self._start(job, caller, start)
            run = await self._outcome(job, run_id)
            error = _why_no_answer(run)
            answer = await runs.whole_answer(self._engine, job.principal, run)
        except HeadgateError as fault:
            if caller is None and not isinstance(fault, Unavailable):
                raise  # no other trial may run either
            error = str(fault)
        missed = [] if error else await asyncio.to_thread(misses, case.expect, answer)
        line = TrialOut(
            position=position,
            trial=number,
            name=case.name,
            passed=not error and not missed,
            misses=missed,
            answer=clipped_to(answer, SHOWN_CHARACTERS),
            error=error,
            run_id=run_id,
            ms=round((time.monotonic() - began) * 1000) if run is None or run.ms is None else round(run.ms),
            tokens=0 if run is None else sum((s.tokens_input or 0) + (s.tokens_output or 0) for s in run.steps),
        )
        await self._keep(job, line)
        job.tell(line)
        return line.passed

    async def _caller(self, job: _Job) -> Principal:
        """Whoever runs the tests, as things are now. Raises what ends them: they may not, or the flow is gone."""
        principal = await job.again()
        async with self._database.reading() as session:
            await get_flow(session, principal, job.flow_id, permission=Permission.RUNS_TEST)
        return bringing(principal, Permission.RUNS_START)

    async def _start(self, job: _Job, caller: Principal, start: RunStart) -> str:
        """Begin a run; its id. Who is cancelled meanwhile still learns the id, and cancels the run."""
        starting = asyncio.create_task(runs.start_run(self._database, self._engine, caller, job.flow_id, start))
        try:
            return (await asyncio.shield(starting)).run_id
        except asyncio.CancelledError:
            with suppress(HeadgateError):
                await runs.cancel_run(self._engine, job.principal, (await starting).run_id)
            raise

    async def _outcome(self, job: _Job, run_id: str) -> RunOut:
        """The run when it is over. One that takes too long, or is waited for no more, is cancelled."""
        try:
            await runs.wait_for_run(self._engine, run_id, seconds=LONGEST_TRIAL_SECONDS)
        except asyncio.CancelledError:
            with suppress(HeadgateError):
                await asyncio.shield(runs.cancel_run(self._engine, job.principal, run_id))
            raise
        found = await runs.answer_of(self._engine, job.principal, run_id)
        if found.status in {"queued", "running"}:
            await runs.cancel_run(self._engine, job.principal, run_id)
        return found

    async def _keep(self, job: _Job, line: TrialOut) -> None:
        """Write a trial down. Raises `_Over` when the result was ended meanwhile."""
        async with self._database.writing() as session:
            if not await repository.hold(
                session, job.result_id, tenant_id=job.principal.tenant_id, until=now() + LEASE
            ):
                raise _Over
            session.add(TrialRow(result_id=job.result_id, tenant_id=job.principal.tenant_id, **line.model_dump()))

    async def _beat(self, job: _Job, worker: "asyncio.Task[None] | None") -> None:
        """Say that this process is there; when somebody ended the result elsewhere, end the work on it."""
        while True:
            await asyncio.sleep(_BEAT_SECONDS)
            with suppress(Unavailable):
                async with self._database.writing() as session:
                    goes_on = await repository.hold(
                        session, job.result_id, tenant_id=job.principal.tenant_id, until=now() + LEASE
                    )
                if not goes_on and worker is not None:
                    worker.cancel()
                    return

    async def _end(self, job: _Job, status: str, reason: str) -> None:
        try:
            async with self._database.writing() as session:
                await repository.end(
                    session, job.result_id, tenant_id=job.principal.tenant_id, status=status, reason=reason
                )
        except Unavailable as error:  # the sweep ends it when the database is back
            log.warning("test_result_not_ended", result_id=job.result_id, error=str(error))


@asynccontextmanager
async def open_tests(database: Database, engine: ExecutionBackend, *, recover: bool) -> AsyncIterator[TestRuns]:
    """Tests that can be run; with `recover`, results that dead processes left are ended now and then."""
    tests = TestRuns(database, engine)
    sweeping = asyncio.create_task(tests.keep_sweeping()) if recover else None
    try:
        yield tests
    finally:
        if sweeping is not None:
            sweeping.cancel()
            await asyncio.wait([sweeping])
        await tests.close()


class _Over(Exception):
    """The result was ended by somebody else."""


def _why_no_answer(run: RunOut) -> str:
    if run.status == "completed":
        return ""
    if run.error is not None:
        return f"The run failed: {run.error.message}"
    if run.status in {"queued", "running"}:
        return f"The run took longer than {LONGEST_TRIAL_SECONDS / 60:.0f} minutes and was cancelled."
    return f"The run was {run.status}."
