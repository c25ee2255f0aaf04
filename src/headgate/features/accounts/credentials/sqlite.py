"""`Credentials` on SQLite: a key lookup takes ten microseconds, a thread and a session fifty times that.

So it is read on the event loop's thread, over a read-only connection. In WAL mode a reader does not wait; when another
process has locked the file, the query moves to a thread, which may wait.
"""

import asyncio
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from headgate.features.accounts.credentials.credential import Credential, Kind, credential_of, statement
from headgate.foundation.database import explain, set_pragmas
from headgate.foundation.settings import DatabaseSettings

_QUERIES = {kind: statement(kind, aggregate="json_group_object", parameter="?") for kind in Kind}


class SqliteCredentials:
    """Keys and sessions in a SQLite file; connects on first use.

    Args:
        path: The database file, migrated.
        settings: Timeout of locks.
    """

    def __init__(self, path: Path, settings: DatabaseSettings) -> None:
        self._path = path
        self._settings = settings
        self._opening = asyncio.Lock()
        self._connection: sqlite3.Connection | None = None

    async def find(self, kind: Kind, token_hash: str) -> Credential | None:
        """Return the key or session with this hash. Raises `Unavailable`."""
        try:
            row = _row(self._connection or await self._open(), kind, token_hash)
        except sqlite3.Error as error:
            if not _is_busy(error):
                raise _translated(error) from error
            row = await asyncio.to_thread(self._ask_patiently, kind, token_hash)
        return None if row is None else credential_of(kind, row)

    async def close(self) -> None:
        """Disconnect."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    async def _open(self) -> sqlite3.Connection:
        async with self._opening:
            if self._connection is None:
                connection = await asyncio.to_thread(self._connect)
                connection.execute("PRAGMA busy_timeout=0")  # from here on, waiting would block the loop
                self._connection = connection
            return self._connection

    def _ask_patiently(self, kind: Kind, token_hash: str) -> Sequence[Any] | None:
        try:
            connection = self._connect()
            try:
                return _row(connection, kind, token_hash)
            finally:
                connection.close()
        except sqlite3.Error as error:
            raise _translated(error) from error

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self._path, isolation_level=None, check_same_thread=False, timeout=0)
        try:
            set_pragmas(connection, self._settings)
            connection.execute("PRAGMA query_only=ON")
        except sqlite3.Error:
            connection.close()
            raise
        return connection


def _row(connection: sqlite3.Connection, kind: Kind, token_hash: str) -> Sequence[Any] | None:
    row: Sequence[Any] | None = connection.execute(_QUERIES[kind], (token_hash,)).fetchone()
    return row


def _is_busy(error: sqlite3.Error) -> bool:
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF == sqlite3.SQLITE_BUSY


def _translated(error: sqlite3.Error) -> Exception:
    return explain(error) or error
