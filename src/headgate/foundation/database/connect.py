"""Engines and sessions."""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal, cast

import orjson
from sqlalchemy import Connection, Engine, event, make_url, text
from sqlalchemy.engine import URL
from sqlalchemy.exc import ArgumentError, DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession, async_sessionmaker, create_async_engine

from headgate.foundation.database import sqlite
from headgate.foundation.database.announcing import publish_announced
from headgate.foundation.database.pool import WatchedPool
from headgate.foundation.errors import DatabaseAway, DatabaseUnavailable, Invalid, Unavailable
from headgate.foundation.events import EventSink
from headgate.foundation.pending_restore import finish
from headgate.foundation.private_files import data_folder, private_database
from headgate.foundation.settings import DatabaseSettings, Settings

Dialect = Literal["sqlite", "postgresql"]
PROBES = {
    "sqlite": "PRAGMA user_version = 0",
    "postgresql": "SELECT pg_logical_emit_message(true, 'headgate', 'readiness')",
}
"""A write of a few bytes that reaches the write-ahead log and changes nothing."""
_WRITES = "headgate_writes"
CHECKPOINT_PAGES = 10_000
"""Pages in SQLite's write-ahead log that trigger a checkpoint by any connection. The run writer checkpoints earlier:
the first commit after a checkpoint waits for the disk, and the writer must know when that happens.
"""


class Database:
    """One database, opened once by an entry point and closed by it.

    A session is one transaction. `reading()` never blocks a writer; `writing()` takes SQLite's write lock at its start,
    so it can wait for the lock and never fails halfway.
    """

    def __init__(self, settings: Settings) -> None:
        self.url = _checked_url(settings.database_url)
        self.dialect = cast("Dialect", self.url.get_backend_name())
        self.settings = settings.database
        self.data_dir = settings.data_dir
        finish(settings.data_dir)
        if self.dialect == "sqlite" and self.url.database not in (None, "", ":memory:"):
            data_folder(settings.data_dir)
            private_database(Path(self.url.database or ""))
        self.engine = _open(self.url, settings.database)
        self.bus: EventSink | None = None
        """Where announced events go; set by who opens the database together with a bus."""
        self._reading = async_sessionmaker(self.engine, expire_on_commit=False)
        self._writing = async_sessionmaker(self.engine.execution_options(**{_WRITES: True}), expire_on_commit=False)

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[AsyncSession]:
        """A session for queries."""
        with database_errors():
            async with self._reading() as session, session.begin():
                yield session

    @asynccontextmanager
    async def writing(self) -> AsyncIterator[AsyncSession]:
        """A session whose changes are committed when the block ends without an error; then its events are published."""
        with database_errors():
            async with self._writing() as session, session.begin():
                yield session
        publish_announced(session, self.bus)

    @property
    def wait_seconds(self) -> float:
        """Return how long the oldest waiting session has waited for a connection, in seconds; 0 when none waits."""
        pool = self.engine.pool
        return pool.wait_seconds if isinstance(pool, WatchedPool) else 0.0

    async def ping(self) -> None:
        """Raise `Unavailable` when the database does not answer."""
        async with self.reading() as session:
            await session.execute(text("SELECT 1"))

    async def prove_write(self) -> None:
        """Raise `Unavailable` when nothing can be written."""
        async with self.writing() as session:
            await session.execute(text(PROBES[self.dialect]))

    async def close(self) -> None:
        """Close every connection."""
        await self.engine.dispose()


class DatabaseBusy(DatabaseUnavailable):
    """All connections were in use until the request's wait timed out."""

    def __init__(self) -> None:
        super().__init__(
            "All database connections are in use.",
            remedy="Try again in a moment; HEADGATE_DATABASE__POOL_SIZE sets their number.",
        )


_ENDED_CONNECTION = {
    "AdminShutdown",
    "CrashShutdown",
    "CannotConnectNow",
    "ConnectionFailure",
    "ConnectionDoesNotExist",
}
"""Errors of psycopg when PostgreSQL stops, has crashed or is starting."""


class database_errors:  # noqa: N801 - used as a context manager, reads as a phrase
    """Convert driver errors about the database itself (locked, full, unreachable) to `DatabaseUnavailable`."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, _kind: object, error: BaseException | None, _traceback: object) -> None:
        if isinstance(error, PoolTimeout):
            raise DatabaseBusy from error
        if isinstance(error, DBAPIError):
            translated = explain(error.orig or error)
            if translated is not None:
                raise translated from error


def explain(error: BaseException) -> DatabaseUnavailable | None:
    """Return the `DatabaseUnavailable` for a driver's error; None when it is a bug in Headgate."""
    message = str(error).lower()
    if "locked" in message or "lock timeout" in message:
        return DatabaseUnavailable("The database is locked by another process.", remedy="Try again in a moment.")
    if "disk is full" in message or "no space" in message:
        return DatabaseUnavailable("The disk is full; nothing was changed.", remedy="Free some space and try again.")
    if "disk i/o error" in message:  # SQLite's message for a full disk while it opens its shared memory
        return DatabaseUnavailable(
            "The disk of the database cannot be read or written; nothing was changed.",
            remedy="It is full or failing: free some space or check the disk, and try again.",
        )
    if "readonly" in message or "read-only" in message:
        return DatabaseUnavailable(
            "The database is read-only; nothing was changed.", remedy="Check the file's permissions."
        )
    if "unable to open database" in message:
        return DatabaseUnavailable(
            "The database file cannot be opened.", remedy="Check HEADGATE_DATA_DIR and its permissions."
        )
    if "not a database" in message or "malformed" in message:
        return DatabaseUnavailable(
            "The database file is not a database, or is damaged.", remedy="Restore it from a backup."
        )
    if type(error).__name__ in {"OperationalError", "PoolTimeout"} and any(
        word in message for word in ("connect", "connection", "refused", "timeout")
    ):
        return DatabaseAway("The database cannot be reached.", remedy="Check HEADGATE_DATABASE__URL and the server.")
    if {kind.__name__ for kind in type(error).__mro__} & _ENDED_CONNECTION:
        return DatabaseAway("The database closed the connection.", remedy="Check the server's log, then try again.")
    return None


def _checked_url(url: str) -> URL:
    try:
        parsed = make_url(url)
    except ArgumentError as error:
        raise Invalid(
            "HEADGATE_DATABASE__URL is not a database URL.", remedy="See docs/reference/settings.md."
        ) from error
    drivers = {"sqlite+aiosqlite", "postgresql+psycopg"}
    if parsed.drivername not in drivers:
        raise Invalid(
            f"Databases of type '{parsed.drivername}' are not supported.", remedy=f"Use {' or '.join(sorted(drivers))}."
        )
    return parsed


def _open(url: URL, settings: DatabaseSettings) -> AsyncEngine:
    options: dict[str, Any] = {
        "json_serializer": lambda value: orjson.dumps(value).decode(),
        "json_deserializer": _from_json,
        "pool_size": settings.pool_size,
        "max_overflow": settings.pool_size,
        "pool_timeout": 30,
        "poolclass": WatchedPool,
    }
    if url.get_backend_name() == "sqlite":
        options["connect_args"] = {"timeout": settings.busy_timeout_seconds, "async_creator_fn": sqlite.connect}
    else:
        options |= {"pool_pre_ping": True, "use_native_hstore": False}  # no table uses it; saves a query at start-up
    try:
        engine = create_async_engine(url, **options)
    except ModuleNotFoundError as error:
        raise Unavailable(
            f"The database requires the driver '{error.name}', which is not installed.",
            remedy="Install it with: pip install 'headgate[postgres]'",
        ) from error
    if url.get_backend_name() == "sqlite":
        _prepare_sqlite(engine.sync_engine, settings)
    return engine


def _from_json(stored: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Keep a bare number of a JSON column in SQLite as a number."""
    return stored if isinstance(stored, (int, float)) else orjson.loads(stored)


def _prepare_sqlite(engine: Engine, settings: DatabaseSettings) -> None:
    @event.listens_for(engine, "connect")
    def _pragmas(connection: Any, _record: object) -> None:  # noqa: ANN401 - the driver's own connection
        connection.isolation_level = None
        # SQLite's own function supports ASCII letters only.
        connection.create_function("lower", 1, _lower, deterministic=True)
        cursor = connection.cursor()
        try:
            set_pragmas(cursor, settings)
        except BaseException:
            connection.close()  # the pool never sees it; its thread and files would leak, also after a cancellation
            raise
        cursor.close()

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        writes = connection.get_execution_options().get(_WRITES)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _lower(text: str | None) -> str | None:
    return None if text is None else text.lower()


def _set(cursor: Any, pragma: str, patience: float) -> None:  # noqa: ANN401 - the driver's own cursor
    """Run a pragma. Unlike other pragmas, the change to WAL does not wait for a lock."""
    deadline = time.monotonic() + patience
    while True:
        try:
            cursor.execute(pragma)
        except Exception as error:
            if "locked" not in str(error) or time.monotonic() >= deadline:
                raise
            time.sleep(0.005)
        else:
            return


def set_pragmas(cursor: Any, settings: DatabaseSettings) -> None:  # noqa: ANN401 - a driver's own cursor
    """Configure a SQLite connection, including those of runs. Raises when the lock is not acquired in time."""
    for pragma in (
        f"PRAGMA busy_timeout={int(settings.busy_timeout_seconds * 1000)}",
        "PRAGMA journal_mode=WAL",
        f"PRAGMA synchronous={settings.synchronous}",
        "PRAGMA foreign_keys=ON",
        "PRAGMA temp_store=MEMORY",
        f"PRAGMA wal_autocheckpoint={CHECKPOINT_PAGES}",
    ):
        _set(cursor, pragma, settings.busy_timeout_seconds)


__all__ = ["Database", "Dialect", "database_errors", "explain", "set_pragmas"]
