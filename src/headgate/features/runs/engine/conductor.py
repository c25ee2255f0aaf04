"""Executes the steps of a run, in sequence and in parallel, and stores each transition."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from itertools import islice

from headgate.features.runs.engine.descriptions import description_of, interruption_warning
from headgate.features.runs.engine.recovery import Recovery, startable
from headgate.features.runs.engine.turns import Turns
from headgate.features.runs.engine.worker_lease import WorkerLease
from headgate.features.runs.errors import FLOW_DELETED, SubflowFailed
from headgate.features.runs.events import StepEvents
from headgate.features.runs.patience import PatientBook, patiently
from headgate.features.runs.states import RunStatus
from headgate.features.runs.step_services import Services
from headgate.features.runs.steps.active import ActiveRun
from headgate.features.runs.steps.calls import StepCalls
from headgate.features.runs.steps.executor import Executed, StepExecutor
from headgate.features.runs.steps.flows import FlowStarter
from headgate.features.runs.steps.ledger import Following
from headgate.features.runs.steps.payloads import run_output
from headgate.features.runs.steps.planned import PlannedStep
from headgate.features.runs.steps.recorder import Recorder
from headgate.features.runs.steps.retries import next_attempt
from headgate.features.runs.steps.waits import Suspended
from headgate.features.runs.store.port import RunStore
from headgate.features.runs.transitions import (
    Claim,
    Failed,
    Finished,
    Json,
    Onward,
    Progress,
    clock,
)
from headgate.features.runs.waiting import Suspension, Tries, WaitReason
from headgate.foundation.errors import Cancelled, DatabaseUnavailable, HeadgateError, Unavailable
from headgate.foundation.log import get_logger

log = get_logger(__name__)


class Conductor:
    """Executes the runs of one engine.

    Args:
        store: Stores transitions.
        services: Services that steps may use.
        worker_lease: Worker and leases of the claims.
        recovery: Reads what other processes stored.
        on_end: Called once a run is over in the database.
        flows: Starts runs for steps; None where no step can start one.
        turns: Schedules transitions where runs of several users share this process.
    """

    def __init__(
        self,
        store: RunStore,
        services: Services,
        worker_lease: WorkerLease,
        recovery: Recovery,
        *,
        on_end: Callable[[ActiveRun], None],
        turns: Turns | None = None,
        flows: FlowStarter | None = None,
    ) -> None:
        self._store = store
        self._services = services
        self._worker_lease = worker_lease
        self._recovery = recovery
        self._on_end = on_end
        self._turns = turns
        self._flows = flows
        self._executor = StepExecutor(services, flows)
        self._most_steps = services.engine.max_concurrent_steps
        self._left: dict[str, str] = {}
        """Runs that were abandoned here until another process starts, with the reason."""

    async def conduct(self, run: ActiveRun, claims: Sequence[Claim]) -> None:
        """Execute claimed steps and everything that follows from them in this process."""
        me = asyncio.current_task()
        first = self._spread(run, claims)
        if first is not None:
            await self._follow(run, first)
        while other_tasks := {task for task in run.tasks if task is not me}:
            await asyncio.wait(other_tasks)
        run.conducted = False

    def rejoin(self, run: ActiveRun) -> None:
        """Continue a resumed run while steps of it still run here, in addition to them."""
        self._add_task(run, self._rejoin(run))

    async def _rejoin(self, run: ActiveRun) -> None:
        try:
            async with run.turn:
                claims = await self._load_run(run)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is told there
            self._give_up(run, error)
            return
        first = self._spread(run, claims)
        if first is not None:
            await self._follow(run, first)

    async def _load_run(self, run: ActiveRun) -> tuple[Claim, ...]:
        """Read the run from the database, and claim all steps that wait for nothing."""
        stored = await patiently(lambda: self._store.load(run.key.run_id))
        if stored is None:
            return ()
        run.events.run_started(resumed=True)
        await self._recovery.absorb(run, stored)
        return await self.move(run, run.ledger.decide(startable(run, stored)))

    async def move(
        self,
        run: ActiveRun,
        following: Following,
        finished: Finished | None = None,
        announce: Callable[[], None] | None = None,
    ) -> tuple[Claim, ...]:
        """Make one transition, under the run's turn: store settled and skipped steps, and claim ready ones.

        Args:
            run: The run.
            following: Transition from the run's ledger.
            finished: The step that this transition completes.
            announce: Reports that step once it is stored.

        Returns:
            The claimed steps to execute.
        """
        onward = self._onward(run, following, freed=int(finished is not None))
        if finished is None and not (onward.settles or onward.skip or onward.claim or onward.output_payload):
            return ()
        advance = partial(self._advance, run, onward, finished)
        if self._turns is None or self._turns.alone(run.share):
            progress = await patiently(advance)
        else:
            async with self._turns.turn(run.key.run_id, run.share):
                progress = await patiently(advance)
        if finished is not None:
            run.working.pop(finished.claim.step_id, None)
        if not progress.recorded:
            self._lost(run, progress.status)
            return ()
        if announce is not None:
            announce()
        self._apply(run, onward, progress)
        if progress.status is RunStatus.PAUSED:
            run.ready.clear()
            run.suspended = True
        if self._may_be_over(run, following, finished, progress):
            return progress.claims + await self._conclude(run)
        if progress.status is RunStatus.PAUSED:
            return ()
        unknown = [
            step
            for step in progress.ready
            if step not in run.ready and run.may_take(step) and not run.ledger.settled(step)
        ]
        return progress.claims + (await self._catch_up(run, unknown) if unknown else ())

    async def _advance(self, run: ActiveRun, onward: Onward, finished: Finished | None) -> Progress:
        return await self._store.advance(run.key, onward, self._worker_lease.lease(), finished)

    def _may_be_over(self, run: ActiveRun, following: Following, finished: Finished | None, progress: Progress) -> bool:
        """Whether the last step may be settled without this process knowing: others may have settled the rest."""
        if progress.status is None or progress.status.over or run.working or run.ready or run.ledger.complete:
            return False
        settled = following.skip if finished is None else [*following.skip, finished.claim.step_id]
        return any(not run.planned.steps[step].step.children or run.returns_result(step) for step in settled)

    async def _conclude(self, run: ActiveRun) -> tuple[Claim, ...]:
        """Read what others settled; end the run if that was all."""
        stored = await patiently(lambda: self._store.load(run.key.run_id))
        if stored is None or stored.status.over:
            return ()
        await self._recovery.absorb(run, stored)
        return await self.move(run, Following()) if run.ledger.complete else ()

    def _onward(self, run: ActiveRun, following: Following, *, freed: int) -> Onward:
        run.ready.extend(following.offered if run.only is None else filter(run.may_take, following.offered))
        ends = self._worker_lease.stopping or self._worker_lease.handing_over
        room = 0 if ends else self._most_steps - len(run.working) + freed
        return Onward(
            settles=following.settles,
            skip=tuple(following.skip),
            claim=tuple(islice(run.ready, max(room, 0))),
            output_payload=self._result(run) if run.ledger.complete else None,
        )

    def _result(self, run: ActiveRun) -> Json:
        """Return the run's output, from its last steps in plan order."""
        last = [step_id for step_id in run.planned.steps if run.returns_result(step_id)]
        payloads = {step_id: run.leaf_payloads[step_id] for step_id in last if step_id in run.leaf_payloads}
        return run_output(payloads, self._services.limits)

    def _apply(self, run: ActiveRun, onward: Onward, progress: Progress) -> None:
        """Apply the outcome of a transition. Steps that could not be claimed belong to another worker now."""
        for _ in onward.claim:
            run.ready.popleft()
        for claim in progress.claims:
            run.working[claim.step_id] = claim
        run.events.changed()
        if progress.status is not None and progress.status.over:
            run.ready.clear()
            self._announce_end(run, progress.status)

    def _announce_end(self, run: ActiveRun, status: RunStatus) -> None:
        if status is RunStatus.COMPLETED:
            run.events.run_completed(clock() - run.started_at)
        elif run.failed:
            return
        else:
            run.failed = True
            run.events.run_failed(FLOW_DELETED)
        self._on_end(run)

    async def _catch_up(self, run: ActiveRun, steps: Sequence[str]) -> tuple[Claim, ...]:
        """Read the run when steps became ready through other processes too, then decide them."""
        stored = await patiently(lambda: self._store.load(run.key.run_id))
        if stored is None:
            return ()
        await self._recovery.absorb(run, stored)
        decidable = [step for step in steps if run.ledger.decidable(step) and not run.ledger.settled(step)]
        return await self.move(run, run.ledger.decide(decidable))

    def _spread(self, run: ActiveRun, claims: Sequence[Claim]) -> Claim | None:
        """Return the first claim for the caller to follow; start a task for each of the others."""
        for claim in claims[1:]:
            self._add_task(run, self._follow(run, claim))
        return claims[0] if claims else None

    def _add_task(self, run: ActiveRun, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        run.tasks.add(task)
        task.add_done_callback(run.tasks.discard)

    async def _follow(self, run: ActiveRun, claim: Claim) -> None:
        """Execute a linear stretch of steps. Never raises: what cannot be stored is left to be recovered."""
        following: Claim | None = claim
        try:
            while following is not None and not run.abandoned:
                following = await self._execute_step(run, following)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is told there
            self._give_up(run, error, step_id=claim.step_id)

    def _give_up(self, run: ActiveRun, error: Exception, **location: str) -> None:
        unforeseen = None if isinstance(error, Unavailable) else error
        log.error("run left for recovery", run_id=run.key.run_id, problem=str(error), exc_info=unforeseen, **location)
        if not self._services.engine.recover_on_start:  # a command, which recovers nothing
            self._left[run.key.run_id] = description_of(error)[1]
        run.abandon()

    def require_progress(self, run_id: str) -> None:
        """Raise `Unavailable` for a run that was abandoned here and makes no progress."""
        if run_id in self._left:
            raise Unavailable(
                f"Run {run_id} was interrupted because its outcome could not be written: {self._left[run_id]}",
                remedy="Fix this problem. Then `headgate serve` resumes the run where it stopped.",
            )

    async def _execute_step(self, run: ActiveRun, claim: Claim) -> Claim | None:
        """Execute one step, up to the claim of the next."""
        events = run.events.step(claim.step_id, claim.attempt)
        try:
            return await self._execute(run, claim, events)
        finally:
            events.close()

    async def _execute(self, run: ActiveRun, claim: Claim, events: StepEvents) -> Claim | None:
        step = run.planned.steps[claim.step_id]
        recorder = Recorder()
        calls = self._calls(run, claim, recorder)
        began = clock()
        stops = partial(self._store.stops_before, run.key.run_id, claim.step_id)
        if run.terms.stops is not None and await patiently(stops):
            return self._spread(run, await self._suspend(run, Suspension(claim, WaitReason.BREAKPOINT, None)))
        run.events.step_started(claim.attempt)
        if claim.attempt > 1 and claim.step_id not in run.woken:
            events.log(interruption_warning(step, claim, recorder))
        try:
            with run.events.step_span(step, claim.attempt):
                await calls.open()
                executed = await self._executor.execute(
                    run, step, recorder, lambda: self._is_cancelled(run), events=events, calls=calls
                )
        except DatabaseUnavailable:
            # Not the step's fault: it is left to be recovered, as when its worker dies.
            raise
        except Suspended as wait:
            return self._spread(run, await self._suspend(run, wait.suspension(claim)))
        except Exception as error:  # noqa: BLE001 - whatever a component raises is its step's failure
            await calls.reject()
            return self._spread(run, await self._failed(run, step, claim, recorder, error=error, began=began))
        return self._spread(run, await self._finish(run, step, claim, executed, clock() - began))

    async def _suspend(self, run: ActiveRun, suspension: Suspension) -> tuple[Claim, ...]:
        """End the attempt of a step that waits, and claim what there is room for now."""
        async with run.turn:
            run.suspended = await patiently(
                lambda: self._store.suspend(run.key, suspension, self._worker_lease.lease())
            )
            run.working.pop(suspension.claim.step_id, None)
            if run.suspended:
                run.events.changed()
                claims = await self.move(run, Following())
                if suspension.reason is WaitReason.RUN and self._flows is not None:
                    self._add_task(run, self._flows.wake(run.key.run_id))  # it may have ended already
                return claims
        await self.lose(run)
        return ()

    def _calls(self, run: ActiveRun, claim: Claim, recorder: Recorder) -> StepCalls:
        max_bytes = self._services.limits.max_artifact_bytes
        book = PatientBook(self._store)
        return StepCalls(book, self._services.sealer, run.key, claim, recorder=recorder, max_bytes=max_bytes)

    async def _finish(
        self, run: ActiveRun, step: PlannedStep, claim: Claim, executed: Executed, took: int
    ) -> tuple[Claim, ...]:
        payload = executed.record.output_payload
        if run.returns_result(step.id) and payload is not None:
            run.leaf_payloads[step.id] = payload

        def announce() -> None:
            run.events.step_completed(step, took)
            if executed.delivery is not None:
                self._services.deliveries.send_soon(executed.delivery.id)

        async with run.turn:
            following = run.ledger.settle(
                step.id,
                executed.outputs,
                outside=executed.outside,
                file_ids=executed.made,
                classification=executed.record.classification,
            )
            return await self.move(
                run,
                following,
                Finished(claim, executed.record, executed.delivery, executed.preview, executed.error, executed.items),
                announce,
            )

    async def _failed(
        self, run: ActiveRun, step: PlannedStep, claim: Claim, recorder: Recorder, *, error: Exception, began: int
    ) -> tuple[Claim, ...]:
        """Follow the policy of a step that raised, unless the run was cancelled: retry, continue or fail."""
        if isinstance(error, Cancelled) and await self._is_cancelled(run):
            self._lost(run, RunStatus.CANCELLED)
            return ()
        if not isinstance(error, HeadgateError):
            log.warning("step raised", run_id=run.key.run_id, step_id=claim.step_id, exc_info=error)
        inner = error.inner if isinstance(error, SubflowFailed) else {}
        failed = Failed(claim, *description_of(error), recorder.as_record(), inner)
        tries = run.tries.get(step.id, Tries())
        retry = next_attempt(run.key.run_id, step, tries, error, failed, began=began, now=clock())
        if retry is not None and not run.failed:
            return await self._suspend(run, retry)
        outcome = await self._executor.handle(run, step, failed, recorder)
        if isinstance(outcome, Executed):
            return await self._finish(run, step, claim, outcome, clock() - began)
        await self.fail(run, outcome, took=clock() - began)
        return ()

    async def fail(self, run: ActiveRun, failed: Failed, *, took: int = 0) -> None:
        """Fail a step and its run. Parallel steps continue to their end: they are paid for."""
        step = run.planned.steps[failed.claim.step_id]
        async with run.turn:
            progress = await patiently(lambda: self._store.fail(run.key, failed, clock()))
            run.working.pop(step.id, None)
        if not progress.recorded:
            self._lost(run, progress.status)
            return
        run.ready.clear()
        events = run.events
        events.step_failed(step, took, failed.code)
        if not run.failed:
            run.failed = True
            events.run_failed(failed.code)
            self._on_end(run)

    async def lose(self, run: ActiveRun) -> None:
        """Handle a lease that could not be renewed: determine the reason, and stop the step."""
        self._lost(run, await self._store.status(run.key.run_id))

    def _lost(self, run: ActiveRun, status: RunStatus | None) -> None:
        """Handle a lost step: the run was cancelled or removed, or another worker took the step."""
        if run.abandoned:
            return
        run.abandon()
        if status in {None, RunStatus.CANCELLED}:
            run.events.run_cancelled()
            self._on_end(run)

    async def _is_cancelled(self, run: ActiveRun) -> bool:
        return run.abandoned or await patiently(lambda: self._store.is_cancelled(run.key.run_id))
