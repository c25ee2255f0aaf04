"""Snapshots of SQLite databases while they are written to."""

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from headgate.entrypoints.backups.errors import BackupFailed, BackupInvalid, RestoreRefused
from headgate.foundation.database import explain

PAGES_AT_ONCE = 2048
_DATA = "SELECT id, tenant_id FROM files WHERE id > ? ORDER BY id LIMIT 1000"


def snapshot(source: Path, target: Path, progress: Callable[[int], None], *, patience: float) -> None:
    """Copy a database as it is at one moment. Writers are not blocked.

    A read transaction is held on the source while pages are copied. Without it, every commit of another process would
    restart the copy. While it is held, checkpoints cannot reset the log, so the log grows by what is written.

    Args:
        source: The database in use.
        target: A file that does not exist; created as 0600.
        progress: Called with the number of bytes copied.
        patience: Seconds to wait for a lock. Raises `Unavailable`.
    """
    os.close(os.open(target, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    with sqlite_errors(), closing(_connect(source, patience)) as read, closing(_connect(target, patience)) as copy:
        read.execute("BEGIN")
        read.execute("SELECT count(*) FROM sqlite_master").fetchone()
        page = read.execute("PRAGMA page_size").fetchone()[0]
        done = 0

        def report(_status: int, remaining: int, total: int) -> None:
            nonlocal done
            progress((total - remaining - done) * page)
            done = total - remaining

        read.backup(copy, pages=PAGES_AT_ONCE, progress=report, sleep=0)
        copy.execute("PRAGMA journal_mode=DELETE")  # the copy is one file; Headgate turns the log on when it opens it


def check(database: Path) -> None:
    """Raise `BackupInvalid` unless a database is complete and consistent."""
    try:
        with closing(sqlite3.connect(database)) as connection:
            faults = [row[0] for row in connection.execute("PRAGMA quick_check(1)")]
            broken = connection.execute("PRAGMA foreign_key_check").fetchone()
    except sqlite3.DatabaseError as error:
        faults, broken = [str(error)], None
    if faults != ["ok"] or broken is not None:
        fault = faults[0] if faults != ["ok"] else f"a row of {broken[0]} refers to a missing row of {broken[2]}"
        raise BackupInvalid(f"The database in the backup is damaged: {fault}.")


def schema_of(database: Path) -> str | None:
    """The revision of a database; None for one that is empty."""
    with sqlite_errors(), closing(sqlite3.connect(f"{database.absolute().as_uri()}?mode=ro", uri=True)) as connection:
        if not _has_table(connection, "alembic_version"):
            return None
        row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    return None if row is None else str(row[0])


def stored_files(database: Path) -> Iterator[tuple[str, str]]:
    """File id and tenant id of each stored file."""
    after = ""
    with sqlite_errors(), closing(sqlite3.connect(database)) as connection:
        while rows := connection.execute(_DATA, (after,)).fetchall():
            yield from rows
            after = rows[-1][0]


def refuse_in_use(database: Path) -> None:
    """Raise `RestoreRefused` while another process has a database open.

    The log can only be turned off by the sole connection; Headgate turns it on again when it opens the database.
    """
    try:
        with closing(sqlite3.connect(database, timeout=0)) as connection:
            connection.execute("PRAGMA journal_mode=DELETE")
    except sqlite3.OperationalError as error:
        if "locked" not in str(error):
            return  # it cannot be opened, so no process uses it
        raise RestoreRefused(
            f"The database {database} is in use.", remedy="Stop the server, the workers and other commands first."
        ) from error
    except sqlite3.DatabaseError:
        return  # it is damaged: the reason for many a restore


def fold(database: Path) -> None:
    """Put the log of a closed database into its file, and that on the disk."""
    with sqlite_errors(), closing(sqlite3.connect(database)) as connection:
        connection.execute("PRAGMA journal_mode=DELETE")
    with database.open("rb") as file:
        os.fsync(file.fileno())


@contextmanager
def sqlite_errors() -> Iterator[None]:
    """Turn what the driver raises (locked, full, damaged) into `Unavailable`."""
    try:
        yield
    except sqlite3.Error as error:
        raise explain(error) or BackupFailed(f"The database cannot be read: {error}.") from error


def _connect(path: Path, patience: float) -> sqlite3.Connection:
    return sqlite3.connect(path, timeout=patience, isolation_level=None)


def _has_table(connection: sqlite3.Connection, name: str) -> bool:
    return connection.execute("SELECT 1 FROM sqlite_master WHERE name = ?", (name,)).fetchone() is not None
