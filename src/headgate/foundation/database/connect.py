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
from headgate.foundation.errors import DatabaseAway, HeadgateError, Invalid, Unavailable
from headgate.foundation.events import EventSink
from headgate.foundation.private_files import data_folder, private_database
from headgate.foundation.settings import DatabaseSettings, Settings

Dialect = Literal["sqlite", "postgresql"]
PROBES = {
    "sqlite": "PRAGMA user_version = 0",
    "postgresql": "SELECT pg_logical_emit_message(true, 'headgate', 'readiness')",
}
"""A write of a few bytes that reaches the log of the database and changes nothing."""
_WRITES = "headgate_writes"
CHECKPOINT_PAGES = 10_000
"""Pages of SQLite's log after which any connection copies it. The writer of runs copies it earlier: the first commit
after a copy waits for the disk, and the writer must know when that is."""


class Database:
    """One database, opened once by an entry point and closed by it.

    A session is one transaction. `reading()` never blocks a writer; `writing()` takes SQLite's write lock at its start,
    so that it can wait for the lock and never fails half-way.
    """

    def __init__(self, settings: Settings) -> None:
        self.url = _checked_url(settings.database_url)
        self.dialect = cast("Dialect", self.url.get_backend_name())
        self.settings = settings.database
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
        """How long the session that waits longest has waited for a connection; 0 when none does."""
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


class DatabaseBusy(Unavailable):
    """Every connection was in use for as long as a request may wait for one."""

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
"""What psycopg raises when PostgreSQL stops, has crashed or is starting."""


class database_errors:  # noqa: N801 - used as a context manager, reads as a phrase
    """Turns what a driver raises about the database itself (locked, full, gone) into `Unavailable`."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, _kind: object, error: BaseException | None, _traceback: object) -> None:
        if isinstance(error, PoolTimeout):
            raise DatabaseBusy from error
        if isinstance(error, DBAPIError):
            translated = explain(error.orig or error)
            if translated is not None:
                raise translated from error


def explain(error: BaseException) -> HeadgateError | None:
    """The `Unavailable` that a driver's error amounts to; None when it is a bug of ours."""
    message = str(error).lower()
    if "locked" in message or "lock timeout" in message:
        return Unavailable("The database is locked by another process.", remedy="Try again in a moment.")
    if "disk is full" in message or "no space" in message:
        return Unavailable("The disk is full; nothing was changed.", remedy="Free some space and try again.")
    if "disk i/o error" in message:  # what SQLite says of a full disk while it opens its shared memory
        return Unavailable(
            "The disk under the database cannot be read or written; nothing was changed.",
            remedy="It is full or failing: free some space, or look at the disk, and try again.",
        )
    if "readonly" in message or "read-only" in message:
        return Unavailable("The database is read-only; nothing was changed.", remedy="Check the file's permissions.")
    if "unable to open database" in message:
        return Unavailable("The database file cannot be opened.", remedy="Check HEADGATE_DATA_DIR and its permissions.")
    if "not a database" in message or "malformed" in message:
        return Unavailable("The database file is not a database, or damaged.", remedy="Restore it from a backup.")
    if type(error).__name__ in {"OperationalError", "PoolTimeout"} and any(
        word in message for word in ("connect", "connection", "refused", "timeout")
    ):
        return DatabaseAway("The database cannot be reached.", remedy="Check HEADGATE_DATABASE__URL and the server.")
    if {kind.__name__ for kind in type(error).__mro__} & _ENDED_CONNECTION:
        return DatabaseAway("The database ended the connection.", remedy="Check the server's log, then try again.")
    return None


def _checked_url(url: str) -> URL:
    try:
        parsed = make_url(url)
    except ArgumentError as error:
        raise Invalid(
            "HEADGATE_DATABASE__URL is not a database URL.", remedy="See docs/reference/settings.md."
        ) from error
    known = {"sqlite+aiosqlite", "postgresql+psycopg"}
    if parsed.drivername not in known:
        raise Invalid(
            f"Databases of kind '{parsed.drivername}' are not supported.", remedy=f"Use {' or '.join(sorted(known))}."
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
        options |= {"pool_pre_ping": True, "use_native_hstore": False}  # no table has one: a question less at the start
    try:
        engine = create_async_engine(url, **options)
    except ModuleNotFoundError as error:
        raise Unavailable(
            f"The database asks for the driver '{error.name}', which is not installed.",
            remedy="Install it with: pip install 'headgate[postgres]'",
        ) from error
    if url.get_backend_name() == "sqlite":
        _prepare_sqlite(engine.sync_engine, settings)
    return engine


def _from_json(stored: Any) -> Any:  # noqa: ANN401 - any JSON value
    """SQLite keeps a JSON column's bare number as a number."""
    return stored if isinstance(stored, (int, float)) else orjson.loads(stored)


def _prepare_sqlite(engine: Engine, settings: DatabaseSettings) -> None:
    @event.listens_for(engine, "connect")
    def _pragmas(connection: Any, _record: object) -> None:  # noqa: ANN401 - the driver's own connection
        connection.isolation_level = None
        # SQLite's own knows the letters of ASCII only.
        connection.create_function("lower", 1, _lower, deterministic=True)
        cursor = connection.cursor()
        try:
            set_pragmas(cursor, settings)
        except BaseException:
            connection.close()  # the pool never sees it; its thread and files would stay, after a cancellation too
            raise
        cursor.close()

    @event.listens_for(engine, "begin")
    def _begin(connection: Connection) -> None:
        writes = connection.get_execution_options().get(_WRITES)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _lower(text: str | None) -> str | None:
    return None if text is None else text.lower()


def _set(cursor: Any, pragma: str, patience: float) -> None:  # noqa: ANN401 - the driver's own cursor
    """Run a pragma. The change to WAL does not wait for a lock by itself, as everything else does."""
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
    """Settings of every SQLite connection, the runs' own included. Raises when the lock is not had in time."""
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
