"""`Credentials` on PostgreSQL: one prepared statement in one round trip, over a few separate connections.

A SQLAlchemy session takes three round trips: liveness check, begin, query.
"""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from headgate.features.accounts.credentials.credential import Credential, Kind, credential_of, statement
from headgate.foundation.database import explain
from headgate.foundation.errors import DatabaseAway, Invalid

if TYPE_CHECKING:  # an extra
    from psycopg_pool import AsyncConnectionPool

MOST_CONNECTIONS = 4
"""A query takes a fifth of a millisecond: more connections would be idle."""
_QUERIES = {kind: statement(kind, aggregate="json_object_agg", parameter="%s").encode() for kind in Kind}
_BY_KEY = "-c enable_seqscan=off -c plan_cache_mode=force_generic_plan -c jit=off"
"""One plan per connection, created while the tables may be small; it must also suit large ones."""
_WAIT_SECONDS = 10.0
_LOST = {"OperationalError"}
_ABOUT_THE_DATABASE = _LOST | {"PoolTimeout", "PoolClosed"}


class PostgresCredentials:
    """Keys and sessions in PostgreSQL; connects on first use.

    Args:
        url: `postgresql://...`.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._opening = asyncio.Lock()
        self._pool: AsyncConnectionPool[Any] | None = None

    async def find(self, kind: Kind, token_hash: str) -> Credential | None:
        """Return the key or session with this hash. Raises `Unavailable`."""
        try:
            pool = self._pool or await self._open()
            try:
                row = await _ask(pool, kind, token_hash)
            except Exception as error:
                if not _kinds(error) & _LOST:
                    raise
                await pool.check()  # the server was restarted: broken connections are replaced
                row = await _ask(pool, kind, token_hash)
        except Exception as error:
            _raise_translated(error)
            raise
        return None if row is None else credential_of(kind, row)

    async def close(self) -> None:
        """Disconnect."""
        if self._pool is not None:
            await self._pool.close()
            self._pool = None

    async def _open(self) -> "AsyncConnectionPool[Any]":
        async with self._opening:
            if self._pool is None:
                pool = _pool(self._url)
                await pool.open()
                self._pool = pool
            return self._pool


async def _ask(pool: "AsyncConnectionPool[Any]", kind: Kind, token_hash: str) -> Sequence[Any] | None:
    async with pool.connection() as connection:
        cursor = await connection.execute(_QUERIES[kind], (token_hash,), prepare=True)
        row: Sequence[Any] | None = await cursor.fetchone()
        return row


def _kinds(error: Exception) -> set[str]:
    """Return class names: PoolTimeout is an OperationalError, and a retry would wait again."""
    names = {kind.__name__ for kind in type(error).__mro__}
    return names - _LOST if "PoolTimeout" in names else names


def _raise_translated(error: Exception) -> None:
    translated = explain(error)
    if translated is None and _kinds(error) & _ABOUT_THE_DATABASE:
        translated = DatabaseAway(
            "The database does not answer.", remedy="Check HEADGATE_DATABASE__URL and the server."
        )
    if translated is not None:
        raise translated from error


def _pool(url: str) -> "AsyncConnectionPool[Any]":
    """Create the pool; the only import of psycopg in this package. Raises `Invalid` when it is not installed."""
    try:
        from psycopg_pool import AsyncConnectionPool  # noqa: PLC0415 - heavy and optional
    except ImportError as error:
        raise Invalid("PostgreSQL needs a driver.", remedy="Install headgate[postgres].") from error
    return AsyncConnectionPool(
        url,
        min_size=1,
        max_size=MOST_CONNECTIONS,
        timeout=_WAIT_SECONDS,
        kwargs={"autocommit": True, "options": _BY_KEY},
        open=False,
    )
