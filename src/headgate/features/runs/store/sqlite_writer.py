"""Writes to SQLite: jobs that are asked for in the same tick of the event loop share one transaction.

In NORMAL mode a commit is a write to the page cache, faster than a hop to a thread, so it is made on the loop's own
thread. Where it could block it moves to a thread: when another connection holds the write lock, in FULL mode (every
commit waits for the disk), and for checkpoints (they wait for the disk in every mode).

A checkpoint takes two steps. The first copies the log into the database file while writing goes on; as the log has
grown meanwhile, it could never be begun anew. So the next transaction goes to the thread, which copies the little that
is left before it: then nothing is in the log, and writing starts at its beginning again.
"""

import asyncio
import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import Any, TypeVar

from headgate.foundation.database import explain, set_pragmas
from headgate.foundation.settings import DatabaseSettings

T = TypeVar("T")
Job = Callable[[sqlite3.Connection], T]
_Waiting = tuple[Job[Any], "asyncio.Future[Any]"]

CHECKPOINT_PAGES = 1000
_PAGES_PER_JOB = 6
"""About what one transition dirties; only the pace of checkpoints hangs on it."""
_PAGE_BYTES = 4096


class SqliteWriter:
    """The one connection of a process that writes runs.

    Args:
        path: The database file.
        settings: Pragmas and how long to wait for the lock.
    """

    def __init__(self, path: Path, settings: DatabaseSettings) -> None:
        self._path = path
        self._settings = settings
        self._waits_for_disk = settings.synchronous == "FULL"
        self._waiting: list[_Waiting] = []
        self._in_thread = False
        self._patient: Thread | None = None
        self._handed_over: SimpleQueue[list[_Waiting] | None] = SimpleQueue()
        self._dirty_pages = 0
        self._checkpoint: asyncio.Future[None] | None = None
        self._log_is_copied = False
        self._idle: list[sqlite3.Connection] = []
        """Connections of threads that are not in use: a new one would read the schema again."""

    async def open(self) -> None:
        """Connect. Raises `Unavailable`."""
        self._loop = asyncio.get_running_loop()
        self._threads = ThreadPoolExecutor(2, "headgate-sqlite")
        with database_errors():
            self._connection = self._connect()
            if not self._waits_for_disk:
                # Here waiting for a lock or making a checkpoint would block the loop.
                self._connection.execute("PRAGMA busy_timeout=0")
                self._connection.execute("PRAGMA wal_autocheckpoint=0")
            self._reader = self._connect()

    async def close(self) -> None:
        """Write what waits, then disconnect."""
        try:
            if self._waiting or self._in_thread:
                await self.submit(lambda _: None)
            if self._checkpoint is not None:
                await asyncio.wait([self._checkpoint])
        finally:
            if self._patient is not None:
                self._handed_over.put(None)
                self._patient.join()
            self._threads.shutdown()
            for connection in (*self._idle, self._reader, self._connection):
                connection.close()

    def submit(self, job: Job[T], *, size: int = 0) -> "asyncio.Future[T]":
        """Run `job` inside the next transaction; the future is done once it is committed.

        A job must only depend on the database: when another job of its transaction fails it runs once more, alone.
        `size` is the length of what it writes, where that is long.
        """
        self._dirty_pages += _PAGES_PER_JOB + size // _PAGE_BYTES
        future: asyncio.Future[T] = self._loop.create_future()
        self._waiting.append((job, future))
        if len(self._waiting) == 1 and not self._in_thread:
            self._loop.call_soon(self._flush)
        return future

    async def read(self, job: Job[T]) -> T:
        """Run a query in a thread, on a connection of its own."""

        def query() -> T:
            with database_errors(), self._apart() as connection:
                connection.execute("BEGIN")
                return job(connection)

        return await self._loop.run_in_executor(self._threads, query)

    def glance(self, job: Job[T]) -> T:
        """Run a query of one row here and now."""
        with database_errors():
            return job(self._reader)

    @contextmanager
    def _apart(self) -> Iterator[sqlite3.Connection]:
        """In a thread: a connection of its own, whose transaction is ended after it. One that failed is not kept."""
        try:
            connection = self._idle.pop()
        except IndexError:
            connection = self._connect()
        try:
            yield connection
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        except BaseException:
            connection.close()
            raise
        self._idle.append(connection)

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self._path, isolation_level=None, check_same_thread=False, cached_statements=256, timeout=0
        )
        set_pragmas(connection, self._settings)
        return connection

    def _flush(self) -> None:
        batch, self._waiting = self._waiting, []
        if not (self._waits_for_disk or self._log_is_copied):
            try:
                outcomes = commit(self._connection, batch)
            except sqlite3.Error as error:
                if not is_busy(error):
                    self._settle(batch, [error] * len(batch))
                    return
            else:
                self._settle(batch, outcomes)
                return
        self._in_thread = True
        if self._patient is None:
            self._patient = Thread(target=self._commit_patiently, name="headgate-sqlite-writer", daemon=True)
            self._patient.start()
        self._handed_over.put(batch)

    def _commit_patiently(self) -> None:
        """The thread that may wait: for the lock as long as the busy timeout says, for the disk as long as it takes."""
        while (batch := self._handed_over.get()) is not None:
            outcomes = self._try_patiently(batch)
            self._loop.call_soon_threadsafe(self._back_from_thread, batch, outcomes)

    def _try_patiently(self, batch: list[_Waiting]) -> list[Any]:
        if self._waits_for_disk:
            return self._try(batch)
        try:
            self._connection.execute(f"PRAGMA busy_timeout={int(self._settings.busy_timeout_seconds * 1000)}")
            if self._log_is_copied:
                self._connection.execute("PRAGMA wal_checkpoint(PASSIVE)")
            return self._try(batch)
        finally:
            self._connection.execute("PRAGMA busy_timeout=0")

    def _try(self, batch: list[_Waiting]) -> list[Any]:
        try:
            return commit(self._connection, batch)
        except Exception as error:  # noqa: BLE001 - whatever it is, the jobs' owners must hear of it
            return [error] * len(batch)

    def _back_from_thread(self, batch: list[_Waiting], outcomes: list[Any]) -> None:
        self._in_thread = self._log_is_copied = False
        self._settle(batch, outcomes)
        if self._waiting:
            self._loop.call_soon(self._flush)

    def _settle(self, batch: list[_Waiting], outcomes: list[Any]) -> None:
        for (_, future), outcome in zip(batch, outcomes, strict=True):
            if future.cancelled():
                continue
            if isinstance(outcome, Exception):
                future.set_exception(translated(outcome))
            else:
                future.set_result(outcome)
        if self._dirty_pages >= CHECKPOINT_PAGES and self._checkpoint is None and not self._waits_for_disk:
            self._dirty_pages = 0
            self._checkpoint = self._loop.run_in_executor(self._threads, self._copy_back)
            self._checkpoint.add_done_callback(self._checkpoint_done)

    def _checkpoint_done(self, done: "asyncio.Future[None]") -> None:
        self._checkpoint = None
        self._log_is_copied = done.exception() is None

    def _copy_back(self) -> None:
        """In a thread: move the log into the database file as far as nobody is in the way."""
        with suppress(sqlite3.Error), self._apart() as connection:
            connection.execute("PRAGMA wal_checkpoint(PASSIVE)")


class database_errors:  # noqa: N801 - used as a context manager, reads as a phrase
    """Turns what sqlite3 raises about the database itself (locked, full, gone) into `Unavailable`."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, _kind: object, error: BaseException | None, _traceback: object) -> None:
        if isinstance(error, sqlite3.Error):
            raise translated(error) from error


def translated(error: Exception) -> Exception:
    """The `Unavailable` that an error of sqlite3 amounts to, else the error."""
    found = explain(error) if isinstance(error, sqlite3.Error) else None
    if found is None:
        return error
    found.__cause__ = error
    return found


def is_busy(error: sqlite3.Error) -> bool:
    """Whether somebody else holds the lock (SQLITE_BUSY and its extended codes)."""
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF == sqlite3.SQLITE_BUSY


def commit(connection: sqlite3.Connection, batch: list[_Waiting]) -> list[Any]:
    """Run the jobs in one transaction and give their results; when one fails, each in a transaction of its own.

    Nothing is lost by starting over: what was rolled back never happened. Raises `sqlite3.Error` only when no
    transaction can be begun (the lock cannot be had), and then no job has run.
    """
    connection.execute("BEGIN IMMEDIATE")
    try:
        results: list[Any] = [job(connection) for job, _ in batch]
        connection.execute("COMMIT")
    except Exception as error:  # noqa: BLE001 - handed to the job's owner
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        return [error] if len(batch) == 1 else [_alone(connection, waiting) for waiting in batch]
    return results


def _alone(connection: sqlite3.Connection, waiting: _Waiting) -> Any:  # noqa: ANN401 - a result or an exception
    try:
        return commit(connection, [waiting])[0]
    except sqlite3.Error as error:
        return error
