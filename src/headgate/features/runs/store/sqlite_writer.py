"""Group commit for SQLite: jobs submitted in the same turn of the event loop share one transaction.

In NORMAL mode a commit is a write to the page cache, faster than switching to a thread, so it is made on the loop's own
thread while measurements show that it is quick. A commit that may wait for the disk is made in the writer's thread: in
FULL mode every one, the first of a log (it syncs the log's header), and all while the disk is slow. No thread waits for
a lock: a transaction that cannot begin is retried by a timer.

All blocking work goes through `run_in_executor`, so an exception ends in a future, never in a thread. The write
connection has one owner: the loop, or while `_in_thread` is not empty the function that processes that batch.

A checkpoint has two phases. The first copies the log into the database file while writing continues (`Checkpoints`); as
the log grows meanwhile, it could never be restarted. So the next batch goes to the thread, which first copies the
remainder: then the log is empty, and writing starts at its beginning again, or `finish_log` has waited for its readers.
"""

import asyncio
import sqlite3
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from headgate.features.runs.store.sqlite_checkpoints import Checkpoints, NotCopied, copy_log, finish_log
from headgate.features.runs.store.sqlite_transaction import (
    Clock,
    Failed,
    Job,
    commit,
    database_errors,
    is_busy,
    translated,
)
from headgate.foundation.database import set_pragmas
from headgate.foundation.errors import DatabaseUnavailable
from headgate.foundation.settings import DatabaseSettings

T = TypeVar("T")

MOST_ON_LOOP, MOST_IN_THREAD = 64, 512
"""Most jobs of one transaction. The remainder goes into the next one, after other tasks of the loop had their turn."""
SLOW_SECONDS = 0.02
"""After a slower commit, commits are made in the thread."""
QUICK_IN_A_ROW = 10
"""Number of consecutive quick commits in the thread before they are made on the loop again."""
LOCK_PAUSES_SECONDS = (0.001, 0.002, 0.005, 0.01, 0.015, 0.02, 0.025)
"""Pauses between tries to begin a transaction while another connection writes."""
CLOSE_SECONDS = 10.0
"""How long closing waits for a disk, in addition to the lock timeout of jobs."""


@dataclass(slots=True)
class _Waiting:
    job: Job[Any]
    future: "asyncio.Future[Any]"
    since: float


@dataclass(frozen=True, slots=True)
class _Turn:
    """Result of a batch in the thread."""

    outcomes: list[Any]
    commit_seconds: float | None
    finished_log: bool
    log_error: BaseException | None


class SqliteWriter:
    """The only connection of a process that writes runs.

    Args:
        path: The database file.
        settings: Pragmas and lock timeout.
        clock: Measures durations.
    """

    def __init__(self, path: Path, settings: DatabaseSettings, clock: Clock = time.monotonic) -> None:
        self._path = path
        self._settings = settings
        self._clock = clock
        self._waits_for_disk = settings.synchronous == "FULL"
        self._waiting: list[_Waiting] = []
        self._in_thread: list[_Waiting] = []
        self._wakeup: asyncio.Handle | None = None
        self._quick = 0
        self._lock_tries = 0
        self._drained: asyncio.Future[None] | None = None
        """Set while the writer closes: it accepts no more jobs."""
        self._connection: sqlite3.Connection | None = None
        self._idle: list[sqlite3.Connection] = []
        """Idle read connections: a new one would read the schema again."""

    async def open(self) -> None:
        """Connect. Raises `Unavailable`."""
        self._loop = asyncio.get_running_loop()
        self._writing = ThreadPoolExecutor(1, "headgate-sqlite-writer")
        self._reading = ThreadPoolExecutor(2, "headgate-sqlite-reader")
        self._checkpoints = Checkpoints(self._loop, self._reading, self._copy_log)
        try:
            with database_errors():
                await self._loop.run_in_executor(self._writing, self._ready_connection)
        except BaseException:
            self._shut_down()
            raise

    async def close(self) -> None:
        """Complete pending writes, then disconnect. When the disk does not respond, they fail and this returns."""
        if self._drained is not None:
            return
        self._drained = self._loop.create_future()
        self._proceed()
        try:
            async with asyncio.timeout(CLOSE_SECONDS + self._settings.busy_timeout_seconds):
                await self._drained
                await self._checkpoints.close()
                await self._loop.run_in_executor(self._writing, self._disconnect)
        except TimeoutError:
            remaining_jobs, self._waiting = [*self._in_thread, *self._waiting], []
            self._fail(remaining_jobs, DatabaseUnavailable("The disk did not respond while the database was closing."))
        finally:
            self._shut_down()

    def submit(self, job: Job[T], *, size: int = 0) -> "asyncio.Future[T]":
        """Run `job` inside the next transaction; the future is done once it is committed.

        A job must only depend on the database: when its transaction fails as a whole it runs once more, alone.
        `size` is the length of its data, if large. The future always completes, with `Unavailable` when the
        database fails.
        """
        waiting = _Waiting(job, self._loop.create_future(), self._clock())
        if self._drained is None:
            self._checkpoints.wrote(size)
            self._waiting.append(waiting)
            self._proceed()
        else:
            self._fail([waiting], DatabaseUnavailable("The database is closed: the process is shutting down."))
        return waiting.future

    async def read(self, job: Job[T]) -> T:
        """Run a query in a thread, on its own connection."""

        def query() -> T:
            with database_errors(), self._apart() as connection:
                connection.execute("BEGIN")
                return job(connection)

        return await self._loop.run_in_executor(self._reading, query)

    @property
    def oldest_seconds(self) -> float:
        """Age of the oldest pending job; 0 without one."""
        oldest = next(iter(self._in_thread or self._waiting), None)
        return 0.0 if oldest is None else self._clock() - oldest.since

    def _proceed(self, delay: float = 0.0) -> None:
        """Schedule the next batch, if that is not done yet; without one, a closing writer may end."""
        if self._in_thread or self._wakeup is not None:
            return
        if self._waiting:
            later = self._loop.call_later(delay, self._flush) if delay else self._loop.call_soon(self._flush)
            self._wakeup = later
        elif self._drained is not None and not self._drained.done():
            self._drained.set_result(None)

    def _flush(self) -> None:
        self._wakeup = None
        connection = self._connection
        if self._waits_for_disk or self._quick < QUICK_IN_A_ROW or self._checkpoints.copied or connection is None:
            self._hand_over(self._take(MOST_IN_THREAD))
            return
        batch = self._take(MOST_ON_LOOP)
        began = self._clock()
        try:
            outcomes, _ = commit(connection, [entry.job for entry in batch], self._clock)
        except Exception as error:  # noqa: BLE001 - the thread finds out which job it is about
            if is_busy(error):
                self._wait_for_lock(batch, error)
            else:
                self._quick = 0
                self._hand_over(batch)
        else:
            self._note_pace(self._clock() - began)
            self._settle(batch, outcomes)

    def _take(self, limit: int) -> list[_Waiting]:
        batch, self._waiting = self._waiting[:limit], self._waiting[limit:]
        return batch

    def _hand_over(self, batch: list[_Waiting]) -> None:
        """Let the thread write a batch; it owns the connection until then."""
        self._in_thread = batch
        jobs = [entry.job for entry in batch]
        try:
            turn = self._loop.run_in_executor(self._writing, self._write, jobs, self._checkpoints.copied)
        except RuntimeError as error:  # no thread can be started
            self._in_thread = []
            problem = f"The database cannot be written: {error}."
            self._fail(batch, DatabaseUnavailable(problem, remedy="Restart the server."))
            self._proceed()
        else:
            turn.add_done_callback(lambda turn_result: self._back(batch, turn_result))

    def _back(self, batch: list[_Waiting], turn_result: "asyncio.Future[_Turn]") -> None:
        self._in_thread = []
        error = turn_result.exception() if not turn_result.cancelled() else asyncio.CancelledError()
        if error is not None:
            self._fail(batch, DatabaseUnavailable(f"The database was not written: {type(error).__name__}."))
            self._proceed()
            return
        turn = turn_result.result()
        if turn.finished_log:
            self._checkpoints.finished(turn.log_error)
        if turn.commit_seconds is not None:
            self._note_pace(turn.commit_seconds)
        self._settle(batch, turn.outcomes)

    def _note_pace(self, seconds: float) -> None:
        self._lock_tries = 0
        self._quick = self._quick + 1 if seconds <= SLOW_SECONDS else 0

    def _settle(self, batch: list[_Waiting], outcomes: list[Any]) -> None:
        """Return the results; retry jobs that found the database locked."""
        locked: list[_Waiting] = []
        for entry, outcome in zip(batch, outcomes, strict=True):
            if not isinstance(outcome, Failed):
                if not entry.future.done():
                    entry.future.set_result(outcome)
            elif is_busy(outcome.error):
                locked.append(entry)
                error = outcome.error
            else:
                self._fail([entry], outcome.error)
        self._checkpoints.begin_if_due()
        if locked:
            self._wait_for_lock(locked, error)
        else:
            self._proceed()

    def _fail(self, batch: Sequence[_Waiting], error: BaseException) -> None:
        for entry in batch:
            if not entry.future.done():
                entry.future.set_exception(translated(error))

    def _wait_for_lock(self, batch: list[_Waiting], error: BaseException) -> None:
        """Retry shortly; a job that has waited too long fails."""
        latest = self._clock() - self._settings.busy_timeout_seconds
        self._fail([entry for entry in batch if entry.since <= latest], error)
        self._waiting[:0] = [entry for entry in batch if entry.since > latest]
        pause = LOCK_PAUSES_SECONDS[min(self._lock_tries, len(LOCK_PAUSES_SECONDS) - 1)]
        self._lock_tries += 1
        self._proceed(pause)

    def _write(self, jobs: list[Job[Any]], finish_log: bool) -> _Turn:  # noqa: FBT001 - an executor passes no names
        """In the thread: write one transaction; when it fails, one per job, so that only faulty ones fail."""
        outcomes: list[Any] = []
        log_error: BaseException | None = None
        seconds: float | None = None
        try:
            connection = self._ready_connection()
            if finish_log:
                log_error = _error_of_finishing(connection)
            outcomes, seconds = commit(connection, jobs, self._clock)
        except Exception as error:  # noqa: BLE001 - every job gets an outcome
            alone = [] if is_busy(error) or len(jobs) == 1 or self._connection is None else jobs
            outcomes = [self._write_alone(job) for job in alone] or [Failed(error)] * len(jobs)
        return _Turn(outcomes, seconds, finish_log, log_error)

    def _write_alone(self, job: Job[Any]) -> Any:  # noqa: ANN401 - a job's result
        try:
            return commit(self._ready_connection(), [job], self._clock)[0][0]
        except Exception as error:  # noqa: BLE001 - handed to the job's owner
            return Failed(error)

    def _ready_connection(self) -> sqlite3.Connection:
        """In the thread: return the write connection; a new one if it cannot be rolled back."""
        if self._connection is not None and self._connection.in_transaction:
            broken, self._connection = self._connection, None
            with suppress(sqlite3.Error):
                broken.close()
        if self._connection is None:
            self._connection = self._connect()
            # The loop must not wait for a lock.
            self._connection.execute("PRAGMA busy_timeout=0")
        return self._connection

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self._path, isolation_level=None, check_same_thread=False, cached_statements=256, timeout=0
        )
        try:
            set_pragmas(connection, self._settings)
            connection.execute("PRAGMA wal_autocheckpoint=0")
        except BaseException:
            connection.close()
            raise
        return connection

    @contextmanager
    def _apart(self) -> Iterator[sqlite3.Connection]:
        """In a thread: use a separate connection and end its transaction. A failed connection is not reused."""
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

    def _copy_log(self) -> None:
        with self._apart() as connection:
            copy_log(connection)

    def _disconnect(self) -> None:
        """In the thread: close the last connection, which copies the log and may take time."""
        self._reading.shutdown(wait=True)
        for connection in (*self._idle, self._connection):
            if connection is not None:
                with suppress(sqlite3.Error):
                    connection.close()

    def _shut_down(self) -> None:
        self._writing.shutdown(wait=False)
        self._reading.shutdown(wait=False)


def _error_of_finishing(connection: sqlite3.Connection) -> BaseException | None:
    try:
        finish_log(connection)
    except (sqlite3.Error, NotCopied) as error:
        return error
    return None
