"""Connections to SQLite that can always be closed."""

import asyncio
import sqlite3
from functools import partial
from typing import Any

from aiosqlite import Connection

_ROWS_AT_ONCE = 64


class SqliteConnection(Connection):
    """A connection whose thread is asked to end once.

    When a request is cancelled while its connection closes, SQLAlchemy stops the connection as well, and the driver
    asks its thread, which has gone, to end once more: who waits for the answer waits for ever, the end of a process
    too.
    """

    _asked_to_end = False

    def stop(self) -> asyncio.Future[Any] | None:
        """Ask the thread to end; None when it was asked before."""
        if self._asked_to_end:
            return None
        self._asked_to_end = True
        return super().stop()


def connect(*arguments: Any, **options: Any) -> SqliteConnection:  # noqa: ANN401 - those of `sqlite3.connect`
    """A connection, to be awaited; its thread keeps no process from ending."""
    made = SqliteConnection(partial(sqlite3.connect, *arguments, **options), _ROWS_AT_ONCE)
    made._thread.daemon = True  # noqa: SLF001 - as SQLAlchemy sets it on connections that it makes itself
    return made
