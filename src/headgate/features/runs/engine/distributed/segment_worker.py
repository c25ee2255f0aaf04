"""Handles a message in a worker child: reads the rows, claims the segment if it is available, executes it.

A message is a hint. It may arrive twice, too early, too late, or for a run that is over. The rows are authoritative: a
claim by compare-and-swap decides which worker executes the step, and all others return without effect.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from enum import StrEnum

from headgate.features.jobs.upkeep import end, repeat
from headgate.features.runs.engine.conductor import Conductor
from headgate.features.runs.engine.distributed.cancellations import Cancellations
from headgate.features.runs.engine.distributed.limits import TaskLimits
from headgate.features.runs.engine.distributed.orders import Order
from headgate.features.runs.engine.distributed.presence import Presence
from headgate.features.runs.engine.distributed.segments import stretch
from headgate.features.runs.engine.reconciler import interrupted_too_often, is_hopeless
from headgate.features.runs.engine.recovery import Recovery
from headgate.features.runs.engine.worker_lease import WorkerLease
from headgate.features.runs.errors import NEVER_BEGUN, STEP_TIMEOUT, WORKER_LOST
from headgate.features.runs.events import RunEvents
from headgate.features.runs.patience import patiently
from headgate.features.runs.states import RunStatus, StepStatus
from headgate.features.runs.step_services import Services
from headgate.features.runs.steps.active import ActiveRun
from headgate.features.runs.steps.flows import FlowStarter
from headgate.features.runs.steps.ledger import Following
from headgate.features.runs.steps.planned import Plans
from headgate.features.runs.store.postgres_dispatches import PostgresDispatchStore
from headgate.features.runs.transitions import Claim, Failed, Held, Holder, RunKey, StoredRun, clock
from headgate.foundation.errors import HeadgateError, Unavailable
from headgate.foundation.log import get_logger
from headgate.foundation.outages import Outage

log = get_logger(__name__)


class Outcome(StrEnum):
    """Outcome of a message."""

    DONE = "done"
    """The segment is settled."""
    OVER = "over"
    """The run is over, or does not exist."""
    ELSEWHERE = "elsewhere"
    """Another worker has the step, or it waits for steps that are not settled."""
    SUSPENDED = "suspended"
    """A step waits, or the run is paused, and no worker with it: the rest is sent when it is woken or continues."""
    FAILED = "failed"
    """The run failed here."""


def timed_out(claim: Claim, seconds: float) -> Failed:
    """Return the failure of a step that exceeded its time limit."""
    message = f"Step '{claim.step_id}' was stopped: its task exceeded the limit of {seconds:g} seconds."
    return Failed(claim, STEP_TIMEOUT, message)


def _handed_over() -> Unavailable:
    return Unavailable("This worker is drained.", remedy="Another worker continues the run.")


class SegmentWorker:
    """Executes segments in one process, one at a time.

    Args:
        store: The rows.
        services: Services that steps may use.
        worker_lease: Worker and leases of the claims.
        limits: Time limits of segments.
        presence: Registers this process as alive.
        cancellations: Reports cancelled runs.
        flows: Starts runs for steps; None where no step can start one.
        wake_soon: Wakes the run whose step waited for one that ended here.
        max_pickups: How often a run may be picked up without a claim before it fails.
    """

    def __init__(
        self,
        store: PostgresDispatchStore,
        services: Services,
        worker_lease: WorkerLease,
        limits: TaskLimits,
        *,
        presence: Presence,
        cancellations: Cancellations,
        max_pickups: int,
        flows: FlowStarter | None = None,
        wake_soon: Callable[[str], None] = lambda run_id: None,  # noqa: ARG005
    ) -> None:
        self._max_pickups = max_pickups
        self._wake_soon = wake_soon
        self._store = store
        self._services = services
        self._worker_lease = worker_lease
        self._limits = limits
        self._presence = presence
        self._cancellations = cancellations
        self._plans = Plans(services.definitions, services.components)
        self._recovery = Recovery(store, self._plans, services.files, services.bus, services.telemetry)
        self._conductor = Conductor(store, services, worker_lease, self._recovery, on_end=self._ended, flows=flows)
        self._active: dict[str, ActiveRun] = {}
        worker_lease.owned = self._active
        self._upkeep: list[asyncio.Task[None]] = []
        self.beaten_at = time.monotonic()
        """When the leases were last renewed, by the monotonic clock."""

    async def open(self) -> None:
        """Start renewing leases and listening for cancellations."""
        await self._presence.record_heartbeat(self._worker_lease.worker.id)
        heartbeat = repeat(self._beat, self._worker_lease.seconds / 3, Outage(log, "database"))
        self._upkeep = [
            asyncio.create_task(heartbeat),
            asyncio.create_task(self._cancellations.listen(self._cancelled)),
        ]

    async def close(self) -> None:
        """Release running steps for other workers to recover."""
        self._worker_lease.stopping = True
        await end(self._upkeep)
        for run in self._active.values():
            run.abandon()
        await self._presence.leave(self._worker_lease.worker.id)

    async def execute(self, order: Order, *, again: bool = False) -> Outcome:
        """Execute the segment that begins with the order's step, as far as it is not settled.

        Args:
            order: The segment.
            again: Whether the message may have reached a worker before. It is counted first, so that a run which kills
                every worker before it claims a step comes to an end. A worker that survives reverts its count.

        Raises `Unavailable` when the database is down for long, or when the result could not be stored.
        """
        if order.run_id in self._active:
            return Outcome.ELSEWHERE
        if self._worker_lease.handing_over:
            raise _handed_over()
        if not again:
            return await self._execute(order)
        if not await self._pick_up(order):
            return Outcome.OVER
        outcome = await self._execute(order)
        await self._store.put_back(order.run_id)
        return outcome

    async def _execute(self, order: Order) -> Outcome:
        started = await self._begin(order)
        stored = started or await self._store.load(order.run_id)
        if stored is None or stored.key != order.key or stored.status.over:
            return Outcome.OVER
        if stored.status is RunStatus.PAUSED:
            return Outcome.SUSPENDED
        try:
            run = await self._recovery.revive(stored)
        except Unavailable:
            raise
        except HeadgateError as error:
            await self.end(order.key, error.code, str(error))
            return Outcome.FAILED
        steps = stretch(run.planned.plan, order.head, self._limits.longest)
        run.only = frozenset(steps)
        self._active[order.run_id] = run
        try:
            if started is not None:
                await self._work_from_the_start(run, order.head)
            elif not await self._take(run, stored, steps):
                return Outcome.ELSEWHERE
            return await self._outcome(run)
        finally:
            del self._active[order.run_id]

    async def _pick_up(self, order: Order) -> bool:
        """Count that a worker has the message. Returns False when the run is over, or fails here."""
        pickups = await self._store.pick_up(order.run_id)
        if pickups is not None and pickups > self._max_pickups:
            message = (
                f"Workers claimed the run {pickups - 1} times and died before claiming a step of it. Check "
                "their logs; the limit is HEADGATE_CELERY__MAX_PICKUPS."
            )
            await self.end(order.key, NEVER_BEGUN, message)
            return False
        return pickups is not None

    async def _begin(self, order: Order) -> StoredRun | None:
        """Start a new run and claim its only first step at once. Returns None when its rows have to be read."""
        try:
            roots = (await self._plans.of(order.key)).roots if order.dispatch == 1 else ()
        except HeadgateError:
            # The rows decide whether that matters.
            return None
        if roots != (order.head,):
            return None
        return await patiently(lambda: self._store.begin(order.key, order.head, self._worker_lease.lease()))

    async def _work_from_the_start(self, run: ActiveRun, first: str) -> None:
        run.events.run_started()
        run.working[first] = Claim(first, 1)
        await self._work(run, [run.working[first]])

    async def end(self, key: RunKey, code: str, message: str) -> bool:
        """Fail a run for a reason outside its steps, unless it is over."""
        ended = await self._store.end(key, code, message, clock())
        if ended:
            events = RunEvents(self._services.bus, key.run_id, self._services.telemetry)
            events.run_failed(code)
        return ended

    async def time_out(self, run_id: str, seconds: float) -> None:
        """Fail and stop the running step of a task that exceeded its time limit."""
        run = self._active.get(run_id)
        if run is None:
            return
        for claim in list(run.working.values()):
            await self._conductor.fail(run, timed_out(claim, seconds))
        run.abandon()

    async def _take(self, run: ActiveRun, stored: StoredRun, steps: Sequence[str]) -> bool:
        """Claim the first unsettled step and continue from there. Returns False when it is not available."""
        step_id = next((step for step in steps if not stored.steps[step].status.settled), None)
        if step_id is None:
            # Its worker died between the end of the last step and the end of the run.
            await self._work(run, await self._conductor.move(run, Following()))
            return True
        step = stored.steps[step_id]
        if step.status is StepStatus.RUNNING:
            return await self._take_over(run, stored, step.holder)
        if step.status is not StepStatus.PENDING or step.waiting or not run.ledger.decidable(step_id):
            return False
        if stored.status is RunStatus.QUEUED:
            run.events.run_started()
        async with run.turn:
            claims = await self._conductor.move(run, run.ledger.decide([step_id]))
        await self._work(run, claims)
        return bool(claims) or run.ledger.settled(step_id) or run.ended

    async def _take_over(self, run: ActiveRun, stored: StoredRun, holder: Holder) -> bool:
        """Recover a step from a dead worker, or one that this worker left: only this task executes the run."""
        is_own = holder.worker_id == self._worker_lease.worker.id
        if not is_own and not self._worker_lease.has_lost(stored.key.run_id, holder):
            return False
        if is_hopeless(holder):
            claim = Claim(holder.step_id, holder.attempt)
            await self._conductor.fail(run, Failed(claim, WORKER_LOST, interrupted_too_often(holder)))
            return True
        run.events.run_started(resumed=True)
        async with run.turn:
            claims = await self._store.take_over(stored.key, [holder], self._worker_lease.lease())
            run.working.update({claim.step_id: claim for claim in claims})
        await self._work(run, claims)
        return bool(claims)

    async def _work(self, run: ActiveRun, claims: Sequence[Claim]) -> None:
        """Execute claimed steps, in a task that can be stopped."""
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
        if run.suspended:
            return Outcome.SUSPENDED
        if not run.abandoned and self._worker_lease.handing_over and run.ready:
            raise _handed_over()
        if not run.abandoned:
            return Outcome.DONE
        status = await self._store.status(run.key.run_id)
        if status is None or status.over:
            return Outcome.OVER
        raise Unavailable("The outcome of the step could not be written.", remedy="Retrying.")

    def _ended(self, run: ActiveRun) -> None:
        run.ended = True
        if run.parent_run_id is not None:
            self._wake_soon(run.parent_run_id)

    async def _beat(self) -> None:
        """Renew the leases of running steps; detect cancelled and lost ones."""
        await self._renew()
        self.beaten_at = time.monotonic()
        await self._presence.record_heartbeat(self._worker_lease.worker.id)

    async def _cancelled(self, run_id: str) -> None:
        """Stop a run that is reported cancelled or overdue, if its rows confirm that its steps are not held here."""
        try:
            if run_id in self._active:
                await self._renew()
        except Unavailable as error:
            log.warning("cancellation left to the heartbeat", run_id=run_id, problem=error.detail)

    async def _renew(self) -> None:
        for run in await self._worker_lease.renew(self._store, self.held()):
            await self._conductor.lose(run)

    def drain(self, *, handing_over: bool) -> None:
        """Begin no further steps while `handing_over`: their messages go to other workers."""
        self._worker_lease.handing_over = handing_over

    @property
    def working(self) -> int:
        """Runs that are executed in this process."""
        return len(self._active)

    def held(self) -> dict[Held, ActiveRun]:
        """The running steps."""
        return {
            Held(run.key.run_id, claim.step_id, claim.attempt): run
            for run in list(self._active.values())
            for claim in list(run.working.values())
        }
