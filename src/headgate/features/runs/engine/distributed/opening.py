"""Puts the parts of the distributed engine together, for the API and for a worker child."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from celery import Celery

from headgate.features.jobs.worker import Worker
from headgate.features.runs.engine.distributed.backend import CeleryBackend
from headgate.features.runs.engine.distributed.broker import Broker
from headgate.features.runs.engine.distributed.cancellations import Cancellations
from headgate.features.runs.engine.distributed.celery_app import make_app
from headgate.features.runs.engine.distributed.compiler import FlowCompiler
from headgate.features.runs.engine.distributed.dispatcher import Dispatcher
from headgate.features.runs.engine.distributed.lanes import Lanes
from headgate.features.runs.engine.distributed.lifeguard import Lifeguard
from headgate.features.runs.engine.distributed.limits import TaskLimits
from headgate.features.runs.engine.distributed.orders import Queues
from headgate.features.runs.engine.distributed.presence import Presence
from headgate.features.runs.engine.distributed.segment_worker import SegmentWorker
from headgate.features.runs.engine.distributed.sweeper import Sweeper
from headgate.features.runs.engine.reconciler import Reconciler, Rules
from headgate.features.runs.engine.shift import Shift
from headgate.features.runs.ports import Services
from headgate.features.runs.steps.planned import Plans
from headgate.features.runs.store.postgres_dispatches import PostgresDispatchStore
from headgate.foundation.database import Database
from headgate.foundation.errors import Invalid
from headgate.foundation.event_relay import EventRelay
from headgate.foundation.settings import Settings


def open_relay(settings: Settings) -> EventRelay:
    """Where runs' events go; close it after everything that publishes."""
    return EventRelay(settings.celery.events_url, settings.celery.events_expire_seconds)


def build_backend(settings: Settings, database: Database, services: Services) -> CeleryBackend:
    """The engine for those who start runs. Raises `Invalid` without PostgreSQL."""
    return _backend(settings, services, _store(database), _shift(settings), make_app(settings), owns_app=True)


@dataclass(frozen=True)
class WorkerChild:
    """What is open in a worker child."""

    segments: SegmentWorker
    backend: CeleryBackend
    relay: EventRelay
    keeper: Lifeguard
    services: Services

    async def recover(self) -> int:
        """Look for runs that were left."""
        return await self.backend.recover()

    async def settle(self) -> None:
        """Send the events that are still held back."""
        await self.relay.settle()

    def retried(self) -> None:
        """A task is tried again: count it."""
        self.services.telemetry.metrics.reconciled("task_retried")

    def renew_from_outside(self) -> None:
        """Keep the leases of a loop that is late."""
        self.keeper.renew()

    def time_out_from_outside(self, run_id: str, seconds: float) -> None:
        """Fail the steps of a run whose loop does not answer."""
        self.keeper.time_out(run_id, seconds)


@asynccontextmanager
async def open_worker(
    settings: Settings,
    database: Database,
    services: Services,
    relay: EventRelay,
    app: Celery,
) -> AsyncIterator[WorkerChild]:
    """Open what a worker child needs, on the loop it will use. Raises `Invalid` without PostgreSQL, `Unavailable`."""
    store, shift = _store(database), _shift(settings)
    backend = _backend(settings, services, store, shift, app, owns_app=False)
    await store.open()
    shift.worker.open()
    try:
        presence = Presence(relay.client, settings.celery.queue)
        cancellations = Cancellations(relay.client, settings.celery.queue)
        segments = SegmentWorker(
            store,
            services,
            shift,
            _limits(settings),
            presence=presence,
            cancellations=cancellations,
            max_pickups=settings.celery.max_pickups,
        )
        await segments.open()
        try:
            keeper = Lifeguard(_libpq(database), segments, shift)
            yield WorkerChild(segments, backend, relay, keeper, services)
        finally:
            await segments.close()
    finally:
        shift.worker.close()
        await backend.close()


def _backend(
    settings: Settings,
    services: Services,
    store: PostgresDispatchStore,
    shift: Shift,
    app: Celery,
    *,
    owns_app: bool,
) -> CeleryBackend:
    if not isinstance(services.bus, EventRelay):
        raise TypeError("the distributed engine publishes through a relay")
    celery, queues = settings.celery, Queues(settings.celery.queue)
    plans = Plans(services.definitions, services.components)
    compiler = FlowCompiler(app, queues, _limits(settings), services.engine.max_concurrent_steps)
    dispatcher = Dispatcher(app, compiler, store, plans, services.spaces, Lanes(services.engine.weights))
    rules = Rules(run_timeout_seconds=services.engine.run_timeout_seconds, redispatch_seconds=celery.redispatch_seconds)
    reconciler = Reconciler(store, shift.has_lost, rules)
    broker = Broker(celery, queues)
    sweeper = Sweeper(
        store,
        reconciler,
        dispatcher,
        broker,
        patience_seconds=celery.redispatch_seconds,
        telemetry=services.telemetry,
    )
    return CeleryBackend(
        store,
        services,
        shift,
        plans,
        dispatcher=dispatcher,
        sweeper=sweeper,
        reconciler=reconciler,
        broker=broker,
        presence=Presence(services.bus.client, celery.queue),
        cancellations=Cancellations(services.bus.client, celery.queue),
        relay=services.bus,
        sweep_seconds=celery.sweep_seconds,
        owns_app=owns_app,
    )


def _store(database: Database) -> PostgresDispatchStore:
    if database.dialect != "postgresql":
        raise Invalid(
            "The engine 'celery' needs PostgreSQL: several processes write runs at once.",
            remedy="Set HEADGATE_DATABASE__URL to postgresql+psycopg://user:password@host/name, use the embedded"
            " engine, or try `headgate up --embedded-services`.",
        )
    return PostgresDispatchStore(_libpq(database), database.settings.pool_size)


def _libpq(database: Database) -> str:
    return database.url.set(drivername="postgresql").render_as_string(hide_password=False)


def _shift(settings: Settings) -> Shift:
    return Shift(Worker(settings.data_dir / "workers"), settings.engine.lease_seconds)


def _limits(settings: Settings) -> TaskLimits:
    return TaskLimits(settings.engine.step_timeout_seconds, settings.celery.visibility_timeout_seconds)
