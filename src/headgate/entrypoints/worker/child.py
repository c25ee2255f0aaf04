"""What a worker child opens: the services of steps and the engine's parts, without the API around them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from celery import Celery

from headgate.entrypoints.installation import Installation
from headgate.entrypoints.services import open_services
from headgate.features.maintenance.service import Maintenance
from headgate.features.runs.engine.distributed.opening import WorkerChild, open_relay, open_worker
from headgate.foundation.database import Database
from headgate.foundation.settings import Settings
from headgate.foundation.telemetry.opening import telemetry_of


@asynccontextmanager
async def open_child(settings: Settings, app: Celery) -> AsyncIterator[WorkerChild]:
    """Open it on the loop that runs now. Raises `Unavailable` when the database is away."""
    database = Database(settings)
    relay = open_relay(settings)
    try:
        async with (
            telemetry_of(settings.telemetry, "worker", counts=settings.telemetry.worker_metrics_port > 0) as telemetry,
            open_services(installation := Installation(settings, database, telemetry), relay, scans=True) as base,
            open_worker(
                settings,
                database,
                base,
                relay,
                app,
            ) as child,
            base.jobs.running(),
        ):
            maintenance = Maintenance(database, installation.storage, settings.retention, base.jobs)
            _ = maintenance, base.deliveries  # each registers its jobs
            yield child
    finally:
        await relay.aclose()
        await database.close()
