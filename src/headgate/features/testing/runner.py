"""Runs a flow's tests: every trial is a real run of one frozen version, in a separate chat (DD-021)."""

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Again, Principal, bringing
from headgate.features.flows import versions
from headgate.features.flows.service import get_flow
from headgate.features.idempotency.keys import StartKey, claim
from headgate.features.jobs.errors import LeaseLost
from headgate.features.jobs.queue import Job
from headgate.features.jobs.runner import JobKind, JobRunner
from headgate.features.runs import service as runs
from headgate.features.runs.engine.backend import ExecutionBackend
from headgate.features.runs.patience import patiently
from headgate.features.runs.schemas import RunOut, RunStart
from headgate.features.testing import repository, results
from headgate.features.testing.judging import Judge, Verdict
from headgate.features.testing.results import INTERRUPTED
from headgate.features.testing.schemas import TrialOut
from headgate.features.testing.tables import TrialRow
from headgate.foundation.database import Database, microseconds, now
from headgate.foundation.errors import HeadgateError, Unavailable
from headgate.foundation.ids import new_id
from headgate.foundation.log import get_logger
from headgate.foundation.quoting import clipped_to
from headgate.graph.cases import TestCase

AT_ONCE = 3
"""Maximum concurrent trials of one result."""
LONGEST_TRIAL_SECONDS = 1800.0
SHOWN_CHARACTERS = 2_000
"""Maximum characters of an output; the complete one is in the run's evidence."""
MOST_RESULTS = 1_000
"""Maximum concurrent results in one process; each is requested by a user and starts immediately."""
KIND = "tests"

log = get_logger(__name__)
Report = Callable[[TrialOut], None]


@dataclass(frozen=True, slots=True)
class _Request:
    """What to run for a result."""

    result_id: str
    principal: Principal
    """The user at the start, who may cancel the runs, regardless of later permissions."""
    again: Again
    flow_id: str
    version: int
    trials: int
    cases: Sequence[TestCase]
    report: Report


class TestRuns:
    """Runs tests in the background of this process.

    Args:
        database: The database of the results. No connection is held during runs.
        engine: Executes the runs.
        jobs: Runs each result as a job that is claimed when it is created.
        judge: Compares answers with what is expected of them.
    """

    __test__ = False

    def __init__(self, database: Database, engine: ExecutionBackend, jobs: JobRunner, judge: Judge) -> None:
        self._database = database
        self._engine = engine
        self._jobs = jobs
        self._judge = judge
        self._requests: dict[str, _Request] = {}
        """Requested results whose job has not started."""
        jobs.register(JobKind(KIND, repository.QUEUE, self._run_trials, MOST_RESULTS))

    async def begin(
        self,
        principal: Principal,
        flow_id: str,
        *,
        trials: int | None = None,
        report: Report = lambda _line: None,
        again: Again | None = None,
        once: StartKey | None = None,
    ) -> str:
        """Freeze the draft and start its tests. Returns the id of the result.

        With `again` the permissions of the user are checked before each trial; when they are missing, the tests end.
        Raises `NoTests`, `TestsRunning`, `KeyTaken`, `FlowNotFound`, `PermissionMissing`, or `FlowInvalid` when it
        cannot run.
        """
        async with self._database.reading() as session:
            await results.cases_to_run(session, principal, flow_id)
        principal = bringing(principal, Permission.RUNS_START, Permission.RUNS_VIEW)
        catalog = self._engine.services.components
        pinned = await versions.pin_version(self._database, principal, catalog, flow_id, wanted="draft")
        await self._jobs.recover(KIND)  # a result of a dead process does not block a new one
        result_id = new_id()

        async def unchanged() -> Principal:
            return principal

        async with self._jobs.starting(KIND, result_id) as claimed:
            async with self._database.writing() as session:
                row, cases = await results.add_result(
                    session,
                    principal,
                    flow_id,
                    version=pinned.version,
                    trials=trials,
                    result_id=result_id,
                    claimed=claimed,
                )
                await claim(session, once, row.id, microseconds(now()))
            self._requests[result_id] = _Request(
                result_id, principal, again or unchanged, flow_id, row.version, row.trials, cases, report
            )
        return result_id

    async def wait(self, result_id: str, *, seconds: float | None = None) -> None:
        """Return when the result is finished, or after the timeout; for another process's result immediately."""
        await self._jobs.wait(KIND, result_id, seconds)

    async def cancel(self, principal: Principal, flow_id: str, result_id: str) -> bool:
        """End a result and its current runs; return whether it was running. Raises `TestResultNotFound`."""
        async with self._database.writing() as session:
            changed = await results.cancel_result(session, principal, flow_id, result_id)
        await self._jobs.cancel(KIND, result_id)
        return changed

    async def _run_trials(self, job: Job) -> None:
        """Run every trial and end the result, also after an error. A result that a dead process left is cancelled."""
        request = self._requests.pop(job.id, None)
        status, reason = "cancelled", INTERRUPTED
        try:
            if request is not None:
                passed = await self._run_all(request, job)
                status, reason = ("passed" if passed else "failed"), ""
        except* LeaseLost:
            pass
        except* HeadgateError as group:
            reason = f"The tests could not be run: {group.exceptions[0]}"
        except* Exception:  # the result must not remain `running`
            log.exception("tests_crashed", result_id=job.id)
            reason = "The tests could not be run because of an internal error. See the server log."
        finally:
            await asyncio.shield(self._end(job, status, reason))

    async def _run_all(self, request: _Request, job: Job) -> bool:
        slots = asyncio.Semaphore(AT_ONCE)

        async def trial(position: int, number: int) -> bool:
            async with slots:
                return await self._trial(request, job, position, number)

        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(trial(position, number))
                for number in range(1, request.trials + 1)
                for position in range(len(request.cases))
            ]
        return all(task.result() for task in tasks)

    async def _trial(self, request: _Request, job: Job, position: int, number: int) -> bool:
        case, caller, began = request.cases[position], None, time.monotonic()
        run_id, run, error, output, verdict = "", None, "", "", Verdict([])
        start = RunStart(
            text=case.text,
            form_data=case.form,
            file_ids=case.file_ids,
            session_id=f"test-{request.result_id}-{position}-{number}",
            version=request.version,
        )
        try:
            caller = await self._caller(request)
            run_id = await self._start(request, caller, start)
            run = await self._outcome(request, run_id)
            error = _why_no_answer(run)
            output = await runs.complete_text(self._engine, request.principal, run)
            if not error:
                space_id = await self._engine.services.spaces.of(caller.tenant_id, run.flow_id)
                verdict = await self._judge.judge(caller, space_id, run_id, case, output)
        except HeadgateError as fault:
            if caller is None and not isinstance(fault, Unavailable):
                raise  # no further trial may run
            error = str(fault)
        line = TrialOut(
            position=position,
            trial=number,
            name=case.name,
            passed=not error and not verdict.misses,
            misses=verdict.misses,
            answer=clipped_to(output, SHOWN_CHARACTERS),
            error=error,
            run_id=run_id,
            ms=round((time.monotonic() - began) * 1000) if run is None or run.ms is None else round(run.ms),
            tokens=verdict.tokens + (0 if run is None else _tokens_of(run)),
        )
        await self._keep(request, job, line)
        request.report(line)
        return line.passed

    async def _caller(self, request: _Request) -> Principal:
        """Return the user with current permissions. Raises when they may no longer run tests or the flow is deleted."""
        principal = await request.again()
        async with self._database.reading() as session:
            await get_flow(session, principal, request.flow_id, permission=Permission.RUNS_TEST)
        return bringing(principal, Permission.RUNS_START)

    async def _start(self, request: _Request, caller: Principal, start: RunStart) -> str:
        """Start a run and return its id. When cancelled during the start, it cancels the run once its id is known."""
        starting = asyncio.create_task(
            runs.start_run(self._database, self._engine, caller, request.flow_id, start, is_test=True)
        )
        try:
            return (await asyncio.shield(starting)).run_id
        except asyncio.CancelledError:
            with suppress(HeadgateError):
                await runs.cancel_run(self._engine, request.principal, (await starting).run_id)
            raise

    async def _outcome(self, request: _Request, run_id: str) -> RunOut:
        """Return the ended run. It is cancelled on timeout or when the wait is cancelled."""
        try:
            await runs.wait_for_run(self._engine, run_id, seconds=LONGEST_TRIAL_SECONDS)
        except asyncio.CancelledError:
            with suppress(HeadgateError):
                await asyncio.shield(runs.cancel_run(self._engine, request.principal, run_id))
            raise
        run = await runs.answer_of(self._engine, request.principal, run_id)
        if run.status in {"queued", "running", "waiting", "paused"}:
            await runs.cancel_run(self._engine, request.principal, run_id)
        return run

    async def _keep(self, request: _Request, job: Job, line: TrialOut) -> None:
        """Store a trial. Raises `LeaseLost` when the result has ended."""
        async with self._database.writing() as session:
            if not await repository.is_held(session, job):
                raise LeaseLost(f"The result {job.id} was finished or claimed by another process.")
            session.add(TrialRow(result_id=job.id, tenant_id=request.principal.tenant_id, **line.model_dump()))

    async def _end(self, job: Job, status: str, reason: str) -> None:
        async def finish() -> None:
            async with self._database.writing() as session:
                await repository.QUEUE.finish(session, job, status=status, reason=reason, finished_at=now())

        try:
            await patiently(finish)
        except Unavailable as error:  # a later attempt ends it as interrupted
            log.warning("test_result_not_ended", result_id=job.id, error=str(error))


def _tokens_of(run: RunOut) -> int:
    return sum((step.tokens_input or 0) + (step.tokens_output or 0) for step in run.steps)


def _why_no_answer(run: RunOut) -> str:
    if run.status == "completed":
        return ""
    if run.error is not None:
        return f"The run failed: {run.error.message}"
    if run.status in {"queued", "running", "waiting", "paused"}:
        return f"The run took longer than {LONGEST_TRIAL_SECONDS / 60:.0f} minutes and was cancelled."
    return f"The run was {run.status}."
