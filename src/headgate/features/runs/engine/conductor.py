"""Carries the steps of a run out, one after the other and side by side, and writes each boundary down."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from itertools import islice

from pydantic import JsonValue

from headgate.features.runs.engine.patience import PatientBook, patiently
from headgate.features.runs.engine.recovery import Recovery, startable
from headgate.features.runs.engine.shift import Shift
from headgate.features.runs.engine.turns import Turns
from headgate.features.runs.errors import FLOW_DELETED
from headgate.features.runs.events import StepEvents
from headgate.features.runs.ports import Services
from headgate.features.runs.states import RunStatus
from headgate.features.runs.steps.active import ActiveRun
from headgate.features.runs.steps.calls import StepCalls
from headgate.features.runs.steps.executor import Executed, StepExecutor
from headgate.features.runs.steps.ledger import Following
from headgate.features.runs.steps.parking import Parked
from headgate.features.runs.steps.payloads import run_output
from headgate.features.runs.steps.planned import PlannedStep
from headgate.features.runs.steps.recorder import Recorder
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
from headgate.foundation.errors import Cancelled, DatabaseAway, HeadgateError, Unavailable
from headgate.foundation.log import get_logger, redact_text
from headgate.foundation.quoting import shortened
from headgate.sdk.coerce import clean_text

LONGEST_MESSAGE = 2000
"""Characters kept of what an exception said that is not ours."""
log = get_logger(__name__)


class Conductor:
    """Works on the runs of one engine.

    Args:
        store: Where boundaries are written down.
        services: What steps may reach.
        shift: In whose name steps are claimed.
        recovery: Reads what other processes did.
        on_end: Told once a run is over in the database.
        turns: Whose transition is next, where runs of several users share this process.
    """

    def __init__(
        self,
        store: RunStore,
        services: Services,
        shift: Shift,
        recovery: Recovery,
        *,
        on_end: Callable[[ActiveRun], None],
        turns: Turns | None = None,
    ) -> None:
        self._store = store
        self._services = services
        self._shift = shift
        self._recovery = recovery
        self._on_end = on_end
        self._turns = turns
        self._executor = StepExecutor(services)
        self._most_steps = services.engine.max_concurrent_steps
        self._left: dict[str, str] = {}
        """Runs that were given up here and that nobody takes up before another process starts, and why."""

    async def conduct(self, run: ActiveRun, claims: Sequence[Claim]) -> None:
        """Carry out claimed steps and all that follows from them in this process."""
        me = asyncio.current_task()
        first = self._spread(run, claims)
        if first is not None:
            await self._follow(run, first)
        while others := {task for task in run.tasks if task is not me}:
            await asyncio.wait(others)
        run.conducted = False

    def rejoin(self, run: ActiveRun) -> None:
        """Go on with a run that was resumed while steps of it still work here, beside them."""
        self._add_task(run, self._rejoin(run))

    async def _rejoin(self, run: ActiveRun) -> None:
        try:
            async with run.turn:
                claims = await self._catch_up_whole(run)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is told there
            self._give_up(run, error)
            return
        first = self._spread(run, claims)
        if first is not None:
            await self._follow(run, first)

    async def _catch_up_whole(self, run: ActiveRun) -> tuple[Claim, ...]:
        """Read the run back, and claim whatever waits for nothing."""
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
        """One transition, under the run's turn: write down what is settled and skipped, claim what there is room for.

        Args:
            run: The run.
            following: What the run's ledger worked out.
            finished: The step that this completes.
            announce: Tells of that step once it is stored.

        Returns:
            The steps now to be carried out.
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
        if self._may_be_over(run, following, finished, progress):
            return progress.claims + await self._conclude(run)
        unknown = [
            step
            for step in progress.ready
            if step not in run.ready and run.may_take(step) and not run.ledger.settled(step)
        ]
        return progress.claims + (await self._catch_up(run, unknown) if unknown else ())

    async def _advance(self, run: ActiveRun, onward: Onward, finished: Finished | None) -> Progress:
        return await self._store.advance(run.key, onward, self._shift.lease(), finished)

    def _may_be_over(self, run: ActiveRun, following: Following, finished: Finished | None, progress: Progress) -> bool:
        """Whether the last step may be settled without this process knowing: others settled the rest meanwhile."""
        if progress.status is None or progress.status.over or run.working or run.ready or run.ledger.complete:
            return False
        settled = following.skip if finished is None else [*following.skip, finished.claim.step_id]
        return any(not run.planned.steps[step].step.children or run.gives_result(step) for step in settled)

    async def _conclude(self, run: ActiveRun) -> tuple[Claim, ...]:
        """Learn what others settled; end the run if that was all."""
        stored = await patiently(lambda: self._store.load(run.key.run_id))
        if stored is None or stored.status.over:
            return ()
        await self._recovery.absorb(run, stored)
        return await self.move(run, Following()) if run.ledger.complete else ()

    def _onward(self, run: ActiveRun, following: Following, *, freed: int) -> Onward:
        run.ready.extend(following.offered if run.only is None else filter(run.may_take, following.offered))
        room = 0 if self._shift.stopping else self._most_steps - len(run.working) + freed
        return Onward(
            settles=following.settles,
            skip=tuple(following.skip),
            claim=tuple(islice(run.ready, max(room, 0))),
            output_payload=self._result(run) if run.ledger.complete else None,
        )

    def _result(self, run: ActiveRun) -> Json:
        """The run's output, from its last steps in the order of the plan."""
        last = [step_id for step_id in run.planned.steps if run.gives_result(step_id)]
        made = {step_id: run.leaf_payloads[step_id] for step_id in last if step_id in run.leaf_payloads}
        return run_output(made, self._services.limits)

    def _apply(self, run: ActiveRun, onward: Onward, progress: Progress) -> None:
        """Take in what a transition came to. What was tried and not had belongs to somebody else now."""
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
        """Steps became ready through the work of other processes as well: read it, then decide them."""
        stored = await patiently(lambda: self._store.load(run.key.run_id))
        if stored is None:
            return ()
        await self._recovery.absorb(run, stored)
        decidable = [step for step in steps if run.ledger.decidable(step) and not run.ledger.settled(step)]
        return await self.move(run, run.ledger.decide(decidable))

    def _spread(self, run: ActiveRun, claims: Sequence[Claim]) -> Claim | None:
        """The first claim is the caller's to follow; each other gets a task of its own."""
        for claim in claims[1:]:
            self._add_task(run, self._follow(run, claim))
        return claims[0] if claims else None

    def _add_task(self, run: ActiveRun, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        run.tasks.add(task)
        task.add_done_callback(run.tasks.discard)

    async def _follow(self, run: ActiveRun, claim: Claim) -> None:
        """A stretch of steps. Never raises: what cannot be written down is left to be recovered."""
        following: Claim | None = claim
        try:
            while following is not None and not run.abandoned:
                following = await self._carry_out(run, following)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is told there
            self._give_up(run, error, step_id=claim.step_id)

    def _give_up(self, run: ActiveRun, error: Exception, **where: str) -> None:
        unforeseen = None if isinstance(error, Unavailable) else error
        log.error("run left to be recovered", run_id=run.key.run_id, problem=str(error), exc_info=unforeseen, **where)
        if not self._services.engine.recover_on_start:  # a command, which takes nothing up
            self._left[run.key.run_id] = _told(error)[1]
        run.abandon()

    def tell_if_left(self, run_id: str) -> None:
        """Raises `Unavailable` for a run that was given up here and stands still now."""
        if run_id in self._left:
            raise Unavailable(
                f"Run {run_id} stopped in the middle, as what it came to could not be written down: "
                f"{self._left[run_id]}",
                remedy="Mend that. Then `headgate serve` goes on with the run where it stopped.",
            )

    async def _carry_out(self, run: ActiveRun, claim: Claim) -> Claim | None:
        """One step, to the claim of the next."""
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
        run.events.step_started(claim.attempt)
        if claim.attempt > 1 and claim.step_id not in run.waited:
            events.log(_repeat_warning(step, claim, recorder))
        try:
            with run.events.step_span(step, claim.attempt):
                await calls.open()
                done = await self._executor.execute(
                    run, step, recorder, lambda: self._is_cancelled(run), events=events, calls=calls
                )
        except DatabaseAway:
            # No fault of the step's: it is left to be recovered, as when its worker dies.
            raise
        except Parked as parked:
            await self._park(run, claim, parked.until)
            return None
        except Exception as error:  # noqa: BLE001 - whatever a component raises is its step's failure
            await calls.reject()
            await self._failed(run, Failed(claim, *_told(error), recorder.as_record()), error, began)
            return None
        return self._spread(run, await self._finish(run, step, claim, done, clock() - began))

    async def _park(self, run: ActiveRun, claim: Claim, until: int) -> None:
        """End the attempt of a step that waits long; the next sweep after that continues it."""
        parking = run.parking
        if parking is None:
            raise RuntimeError("a step was parked on an engine that parks none")
        async with run.turn:
            run.parked = await patiently(lambda: parking.park(claim, until))
            run.working.pop(claim.step_id, None)
        if not run.parked:
            await self.lose(run)

    def _calls(self, run: ActiveRun, claim: Claim, recorder: Recorder) -> StepCalls:
        longest = self._services.limits.max_artifact_bytes
        book = PatientBook(self._store)
        return StepCalls(book, self._services.sealer, run.key, claim, recorder=recorder, longest=longest)

    async def _finish(
        self, run: ActiveRun, step: PlannedStep, claim: Claim, done: Executed, took: int
    ) -> tuple[Claim, ...]:
        payload = done.record.output_payload
        if run.gives_result(step.id) and payload is not None:
            run.leaf_payloads[step.id] = payload

        def announce() -> None:
            run.events.step_completed(step, took)
            if done.delivery is not None:
                self._services.deliveries.send_soon(done.delivery.id)

        async with run.turn:
            following = run.ledger.settle(step.id, done.outputs, outside=done.outside, made=done.made)
            return await self.move(
                run,
                following,
                Finished(claim, done.record, done.delivery, done.preview),
                announce,
            )

    async def _failed(self, run: ActiveRun, failed: Failed, error: Exception, began: int) -> None:
        """A component raised: the step failed, unless the run was cancelled meanwhile."""
        if isinstance(error, Cancelled) and await self._is_cancelled(run):
            self._lost(run, RunStatus.CANCELLED)
            return
        if not isinstance(error, HeadgateError):
            log.warning("step raised", run_id=run.key.run_id, step_id=failed.claim.step_id, exc_info=error)
        await self.fail(run, failed, took=clock() - began)

    async def fail(self, run: ActiveRun, failed: Failed, *, took: int = 0) -> None:
        """Fail a step and its run. Steps side by side with it go on to their end: they are paid for."""
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
        """A step's lease was not ours to renew: find out why, and let go."""
        self._lost(run, await self._store.status(run.key.run_id))

    def _lost(self, run: ActiveRun, status: RunStatus | None) -> None:
        """The step is not ours any more: the run was cancelled or removed, or another worker took the step."""
        if run.abandoned:
            return
        run.abandon()
        if status in {None, RunStatus.CANCELLED}:
            run.events.run_cancelled()
            self._on_end(run)

    async def _is_cancelled(self, run: ActiveRun) -> bool:
        return run.abandoned or await patiently(lambda: self._store.is_cancelled(run.key.run_id))


def _repeat_warning(step: PlannedStep, claim: Claim, recorder: Recorder) -> dict[str, JsonValue]:
    """The log line of an attempt that follows an interrupted one: a step is never repeated silently."""
    text = f"Attempt {claim.attempt - 1} was interrupted: its worker died, or lost the database."
    if step.step.effect:
        text += " Its outside effect may have happened already; this attempt repeats it."
    return recorder.line(text, {}, clock())


def _told(error: Exception) -> tuple[str, str]:
    """Code and message of a failure, fit to be stored and shown."""
    if isinstance(error, HeadgateError):
        return error.code, clean_text(redact_text(str(error)))
    return "internal_error", shortened(clean_text(redact_text(f"{type(error).__name__}: {error}")), LONGEST_MESSAGE)
