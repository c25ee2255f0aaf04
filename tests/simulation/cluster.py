"""The distributed engine in the simulator: real sweeper, reconciler, dispatcher and segment worker.

A message queue in memory stands for Redis and Celery: it goes away, forgets everything, loses, doubles and delays
single messages, and gives a message out again whose worker died. The rows are in SQLite; the few statements that
only PostgreSQL has are written for it here.
"""

import asyncio
import sqlite3
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from random import Random
from typing import Any, cast

from headgate.features.audit.chain import Entry
from headgate.features.jobs.worker import Worker
from headgate.features.runs.engine import alarm
from headgate.features.runs.engine.alarm import MOST_WOKEN, WAKE_SECONDS, wake_due
from headgate.features.runs.engine.backend import ExecutionBackend, RunRequest
from headgate.features.runs.engine.distributed.broker import Broker
from headgate.features.runs.engine.distributed.cancellations import Cancellations
from headgate.features.runs.engine.distributed.compiler import FlowCompiler
from headgate.features.runs.engine.distributed.dispatcher import BrokerAway, Dispatcher
from headgate.features.runs.engine.distributed.lanes import Lanes
from headgate.features.runs.engine.distributed.limits import TaskLimits
from headgate.features.runs.engine.distributed.orders import Order, Queues, order_for
from headgate.features.runs.engine.distributed.presence import Presence
from headgate.features.runs.engine.distributed.segment_worker import Outcome, SegmentWorker
from headgate.features.runs.engine.distributed.segments import Parallel, Segment, Shape, leading
from headgate.features.runs.engine.distributed.sweeper import Sweeper
from headgate.features.runs.engine.failure_handling import HANDLE_SECONDS, start_handlers
from headgate.features.runs.engine.reconciler import Reconciler, Rules
from headgate.features.runs.engine.recovery import whole_run
from headgate.features.runs.engine.subflows import Engine, Subflows
from headgate.features.runs.engine.worker_lease import WorkerLease
from headgate.features.runs.states import RunStatus
from headgate.features.runs.step_services import Services
from headgate.features.runs.steps.planned import Plans
from headgate.features.runs.store.postgres_dispatches import PostgresDispatchStore, Sent
from headgate.features.runs.store.sqlite import SqliteRunStore
from headgate.features.runs.transitions import (
    Cancelled,
    Lease,
    NewRun,
    Onward,
    Resumed,
    RunKey,
    StoredRun,
    clock,
)
from headgate.features.runs.waiting import Paused, WokenRun
from headgate.foundation.errors import Unavailable
from headgate.foundation.events import EventBus

SWEEP_SECONDS = 2.0
REDISPATCH_SECONDS = 5.0
MAX_PICKUPS = 20
_LIVE = "status IN ('queued', 'running')"


class SqliteDispatchStore(SqliteRunStore):
    """What `PostgresDispatchStore` adds, for SQLite."""

    async def create(self, run: NewRun, lease: Lease) -> None:
        """Insert a run as one that is sent at once."""
        await super().create(run, lease)
        await self._change(
            "UPDATE flow_runs SET dispatched_at = ?, dispatches = 1 WHERE id = ?", lease.at, run.key.run_id
        )

    async def begin(self, key: RunKey, step_id: str, lease: Lease) -> StoredRun | None:
        """Claim the one step that a new run can begin with."""
        stored = await self.load(key.run_id)
        if stored is None or stored.status is not RunStatus.QUEUED or stored.steps[step_id].attempts:
            return None
        progress = await self.advance(key, Onward(claim=(step_id,)), lease)
        return replace(stored, status=RunStatus.RUNNING, steps={}, started_at=lease.at) if progress.claims else None

    async def not_sent(self, run_id: str) -> None:
        """The message could not be sent."""
        await self._change(f"UPDATE flow_runs SET dispatched_at = NULL WHERE id = ? AND {_LIVE}", run_id)

    async def next_dispatch(self, run_id: str, seen: int, at: int) -> int | None:
        """The number of the next sending."""
        statement = (
            "UPDATE flow_runs SET dispatched_at = ?, dispatches = dispatches + 1"
            f" WHERE id = ? AND dispatches = ? AND {_LIVE} RETURNING dispatches"
        )
        number: int | None = await self._change(statement, at, run_id, seen)
        return number

    async def pick_up(self, run_id: str) -> int | None:
        """A worker holds a message of the run."""
        statement = f"UPDATE flow_runs SET pickups = pickups + 1 WHERE id = ? AND {_LIVE} RETURNING pickups"
        number: int | None = await self._change(statement, run_id)
        return number

    async def put_back(self, run_id: str) -> None:
        """A worker outlived its message."""
        await self._change("UPDATE flow_runs SET pickups = pickups - 1 WHERE id = ? AND pickups > 0", run_id)

    async def dispatches(self, run_id: str) -> int:
        """How often work on a run was handed to a queue."""
        return await self._change("SELECT dispatches FROM flow_runs WHERE id = ?", run_id) or 0

    async def sent(self, run_ids: Sequence[str]) -> list[Sent]:
        """How these runs stand with their queues."""
        query = (
            "SELECT r.id, r.status, r.dispatched_at, r.dispatches,"
            " max(CASE WHEN s.status = 'running' THEN s.started_at END), max(s.finished_at) FROM flow_runs r"
            " LEFT JOIN flow_step_results s ON s.flow_run_id = r.id AND r.status = 'running'"
            f" WHERE r.id IN ({', '.join('?' for _ in run_ids)}) AND r.{_LIVE} GROUP BY r.id ORDER BY r.id"
        )
        rows = await self._writer.read(lambda db: db.execute(query, list(run_ids)).fetchall()) if run_ids else []
        return [Sent(row[0], RunStatus(row[1]), *row[2:]) for row in rows]

    async def _change(self, statement: str, *values: Any) -> Any:
        def job(db: sqlite3.Connection) -> Any:
            row = db.execute(statement, values).fetchone()
            return None if row is None else row[0]

        return await self._writer.submit(job)


@dataclass(eq=False)
class Message:
    """A task in the queue, and what follows it in its canvas."""

    order: Order
    begun: bool
    then: Callable[[], None]
    redelivered: bool = False
    retries: int = 0

    @property
    def again(self) -> bool:
        """Whether it may have reached a worker before."""
        return self.redelivered or (self.order.dispatch > 1 and self.retries == 0)


class SimulatedBroker:
    """The message queue of all processes.

    Args:
        random: Draws what is lost, doubled and delayed.
        loop: Whose time it is.
    """

    def __init__(self, random: Random, loop: asyncio.AbstractEventLoop) -> None:
        self._random = random
        self._loop = loop
        self._queues: dict[bool, deque[tuple[float, Message]]] = {True: deque(), False: deque()}
        self.away = False
        self.unreliable = False

    async def depths(self) -> tuple[int, int] | None:
        """Messages that wait, as Redis counts them: first segments, further ones."""
        await asyncio.sleep(0)
        return None if self.away else (len(self._queues[False]), len(self._queues[True]))

    def flush(self) -> None:
        """Forget everything."""
        for queue in self._queues.values():
            queue.clear()

    def publish(self, message: Message) -> None:
        """Put a message in its queue. Raises `OSError` when the queue is away."""
        if self.away:
            raise ConnectionRefusedError("the queue is away")
        fate = self._random.random() if self.unreliable else 1.0
        if fate < 0.1:
            return
        late = self._random.random() * 20 if fate < 0.3 else 0.0
        for _ in range(2 if 0.3 <= fate < 0.45 else 1):
            self._queues[message.begun].append((self._loop.time() + late, message))

    def give_back(self, message: Message, seconds: float, *, died: bool = False) -> None:
        """A worker did not finish with a message: it comes again."""
        again = replace(message, redelivered=message.redelivered or died, retries=message.retries + (not died))
        self._queues[message.begun].append((self._loop.time() + seconds, again))

    def take(self) -> Message | None:
        """The next message: of begun runs first."""
        if self.away:
            return None
        for queue in (self._queues[True], self._queues[False]):
            for place, (ready_at, message) in enumerate(queue):
                if ready_at <= self._loop.time():
                    del queue[place]
                    return message
        return None


class SimulatedCompiler(FlowCompiler):
    """Makes canvases that go to the simulated broker."""

    def __init__(self, broker: SimulatedBroker, limits: TaskLimits, lanes: int) -> None:
        super().__init__(cast("Any", None), Queues("simulated"), limits, lanes)
        self._broker = broker

    def compile(
        self,
        key: RunKey,
        plan: Any,
        dispatch: int,
        settled: Any = (),
        *,
        lane: str,
        started: bool,
        priority: int = 0,
    ) -> Any:
        """The canvas of a run's remainder."""
        shape = self.shape(plan, settled)
        first = frozenset() if started else frozenset(one.head for one in leading(shape))
        return Canvas(self._broker, key, dispatch, shape, first)


@dataclass(frozen=True)
class Canvas:
    """What is left of a run, as messages that follow one another."""

    broker: SimulatedBroker
    key: RunKey
    dispatch: int
    shape: Shape
    first: frozenset[str]

    def apply_async(self) -> None:
        """Send what waits for nothing."""
        self._send(self.shape, lambda: None)

    def _send(self, shape: Shape, then: Callable[[], None]) -> None:
        if isinstance(shape, Segment):
            order = order_for(self.key, shape.head, self.dispatch)
            self.broker.publish(Message(order, shape.head not in self.first, then))
        elif isinstance(shape, Parallel):
            left = set(range(len(shape.parts)))

            def joined(part: int) -> None:
                left.discard(part)
                if not left:
                    then()

            for number, part in enumerate(shape.parts):
                self._send(part, lambda number=number: joined(number))  # type: ignore[misc]
        else:
            first, *rest = shape.parts
            following = then if not rest else lambda: self._send_rest(rest, then)
            self._send(first, following)

    def _send_rest(self, rest: Sequence[Shape], then: Callable[[], None]) -> None:
        first, *others = rest
        self._send(first, (lambda: self._send_rest(others, then)) if others else then)


class ToldCancellations:
    """Tells every process of cancelled runs, unless the queue is away."""

    def __init__(self, broker: SimulatedBroker, cancelled: list[Any]) -> None:
        self._broker = broker
        self._heard = cancelled

    async def announce(self, run_id: str) -> None:
        """This run was cancelled."""
        if not self._broker.away:
            for queue in self._heard:
                queue.append(run_id)

    async def listen(self, cancelled: Any) -> None:
        """Call for every run that is cancelled."""
        mine: list[str] = []
        self._heard.append(mine)
        while True:
            await asyncio.sleep(0.05)
            while mine:
                await cancelled(mine.pop(0))


class NoPresence:
    """Nobody asks which workers live."""

    async def record_heartbeat(self, worker_id: str) -> None:
        return None

    async def leave(self, worker_id: str) -> None:
        return None


class ClusterEngine:
    """One process of a cluster: starts and sweeps runs as a server does, and works as one worker child does.

    Args:
        store: The rows.
        services: What steps may reach.
        worker: Who this process is.
        broker: The message queue of all processes.
        inboxes: Cancelled runs, for each process.
    """

    def __init__(
        self,
        store: SqliteDispatchStore,
        services: Services,
        worker: Worker,
        broker: SimulatedBroker,
        inboxes: list[Any],
    ) -> None:
        assert isinstance(services.bus, EventBus)
        self._bus = services.bus
        self._store = store
        self._broker = broker
        self._worker_lease = WorkerLease(worker, services.engine.lease_seconds)
        self._plans = Plans(services.definitions, services.components)
        limits = TaskLimits(services.engine.step_timeout_seconds, 21_600)
        rows = cast("PostgresDispatchStore", store)
        self._cancellations = cast("Cancellations", ToldCancellations(broker, inboxes))
        self.segments = SegmentWorker(
            rows,
            services,
            self._worker_lease,
            limits,
            presence=cast("Presence", NoPresence()),
            cancellations=self._cancellations,
            max_pickups=MAX_PICKUPS,
            flows=Subflows(cast("Engine", self)),
            wake_soon=self._wake_soon,
        )
        self._services = services
        self._later: set[asyncio.Task[None]] = set()
        compiler = SimulatedCompiler(broker, limits, services.engine.max_concurrent_steps)
        self._dispatcher = Dispatcher(cast("Any", None), compiler, rows, self._plans, services.spaces, Lanes())
        rules = Rules(services.engine.run_timeout_seconds, redispatch_seconds=REDISPATCH_SECONDS)
        self._reconciler = Reconciler(store, self._worker_lease.has_lost, rules)
        self._sweeper = Sweeper(
            rows,
            self._reconciler,
            self._dispatcher,
            cast("Broker", broker),
            patience_seconds=REDISPATCH_SECONDS,
            telemetry=services.telemetry,
        )
        self._tasks: list[asyncio.Task[None]] = []

    @property
    def store(self) -> SqliteDispatchStore:
        """The rows."""
        return self._store

    @property
    def services(self) -> Services:
        """What steps may reach."""
        return self._services

    @property
    def plans(self) -> Plans:
        """The plans of versions."""
        return self._plans

    @property
    def feed(self) -> EventBus:
        """What this process itself publishes: of others the rows tell."""
        return self._bus

    @property
    def upkeep(self) -> int:
        """Tasks that run as long as the process does."""
        return len(self._tasks) + 2

    async def open(self) -> None:
        """Connect and begin to work."""
        self._worker_lease.worker.open()
        await self._store.open()
        await self.segments.open()
        work = (self._sweep_often(), self._wake_often(), self._handle_often(), self._consume())
        self._tasks = [asyncio.create_task(one) for one in work]

    async def close(self) -> None:
        """Leave everything to others."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.segments.close()
        await self._store.close()

    async def start(self, request: RunRequest) -> RunStatus:
        """Store a run, then send it."""
        planned = await self._plans.of(request.key)
        await self._store.create(whole_run(request, planned, None, dispatched=True), self._worker_lease.lease())
        await self._dispatcher.send_new(request.key, planned.plan, request.starter)
        return RunStatus.QUEUED

    async def cancel(self, run_id: str, tenant_id: str, entry: Entry | None = None) -> Cancelled | None:
        """End a run."""
        outcome = await self._store.cancel(run_id, tenant_id, clock(), entry)
        for cancelled_id in (run_id, *(outcome.children if outcome is not None else ())):
            await self._cancellations.announce(cancelled_id)
        return outcome

    async def pause(self, key: RunKey, entry: Entry | None = None) -> Paused | None:
        """Pause a run."""
        return await self._store.pause(key, clock(), entry)

    async def unpause(self, key: RunKey, entry: Entry | None = None) -> Paused | None:
        """Let a paused run continue."""
        outcome = await self._store.unpause(key, clock(), entry)
        for run in outcome.runs if outcome is not None else ():
            await self._send_rest(run.key)
        return outcome

    async def resume(self, key: RunKey, entry: Entry | None = None) -> Resumed | None:
        """Let a failed run continue."""
        await self._reconciler.settle_lost(key.run_id)
        outcome = await self._store.resume(key, clock(), entry)
        if outcome is not None and outcome.changed:
            await self._send_rest(key)
        return outcome

    async def _send_rest(self, key: RunKey) -> None:
        for sent in await self._store.sent([key.run_id]):
            with suppress(BrokerAway):
                await self._dispatcher.send_rest(sent)

    async def wait(self, run_id: str) -> None:
        """Return once the run is over."""
        while (status := await self._store.status(run_id)) is not None and not status.over:  # noqa: ASYNC110 - of any process
            await asyncio.sleep(0.5)

    async def _sweep_often(self) -> None:
        while True:
            with suppress(Unavailable):
                await self._sweeper.sweep()
            await asyncio.sleep(SWEEP_SECONDS)

    async def _wake_often(self) -> None:
        while True:
            with suppress(Unavailable):
                for key in await alarm.end_overdue(self._store):
                    await self._cancellations.announce(key.run_id)
            with suppress(Unavailable):
                await self._services.slots.grant_free()
                await wake_due(self._store, self._proceed)
            await asyncio.sleep(WAKE_SECONDS)

    async def _handle_often(self) -> None:
        while True:
            with suppress(Unavailable):
                await start_handlers(cast("ExecutionBackend", self))
            await asyncio.sleep(HANDLE_SECONDS)

    async def wake_run(self, run_id: str) -> None:
        """Wake the steps of a run that are due, and send what is left of it."""
        for woken in await self._store.wake(clock(), MOST_WOKEN, run_id=run_id):
            await self._proceed(woken)

    def _wake_soon(self, run_id: str) -> None:
        async def wake() -> None:
            with suppress(Unavailable):
                await self.wake_run(run_id)

        task = asyncio.create_task(wake())
        self._later.add(task)
        task.add_done_callback(self._later.discard)

    async def _proceed(self, woken: WokenRun) -> None:
        await self._send_rest(woken.key)

    async def _consume(self) -> None:
        """What a worker child does with one message after the other."""
        while True:
            message = self._broker.take()
            if message is None:
                await asyncio.sleep(0.05)
                continue
            self.holding = message
            try:
                outcome = await self.segments.execute(message.order, again=message.again)
            except Unavailable:
                self._broker.give_back(message, 2.0)
            else:
                if outcome not in {Outcome.FAILED, Outcome.SUSPENDED}:
                    with suppress(OSError):  # what follows is lost with the queue
                        message.then()
            self.holding = None

    holding: Message | None = None
    """The message that is being worked on: it comes again when the process dies."""

    def died(self) -> None:
        """The process ended with whatever it was doing."""
        if self.holding is not None:
            self._broker.give_back(self.holding, 10.0, died=True)
