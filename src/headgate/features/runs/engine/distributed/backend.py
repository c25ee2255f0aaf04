"""Client side of the distributed engine: stores runs, sends them and follows their events. Executes nothing."""

import asyncio
from collections.abc import Coroutine
from contextlib import suppress

from headgate.features.audit.chain import Entry
from headgate.features.idempotency.keys import StartKey
from headgate.features.jobs.upkeep import end, repeat
from headgate.features.runs.engine.alarm import MOST_WOKEN, WAKE_SECONDS, end_overdue, wake_due
from headgate.features.runs.engine.backend import BackendHealth, RunRequest
from headgate.features.runs.engine.distributed.broker import Broker
from headgate.features.runs.engine.distributed.cancellations import Cancellations
from headgate.features.runs.engine.distributed.dispatcher import BrokerAway, Dispatcher
from headgate.features.runs.engine.distributed.presence import Presence
from headgate.features.runs.engine.distributed.sweeper import Sweeper
from headgate.features.runs.engine.failure_handling import HANDLE_SECONDS, start_handlers
from headgate.features.runs.engine.reconciler import Reconciler
from headgate.features.runs.engine.recovery import settled_run, whole_run
from headgate.features.runs.engine.worker_lease import WorkerLease
from headgate.features.runs.errors import DEADLINE_EXCEEDED
from headgate.features.runs.events import RunEvents, topic_of
from headgate.features.runs.states import RunStatus
from headgate.features.runs.step_services import Services
from headgate.features.runs.steps.planned import PlannedFlow, Plans
from headgate.features.runs.store.postgres_dispatches import PostgresDispatchStore
from headgate.features.runs.terms import terms_of
from headgate.features.runs.transitions import (
    Cancelled,
    Resumed,
    RunKey,
    clock,
)
from headgate.features.runs.waiting import Paused, WokenRun
from headgate.foundation.errors import Unavailable
from headgate.foundation.event_relay import EventRelay, RelayFeed
from headgate.foundation.log import get_logger
from headgate.foundation.outages import Outage

POLL_SECONDS = 0.5
"""How often the rows of a run are polled while Redis sends no events."""
MOST_BEGUN = 1_000
"""Most runs started here that are remembered."""
log = get_logger(__name__)


class CeleryBackend:
    """Dispatches runs to workers.

    Args:
        store: The rows.
        services: Plans, events and limits.
        worker_lease: Decides whether workers are gone; holds no lease.
        plans: The plans of versions.
        dispatcher: Sends runs to the queues.
        sweeper: Recovers lost messages.
        reconciler: Ends steps that dead workers left.
        broker: Reports queue depths.
        presence: Counts workers.
        cancellations: Notifies workers of cancelled runs.
        relay: Publishes and receives events of runs.
        sweep_seconds: Interval between sweeps of a server.
        owns_app: Whether this engine closes the Celery application; in a worker, the worker does.
    """

    def __init__(
        self,
        store: PostgresDispatchStore,
        services: Services,
        worker_lease: WorkerLease,
        plans: Plans,
        *,
        dispatcher: Dispatcher,
        sweeper: Sweeper,
        reconciler: Reconciler,
        broker: Broker,
        presence: Presence,
        cancellations: Cancellations,
        relay: EventRelay,
        sweep_seconds: float,
        owns_app: bool = True,
    ) -> None:
        self._store = store
        self._services = services
        self._worker_lease = worker_lease
        self._plans = plans
        self._dispatcher = dispatcher
        self._sweeper = sweeper
        self._reconciler = reconciler
        self._broker = broker
        self._presence = presence
        self._cancellations = cancellations
        self._sweep_seconds = sweep_seconds
        self._owns_app = owns_app
        self._feed = RelayFeed(relay.client)
        self._begun: dict[str, None] = {}
        """Runs started here recently, oldest first: their events are complete."""
        self._closed = False
        self._later: set[asyncio.Task[None]] = set()
        self._waiting: set[asyncio.Task[object]] = set()

    @property
    def plans(self) -> Plans:
        """Plans of versions, cached."""
        return self._plans

    @property
    def services(self) -> Services:
        """Services that steps may use."""
        return self._services

    @property
    def store(self) -> PostgresDispatchStore:
        """The rows of runs."""
        return self._store

    @property
    def feed(self) -> RelayFeed:
        """Events of all workers."""
        return self._feed

    async def open(self) -> None:
        """Connect to the database; sweep now and periodically, if configured. Redis may be down."""
        await self._store.open()
        if self._services.engine.recover_on_start:
            with suppress(Unavailable):
                await self.recover()
            # Beat schedules it as well; a server recovers what was lost even while beat is down.
            self._do_later(repeat(self.recover, self._sweep_seconds, Outage(log, "database")))
            self.keep_waking()

    def keep_waking(self) -> None:
        """Wake waiting steps and end overdue runs from now on: every server and every worker child does, each once."""
        self._do_later(repeat(self._wake_due, WAKE_SECONDS, Outage(log, "database of waiting steps")))
        handling = repeat(lambda: start_handlers(self), HANDLE_SECONDS, Outage(log, "database of failed runs"))
        self._do_later(handling)
        self._do_later(repeat(self._end_overdue, WAKE_SECONDS, Outage(log, "database of deadlines")))

    async def _end_overdue(self) -> None:
        for key in await end_overdue(self._store):
            self._events(key).run_failed(DEADLINE_EXCEEDED)
            self._do_later(self._take_back(key.run_id))

    async def wake_run(self, run_id: str) -> None:
        """Wake the steps of a run that are due, and send what is left of it."""
        for woken in await self._store.wake(clock(), MOST_WOKEN, run_id=run_id):
            await self._proceed(woken)

    def wake_soon(self, run_id: str) -> None:
        """Wake the steps of a run whose step waited for another that ended here."""
        self._do_later(self._wake_parent(run_id))

    async def _wake_parent(self, run_id: str) -> None:
        with suppress(Unavailable):  # the next look for due steps does it
            await self.wake_run(run_id)

    async def _wake_due(self) -> int:
        await self._services.slots.grant_free()
        return await wake_due(self._store, self._proceed)

    async def _proceed(self, woken: WokenRun) -> None:
        self._events(woken.key).changed()
        await self._send_rest(woken.key.run_id)

    async def close(self, grace_seconds: float = 0.0) -> None:  # noqa: ARG002 - nothing works here
        """Disconnect. Runs continue without this process."""
        if self._closed:
            return
        self._closed = True
        for task in self._waiting:
            task.cancel()
        await end(self._later)
        await self._store.close()
        await self._broker.close()
        if self._owns_app:
            await self._dispatcher.close()

    async def start(self, request: RunRequest) -> RunStatus:
        """Store a run as queued, then send it. While the broker is down it waits for the next sweep."""
        key = request.key
        planned = await self._plans.of(key)
        if not request.is_whole:
            return await self._start_settled(request, planned)
        trace = self._services.telemetry.traces.run_began(key.run_id)
        new = whole_run(request, planned, trace, dispatched=True)
        await self._store.create(new, self._worker_lease.lease())
        self._events(key, trace).run_queued()
        self._begun[key.run_id] = None
        if len(self._begun) > MOST_BEGUN:
            del self._begun[next(iter(self._begun))]
        await self._dispatcher.send_new(key, planned.plan, request.starter, terms_of(new.terms).priority)
        return RunStatus.QUEUED

    async def _start_settled(self, request: RunRequest, planned: PlannedFlow) -> RunStatus:
        """Store a run with settled steps; it is read from the database when its turn comes, like a recovered one."""
        key = request.key
        trace = self._services.telemetry.traces.run_began(key.run_id)
        await self._store.create(settled_run(request, planned, trace), self._worker_lease.lease())
        self._events(key, trace).run_queued()
        await self._send_rest(key.run_id)
        return RunStatus.QUEUED

    async def resume(self, key: RunKey, entry: Entry | None = None, once: StartKey | None = None) -> Resumed | None:
        """Resume a failed run: send its remainder."""
        await self._reconciler.settle_lost(key.run_id)
        resumed = await self._store.resume(key, clock(), entry, once)
        if resumed is not None and resumed.changed:
            self._events(key).changed()
            await self._send_rest(key.run_id)
        return resumed

    async def pause(self, key: RunKey, entry: Entry | None = None) -> Paused | None:
        """Pause a run: workers claim no step of it; its messages have no effect."""
        paused = await self._store.pause(key, clock(), entry)
        for run in paused.runs if paused is not None else ():
            self._events(run.key).changed()
        return paused

    async def unpause(self, key: RunKey, entry: Entry | None = None) -> Paused | None:
        """Continue a paused run: send its remainder."""
        continued = await self._store.unpause(key, clock(), entry)
        for run in continued.runs if continued is not None else ():
            await self._proceed(run)
        return continued

    async def cancel(self, run_id: str, tenant_id: str, entry: Entry | None = None) -> Cancelled | None:
        """Cancel a run: in the database first; then notify its worker and revoke its messages."""
        cancelled = await self._store.cancel(run_id, tenant_id, clock(), entry)
        if cancelled is not None and cancelled.changed:
            for cancelled_id in (run_id, *cancelled.children):
                RunEvents(self._services.bus, cancelled_id, self._services.telemetry).run_cancelled()
                self._do_later(self._take_back(cancelled_id))
        return cancelled

    async def _take_back(self, run_id: str) -> None:
        await self._cancellations.announce(run_id)
        await self._dispatcher.revoke(run_id)

    def _do_later(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._later.add(task)
        task.add_done_callback(self._later.discard)

    async def wait(self, run_id: str) -> None:
        """Wait until the run is over or this engine has closed. Follows its events; its rows are the fallback."""
        waiting: asyncio.Task[object] = asyncio.create_task(self._until_over(run_id))
        self._waiting.add(waiting)
        try:
            await asyncio.wait([waiting])
            if not waiting.cancelled():
                waiting.result()
        finally:
            self._waiting.discard(waiting)
            waiting.cancel()

    async def _until_over(self, run_id: str) -> None:
        if run_id not in self._begun and await self._is_over(run_id):
            return
        while True:
            try:
                async with self._feed.follow(topic_of(run_id)) as feed:
                    while not (await feed.changed() and await self._is_over(run_id)):
                        feed.pending()
                    return
            except Unavailable:
                await asyncio.sleep(POLL_SECONDS)

    async def _is_over(self, run_id: str) -> bool:
        status = await self._store.status(run_id)
        return status is None or status.over

    async def recover(self) -> int:
        """Send runs whose messages were lost or never sent, and those that are due; end what is hopeless."""
        await self._wake_due()
        count, ended = await self._sweeper.sweep()
        for key, verdict in ended:
            self._events(key).run_failed(verdict.code)
        return count + len(ended)

    def drain(self, *, draining: bool, handing_over: bool) -> None:
        """Do nothing: workers execute the runs."""

    @property
    def working(self) -> int:
        """None: workers execute the runs."""
        return 0

    async def health(self) -> BackendHealth:
        """Report whether the broker and the result backend respond, and workers are alive."""
        depths, results, workers = await asyncio.gather(
            self._broker.depths(), self._broker.results_answer(), self._workers()
        )
        problems = []
        if depths is None:
            problems.append("The broker is unreachable: check HEADGATE_CELERY__BROKER_URL.")
        if not results:
            problems.append("The result backend is unreachable: check HEADGATE_CELERY__RESULT_URL.")
        if workers is None:
            problems.append("The events database is unreachable: check HEADGATE_CELERY__EVENTS_URL.")
        elif workers == 0:
            problems.append("No worker is running: start one with `headgate worker`.")
        return BackendHealth(
            "celery",
            broker=depths is not None,
            results=results,
            workers=workers or 0,
            queue_depth=-1 if depths is None else sum(depths),
            problems=tuple(problems),
        )

    async def _workers(self) -> int | None:
        try:
            return await asyncio.wait_for(self._presence.count(), 1.5)
        except Exception as error:  # noqa: BLE001 - whatever it is, they cannot be counted
            log.warning("worker count failed", problem=str(error))
            return None

    async def _send_rest(self, run_id: str) -> None:
        """Send the remainder of a run that was not sent for it; the sweep handles what cannot be sent now."""
        for sent in await self._store.sent([run_id]):
            with suppress(BrokerAway):
                await self._dispatcher.send_rest(sent)

    def _events(self, key: RunKey, trace_parent: str | None = None) -> RunEvents:
        return RunEvents(self._services.bus, key.run_id, self._services.telemetry, trace_parent)
