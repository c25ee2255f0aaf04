"""SQLite connections that can always be closed."""

import asyncio
import sqlite3
from functools import partial
from typing import Any

from aiosqlite import Connection

_ROWS_AT_ONCE = 64


class SqliteConnection(Connection):
    """A connection whose thread is stopped at most once.

    When a request is cancelled while its connection closes, SQLAlchemy stops the connection a second time. The driver
    then sends a stop request to a thread that has already ended, and waiting for the response blocks indefinitely, also
    at process exit.
    """

    _asked_to_end = False

    def stop(self) -> asyncio.Future[Any] | None:
        """Stop the thread; returns None when it was already stopped."""
        if self._asked_to_end:
            return None
        self._asked_to_end = True
        return super().stop()


def connect(*arguments: Any, **options: Any) -> SqliteConnection:  # noqa: ANN401 - those of `sqlite3.connect`
    """Return an awaitable connection; its thread is a daemon."""
    connection = SqliteConnection(partial(sqlite3.connect, *arguments, **options), _ROWS_AT_ONCE)
    connection._thread.daemon = True  # noqa: SLF001 - as SQLAlchemy sets it on connections that it makes itself
    return connection
