"""What a worker child does with a message: look at the rows, take the segment if it is there to be taken, carry it out.

A message is a hint. It may come twice, too early, too late, or for a run that is over: the rows say what is so, a claim
by compare-and-swap decides who works, and whoever cannot claim leaves without a trace.
"""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum

from headgate.features.jobs.leases import TIMER
from headgate.features.jobs.upkeep import repeat
from headgate.features.runs.engine.conductor import Conductor
from headgate.features.runs.engine.distributed.cancellations import Cancellations
from headgate.features.runs.engine.distributed.limits import TaskLimits
from headgate.features.runs.engine.distributed.orders import Order
from headgate.features.runs.engine.distributed.presence import Presence
from headgate.features.runs.engine.distributed.segments import stretch
from headgate.features.runs.engine.patience import patiently
from headgate.features.runs.engine.reconciler import interrupted_too_often
from headgate.features.runs.engine.recovery import Recovery
from headgate.features.runs.engine.shift import Shift
from headgate.features.runs.errors import NEVER_BEGUN, STEP_TIMEOUT, WORKER_LOST
from headgate.features.runs.events import RunEvents
from headgate.features.runs.ports import Services
from headgate.features.runs.states import MAX_ATTEMPTS, RunStatus, StepStatus
from headgate.features.runs.steps.active import ActiveRun
from headgate.features.runs.steps.ledger import Following
from headgate.features.runs.steps.parking import Parking
from headgate.features.runs.steps.planned import Plans
from headgate.features.runs.store.postgres_dispatches import PostgresDispatchStore
from headgate.features.runs.transitions import Claim, Failed, Held, Holder, RunKey, StoredRun, clock
from headgate.foundation.errors import HeadgateError, Unavailable
from headgate.foundation.log import get_logger
from headgate.foundation.outages import Outage

log = get_logger(__name__)


class Outcome(StrEnum):
    """What became of a message."""

    DONE = "done"
    """The segment is settled."""
    OVER = "over"
    """The run is over, or not there."""
    ELSEWHERE = "elsewhere"
    """Another worker has the step, or it waits for steps that are not settled."""
    PARKED = "parked"
    """A step waits, and no worker with it: the rest of the run is sent when its time is up."""
    FAILED = "failed"
    """The run failed here."""


def timed_out(claim: Claim, seconds: float) -> Failed:
    """The failure of a step whose task may not go on."""
    said = f"Step '{claim.step_id}' was stopped: its task may not take longer than {seconds:g} seconds."
    return Failed(claim, STEP_TIMEOUT, said)


class SegmentWorker:
    """Carries out segments in one process, one at a time.

    Args:
        store: The rows.
        services: What steps may reach.
        shift: In whose name steps are claimed.
        limits: How long a segment may be.
        presence: Says that this process lives.
        cancellations: Tells of runs that are cancelled.
        max_pickups: How often a run may be picked up again without a claim before it fails.
    """

    def __init__(
        self,
        store: PostgresDispatchStore,
        services: Services,
        shift: Shift,
        limits: TaskLimits,
        *,
        presence: Presence,
        cancellations: Cancellations,
        max_pickups: int,
    ) -> None:
        self._max_pickups = max_pickups
        self._store = store
        self._services = services
        self._shift = shift
        self._limits = limits
        self._presence = presence
        self._cancellations = cancellations
        self._plans = Plans(services.definitions, services.components)
        self._recovery = Recovery(store, self._plans, services.files, services.bus, services.telemetry)
        self._conductor = Conductor(store, services, shift, self._recovery, on_end=self._ended)
        self._active: dict[str, ActiveRun] = {}
        shift.owned = self._active
        self._upkeep: list[asyncio.Task[None]] = []
        self.beaten_at = time.monotonic()
        """When the leases were renewed last, by the clock that nobody sets."""

    async def open(self) -> None:
        """Begin to renew leases, and to listen to what is cancelled."""
        await self._presence.tell(self._shift.worker.id)
        heartbeat = repeat(self._beat, self._shift.seconds / 3, Outage(log, "database"))
        self._upkeep = [
            asyncio.create_task(heartbeat),
            asyncio.create_task(self._cancellations.listen(self._cancelled)),
        ]

    async def close(self) -> None:
        """Let go of what is at work: others take it over."""
        self._shift.stopping = True
        for task in self._upkeep:
            task.cancel()
        await asyncio.gather(*self._upkeep, return_exceptions=True)
        for run in self._active.values():
            run.abandon()
        await self._presence.leave(self._shift.worker.id)

    async def carry_out(self, order: Order, *, again: bool = False) -> Outcome:
        """Carry out the segment that begins with the order's step, as far as it is not settled.

        Args:
            order: The segment.
            again: Whether the message may have reached a worker before. It is counted before anything else, so that a
                run that kills every worker before it claims a step ends; a worker that lives takes its count back.

        Raises `Unavailable` when the database is away for long, or when the work could not be written down.
        """
        if order.run_id in self._active:
            return Outcome.ELSEWHERE
        if not again:
            return await self._carry_out(order)
        if not await self._pick_up(order):
            return Outcome.OVER
        outcome = await self._carry_out(order)
        await self._store.put_back(order.run_id)
        return outcome

    async def _carry_out(self, order: Order) -> Outcome:
        begun = await self._begin(order)
        stored = begun or await self._store.load(order.run_id)
        if stored is None or stored.key != order.key or stored.status.over:
            return Outcome.OVER
        try:
            run = await self._recovery.revive(stored)
        except Unavailable:
            raise
        except HeadgateError as error:
            await self.end(order.key, error.code, str(error))
            return Outcome.FAILED
        steps = stretch(run.planned.plan, order.head, self._limits.longest)
        run.only = frozenset(steps)
        run.parking = Parking(self._limits.longest_sleep, lambda claim, until: self._park(run, claim, until))
        self._active[order.run_id] = run
        try:
            if begun is not None:
                await self._work_from_the_start(run, order.head)
            elif not await self._take(run, stored, steps):
                return Outcome.ELSEWHERE
            return await self._outcome(run)
        finally:
            del self._active[order.run_id]

    async def _park(self, run: ActiveRun, claim: Claim, until: int) -> bool:
        return await self._store.park(run.key, claim, replace(self._shift.lease(), until=until))

    async def _pick_up(self, order: Order) -> bool:
        """Count that a worker has the message. False when the run is over, or ends here because it was tried enough."""
        pickups = await self._store.pick_up(order.run_id)
        if pickups is not None and pickups > self._max_pickups:
            message = (
                f"Workers picked the run up {pickups - 1} times and died before they claimed a step of it. Their logs"
                " say why; the setting is HEADGATE_CELERY__MAX_PICKUPS."
            )
            await self.end(order.key, NEVER_BEGUN, message)
            return False
        return pickups is not None

    async def _begin(self, order: Order) -> StoredRun | None:
        """Begin a new run with its one first step, claimed at once. None when its rows have to be read."""
        try:
            roots = (await self._plans.of(order.key)).roots if order.dispatch == 1 else ()
        except HeadgateError:
            # Whether that matters is for the rows to say.
            return None
        if roots != (order.head,):
            return None
        return await patiently(lambda: self._store.begin(order.key, order.head, self._shift.lease()))

    async def _work_from_the_start(self, run: ActiveRun, first: str) -> None:
        run.events.run_started()
        run.working[first] = Claim(first, 1)
        await self._work(run, [run.working[first]])

    async def end(self, key: RunKey, code: str, message: str) -> bool:
        """Fail a run for a reason that is no step's, unless it is over."""
        ended = await self._store.end(key, code, message, clock())
        if ended:
            events = RunEvents(self._services.bus, key.run_id, self._services.telemetry)
            events.run_failed(code)
        return ended

    async def time_out(self, run_id: str, seconds: float) -> None:
        """The task may not go on: fail the step that it is at, and stop it."""
        run = self._active.get(run_id)
        if run is None:
            return
        for claim in list(run.working.values()):
            await self._conductor.fail(run, timed_out(claim, seconds))
        run.abandon()

    async def _take(self, run: ActiveRun, stored: StoredRun, steps: Sequence[str]) -> bool:
        """Claim the first step that is not settled, and go on from there. False when it is not to be had."""
        found = next((step for step in steps if not stored.steps[step].status.settled), None)
        if found is None:
            # Its worker died between the last step's end and the run's.
            await self._work(run, await self._conductor.move(run, Following()))
            return True
        step = stored.steps[found]
        if step.status is StepStatus.RUNNING:
            return await self._take_over(run, stored, step.holder)
        if step.status is not StepStatus.PENDING or step.waiting or not run.ledger.decidable(found):
            return False
        if stored.status is RunStatus.QUEUED:
            run.events.run_started()
        async with run.turn:
            claims = await self._conductor.move(run, run.ledger.decide([found]))
        await self._work(run, claims)
        return bool(claims) or run.ledger.settled(found) or run.ended

    async def _take_over(self, run: ActiveRun, stored: StoredRun, holder: Holder) -> bool:
        """Take a step from a worker that is gone. One in this worker's name was left: only this task has the run."""
        mine = holder.worker_id == self._shift.worker.id
        if not mine and not self._shift.has_lost(stored.key.run_id, holder):
            return False
        if holder.attempt >= MAX_ATTEMPTS and holder.worker_id != TIMER:
            claim = Claim(holder.step_id, holder.attempt)
            await self._conductor.fail(run, Failed(claim, WORKER_LOST, interrupted_too_often(claim)))
            return True
        run.events.run_started(resumed=True)
        async with run.turn:
            taken = await self._store.take_over(stored.key, [holder], self._shift.lease())
            run.working.update({one.step_id: one for one in taken})
        await self._work(run, taken)
        return bool(taken)

    async def _work(self, run: ActiveRun, claims: Sequence[Claim]) -> None:
        """Carry claimed steps out, in a task that can be stopped."""
        if not claims:
            return
        work = asyncio.create_task(self._conductor.conduct(run, claims))
        run.tasks.add(work)
        await asyncio.wait([work])
        if not work.cancelled():
            work.result()

    async def _outcome(self, run: ActiveRun) -> Outcome:
        if run.failed:
            return Outcome.FAILED
        if run.ended:
            return Outcome.OVER
        if run.parked:
            return Outcome.PARKED
        if not run.abandoned:
            return Outcome.DONE
        status = await self._store.status(run.key.run_id)
        if status is None or status.over:
            return Outcome.OVER
        raise Unavailable("The step's end could not be written down.", remedy="It is tried again.")

    def _ended(self, run: ActiveRun) -> None:
        run.ended = True

    async def _beat(self) -> None:
        """Keep the leases of what is at work; notice what was cancelled or taken."""
        await self._renew()
        self.beaten_at = time.monotonic()
        await self._presence.tell(self._shift.worker.id)

    async def _cancelled(self, run_id: str) -> None:
        """Let go of a run that is said to be cancelled, if the rows say so too."""
        run = self._active.get(run_id)
        try:
            if run is not None and await self._store.is_cancelled(run_id):
                await self._conductor.lose(run)
        except Unavailable as error:
            log.warning("cancellation left to the heartbeat", run_id=run_id, problem=error.detail)

    async def _renew(self) -> None:
        held = self.held()
        if not held:
            return
        kept = await self._store.renew(list(held), self._shift.lease())
        for one, run in held.items():
            still = run.working.get(one.step_id)
            if one not in kept and still is not None and still.attempt == one.attempt:
                await self._conductor.lose(run)

    def held(self) -> dict[Held, ActiveRun]:
        """The steps at work."""
        return {
            Held(run.key.run_id, claim.step_id, claim.attempt): run
            for run in list(self._active.values())
            for claim in list(run.working.values())
        }
