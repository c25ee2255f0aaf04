"""A small pool of connections to PostgreSQL, each in use only for the duration of one transaction."""

import re
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from functools import cache
from typing import TYPE_CHECKING, Any

from headgate.foundation.database import explain
from headgate.foundation.errors import DatabaseAway, Invalid

if TYPE_CHECKING:  # referenced without importing psycopg
    from psycopg import AsyncConnection, AsyncRawCursor
    from psycopg_pool import AsyncConnectionPool

_EVERY_STATEMENT_GOES_BY_KEY = "-c enable_seqscan=off -c plan_cache_mode=force_generic_plan -c jit=off"
"""A plan is made once per connection: one made while the tables were small must also suit large ones."""
WAIT_FOR_CONNECTION_SECONDS = 30.0
_ABOUT_THE_DATABASE = {"OperationalError", "PoolTimeout", "PoolClosed"}


class PostgresPool:
    """Connections to one database.

    Args:
        url: A libpq URL of a migrated database.
        size: Most connections.
    """

    def __init__(self, url: str, size: int) -> None:
        self._url = url
        self._size = size
        self._waiting: dict[object, float] = {}
        """Waiters for a connection, with the start of their wait."""

    async def open(self) -> None:
        """Connect. Raises `Unavailable`."""
        self._pool, self._cursor_of = _open_pool(self._url, self._size)
        try:
            await self._pool.open(wait=True, timeout=WAIT_FOR_CONNECTION_SECONDS)
        except Exception as error:
            await self._pool.close()
            _raise_translated(error)
            raise

    async def close(self) -> None:
        """Disconnect."""
        await self._pool.close()

    @property
    def connections_out(self) -> int:
        """Number of connections in use."""
        stats = self._pool.get_stats()
        return int(stats["pool_size"]) - int(stats["pool_available"])

    @property
    def wait_seconds(self) -> float:
        """Longest current wait for a connection."""
        return time.monotonic() - min(self._waiting.values()) if self._waiting else 0.0

    async def execute(self, statement: str, values: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        """Execute one statement in one transaction."""
        try:
            connection = await self._next_connection()
            try:
                numbered, names = _numbered(statement)
                cursor = self._cursor_of(connection)
                await cursor.execute(numbered, [values[name] for name in names], prepare=True)
                rows: list[tuple[Any, ...]] = await cursor.fetchall()
                return rows
            finally:
                await self._pool.putconn(connection)
        except Exception as error:
            _raise_translated(error)
            raise

    async def snapshot(
        self, row_query: str, rows_query: str, values: Mapping[str, Any]
    ) -> tuple[list[tuple[Any, ...]], list[tuple[Any, ...]]]:
        """Read rows and their dependent rows in one transaction with a consistent snapshot, in one round trip."""
        async with self.connection() as connection, connection.pipeline():
            await connection.execute("BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY", prepare=True)
            first = await connection.execute(row_query, values, prepare=True)
            second = await connection.execute(rows_query, values, prepare=True)
            await connection.execute("COMMIT", prepare=True)
            return await first.fetchall(), await second.fetchall()

    async def _next_connection(self) -> "AsyncConnection[Any]":
        me = object()
        self._waiting[me] = time.monotonic()
        try:
            connection: AsyncConnection[Any] = await self._pool.getconn()
            return connection
        finally:
            del self._waiting[me]

    @asynccontextmanager
    async def connection(self) -> "AsyncIterator[AsyncConnection[Any]]":
        """Return a connection for one transaction. Raises `Unavailable` when the database is down."""
        try:
            connection = await self._next_connection()
            try:
                async with connection:
                    yield connection
            finally:
                await self._pool.putconn(connection)
        except Exception as error:
            _raise_translated(error)
            raise


def _raise_translated(error: Exception) -> None:
    """Raise psycopg's errors about the database itself (down, full, in recovery, deadlock) as `Unavailable`.

    Its operational errors never concern the statement, which may succeed later.
    """
    away = explain(error)
    if away is None and {kind.__name__ for kind in type(error).__mro__} & _ABOUT_THE_DATABASE:
        away = DatabaseAway("The database does not answer.", remedy="Check HEADGATE_DATABASE__URL and the server.")
    if away is not None:
        raise away from error


@cache
def _numbered(statement: str) -> tuple[str, tuple[str, ...]]:
    """Return a statement with `$1` instead of `%(name)s`, and the names in numeric order.

    psycopg does this itself, but for a text over 4 KiB again at every execution.
    """
    numbers: dict[str, int] = {}
    text = re.sub(r"%\((\w+)\)s", lambda match: f"${numbers.setdefault(match[1], len(numbers) + 1)}", statement)
    return text, tuple(numbers)


def _open_pool(url: str, size: int) -> "tuple[AsyncConnectionPool[Any], type[AsyncRawCursor[Any]]]":
    """Return an open pool, the only place that imports psycopg. Raises `Invalid` when it is not installed."""
    try:
        from psycopg import AsyncRawCursor  # noqa: PLC0415 - heavy and optional
        from psycopg_pool import AsyncConnectionPool  # noqa: PLC0415
    except ImportError as error:
        raise Invalid("PostgreSQL needs a driver.", remedy="Install headgate[postgres].") from error
    pool: AsyncConnectionPool[Any] = AsyncConnectionPool(
        url,
        min_size=1,
        max_size=size,
        timeout=WAIT_FOR_CONNECTION_SECONDS,
        kwargs={"autocommit": True, "options": _EVERY_STATEMENT_GOES_BY_KEY},
        open=False,
    )
    return pool, AsyncRawCursor
