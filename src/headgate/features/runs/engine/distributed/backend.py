"""The distributed engine as its users see it: writes runs down, sends them, listens to them. Carries nothing out."""

import asyncio
from collections.abc import Coroutine
from contextlib import suppress

from headgate.features.audit.chain import Entry
from headgate.features.idempotency.keys import StartKey
from headgate.features.jobs.upkeep import repeat
from headgate.features.runs.engine.backend import BackendHealth, RunRequest
from headgate.features.runs.engine.distributed.broker import Broker
from headgate.features.runs.engine.distributed.cancellations import Cancellations
from headgate.features.runs.engine.distributed.dispatcher import BrokerAway, Dispatcher
from headgate.features.runs.engine.distributed.presence import Presence
from headgate.features.runs.engine.distributed.sweeper import Sweeper
from headgate.features.runs.engine.reconciler import Reconciler
from headgate.features.runs.engine.recovery import settled_run, whole_run
from headgate.features.runs.engine.shift import Shift
from headgate.features.runs.events import RunEvents, topic_of
from headgate.features.runs.ports import Services
from headgate.features.runs.states import RunStatus
from headgate.features.runs.steps.planned import PlannedFlow, Plans
from headgate.features.runs.store.postgres_dispatches import PostgresDispatchStore
from headgate.features.runs.transitions import Cancelled, Resumed, RunKey, clock
from headgate.foundation.errors import Unavailable
from headgate.foundation.event_relay import EventRelay, RelayFeed
from headgate.foundation.log import get_logger
from headgate.foundation.outages import Outage

POLL_SECONDS = 0.5
"""How often the rows of a run are read while Redis does not tell of it."""
MOST_BEGUN = 1_000
"""Runs begun here that are remembered."""
log = get_logger(__name__)


class CeleryBackend:
    """Hands runs to workers.

    Args:
        store: The rows.
        services: Plans, events and limits.
        shift: Judges whether workers are gone; takes no lease.
        plans: The plans of versions.
        dispatcher: Sends.
        sweeper: Finds what was lost.
        reconciler: Ends steps that dead workers left.
        broker: Tells of the queues.
        presence: Tells of the workers.
        cancellations: Tells the workers of runs that are cancelled.
        relay: Where events of runs go and come from.
        sweep_seconds: How often a server looks for what was left.
        owns_app: Whether the Celery application is this engine's to close; in a worker it is the worker's.
    """

    def __init__(
        self,
        store: PostgresDispatchStore,
        services: Services,
        shift: Shift,
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
        self._shift = shift
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
        """Runs that were begun here lately, oldest first: their events tell all there is to tell."""
        self._closed = False
        self._later: set[asyncio.Task[None]] = set()
        self._waiting: set[asyncio.Task[object]] = set()

    @property
    def plans(self) -> Plans:
        """Plans of versions, kept."""
        return self._plans

    @property
    def services(self) -> Services:
        """What steps may reach."""
        return self._services

    @property
    def store(self) -> PostgresDispatchStore:
        """The rows of runs."""
        return self._store

    @property
    def feed(self) -> RelayFeed:
        """The events of all workers."""
        return self._feed

    async def open(self) -> None:
        """Connect to the database; look for what was left now and from then on, if so set. Redis may be away."""
        await self._store.open()
        if self._services.engine.recover_on_start:
            with suppress(Unavailable):
                await self.recover()
            # Beat has it done as well; a server recovers what was lost even while beat is down.
            self._do_later(repeat(self.recover, self._sweep_seconds, Outage(log, "database")))

    async def close(self, grace_seconds: float = 0.0) -> None:  # noqa: ARG002 - nothing works here
        """Disconnect. Runs go on without this process."""
        if self._closed:
            return
        self._closed = True
        for task in [*self._waiting, *self._later]:
            task.cancel()
        if self._later:
            await asyncio.wait(self._later)
        await self._store.close()
        await self._broker.close()
        if self._owns_app:
            await self._dispatcher.close()

    async def start(self, request: RunRequest) -> RunStatus:
        """Store a run as queued, then send it. With the broker away it waits for the next sweep."""
        key = request.key
        planned = await self._plans.of(key)
        if not request.is_whole:
            return await self._start_settled(request, planned)
        trace = self._services.telemetry.traces.run_began(key.run_id)
        new = whole_run(request, planned, trace, dispatched=True)
        await self._store.create(new, self._shift.lease())
        self._events(key, trace).run_queued()
        self._begun[key.run_id] = None
        if len(self._begun) > MOST_BEGUN:
            del self._begun[next(iter(self._begun))]
        await self._dispatcher.send_new(key, planned.plan, request.starter)
        return RunStatus.QUEUED

    async def _start_settled(self, request: RunRequest, planned: PlannedFlow) -> RunStatus:
        """Store a run with settled steps; it is read back when its turn comes, as if it had been left queued."""
        key = request.key
        trace = self._services.telemetry.traces.run_began(key.run_id)
        await self._store.create(settled_run(request, planned, trace), self._shift.lease())
        self._events(key, trace).run_queued()
        await self._send_rest(key.run_id)
        return RunStatus.QUEUED

    async def resume(self, key: RunKey, entry: Entry | None = None, once: StartKey | None = None) -> Resumed | None:
        """Let a failed run go on: send what is left of it."""
        await self._reconciler.settle_lost(key.run_id)
        resumed = await self._store.resume(key, clock(), entry, once)
        if resumed is not None and resumed.changed:
            self._events(key).changed()
            await self._send_rest(key.run_id)
        return resumed

    async def cancel(self, run_id: str, tenant_id: str, entry: Entry | None = None) -> Cancelled | None:
        """End a run: in the database first, then whoever works on it is told, and its messages are taken back."""
        cancelled = await self._store.cancel(run_id, tenant_id, clock(), entry)
        if cancelled is not None and cancelled.changed:
            events = RunEvents(self._services.bus, run_id, self._services.telemetry)
            events.run_cancelled()
            self._do_later(self._take_back(run_id))
        return cancelled

    async def _take_back(self, run_id: str) -> None:
        await self._cancellations.tell(run_id)
        await self._dispatcher.revoke(run_id)

    def _do_later(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._later.add(task)
        task.add_done_callback(self._later.discard)

    async def wait(self, run_id: str) -> None:
        """Return once the run is over, or this engine has closed. Its events say so; the rows where they do not."""
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
        """Send runs whose messages were lost or never sent; end what is hopeless."""
        count, ended = await self._sweeper.sweep()
        for key, verdict in ended:
            self._events(key).run_failed(verdict.code)
        return count + len(ended)

    async def health(self) -> BackendHealth:
        """Whether the broker and the result backend answer, and workers live."""
        depths, results, workers = await asyncio.gather(
            self._broker.depths(), self._broker.results_answer(), self._workers()
        )
        problems = []
        if depths is None:
            problems.append("The broker does not answer: check HEADGATE_CELERY__BROKER_URL.")
        if not results:
            problems.append("The result backend does not answer: check HEADGATE_CELERY__RESULT_URL.")
        if workers is None:
            problems.append("The events database does not answer: check HEADGATE_CELERY__EVENTS_URL.")
        elif workers == 0:
            problems.append("No worker is alive: start one with `headgate worker`.")
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
            log.warning("workers not counted", problem=str(error))
            return None

    async def _send_rest(self, run_id: str) -> None:
        """Send what is left of a run that was not sent for it; what cannot be sent now is swept."""
        for one in await self._store.sent([run_id]):
            with suppress(BrokerAway):
                await self._dispatcher.send_rest(one)

    def _events(self, key: RunKey, trace_parent: str | None = None) -> RunEvents:
        return RunEvents(self._services.bus, key.run_id, self._services.telemetry, trace_parent)
