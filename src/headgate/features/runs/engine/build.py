"""Puts the parts of the embedded engine together: the one place an entry point calls."""

from pathlib import Path

from headgate.features.runs.engine.embedded import EmbeddedBackend
from headgate.features.runs.engine.worker import Worker
from headgate.features.runs.ports import Services
from headgate.features.runs.store.port import RunStore
from headgate.features.runs.store.postgres import PostgresRunStore
from headgate.features.runs.store.sqlite import SqliteRunStore
from headgate.foundation.database import Database
from headgate.foundation.events import EventBus
from headgate.foundation.settings import Settings


def build_engine(settings: Settings, database: Database, services: Services) -> EmbeddedBackend:
    """The engine of one process; `await engine.open()` before use and `await engine.close()` at the end.

    Args:
        settings: Where the data folder is; sizes of pools.
        database: The migrated database that flows and versions are in. The engine opens its own connections to it.
        services: Components, definitions, models, HTTP, files, secrets, sandbox, bus, and the engine's settings.
    """
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
