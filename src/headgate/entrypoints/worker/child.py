"""Opens the parts of a worker child: services of steps and the engine, without the API."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from celery import Celery

from headgate.entrypoints.installation import Installation
from headgate.entrypoints.services import open_services
from headgate.features.jobs.runner import JobRunner
from headgate.features.keyring.rotation import Rotation
from headgate.features.maintenance.service import Maintenance
from headgate.features.processes.heartbeat import Drain, Heartbeat
from headgate.features.runs.engine.distributed.opening import WorkerChild, open_relay, open_worker
from headgate.foundation.database import Database
from headgate.foundation.settings import Settings
from headgate.foundation.telemetry.opening import telemetry_of

WORKER_ID = "headgate_worker_id"
"""In the configuration of the application: the id of the worker, which its children are drained with."""


@asynccontextmanager
async def open_child(settings: Settings, app: Celery) -> AsyncIterator[WorkerChild]:
    """Open it on the loop that runs now. Raises `Unavailable` when the database is away."""
    database = Database(settings)
    relay = open_relay(settings)
    try:
        async with (
            telemetry_of(settings, "worker", counts=settings.telemetry.worker_metrics_port > 0) as telemetry,
            _loaded(Installation(settings, database, telemetry)) as installation,
            open_services(installation, relay, scans=True) as base,
            open_worker(
                settings,
                database,
                base,
                relay,
                app,
            ) as child,
            base.jobs.running(),
            _heartbeat(database, base.jobs, child, app.conf.get(WORKER_ID)).running(),
        ):
            maintenance = Maintenance(database, installation.storage, settings.retention, base.jobs)
            rotation = Rotation(database, installation.ring, installation.box, base.jobs)
            _ = maintenance, rotation, base.deliveries, base.notices  # each registers its jobs
            yield child
    finally:
        await relay.aclose()
        await database.close()


def _heartbeat(database: Database, jobs: JobRunner, child: WorkerChild, worker_id: str | None) -> Heartbeat:
    """Return the heartbeat of a child, which is drained with its worker."""

    def apply(drain: Drain) -> None:
        jobs.leases.draining = drain.draining
        child.segments.drain(handing_over=drain.handing_over)

    def work() -> dict[str, int]:
        return {"runs": child.segments.working, **jobs.working}

    return Heartbeat(database, "worker", jobs.leases.worker.id, work=work, apply=apply, parent_id=worker_id)


@asynccontextmanager
async def _loaded(installation: Installation) -> AsyncIterator[Installation]:
    """Return the installation with the keys that are current according to the database."""
    await installation.load_keys()
    yield installation
