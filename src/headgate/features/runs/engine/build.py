"""Puts the parts of an engine together: the one place an entry point calls."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from headgate.features.jobs.worker import Worker
from headgate.features.runs.engine.backend import ExecutionBackend
from headgate.features.runs.engine.embedded import EmbeddedBackend
from headgate.features.runs.ports import Services
from headgate.features.runs.store.port import RunStore
from headgate.features.runs.store.postgres import PostgresRunStore
from headgate.features.runs.store.sqlite import SqliteRunStore
from headgate.foundation.database import Database
from headgate.foundation.errors import Invalid
from headgate.foundation.events import EventBus, EventSink
from headgate.foundation.settings import Settings


@asynccontextmanager
async def open_events(settings: Settings) -> AsyncIterator[EventSink]:
    """Where the events of runs go in this process; open before the engine and closed after it."""
    if settings.engine.backend == "embedded":
        yield EventBus(settings.engine.event_memory_bytes)
        return
    relay = _distributed().open_relay(settings)
    try:
        yield relay
    finally:
        await relay.aclose()


def build_engine(settings: Settings, database: Database, services: Services) -> ExecutionBackend:
    """The engine of one process; `await engine.open()` before use and `await engine.close()` at the end.

    Raises `Invalid` when the engine that is set cannot be had: no PostgreSQL, or the extra is not installed.

    Args:
        settings: Where the data folder is; sizes of pools.
        database: The migrated database that flows and versions are in. The engine opens its own connections to it.
        services: Components, definitions, models, HTTP, files, secrets, sandbox, and the engine's settings; its bus is
            what `open_events` gave.
    """
    if settings.engine.backend == "celery":
        backend: ExecutionBackend = _distributed().build_backend(settings, database, services)
        return backend
    worker = Worker(settings.data_dir / "workers")
    if not isinstance(services.bus, EventBus):
        raise TypeError("the embedded engine publishes on a bus of this process")
    return EmbeddedBackend(build_store(database), services, worker, services.bus)


def build_store(database: Database) -> RunStore:
    """The rows of runs in the same database, over connections of their own."""
    if database.dialect == "postgresql":
        url = database.url.set(drivername="postgresql").render_as_string(hide_password=False)
        return PostgresRunStore(url, database.settings.pool_size)
    return SqliteRunStore(Path(database.url.database or ""), database.settings)


def _distributed() -> Any:  # noqa: ANN401 - a module
    """The one place that loads Celery. Raises `Invalid` where it is not installed."""
    try:
        from headgate.features.runs.engine.distributed import opening  # noqa: PLC0415 - see LATE_MODULES
    except ImportError as error:
        raise Invalid(
            "The engine 'celery' needs Celery, Redis and PostgreSQL clients.", remedy="Install headgate[distributed]."
        ) from error
    return opening
