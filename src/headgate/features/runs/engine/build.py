"""Assembles an engine from its parts; called by the entry points."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headgate.features.jobs.worker import Worker
from headgate.features.runs.engine.backend import ExecutionBackend
from headgate.features.runs.engine.embedded import EmbeddedBackend
from headgate.features.runs.step_services import Services
from headgate.features.runs.store.port import RunStore
from headgate.foundation.database import Database
from headgate.foundation.errors import Invalid
from headgate.foundation.events import EventBus, EventSink
from headgate.foundation.lazy import lazy_module
from headgate.foundation.settings import Settings

if TYPE_CHECKING:
    from headgate.features.runs.store import postgres, sqlite
else:
    postgres = lazy_module("headgate.features.runs.store.postgres")
    sqlite = lazy_module("headgate.features.runs.store.sqlite")


@asynccontextmanager
async def open_events(settings: Settings) -> AsyncIterator[EventSink]:
    """Open the event bus of runs in this process. Open it before the engine and close it after the engine."""
    if settings.engine.backend == "embedded":
        yield EventBus(settings.engine.event_memory_bytes)
        return
    relay = _distributed().open_relay(settings)
    try:
        yield relay
    finally:
        await relay.aclose()


def build_engine(settings: Settings, database: Database, services: Services) -> ExecutionBackend:
    """Build the engine of one process. Call `await engine.open()` before use and `await engine.close()` at the end.

    Raises `Invalid` when the configured engine is not available: no PostgreSQL, or the extra is not installed.

    Args:
        settings: Location of the data folder; pool sizes.
        database: The migrated database with flows and versions. The engine opens its own connections to it.
        services: Components, definitions, models, HTTP, files, secrets, sandbox and the engine's settings; its bus is
            the one from `open_events`.
    """
    if settings.engine.backend == "celery":
        backend: ExecutionBackend = _distributed().build_backend(settings, database, services)
        return backend
    worker = Worker(settings.data_dir / "workers")
    if not isinstance(services.bus, EventBus):
        raise TypeError("the embedded engine requires an event bus in this process")
    return EmbeddedBackend(build_store(database), services, worker, services.bus)


def build_store(database: Database) -> RunStore:
    """Build the store of runs in the same database, with its own connections."""
    if database.dialect == "postgresql":
        url = database.url.set(drivername="postgresql").render_as_string(hide_password=False)
        return postgres.PostgresRunStore(url, database.settings.pool_size)
    return sqlite.SqliteRunStore(Path(database.url.database or ""), database.settings)


def _distributed() -> Any:  # noqa: ANN401 - a module
    """Load the distributed engine, the only place that imports Celery. Raises `Invalid` when it is not installed."""
    try:
        from headgate.features.runs.engine.distributed import opening  # noqa: PLC0415 - see LATE_MODULES
    except ImportError as error:
        raise Invalid(
            "The engine 'celery' requires Celery, Redis and PostgreSQL client packages.",
            remedy="Install headgate[distributed].",
        ) from error
    return opening
