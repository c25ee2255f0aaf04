"""One SQLite transaction of many jobs, in which a failing job rolls back only its own changes."""

import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from headgate.foundation.database import explain
from headgate.foundation.errors import DatabaseUnavailable

T = TypeVar("T")
Job = Callable[[sqlite3.Connection], T]
Clock = Callable[[], float]
"""Seconds; only differences count."""

_OF_THE_STATEMENT = frozenset({1, 18, 19, 20, 23, 25})
"""Primary result codes that concern a job's request: ERROR, TOOBIG, CONSTRAINT, MISMATCH, AUTH, RANGE."""


@dataclass(frozen=True, slots=True)
class Failed:
    """A job's outcome when it has no result."""

    error: BaseException


def commit(connection: sqlite3.Connection, jobs: Sequence[Job[Any]], clock: Clock) -> tuple[list[Any], float]:
    """Run jobs in one transaction. Returns their results, `Failed` for a job that failed, and the seconds of COMMIT.

    Several jobs run behind a savepoint each: one that fails is rolled back alone, the others are committed. Raises
    errors of the database itself (locked, full, I/O); then nothing was written.
    """
    connection.execute("BEGIN IMMEDIATE")
    try:
        outcomes = [jobs[0](connection)] if len(jobs) == 1 else [_behind_savepoint(connection, job) for job in jobs]
        started = clock()
        connection.execute("COMMIT")
        return outcomes, clock() - started
    except BaseException as error:
        # After some errors SQLite has rolled back by itself.
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        if len(jobs) == 1 and isinstance(error, Exception) and is_own(error):
            return [Failed(error)], 0.0
        raise


def _behind_savepoint(connection: sqlite3.Connection, job: Job[Any]) -> Any:  # noqa: ANN401 - a job's result
    connection.execute("SAVEPOINT job")
    try:
        outcome = job(connection)
    except Exception as error:
        if not (is_own(error) and connection.in_transaction):
            raise
        connection.execute("ROLLBACK TO job")
        outcome = Failed(error)
    connection.execute("RELEASE job")
    return outcome


def is_own(error: BaseException) -> bool:
    """Whether an error concerns the job itself, such as a violated constraint, and not the database."""
    if not isinstance(error, sqlite3.Error):
        return True
    code = getattr(error, "sqlite_errorcode", None)
    return code is None or code & 0xFF in _OF_THE_STATEMENT


def is_busy(error: BaseException) -> bool:
    """Whether another connection holds the lock (SQLITE_BUSY and its extended codes)."""
    return int(getattr(error, "sqlite_errorcode", 0)) & 0xFF == sqlite3.SQLITE_BUSY


class database_errors:  # noqa: N801 - used as a context manager, reads as a phrase
    """Convert sqlite3's errors about the database itself (locked, full, missing) to `DatabaseUnavailable`."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, _kind: object, error: BaseException | None, _traceback: object) -> None:
        if error is not None and (explained := translated(error)) is not error:
            raise explained from error


def translated(error: BaseException) -> BaseException:
    """Return the `DatabaseUnavailable` for an error of sqlite3, else the error, suitable for a future."""
    explained: BaseException | None = None
    if isinstance(error, sqlite3.Error):
        explained = explain(error)
        if explained is None and not is_own(error):
            explained = DatabaseUnavailable(
                f"The database failed: {error}. Nothing was changed.", remedy="Try again in a moment."
            )
    elif isinstance(error, StopIteration):  # which a future rejects
        explained = RuntimeError("A database job raised StopIteration.")
    if explained is None:
        return error
    explained.__cause__ = error
    return explained
