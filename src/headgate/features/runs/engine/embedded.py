"""The embedded engine: runs as tasks on the server's own event loop.

A linear stretch is one task: finishing a step and claiming the next is one transaction, and the step's output is
passed on in memory. Where the flow fans out, each further step gets a task. Rows are read again only to recover what
another process left. `RunRegistry` holds every run of this process once.
"""

import asyncio
from collections.abc import Coroutine, Sequence
from contextlib import suppress

from headgate.features.audit.chain import Entry
from headgate.features.idempotency.keys import StartKey
from headgate.features.jobs.upkeep import end, repeat
from headgate.features.jobs.worker import Worker
from headgate.features.runs.engine.alarm import MOST_QUEUED, MOST_WOKEN, WAKE_SECONDS, end_overdue, wake_due
from headgate.features.runs.engine.backend import BackendHealth, RunRequest
from headgate.features.runs.engine.conductor import Conductor
from headgate.features.runs.engine.failure_handling import HANDLE_SECONDS, start_handlers
from headgate.features.runs.engine.reconciler import Action, Reconciler, Rules, Verdict
from headgate.features.runs.engine.recovery import Recovery, new_terms, settled_run, startable, whole_run
from headgate.features.runs.engine.run_registry import OwnedRun, RunRegistry
from headgate.features.runs.engine.subflows import Subflows
from headgate.features.runs.engine.turns import Turns
from headgate.features.runs.engine.waiters import Waiters
from headgate.features.runs.engine.worker_lease import WorkerLease
from headgate.features.runs.errors import DEADLINE_EXCEEDED
from headgate.features.runs.events import RunEvents
from headgate.features.runs.patience import patiently
from headgate.features.runs.spaces import share_of
from headgate.features.runs.states import ACTIVE_RUNS, RunStatus, StepStatus
from headgate.features.runs.step_services import Services
from headgate.features.runs.steps.active import ActiveRun
from headgate.features.runs.steps.ledger import Ledger
from headgate.features.runs.steps.planned import PlannedFlow, Plans
from headgate.features.runs.store.port import RunStore
from headgate.features.runs.terms import MOST_PRIORITY
from headgate.features.runs.transitions import (
    Cancelled,
    Claim,
    Holder,
    Resumed,
    RunKey,
    StoredRun,
    clock,
)
from headgate.features.runs.waiting import Paused, WokenRun
from headgate.foundation.errors import HeadgateError, Unavailable
from headgate.foundation.events import EventBus
from headgate.foundation.fair_places import Share
from headgate.foundation.log import get_logger
from headgate.foundation.outages import Outage

log = get_logger(__name__)

GRACE_SECONDS = 5.0
"""How long running steps may continue when the server stops."""
POLL_SECONDS = 0.5
"""How often a run of another process is polled."""


class EmbeddedBackend:
    """Executes runs inside this process.

    Args:
        store: The rows.
        services: Services that steps may use; its settings limit concurrency.
        worker: Identity of this process.
        bus: Carries the events of the services to readers in this process.
    """

    def __init__(self, store: RunStore, services: Services, worker: Worker, bus: EventBus) -> None:
        self._store = store
        self._services = services
        self._bus = bus
        self._settings = services.engine
        engine = self._settings
        self._runs = RunRegistry(engine.max_concurrent_runs, engine.spare_concurrent_runs, engine.weights)
        self._worker_lease = WorkerLease(worker, self._settings.lease_seconds, owned_runs=self._runs)
        self._plans = Plans(services.definitions, services.components)
        self._recovery = Recovery(store, self._plans, services.files, services.bus, services.telemetry)
        self._turns = Turns()
        self._conductor = Conductor(
            store,
            services,
            self._worker_lease,
            self._recovery,
            on_end=self._ended,
            turns=self._turns,
            flows=Subflows(self),
        )
        rules = Rules(run_timeout_seconds=self._settings.run_timeout_seconds)
        self._reconciler = Reconciler(store, self._worker_lease.has_lost, rules)
        self._waiters = Waiters()
        self._children: set[str] = set()
        """Runs that steps started in a command, which wakes them with the run that it waits for."""
        self._wakes: set[asyncio.Task[None]] = set()
        self._upkeep: list[asyncio.Task[None]] = []

    @property
    def plans(self) -> Plans:
        """Plans of versions, cached."""
        return self._plans

    @property
    def services(self) -> Services:
        """Services that steps may use."""
        return self._services

    @property
    def store(self) -> RunStore:
        """The rows of runs."""
        return self._store

    @property
    def feed(self) -> EventBus:
        """The bus of this process."""
        return self._bus

    async def open(self) -> None:
        """Connect, recover interrupted runs, start the heartbeat and the sweep."""
        self._worker_lease.worker.open()
        await self._store.open()
        interval = self._settings.lease_seconds / 3
        heartbeat = repeat(self._renew, interval, Outage(log, "database of leases"))
        deadlines = repeat(self._end_overdue, WAKE_SECONDS, Outage(log, "database of deadlines"))
        self._upkeep += [asyncio.create_task(heartbeat), asyncio.create_task(deadlines)]
        # A command that runs one flow next to a server leaves the server's queue alone.
        if self._settings.recover_on_start:
            sweep = repeat(self.recover, interval, Outage(log, "database of sweeps"))
            alarm = repeat(self._wake_due, WAKE_SECONDS, Outage(log, "database of waiting steps"))
            handling = repeat(lambda: start_handlers(self), HANDLE_SECONDS, Outage(log, "database of failed runs"))
            self._upkeep += [asyncio.create_task(task) for task in (sweep, alarm, handling)]
            await self.recover()

    async def close(self, grace_seconds: float = GRACE_SECONDS) -> None:
        """Claim no more steps, wait briefly for running ones, leave the rest to be recovered."""
        if self._worker_lease.stopping:
            return
        self._worker_lease.stopping = True
        await end(self._upkeep)
        if tasks := self._tasks():
            await asyncio.wait(tasks, timeout=grace_seconds)
        for entry in self._runs:
            if entry.run is not None:
                entry.run.abandon()
        for task in self._tasks():
            task.cancel()
        while tasks := self._tasks():
            await asyncio.wait(tasks)
        self._waiters.wake_all()
        await self._store.close()
        self._worker_lease.worker.close()

    def drain(self, *, draining: bool, handing_over: bool) -> None:
        """Start and recover no runs here while `draining`; begin no step of its runs either while `handing_over`."""
        self._worker_lease.draining, self._worker_lease.handing_over = draining, handing_over
        for entry in self._runs if draining else ():
            if entry.queued:
                entry.run = None  # another server may have executed it when its turn comes
        self._admit()

    @property
    def working(self) -> int:
        """Runs that have a slot."""
        return sum(not entry.queued for entry in self._runs)

    def _tasks(self) -> set[asyncio.Task[None]]:
        return {task for entry in self._runs for task in entry.tasks}

    async def start(self, request: RunRequest) -> RunStatus:
        """Store a run and start it, or queue it when no slot is free."""
        key = request.key
        planned = await self._plans.of(key)
        if not (request.is_whole and planned.roots):
            return await self._start_settled(request, planned)
        self._children.update({key.run_id} if request.parent is not None else ())
        run_input = await self._recovery.input_of(request)
        share = await share_of(self._services.spaces, key, request.starter)
        trace_parent = self._services.telemetry.traces.run_began(key.run_id)
        events = self._events(key, trace_parent)
        run = ActiveRun(
            key=key,
            planned=planned,
            input=run_input,
            started_at=clock(),
            ledger=Ledger(planned),
            events=events,
            share=share,
            user_id=request.user_id,
            visitor=request.visitor,
            parent_run_id=request.parent_run_id,
            terms=new_terms(request, planned),
        )
        entry = self._runs.start(run) if self._worker_lease.admits else None
        claim_limit = 0 if entry is None else self._settings.max_concurrent_steps
        try:
            new = whole_run(request, planned, trace_parent, claim=planned.roots[:claim_limit])
            async with self._turns.turn(key.run_id, share):
                await self._store.create(new, self._worker_lease.lease())
        except BaseException:
            if entry is not None:
                self._release(entry)
            raise
        if entry is None:
            events.run_queued()
            self._enqueue(key.run_id, share, run, priority=run.terms.priority)
            return RunStatus.QUEUED
        self._execute(entry, run, new.claim)
        return RunStatus.RUNNING

    def _execute(self, entry: OwnedRun, run: ActiveRun, claimed: Sequence[str]) -> None:
        """Execute the first steps of a stored run that are claimed; the others are ready for a free slot."""
        run.ready.extend(run.planned.roots[len(claimed) :])
        run.working.update({step: Claim(step, 1) for step in claimed})
        run.events.run_started()
        self._spawn(entry, self._conductor.conduct(run, list(run.working.values())))

    async def _start_settled(self, request: RunRequest, planned: PlannedFlow) -> RunStatus:
        """Store a run with settled steps; it is read from the database when its turn comes, like a recovered one."""
        key = request.key
        trace = self._services.telemetry.traces.run_began(key.run_id)
        await self._store.create(settled_run(request, planned, trace), self._worker_lease.lease())
        self._events(key, trace).run_queued()
        share = await share_of(self._services.spaces, key, request.starter)
        self._enqueue(key.run_id, share, priority=new_terms(request, planned).priority)
        return RunStatus.QUEUED

    async def resume(self, key: RunKey, entry: Entry | None = None, once: StartKey | None = None) -> Resumed | None:
        """Resume a failed run here, together with steps of it that still run here."""
        await self._reconciler.settle_lost(key.run_id)
        resumed = await self._store.resume(key, clock(), entry, once)
        if resumed is not None and resumed.changed:
            self._events(key).changed()
            await self._proceed(WokenRun(key, entry.actor_id if entry is not None else None))
        return resumed

    async def _proceed(self, woken: WokenRun) -> None:
        """Continue a run whose rows say that it goes on, next to what still works on it here."""
        key = woken.key
        share = await share_of(self._services.spaces, key, woken.starter)
        owned = self._runs.active(key.run_id)
        run = None if owned is None else owned.run
        if owned is None:
            self._enqueue(key.run_id, share, priority=MOST_PRIORITY)
        elif run is not None and run.conducted and not run.abandoned:
            run.failed = run.ended = False
            self._conductor.rejoin(run)
        else:
            # Its last tasks are just ending.
            owned.requeue = True

    async def wake_run(self, run_id: str) -> None:
        """Wake the steps of a run that are due, and continue it."""
        for woken in await self._store.wake(clock(), MOST_WOKEN, run_id=run_id):
            await self._proceed(woken)

    async def _wake_due(self) -> int:
        if self._worker_lease.draining:
            return 0
        await self._services.slots.grant_free()
        return await wake_due(self._store, self._proceed, lambda: MOST_QUEUED - self._runs.queue_length)

    async def _end_overdue(self) -> None:
        for key in await end_overdue(self._store):
            self._announce_end(key, Verdict(Action.END, DEADLINE_EXCEEDED))

    async def pause(self, key: RunKey, entry: Entry | None = None) -> Paused | None:
        """Pause a run: its steps that run here finish, and no other is claimed."""
        paused = await self._store.pause(key, clock(), entry)
        for run in paused.runs if paused is not None else ():
            self._events(run.key).changed()
            owned = self._runs.get(run.key.run_id)
            if owned is not None and owned.queued:
                owned.run = None  # read from its rows when its turn comes
        return paused

    async def unpause(self, key: RunKey, entry: Entry | None = None) -> Paused | None:
        """Continue a paused run here; a command leaves it to the server."""
        continued = await self._store.unpause(key, clock(), entry)
        for run in continued.runs if continued is not None else ():
            self._events(run.key).changed()
            if self._settings.recover_on_start:
                await self._proceed(run)
        return continued

    async def cancel(self, run_id: str, tenant_id: str, entry: Entry | None = None) -> Cancelled | None:
        """Cancel a run: in the database first, then its tasks in this process."""
        cancelled = await self._store.cancel(run_id, tenant_id, clock(), entry)
        if cancelled is not None and cancelled.changed:
            for cancelled_id in (run_id, *cancelled.children):
                self._cancelled(cancelled_id)
        return cancelled

    def _cancelled(self, run_id: str) -> None:
        """Stop a run that is cancelled in the database, and notify readers."""
        owned_run = self._runs.get(run_id)
        run = None if owned_run is None else owned_run.run
        if run is not None:
            run.ended = True
            run.abandon()
        events = run.events if run is not None else RunEvents(self._services.bus, run_id, self._services.telemetry)
        events.run_cancelled()
        self._waiters.wake(run_id)

    async def wait(self, run_id: str) -> None:
        """Wait until the run is over or this engine has closed. Raises `Unavailable` for an abandoned run."""
        while not self._worker_lease.stopping:
            entry = self._runs.active(run_id)
            run = None if entry is None else entry.run
            if run is not None and not (run.ended or run.abandoned):
                # Ending it here wakes the waiter; there is no await in between.
                await self._waiters.wait(run_id, None)
            else:
                # Another process owns it, or will: poll the rows, since no event arrives here.
                status = await self._store.status(run_id)
                if status is None or status.over:
                    return
                self._conductor.require_progress(run_id)
                if not self._settings.recover_on_start:  # a command wakes what it waits for, and nothing else
                    await self._services.slots.grant_free()
                    for waiting_id in (run_id, *self._children):
                        await self.wake_run(waiting_id)
                await self._waiters.wait(run_id, POLL_SECONDS)
            if run is not None and run.ended:
                return

    async def recover(self) -> int:
        """Queue runs without a worker; fail those that cannot continue.

        The result of a sweep is as old as its start. This is safe: a run that this process owns is not queued again,
        and one that is over is read again before anything is done with it.
        """
        if self._worker_lease.draining:
            return 0
        sweep = await self._reconciler.sweep(self._runs)
        for run in sweep.queued:
            self._runs.prioritize(run.key.run_id, run.priority)
        metrics = self._services.telemetry.metrics
        metrics.reconciled("ended", len(sweep.ended))
        metrics.reconciled("taken_up", len(sweep.take_up))
        for key, verdict in sweep.ended:
            self._announce_end(key, verdict)
        for run in sweep.take_up:
            share = await share_of(self._services.spaces, run.key, run.user_id)
            self._enqueue(run.key.run_id, share, priority=run.priority)
        return len(sweep.take_up) + len(sweep.ended)

    async def health(self) -> BackendHealth:
        """Report this process: one worker, and its queue."""
        problems = ("The engine is shutting down.",) if self._worker_lease.stopping else ()
        return BackendHealth("embedded", None, None, workers=1, queue_depth=self._runs.queue_length, problems=problems)

    def _enqueue(self, run_id: str, share: Share, run: ActiveRun | None = None, *, priority: int) -> None:
        self._runs.enqueue(run_id, share, run, priority=priority)
        self._admit()

    def _admit(self) -> None:
        """Give free slots to the runs whose turn it is."""
        while self._worker_lease.admits and (entry := self._runs.next()) is not None:
            self._spawn(entry, self._take_up(entry))

    def _spawn(self, entry: OwnedRun, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        entry.tasks.add(task)
        if entry.run is not None:
            entry.run.tasks.add(task)
        task.add_done_callback(lambda ended: self._task_ended(entry, ended))

    def _task_ended(self, entry: OwnedRun, ended: asyncio.Task[None]) -> None:
        entry.tasks.discard(ended)
        if not ended.cancelled() and (error := ended.exception()) is not None:
            log.error("run left for recovery", run_id=entry.run_id, exc_info=error)
        # Tasks of an abandoned run may still be ending: it keeps its slot until they have.
        other_tasks = set() if entry.run is None else entry.run.tasks - entry.tasks
        for task in [task for task in other_tasks if not task.done()]:
            entry.tasks.add(task)
            task.add_done_callback(lambda ended: self._task_ended(entry, ended))
        if not entry.tasks:
            self._release(entry)

    def _release(self, entry: OwnedRun) -> None:
        """Free the slot of a run without tasks in this process."""
        self._runs.release(entry)
        self._turns.over(entry.run_id)
        self._waiters.wake(entry.run_id)
        self._admit()

    async def _take_up(self, entry: OwnedRun) -> None:
        """Continue a run: queued here, or stored and left by a dead worker."""
        if entry.run is not None:
            await self._begin_queued(entry, entry.run)
            return
        stored = await patiently(lambda: self._store.load(entry.run_id))
        if stored is None or stored.status not in ACTIVE_RUNS:
            return
        try:
            run = await self._recovery.revive(stored)
        except Unavailable:
            raise
        except HeadgateError as error:
            await self._end(stored.key, error.code, str(error))
            return
        run.share = entry.share
        self._join(entry, run)
        resumed = stored.status is RunStatus.RUNNING
        run.events.run_started(resumed=resumed)
        async with run.turn:
            recovered = await patiently(
                lambda: self._store.take_over(stored.key, self._left_steps(stored), self._worker_lease.lease())
            )
            run.working.update({claim.step_id: claim for claim in recovered})
            claims = await self._conductor.move(run, run.ledger.decide(startable(run, stored)))
        await self._conductor.conduct(run, [*recovered, *claims])

    async def _begin_queued(self, entry: OwnedRun, run: ActiveRun) -> None:
        if run.ended:
            return
        self._join(entry, run)
        run.started_at = clock()
        run.events.run_started()
        async with run.turn:
            claims = await self._conductor.move(run, run.ledger.decide(run.planned.roots))
        await self._conductor.conduct(run, claims)

    def _join(self, entry: OwnedRun, run: ActiveRun) -> None:
        """Add tasks to the run's entry."""
        entry.run = run
        run.tasks |= entry.tasks

    def _left_steps(self, stored: StoredRun) -> list[Holder]:
        """Return steps whose worker is gone, and those that this worker left: only this task executes the run."""
        holders = [step.holder for step in stored.steps.values() if step.status is StepStatus.RUNNING]
        worker_id = self._worker_lease.worker.id
        return [
            holder
            for holder in holders
            if holder.worker_id == worker_id or self._worker_lease.has_lost(stored.key.run_id, holder)
        ]

    async def _end(self, key: RunKey, code: str, message: str) -> None:
        """Fail a run that cannot continue."""
        if await self._store.end(key, code, message, clock()):
            self._announce_end(key, Verdict(Action.END, code, message))

    def _announce_end(self, key: RunKey, verdict: Verdict) -> None:
        """After the run was ended in the database, stop its tasks here and notify readers."""
        entry = self._runs.get(key.run_id)
        run = None if entry is None else entry.run
        if run is not None:
            run.failed = run.ended = True
            run.abandon()
        self._events(key).run_failed(verdict.code)
        self._waiters.wake(key.run_id)

    def _ended(self, run: ActiveRun) -> None:
        run.ended = True
        self._waiters.wake(run.key.run_id)
        self._children.discard(run.key.run_id)
        if run.parent_run_id is not None and not self._worker_lease.stopping:
            wake = asyncio.create_task(self._wake_parent(run.parent_run_id))
            self._wakes.add(wake)
            wake.add_done_callback(self._wakes.discard)

    async def _wake_parent(self, run_id: str) -> None:
        with suppress(Unavailable):  # the next look for due steps does it
            await self.wake_run(run_id)

    def _events(self, key: RunKey, trace_parent: str | None = None) -> RunEvents:
        return RunEvents(self._services.bus, key.run_id, self._services.telemetry, trace_parent)

    async def _renew(self) -> None:
        """Renew the leases of running steps."""
        for run in await self._worker_lease.renew(self._store, self._runs.claims()):
            await self._conductor.lose(run)
