"""Sessions of the database in a simulation: the thread behind each connection is the simulator's."""

import asyncio
import sqlite3
from collections import deque
from collections.abc import Callable
from typing import Any

from headgate.foundation.database.sqlite import SqliteConnection

LOCK_SECONDS = 2.0
"""How long a statement waits for the lock of the database."""
LOCK_PAUSE_SECONDS = 0.02

_Work = tuple[asyncio.Future[Any] | None, Callable[[], Any]]


class _Thread:
    """Runs the statements of one connection in order, each at a later time; it waits for locks as SQLite does."""

    _max_workers = 1

    def __init__(self) -> None:
        self._loop: Any = asyncio.get_running_loop()
        self._works: deque[_Work] = deque()
        self._busy = False

    def start(self) -> None:
        """Begin."""

    def put_nowait(self, work: _Work) -> None:
        """Run a function; its result is that of the future."""
        self._works.append(work)
        self._next()

    def _next(self) -> None:
        if self._works and not self._busy:
            self._busy = True
            self._try(*self._works.popleft(), self._loop.time() + LOCK_SECONDS)

    def _try(self, future: asyncio.Future[Any] | None, function: Callable[[], Any], latest: float) -> None:
        def back(done: asyncio.Future[Any]) -> None:
            error = done.exception()
            if isinstance(error, sqlite3.OperationalError) and "locked" in str(error) and self._loop.time() < latest:
                self._loop.call_later(LOCK_PAUSE_SECONDS, self._try, future, function, latest)
                return
            self._busy = False
            if future is not None and not future.done():
                if error is None:
                    future.set_result(done.result())
                else:
                    future.set_exception(error)
            self._next()

        self._loop.run_in_executor(self, function).add_done_callback(back)


class SimulatedSessionConnection(SqliteConnection):
    """A connection of a session in a simulated process."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._thread: Any = _Thread()
        self._tx: Any = self._thread

    def __del__(self) -> None:
        """Those of processes that died are closed with them."""


def connect(*arguments: Any, **options: Any) -> SimulatedSessionConnection:
    """An awaitable connection."""
    return SimulatedSessionConnection(lambda: sqlite3.connect(*arguments, **options), 64)
