"""SQLite connections that can always be closed."""

import asyncio
import sqlite3
from contextlib import suppress
from functools import partial
from threading import Thread
from typing import Any

from aiosqlite import Connection
from aiosqlite.core import _connection_worker_thread

_ROWS_AT_ONCE = 64


class RollbackConnection(sqlite3.Connection):
    """A driver's connection that rolls back before it closes.

    SQLite keeps a closed connection, with its transaction and its write lock, while a statement of it exists. The
    cursor of a cancelled task exists as long as the traceback of its cancellation: nobody could write meanwhile.
    """

    def close(self) -> None:
        """Roll back and close; a connection that is closed stays so."""
        with suppress(sqlite3.Error):
            if self.in_transaction:
                self.rollback()
        super().close()


class SqliteConnection(Connection):
    """A connection whose thread is stopped at most once, and outlives the event loop that asked it.

    When a request is cancelled while its connection closes, SQLAlchemy stops the connection a second time. The driver
    then sends a stop request to a thread that has already ended, and waiting for the response blocks indefinitely, also
    at process exit.

    A cancelled statement is still executed. When its loop is closed meanwhile, no one can be notified:
    the driver's thread would end with an unhandled error and leave the connection open.
    """

    _asked_to_end = False

    def __init__(self, *arguments: Any, **options: Any) -> None:  # noqa: ANN401 - those of `aiosqlite.Connection`
        super().__init__(*arguments, **options)
        # A daemon, as SQLAlchemy makes the threads of connections that it opens itself.
        self._thread = Thread(target=self._work, daemon=True)

    def stop(self) -> asyncio.Future[Any] | None:
        """Stop the thread; returns None when it was already stopped."""
        if self._asked_to_end:
            return None
        self._asked_to_end = True
        return super().stop()

    def _work(self) -> None:
        while True:
            try:
                _connection_worker_thread(self._tx)
            except RuntimeError:  # the loop is closed
                if not self._asked_to_end or not self._tx.empty():
                    continue
            return


def connect(*arguments: Any, **options: Any) -> SqliteConnection:  # noqa: ANN401 - those of `sqlite3.connect`
    """Return an awaitable connection."""
    connector = partial(sqlite3.connect, *arguments, factory=RollbackConnection, **options)
    return SqliteConnection(connector, _ROWS_AT_ONCE)
