"""What the simulator puts in place of the machine: clocks, ids, and the disk under SQLite."""

import random
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from typing import Any, Self
from unittest import mock

from headgate.components import clock
from headgate.features.runs.store import sqlite_checkpoints
from headgate.features.runs.store.sqlite_writer import SqliteWriter
from headgate.foundation import ids
from headgate.foundation.database import sqlite
from headgate.foundation.guarded_http import retries
from tests.simulation import sessions
from tests.simulation.loop import CURRENT, WORLD, Process, ProcessKilled, SimulatedLoop

CHECKPOINT_PAGES = 60
"""Pages after which the log is copied: a simulation is too short for the usual thousand."""
EPOCH_SECONDS = 1_700_000_000
_WRITES = ("INSERT", "UPDATE", "DELETE", "REPLACE", "WITH", "COMMIT", "PRAGMA WAL_CHECKPOINT", "RELEASE")
_connect = sqlite3.connect


class Disk:
    """The disk under the database: it may be full, and processes die between two statements.

    Args:
        seed_random: Draws what a failing write leaves of its transaction.
        killed: Called with a process that dies at a statement.
    """

    def __init__(self, seed_random: random.Random, killed: Callable[[Process], None]) -> None:
        self._random = seed_random
        self._killed = killed
        self.full = False
        self.deaths: dict[Process, tuple[int, bool]] = {}
        """Process to the number of the statement at which it dies, and whether the statement is still executed."""

    def before(self, connection: "SimulatedConnection", sql: str) -> bool:
        """A statement is about to be executed. True when its process is to die right after it."""
        process = connection.process
        if not process.alive:
            raise ProcessKilled
        process.statements += 1
        at, after = self.deaths.get(process, (-1, False))
        if process.statements == at:
            if after:
                return True
            self.kill(process)
        if self.full and process is not WORLD and sql.lstrip().upper().startswith(_WRITES):
            if connection.in_transaction and self._random.random() < 0.5:
                connection.undo()
            raise _full()
        return False

    def kill(self, process: Process) -> None:
        """End a process here and now."""
        self._killed(process)
        raise ProcessKilled


def _without_waiting(sql: str) -> str:
    """The statement; SQLite must not wait for a lock, since nothing else runs meanwhile."""
    return "PRAGMA busy_timeout=0" if sql.startswith("PRAGMA busy_timeout=") else sql


class SimulatedCursor(sqlite3.Cursor):
    """A cursor of a session."""

    connection: "SimulatedConnection"

    def execute(self, sql: str, *args: Any) -> Self:
        """Execute a statement, if nothing comes in between."""
        dies = self.connection.disk.before(self.connection, sql)
        super().execute(_without_waiting(sql), *args)
        if dies:
            self.connection.disk.kill(self.connection.process)
        return self


class SimulatedConnection(sqlite.RollbackConnection):
    """A connection of a simulated process."""

    disk: Disk
    process: Process

    def undo(self) -> None:
        """What SQLite may do of itself when a write fails."""
        super().execute("ROLLBACK")

    def cursor(self, *args: Any) -> Any:
        """A cursor of a session."""
        return super().cursor(*args or (SimulatedCursor,))

    def execute(self, sql: str, *args: Any) -> sqlite3.Cursor:
        """Execute a statement, if nothing comes in between."""
        dies = self.disk.before(self, sql)
        cursor = super().execute(_without_waiting(sql), *args)
        if dies:
            self.disk.kill(self.process)
        return cursor

    def executemany(self, sql: str, *args: Any) -> sqlite3.Cursor:
        """Execute a statement with many values."""
        dies = self.disk.before(self, sql)
        cursor = super().executemany(sql, *args)
        if dies:
            self.disk.kill(self.process)
        return cursor


def _full() -> sqlite3.OperationalError:
    error = sqlite3.OperationalError("database or disk is full")
    error.sqlite_errorcode = sqlite3.SQLITE_FULL
    error.sqlite_errorname = "SQLITE_FULL"
    return error


@contextmanager
def simulated(loop: SimulatedLoop, disk: Disk, seed: int) -> Iterator[None]:
    """Clocks, ids and connections of this Python process are the simulator's for a while."""
    numbers = random.Random(f"{seed}:ids")

    def wall() -> float:
        return EPOCH_SECONDS + loop.time() + CURRENT.get().clock.offset

    def monotonic() -> float:
        return 1000 + loop.time()

    def uuid7() -> str:
        stamp, rest = int(wall() * 1000), numbers.getrandbits(74)
        bits = stamp << 80 | 7 << 76 | (rest >> 62) << 64 | 2 << 62 | rest & (1 << 62) - 1
        digits = f"{bits:032x}"
        return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:]))

    def connect(database: Any, *args: Any, **more: Any) -> sqlite3.Connection:
        made: sqlite3.Connection = _connect(database, *args, **{"factory": SimulatedConnection, **more})
        if isinstance(made, SimulatedConnection):
            made.disk, made.process = disk, CURRENT.get()
            made.process.at_death.append(made.close)
        return made

    random.seed(seed)
    with ExitStack() as stack:
        for module, name, value in (
            (time, "time", wall),
            (time, "time_ns", lambda: int(EPOCH_SECONDS * 10**9 + (wall() - EPOCH_SECONDS) * 10**9)),
            (time, "monotonic", monotonic),
            (time, "monotonic_ns", lambda: int((1000 + loop.time()) * 10**9)),
            (time, "perf_counter", monotonic),
            (clock, "current_time", lambda: datetime.fromtimestamp(wall(), UTC)),
            (ids, "uuid7", uuid7),
            (retries, "_random", random.Random(f"{seed}:retries")),
            (sqlite3, "connect", connect),
            (sqlite, "connect", sessions.connect),
            (sqlite_checkpoints, "CHECKPOINT_PAGES", CHECKPOINT_PAGES),
            (SqliteWriter.__init__, "__defaults__", (monotonic,)),
        ):
            stack.enter_context(mock.patch.object(module, name, value))
        yield
