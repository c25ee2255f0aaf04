"""The embedded engine: runs as tasks on the server's own event loop.

A linear stretch is one task: finishing a step and claiming the next is one transaction, and what the step made is
handed on in memory. Where the flow fans out, each further step gets a task. Rows are read again only to take up what
another process left.
"""

import asyncio
from collections import deque
from collections.abc import Coroutine, Sequence
from contextlib import suppress
from typing import cast

from headgate.features.audit.chain import Entry
from headgate.features.runs.engine.backend import BackendHealth, RunRequest
from headgate.features.runs.engine.conductor import Conductor, patiently
from headgate.features.runs.engine.reconciler import Action, Reconciler, Rules, Verdict
from headgate.features.runs.engine.recovery import Recovery, create_settled, startable
from headgate.features.runs.engine.shift import Shift
from headgate.features.runs.engine.worker import Worker
from headgate.features.runs.events import RunEvents
from headgate.features.runs.ports import Services
from headgate.features.runs.run_input import input_payload
from headgate.features.runs.states import RunStatus, StepStatus
from headgate.features.runs.steps.active import ActiveRun
from headgate.features.runs.steps.ledger import Ledger
from headgate.features.runs.steps.planned import PlannedFlow, Plans
from headgate.features.runs.store.port import RunStore
from headgate.features.runs.transitions import (
    Cancelled,
    Claim,
    Held,
    NewRun,
    Resumed,
    RunKey,
    StoredRun,
    clock,
)
from headgate.foundation.errors import HeadgateError, Unavailable
from headgate.foundation.events import BusFeed, EventBus
from headgate.foundation.log import get_logger

log = get_logger(__name__)

GRACE_SECONDS = 5.0
"""How long steps at work may go on when the server stops."""
MOST_KEPT = 256
"""Queued runs that are kept in memory; a long queue must not fill it."""
POLL_SECONDS = 0.5
"""How often a run of another process is asked after."""


class EmbeddedBackend:
    """Carries runs out inside this process.

    Args:
        store: The rows.
        services: What steps may reach; its settings say how much runs at once.
        worker: Who this process is.
        bus: Where the services publish events, for readers in this process.
    """

    def __init__(self, store: RunStore, services: Services, worker: Worker, bus: EventBus) -> None:
        self._store = store
        self._services = services
        self._feed = BusFeed(bus, worker.id.rpartition(":")[2])
        self._settings = services.engine
        self._shift = Shift(worker, self._settings.lease_seconds)
        self._plans = Plans(services.definitions, services.components)
        self._recovery = Recovery(store, self._plans, services.files, services.bus, services.telemetry)
        self._conductor = Conductor(store, services, self._shift, self._recovery, on_end=self._ended)
        rules = Rules(run_timeout_seconds=self._settings.run_timeout_seconds)
        self._reconciler = Reconciler(store, self._shift.left_by, rules)
        self._active: dict[str, ActiveRun | None] = {}
        """Runs that have a place; None while one is being read back."""
        self._queue: deque[str] = deque()
        self._kept: dict[str, ActiveRun] = {}
        """The first of the queue as they were made here; the others are read from their rows when their turn comes."""
        self._waiters: dict[str, list[asyncio.Future[None]]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._beat: asyncio.Task[None] | None = None

    @property
    def plans(self) -> Plans:
        """Plans of versions, kept."""
        return self._plans

    @property
    def services(self) -> Services:
        """What steps may reach."""
        return self._services

    @property
    def store(self) -> RunStore:
        """The rows of runs."""
        return self._store

    @property
    def feed(self) -> BusFeed:
        """The bus of this process."""
        return self._feed

    async def open(self) -> None:
        """Connect, start the heartbeat, take up what was left."""
        self._shift.worker.open()
        await self._store.open()
        if self._settings.recover_on_start:
            await self.recover()
        self._beat = asyncio.create_task(self._heartbeat())

    async def close(self, grace_seconds: float = GRACE_SECONDS) -> None:
        """Take no more steps, wait a moment for those at work, leave the rest to be recovered."""
        if self._shift.stopping:
            return
        self._shift.stopping = True
        if self._beat is not None:
            self._beat.cancel()
            with suppress(asyncio.CancelledError):
                await self._beat
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=grace_seconds)
        for run in self._active.values():
            if run is not None:
                run.abandon()
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks)
        for run_id in list(self._waiters):
            self._wake(run_id)
        await self._store.close()
        self._shift.worker.close()

    async def start(self, request: RunRequest) -> RunStatus:
        """Store a run and begin it, or queue it when no place is free."""
        key = request.key
        planned = await self._plans.of(key)
        if not request.is_whole:
            return await self._start_settled(request, planned)
        given = await self._recovery.input_of(request)
        has_place = not self._queue and self._has_room()
        most = self._settings.max_concurrent_steps if has_place else 0
        new = NewRun(
            key=key,
            input_payload=input_payload(request.input),
            steps=planned.seeds,
            user_id=request.user_id,
            session_id=request.session_id,
            claim=planned.roots[:most],
            trace_parent=self._services.telemetry.traces.run_began(key.run_id),
            entry=request.entry,
        )
        events = self._events(key, new.trace_parent)
        run = ActiveRun(
            key=key, planned=planned, input=given, started_at=clock(), ledger=Ledger(planned), events=events
        )
        if has_place:
            self._active[key.run_id] = run
        try:
            await self._store.create(new, self._shift.lease())
        except BaseException:
            self._active.pop(key.run_id, None)
            raise
        if not has_place:
            events.run_queued(key.flow_id, key.version, len(planned.steps))
            if len(self._kept) < MOST_KEPT:
                self._kept[key.run_id] = run
            self._enqueue(key.run_id)
            return RunStatus.QUEUED
        run.ready.extend(planned.roots[most:])
        claims = [Claim(step, 1) for step in new.claim]
        run.working.update({claim.step_id: claim for claim in claims})
        events.run_started(key.flow_id, key.version, len(planned.steps))
        self._begin(run, claims)
        return RunStatus.RUNNING

    async def _start_settled(self, request: RunRequest, planned: PlannedFlow) -> RunStatus:
        """Store a run with settled steps; it is read back when its turn comes, as if it had been left queued."""
        key = request.key
        trace = self._services.telemetry.traces.run_began(key.run_id)
        await create_settled(self._store, request, planned, trace)
        self._events(key, trace).run_queued(key.flow_id, key.version, len(planned.steps))
        self._enqueue(key.run_id)
        return RunStatus.QUEUED

    async def resume(self, key: RunKey, entry: Entry | None = None) -> Resumed | None:
        """Let a failed run go on, here; with steps of it that still work here, if there are any."""
        await self._reconciler.settle_lost(key.run_id)
        found = await self._store.resume(key, clock(), entry)
        if found is not None and found.changed:
            self._events(key).reopen()
            run = await self._still_active(key.run_id)
            if run is None:
                self._enqueue(key.run_id)
            else:
                run.failed = run.ended = False
                self._conductor.rejoin(run)
        return found

    async def cancel(self, run_id: str, tenant_id: str, entry: Entry | None = None) -> Cancelled | None:
        """Cancel a run: in the database first, then what works on it here."""
        found = await self._store.cancel(run_id, tenant_id, clock(), entry)
        if found is not None and found.changed:
            run = self._active.get(run_id) or self._kept.get(run_id)
            if run is not None:
                run.ended = True
                run.abandon()
            events = run.events if run is not None else RunEvents(self._services.bus, run_id, self._services.telemetry)
            events.run_cancelled()
            events.close()
            self._wake(run_id)
        return found

    async def wait(self, run_id: str) -> None:
        """Return once the run is over, or this engine has closed. Raises `Unavailable` where it was left for good."""
        while not self._shift.stopping:
            run = self._active.get(run_id)
            if run is None or run.ended or run.abandoned:
                # Not ours, not ours yet, or not ours any more: the rows know.
                status = await self._store.status(run_id)
                if status is None or status.over:
                    return
                self._conductor.tell_if_left(run_id)
            waiter = asyncio.get_running_loop().create_future()
            self._waiters.setdefault(run_id, []).append(waiter)
            # A run that another process carries out wakes nobody here.
            with suppress(TimeoutError):
                await asyncio.wait_for(waiter, POLL_SECONDS if run is None else None)
            if run is not None and run.ended:
                return

    async def recover(self) -> int:
        """Take up runs that nobody works on; end those that are hopeless."""
        found = await self._reconciler.sweep({*self._active, *self._queue})
        metrics = self._services.telemetry.metrics
        metrics.reconciled("ended", len(found.ended))
        metrics.reconciled("taken_up", len(found.take_up))
        for key, verdict in found.ended:
            self._tell_end(key, verdict)
        for key in found.take_up:
            self._enqueue(key.run_id)
        return len(found.take_up) + len(found.ended)

    async def health(self) -> BackendHealth:
        """Itself: the one worker, and its queue."""
        problems = ("The engine is stopping.",) if self._shift.stopping else ()
        return BackendHealth("embedded", None, None, workers=1, queue_depth=len(self._queue), problems=problems)

    def _has_room(self) -> bool:
        return len(self._active) < self._settings.max_concurrent_runs and not self._shift.stopping

    def _enqueue(self, run_id: str) -> None:
        self._queue.append(run_id)
        self._admit()

    def _admit(self) -> None:
        """Give free places to the runs that wait longest."""
        while self._queue and self._has_room():
            run_id = self._queue.popleft()
            self._active[run_id] = None
            self._spawn(run_id, self._take_up(run_id))

    def _begin(self, run: ActiveRun, claims: Sequence[Claim]) -> None:
        self._spawn(run.key.run_id, self._conductor.conduct(run, claims), run)

    def _spawn(self, run_id: str, work: Coroutine[None, None, None], run: ActiveRun | None = None) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        if run is not None:
            run.tasks.add(task)
        task.add_done_callback(lambda done: self._leave(run_id, done))

    def _leave(self, run_id: str, done: asyncio.Task[None]) -> None:
        """A run's work here is done, or was given up: its place is free."""
        self._tasks.discard(done)
        run = self._active.pop(run_id, None)
        if not done.cancelled() and (error := done.exception()) is not None:
            log.error("run left to be recovered", run_id=run_id, exc_info=error)
        if self._shift.stopping or (run is not None and run.ended):
            RunEvents(self._services.bus, run_id).close()
        self._wake(run_id)
        self._admit()

    async def _take_up(self, run_id: str) -> None:
        """Go on with a run: queued here, or stored and left by a worker that is gone."""
        kept = self._kept.pop(run_id, None)
        if kept is not None:
            await self._begin_queued(kept)
            return
        stored = await patiently(lambda: self._store.load(run_id))
        if stored is None or stored.status.over:
            return
        try:
            run = await self._recovery.revive(stored)
        except Unavailable:
            raise
        except HeadgateError as error:
            await self._end(stored.key, error.code, str(error))
            return
        self._join(run)
        resumed = stored.status is RunStatus.RUNNING
        run.events.run_started(stored.key.flow_id, stored.key.version, len(stored.steps), resumed=resumed)
        left = self._left_steps(stored)
        async with run.turn:
            taken = await patiently(lambda: self._store.take_over(stored.key, left, self._shift.lease()))
            run.working.update({claim.step_id: claim for claim in taken})
            claims = await self._conductor.move(run, run.ledger.decide(startable(run, stored)))
        await self._conductor.conduct(run, [*taken, *claims])

    async def _still_active(self, run_id: str) -> ActiveRun | None:
        """The run, if steps of it work here. One whose work is just ending is let go of first."""
        while run_id in self._active:
            run = self._active[run_id]
            if run is not None and run.conducted and not run.abandoned:
                return run
            await asyncio.sleep(0.001)
        return None

    async def _begin_queued(self, run: ActiveRun) -> None:
        if run.ended:
            return
        self._join(run)
        run.started_at = clock()
        run.events.run_started(run.key.flow_id, run.key.version, len(run.planned.steps))
        async with run.turn:
            claims = await self._conductor.move(run, run.ledger.decide(run.planned.roots))
        await self._conductor.conduct(run, claims)

    def _join(self, run: ActiveRun) -> None:
        """The task that runs now is the run's."""
        self._active[run.key.run_id] = run
        run.tasks.add(cast("asyncio.Task[None]", asyncio.current_task()))

    def _left_steps(self, stored: StoredRun) -> list[Claim]:
        return [
            Claim(step.step_id, step.attempts)
            for step in stored.steps.values()
            if step.status is StepStatus.RUNNING and self._shift.has_lost(step.worker_id or "", step.lease_until or 0)
        ]

    async def _end(self, key: RunKey, code: str, message: str) -> None:
        """Fail a run that cannot go on."""
        if await self._store.end(key, code, message, clock()):
            self._tell_end(key, Verdict(Action.END, code, message))

    def _tell_end(self, key: RunKey, verdict: Verdict) -> None:
        """The run was ended in the database: stop what works on it here, and tell whoever watches."""
        run = self._active.get(key.run_id) or self._kept.get(key.run_id)
        if run is not None:
            run.failed = run.ended = True
            run.abandon()
        events = self._events(key)
        step = None if verdict.step is None else verdict.step.step_id
        events.run_failed(verdict.code, verdict.message, step)
        events.close()
        self._wake(key.run_id)

    def _ended(self, run: ActiveRun) -> None:
        run.ended = True
        self._wake(run.key.run_id)

    def _wake(self, run_id: str) -> None:
        for waiter in self._waiters.pop(run_id, ()):
            if not waiter.done():
                waiter.set_result(None)

    def _events(self, key: RunKey, trace_parent: str | None = None) -> RunEvents:
        return RunEvents(self._services.bus, key.run_id, self._services.telemetry, trace_parent)

    async def _heartbeat(self) -> None:
        """Keep the leases of what is at work, and look for what others left."""
        while True:
            await asyncio.sleep(self._settings.lease_seconds / 3)
            try:
                await self._renew()
                if self._settings.recover_on_start:
                    await self._services.deliveries.deliver_due()
                    # A command that runs one flow beside a server leaves the server's queue alone.
                    await self.recover()
            except Unavailable as error:
                log.warning("heartbeat missed", problem=error.detail)
            except Exception:
                # Without its heartbeat the process would lose everything it works on.
                log.exception("heartbeat failed")

    async def _renew(self) -> None:
        runs = [run for run in self._active.values() if run is not None]
        held = {
            Held(run.key.run_id, claim.step_id, claim.attempt): run for run in runs for claim in run.working.values()
        }
        if not held:
            return
        kept = await self._store.renew(list(held), self._shift.lease())
        for one, run in held.items():
            still = run.working.get(one.step_id)
            if one not in kept and still is not None and still.attempt == one.attempt:
                await self._conductor.lose(run)
