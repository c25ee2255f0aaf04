"""Checkpoints of SQLite's write-ahead log, and their retries."""

import asyncio
import sqlite3
from collections.abc import Callable
from concurrent.futures import Executor

from headgate.features.runs.store.sqlite_transaction import is_busy, translated
from headgate.foundation.log import get_logger

CHECKPOINT_PAGES = 1000
_PAGE_BYTES = 4096
_PAGES_PER_JOB = 6
"""Estimated pages changed per transition; only the frequency of checkpoints depends on it."""
LONG_LOG_PAGES = 4000
"""From this length on (16 MB) a checkpoint waits for readers, so that the log ends under steady load."""
READERS_MILLISECONDS = 50
"""How long it waits, while nothing is written."""
FIRST_PAUSE_SECONDS = 1.0
LONGEST_PAUSE_SECONDS = 60.0
log = get_logger(__name__)


class NotCopied(Exception):
    """A reader uses a part of the log.

    Args:
        copied: Pages that were copied.
        pages: Pages of the log.
    """

    def __init__(self, copied: int, pages: int) -> None:
        super().__init__(f"{copied} of {pages} pages were copied")
        self.is_long = pages >= LONG_LOG_PAGES


def copy_log(connection: sqlite3.Connection) -> None:
    """Copy the log into the database file as far as readers permit. Raises `sqlite3.Error`, `NotCopied`."""
    _copied(*connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone())


def finish_log(connection: sqlite3.Connection) -> None:
    """Copy what was written since, so that the next transaction begins at the start of the log. Raises as `copy_log`.

    SQLite returns to the start of the log only while no reader uses it, and with many readers there always is one. So a
    long log is truncated: that waits for those who read it, while new ones read the database file.
    """
    busy, pages, copied = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
    if pages >= LONG_LOG_PAGES:
        connection.execute(f"PRAGMA busy_timeout={READERS_MILLISECONDS}")
        try:
            busy, pages, copied = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        finally:
            connection.execute("PRAGMA busy_timeout=0")
    _copied(busy, pages, copied)


def _copied(busy: int, pages: int, copied: int) -> None:
    if busy or copied < pages:
        raise NotCopied(copied, pages)


class Checkpoints:
    """Copies the log in a thread while writing continues. A failure is logged and retried later.

    Args:
        loop: The event loop of the writer.
        executor: Runs the copy.
        copy: Makes the copy, on a connection other than the writer's.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, executor: Executor, copy: Callable[[], None]) -> None:
        self._loop = loop
        self._executor = executor
        self._copy = copy
        self._pages = 0
        self._pause = 0.0
        self._running: asyncio.Future[None] | None = None
        self._retry: asyncio.TimerHandle | None = None
        self.copied = False
        """Whether the log is copied except for newer writes, or long: the next transaction can finish the copy."""

    def wrote(self, size: int) -> None:
        """Add the size of a job's long values in bytes."""
        self._pages += _PAGES_PER_JOB + size // _PAGE_BYTES

    def begin_if_due(self) -> None:
        """Begin a copy when enough was written since the last."""
        if self._pages >= CHECKPOINT_PAGES and self._running is None and self._retry is None:
            self._begin()

    def finished(self, error: BaseException | None) -> None:
        """Record that the copy was finished before a transaction, or failed."""
        self.copied = False
        if error is None:
            self._pause = 0.0
        else:
            self._later(error)

    async def close(self) -> None:
        """Begin no more copies, and wait for a running one."""
        if self._retry is not None:
            self._retry.cancel()
        if self._running is not None:
            await asyncio.wait([self._running])
            if self._retry is not None:
                self._retry.cancel()

    def _begin(self) -> None:
        self._retry = None
        self._pages = 0
        try:
            self._running = self._loop.run_in_executor(self._executor, self._copy)
        except RuntimeError as error:  # no thread can be started
            self._later(error)
        else:
            self._running.add_done_callback(self._done)

    def _done(self, running: "asyncio.Future[None]") -> None:
        self._running = None
        if running.cancelled():
            return
        error = running.exception()
        if error is None or (isinstance(error, NotCopied) and error.is_long):
            self.copied = True
        else:
            self._later(error)

    def _later(self, error: BaseException) -> None:
        """Schedule another copy: behind a reader after the same amount of writes, after a failure after a delay."""
        if isinstance(error, NotCopied) or is_busy(error):
            self._pause = 0.0
            return
        self._pause = min(max(FIRST_PAUSE_SECONDS, self._pause * 2), LONGEST_PAUSE_SECONDS)
        log.warning("checkpoint failed, trying again", retry_seconds=self._pause, problem=str(translated(error)))
        if self._retry is None:
            self._retry = self._loop.call_later(self._pause, self._begin)
