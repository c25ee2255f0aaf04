"""Assembles the distributed engine, for the API and for a worker child."""

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
from headgate.features.runs.engine.distributed.heartbeat import LeaseHeartbeat
from headgate.features.runs.engine.distributed.lanes import Lanes
from headgate.features.runs.engine.distributed.limits import TaskLimits
from headgate.features.runs.engine.distributed.orders import Queues
from headgate.features.runs.engine.distributed.presence import Presence
from headgate.features.runs.engine.distributed.segment_worker import SegmentWorker
from headgate.features.runs.engine.distributed.sweeper import Sweeper
from headgate.features.runs.engine.reconciler import Reconciler, Rules
from headgate.features.runs.engine.subflows import Subflows
from headgate.features.runs.engine.worker_lease import WorkerLease
from headgate.features.runs.step_services import Services
from headgate.features.runs.steps.planned import Plans
from headgate.features.runs.store.postgres_dispatches import PostgresDispatchStore
from headgate.foundation.database import Database
from headgate.foundation.errors import Invalid
from headgate.foundation.event_relay import EventRelay
from headgate.foundation.settings import Settings


def open_relay(settings: Settings) -> EventRelay:
    """Open the relay of run events; close it after everything that publishes."""
    return EventRelay(settings.celery.events_url, settings.celery.events_expire_seconds)


def build_backend(settings: Settings, database: Database, services: Services) -> CeleryBackend:
    """Build the client side of the engine. Raises `Invalid` without PostgreSQL."""
    return _backend(settings, services, _store(database), _worker_lease(settings), make_app(settings), owns_app=True)


@dataclass(frozen=True)
class WorkerChild:
    """The opened parts of a worker child."""

    segments: SegmentWorker
    backend: CeleryBackend
    relay: EventRelay
    keeper: LeaseHeartbeat
    services: Services

    async def recover(self) -> int:
        """Recover runs without a worker."""
        return await self.backend.recover()

    async def settle(self) -> None:
        """Send the buffered events."""
        await self.relay.settle()

    def retried(self) -> None:
        """Count a retry of a task."""
        self.services.telemetry.metrics.reconciled("task_retried")

    def renew_from_outside(self) -> None:
        """Renew the leases while the loop is late."""
        self.keeper.renew()

    def time_out_from_outside(self, run_id: str, seconds: float) -> None:
        """Fail the steps of a run whose loop does not respond."""
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
    store, worker_lease = _store(database), _worker_lease(settings)
    backend = _backend(settings, services, store, worker_lease, app, owns_app=False)
    await store.open()
    worker_lease.worker.open()
    try:
        presence = Presence(relay.client, settings.celery.queue)
        cancellations = Cancellations(relay.client, settings.celery.queue)
        segments = SegmentWorker(
            store,
            services,
            worker_lease,
            _limits(settings),
            presence=presence,
            cancellations=cancellations,
            flows=Subflows(backend),
            wake_soon=backend.wake_soon,
            max_pickups=settings.celery.max_pickups,
        )
        await segments.open()
        try:
            keeper = LeaseHeartbeat(_libpq(database), segments, worker_lease)
            backend.keep_waking()
            yield WorkerChild(segments, backend, relay, keeper, services)
        finally:
            await segments.close()
    finally:
        worker_lease.worker.close()
        await backend.close()


def _backend(
    settings: Settings,
    services: Services,
    store: PostgresDispatchStore,
    worker_lease: WorkerLease,
    app: Celery,
    *,
    owns_app: bool,
) -> CeleryBackend:
    if not isinstance(services.bus, EventRelay):
        raise TypeError("the distributed engine requires an event relay")
    celery, queues = settings.celery, Queues(settings.celery.queue)
    plans = Plans(services.definitions, services.components)
    compiler = FlowCompiler(app, queues, _limits(settings), services.engine.max_concurrent_steps)
    dispatcher = Dispatcher(app, compiler, store, plans, services.spaces, Lanes(services.engine.weights))
    rules = Rules(run_timeout_seconds=services.engine.run_timeout_seconds, redispatch_seconds=celery.redispatch_seconds)
    reconciler = Reconciler(store, worker_lease.has_lost, rules)
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
        worker_lease,
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
            "The engine 'celery' requires PostgreSQL: several processes write runs at the same time.",
            remedy="Set HEADGATE_DATABASE__URL to postgresql+psycopg://user:password@host/name, use the embedded"
            " engine, or try `headgate up --embedded-services`.",
        )
    return PostgresDispatchStore(_libpq(database), database.settings.pool_size)


def _libpq(database: Database) -> str:
    return database.url.set(drivername="postgresql").render_as_string(hide_password=False)


def _worker_lease(settings: Settings) -> WorkerLease:
    return WorkerLease(Worker(settings.data_dir / "workers"), settings.engine.lease_seconds)


def _limits(settings: Settings) -> TaskLimits:
    return TaskLimits(settings.engine.longest_step_seconds, settings.celery.visibility_timeout_seconds)
