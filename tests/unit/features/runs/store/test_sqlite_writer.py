"""Writes to a real SQLite file: grouping, one failing job, a lock held by another, a full or slow disk, the log."""

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest

from headgate.features.runs.store import sqlite_checkpoints, sqlite_writer
from headgate.features.runs.store.sqlite_transaction import Job
from headgate.features.runs.store.sqlite_writer import SqliteWriter
from headgate.foundation.errors import DatabaseUnavailable, Unavailable
from headgate.foundation.settings import DatabaseSettings
from tests.support.disks import SmallDisk
from tests.support.patience import PATIENCE_SECONDS


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return new_file(tmp_path)


async def opened(path: Path, *, clock: Callable[[], float] | None = None, **settings: object) -> SqliteWriter:
    more = {} if clock is None else {"clock": clock}
    writer = SqliteWriter(path, DatabaseSettings.model_validate(settings), **more)
    await writer.open()
    return writer


async def patiently(future: "asyncio.Future[Any]") -> Any:
    """What a future ends with; a writer that never answers fails the test."""
    return await asyncio.wait_for(future, PATIENCE_SECONDS)


@pytest.fixture(params=["NORMAL", "FULL"])
async def writer(path: Path, request: pytest.FixtureRequest) -> AsyncIterator[SqliteWriter]:
    found = await opened(path, synchronous=request.param)
    yield found
    await found.close()


def insert(number: int, pad: str = "") -> Job[int]:
    def job(db: sqlite3.Connection) -> int:
        db.execute("INSERT INTO t VALUES (?, ?)", (number, pad))
        return number

    return job


def numbers(path: Path) -> list[int]:
    connection = sqlite3.connect(path)
    try:
        return [row[0] for row in connection.execute("SELECT n FROM t ORDER BY n")]
    finally:
        connection.close()


class TestOpen:
    async def test_waits_for_one_who_has_the_whole_file(self, path: Path) -> None:
        holder = sqlite3.connect(path, check_same_thread=False)
        holder.execute("PRAGMA locking_mode=EXCLUSIVE")
        holder.execute("INSERT INTO t VALUES (1, '')")
        holder.commit()
        threading.Timer(0.3, holder.close).start()
        writer = await opened(path)
        await writer.close()
        assert numbers(path) == [1]


class TestClose:
    async def test_of_one_with_nothing_to_write_waits_for_nobody(self, path: Path) -> None:
        writer = await opened(path, busy_timeout_seconds=0.05)
        holder = sqlite3.connect(path, isolation_level=None)
        holder.execute("BEGIN IMMEDIATE")
        await writer.close()
        holder.close()


class TestSubmit:
    async def test_gives_each_job_its_result(self, writer: SqliteWriter, path: Path) -> None:
        assert await asyncio.gather(*(writer.submit(insert(n)) for n in range(20))) == list(range(20))
        assert numbers(path) == list(range(20))

    async def test_commits_before_it_answers(self, writer: SqliteWriter, path: Path) -> None:
        await writer.submit(insert(1))
        assert numbers(path) == [1]

    async def test_joins_jobs_of_one_tick_in_one_transaction(self, writer: SqliteWriter) -> None:
        changes: list[int] = []

        def count(db: sqlite3.Connection) -> None:
            changes.append(db.total_changes)
            assert db.in_transaction

        begun: list[int] = []

        def begin(db: sqlite3.Connection) -> None:
            db.execute("INSERT INTO t VALUES (?, '')", (len(begun) + 1,))
            begun.append(1)

        await asyncio.gather(writer.submit(begin), writer.submit(count), writer.submit(begin), writer.submit(count))
        assert changes == [1, 2]

    async def test_undoes_only_the_job_that_fails(self, writer: SqliteWriter, path: Path) -> None:
        outcomes = await asyncio.gather(*(writer.submit(insert(n)) for n in (1, 2, 2, 3)), return_exceptions=True)
        assert outcomes[0:2] == [1, 2]
        assert isinstance(outcomes[2], sqlite3.IntegrityError)
        assert outcomes[3] == 3
        assert numbers(path) == [1, 2, 3]

    async def test_does_not_make_the_neighbours_of_a_failing_job_wait_for_the_lock(
        self, writer: SqliteWriter, path: Path
    ) -> None:
        """Whoever begins a second transaction for the neighbours finds that another process was quicker."""
        other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)

        def statement(sql: str) -> None:
            if sql == "BEGIN IMMEDIATE" and not other.in_transaction:
                other.execute(sql)

        def fail(db: sqlite3.Connection) -> None:
            db.set_trace_callback(statement)
            db.execute("INSERT INTO t VALUES (1, '')")

        outcomes = await asyncio.gather(
            *(writer.submit(job) for job in (insert(1), fail, insert(2), insert(3))), return_exceptions=True
        )
        assert [type(outcome) for outcome in outcomes] == [int, sqlite3.IntegrityError, int, int]
        assert numbers(path) == [1, 2, 3]
        other.close()

    async def test_a_job_that_ends_the_thread_does_not(self, writer: SqliteWriter, path: Path) -> None:
        def leave(_db: sqlite3.Connection) -> None:
            raise SystemExit

        with pytest.raises(Unavailable, match="SystemExit"):
            await patiently(writer.submit(leave))
        assert await patiently(writer.submit(insert(1))) == 1
        assert numbers(path) == [1]

    async def test_fails_at_once_when_no_thread_can_be_started(
        self, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        writer = await opened(path)

        def refuse(*_arguments: object) -> "Future[None]":
            raise RuntimeError("can't start new thread")

        with monkeypatch.context() as short:
            short.setattr(writer._writing, "submit", refuse)
            with pytest.raises(Unavailable, match="can't start new thread"):
                await patiently(writer.submit(insert(1)))
        assert await patiently(writer.submit(insert(2))) == 2
        await writer.close()
        with pytest.raises(Unavailable, match="closed"):
            await patiently(writer.submit(insert(3)))

    async def test_connects_anew_when_a_transaction_cannot_be_rolled_back(
        self, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        writer = await opened(path)
        broken = BrokenRollback(path)
        assert writer._connection is not None
        writer._connection.close()
        writer._connection = broken
        with pytest.raises(Unavailable):
            await patiently(writer.submit(insert(1)))
        assert await patiently(writer.submit(insert(2))) == 2
        assert writer._connection is not broken
        await writer.close()
        assert numbers(path) == [2]

    async def test_goes_on_though_nobody_waits_any_more(self, writer: SqliteWriter, path: Path) -> None:
        left = writer.submit(insert(1))
        left.cancel()
        await writer.submit(insert(2))
        assert numbers(path) == [1, 2]

    async def test_writes_what_waits_when_it_is_closed(self, path: Path) -> None:
        writer = await opened(path)
        waiting = [writer.submit(insert(n)) for n in range(3)]
        await writer.close()
        assert await asyncio.gather(*waiting) == [0, 1, 2]


class TestLocked:
    async def test_waits_in_a_thread_and_not_on_the_loop(self, path: Path) -> None:
        writer = await opened(path, busy_timeout_seconds=10)
        other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        other.execute("BEGIN IMMEDIATE")
        waiting = writer.submit(insert(1))
        for _ in range(20):
            await asyncio.sleep(0.005)
        assert not waiting.done()
        later = writer.submit(insert(2))
        other.execute("COMMIT")
        assert list(await asyncio.gather(waiting, later)) == [1, 2]
        other.close()
        await writer.close()

    async def test_says_so_when_the_lock_cannot_be_had(self, path: Path) -> None:
        writer = await opened(path, busy_timeout_seconds=0.05)
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(Unavailable, match="locked"):
            await writer.submit(insert(1))
        other.execute("ROLLBACK")
        assert await writer.submit(insert(2)) == 2
        other.close()
        await writer.close()
        assert numbers(path) == [2]

    async def test_reads_while_somebody_writes(self, writer: SqliteWriter, path: Path) -> None:
        await writer.submit(insert(1))
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        assert await writer.read(lambda db: db.execute("SELECT n FROM t").fetchall()) == [(1,)]
        other.close()


class TestFull:
    async def test_says_so_and_loses_nothing(self, path: Path) -> None:
        writer = await opened(path)
        await writer.submit(insert(1))
        pages = await writer.read(lambda db: db.execute("PRAGMA page_count").fetchone()[0])
        await writer.submit(lambda db: db.execute(f"PRAGMA max_page_count={pages + 1}").fetchone())
        with pytest.raises(Unavailable, match="full"):
            await writer.submit(insert(2, "x" * 100_000))
        assert await writer.submit(insert(3)) == 3
        assert numbers(path) == [1, 3]
        await writer.close()

    async def test_fails_only_the_job_that_does_not_fit(self, path: Path) -> None:
        writer = await opened(path)
        pages = await writer.read(lambda db: db.execute("PRAGMA page_count").fetchone()[0])
        await writer.submit(lambda db: db.execute(f"PRAGMA max_page_count={pages + 1}").fetchone())
        jobs = (insert(1), insert(2, "x" * 100_000), insert(3))
        outcomes = await asyncio.gather(*(writer.submit(job) for job in jobs), return_exceptions=True)
        assert [type(outcome) for outcome in outcomes] == [int, DatabaseUnavailable, int]
        assert numbers(path) == [1, 3]
        await writer.close()

    async def test_a_disk_that_was_full_is_written_again_without_a_restart(
        self, small_disk: SmallDisk, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sqlite_checkpoints, "CHECKPOINT_PAGES", 10)
        monkeypatch.setattr(sqlite_checkpoints, "FIRST_PAUSE_SECONDS", 0.01)
        path = new_file(small_disk.path)
        writer = await opened(path)
        written = [await patiently(writer.submit(insert(n, "x" * 2000))) for n in range(100)]
        number = 100
        for _ in range(3):
            small_disk.fill()
            failed = 0
            while failed < 30:
                number += 1
                try:
                    written.append(await patiently(writer.submit(insert(number, "x" * 2000))))
                except Unavailable:
                    failed += 1
                await asyncio.sleep(0)
            assert await asyncio.wait_for(
                writer.read(lambda db: db.execute("SELECT count(*) FROM t").fetchone()), PATIENCE_SECONDS
            ) == (len(written),)
            small_disk.empty()
            for _ in range(30):
                number += 1
                written.append(await patiently(writer.submit(insert(number, "x" * 2000))))
        await asyncio.wait_for(writer.close(), PATIENCE_SECONDS)
        assert numbers(path) == written

    async def test_closes_while_the_disk_is_full(self, small_disk: SmallDisk) -> None:
        writer = await opened(new_file(small_disk.path))
        await writer.submit(insert(1, "x" * 2000))
        small_disk.fill()
        waiting = [writer.submit(insert(n, "x" * 50_000)) for n in range(2, 10)]
        await asyncio.wait_for(writer.close(), PATIENCE_SECONDS)
        outcomes = await asyncio.gather(*waiting, return_exceptions=True)
        assert any(isinstance(outcome, Unavailable) for outcome in outcomes)


class TestSlow:
    """A disk that keeps a commit waiting. The loop goes on meanwhile, or no tick of it would let the disk answer."""

    @pytest.fixture
    def disk(self, monkeypatch: pytest.MonkeyPatch) -> "SlowDisk":
        disk = SlowDisk()
        monkeypatch.setattr(sqlite3, "connect", disk.connect)
        return disk

    async def test_a_commit_of_a_slow_disk_is_not_made_on_the_loop(self, path: Path, disk: "SlowDisk") -> None:
        writer = await opened(path, clock=disk.clock)
        disk.is_slow = True
        for number in range(30):
            waiting = writer.submit(insert(number))
            await disk.answer_after_ticks(waiting)
            assert await patiently(waiting) == number
        assert disk.slow_on_loop == 0
        await writer.close()
        assert numbers(path) == list(range(30))

    async def test_a_disk_that_becomes_slow_is_noticed_by_its_first_commit(self, path: Path, disk: "SlowDisk") -> None:
        writer = await opened(path, clock=disk.clock)
        for number in range(100):
            await writer.submit(insert(number))
        assert disk.on_loop > 0
        disk.is_slow = True
        for number in range(100, 130):
            waiting = writer.submit(insert(number))
            await disk.answer_after_ticks(waiting)
            await patiently(waiting)
        assert disk.slow_on_loop == 1
        disk.is_slow = False
        before = disk.on_loop
        for number in range(130, 200):
            await writer.submit(insert(number))
        assert disk.on_loop > before
        await writer.close()
        assert numbers(path) == list(range(200))

    async def test_the_first_commit_of_a_log_is_made_in_the_thread(
        self, path: Path, disk: "SlowDisk", monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """It syncs the log's header. The loop's commits in between write to the page cache alone."""
        monkeypatch.setattr(sqlite_checkpoints, "CHECKPOINT_PAGES", 300)
        writer = await opened(path, clock=disk.clock)
        for number in range(1000):
            await writer.submit(insert(number))
            if (copying := writer._checkpoints._running) is not None:
                await asyncio.wait([copying])
        await writer.close()
        assert disk.on_loop > 500
        assert disk.begun_logs > 5
        assert disk.logs_begun_on_loop == 0

    async def test_jobs_that_wait_are_counted_by_their_age(self, path: Path, disk: "SlowDisk") -> None:
        writer = await opened(path, clock=disk.clock)
        assert writer.oldest_seconds == 0
        disk.is_slow = True
        waiting = writer.submit(insert(1))
        disk.now += 7
        assert writer.oldest_seconds == 7
        await disk.answer_after_ticks(waiting)
        await patiently(waiting)
        assert writer.oldest_seconds == 0
        await writer.close()

    async def test_closing_does_not_wait_for_ever(
        self, path: Path, disk: "SlowDisk", monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sqlite_writer, "CLOSE_SECONDS", 0.05)
        writer = await opened(path, clock=disk.clock, busy_timeout_seconds=0)
        disk.is_slow = True
        waiting = [writer.submit(insert(1)), writer.submit(insert(2))]
        await asyncio.wait_for(writer.close(), PATIENCE_SECONDS)
        for one in waiting:
            with pytest.raises(Unavailable, match="did not respond"):
                await patiently(one)
        disk.answers.set()


class TestCheckpoints:
    async def test_keep_the_log_short_under_steady_writing(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sqlite_checkpoints, "CHECKPOINT_PAGES", 100)
        writer = await opened(path)
        largest = 0
        for number in range(3000):
            await writer.submit(insert(number, "x" * 1000))
            if number % 100 == 0:
                if (copying := writer._checkpoints._running) is not None:
                    await asyncio.wait([copying])
                largest = max(largest, path.with_name("test.db-wal").stat().st_size)
        assert largest < 4_000_000
        assert len(numbers(path)) == 3000
        await writer.close()

    async def test_keep_the_log_short_while_there_is_always_a_reader(
        self, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Under load the log grew to seven times the database: SQLite begins it anew only when no one reads it."""
        monkeypatch.setattr(sqlite_checkpoints, "CHECKPOINT_PAGES", 100)
        monkeypatch.setattr(sqlite_checkpoints, "LONG_LOG_PAGES", 400)
        writer, ended = await opened(path), threading.Event()

        def read_always() -> None:
            readers = [sqlite3.connect(path, isolation_level=None) for _ in range(2)]
            while not ended.wait(0.001):
                readers[0].execute("BEGIN")
                readers[0].execute("SELECT count(*) FROM t").fetchone()
                readers.reverse()
                if readers[0].in_transaction:
                    readers[0].execute("COMMIT")
            for reader in readers:
                reader.close()

        reading, largest = asyncio.create_task(asyncio.to_thread(read_always)), 0
        for number in range(4000):
            await writer.submit(insert(number, "x" * 5000))
            if number % 100 == 0 and (copying := writer._checkpoints._running) is not None:
                await asyncio.wait([copying])
            largest = max(largest, path.with_name("test.db-wal").stat().st_size)
        ended.set()
        await reading
        await writer.close()
        assert len(numbers(path)) == 4000
        assert largest < 15_000_000  # 40 MB were written

    async def test_one_that_fails_is_made_again_and_never_counts_as_made(
        self, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(sqlite_checkpoints, "CHECKPOINT_PAGES", 10)
        monkeypatch.setattr(sqlite_checkpoints, "FIRST_PAUSE_SECONDS", 0.001)
        writer = await opened(path)
        copied, tried, failing = asyncio.Event(), 0, 3
        copy, loop = writer._checkpoints._copy, asyncio.get_running_loop()

        def copy_at_last() -> None:
            nonlocal tried
            tried += 1
            if tried <= failing:
                assert not writer._checkpoints.copied
                raise sqlite3.OperationalError("disk I/O error")
            copy()
            loop.call_soon_threadsafe(copied.set)

        monkeypatch.setattr(writer._checkpoints, "_copy", copy_at_last)
        for number in range(20):
            await writer.submit(insert(number))
        await asyncio.wait_for(copied.wait(), PATIENCE_SECONDS)
        assert tried > failing
        assert await patiently(writer.submit(insert(99))) == 99
        await writer.close()


class BrokenRollback(sqlite3.Connection):
    """A connection that fails for good inside a transaction."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, isolation_level=None, check_same_thread=False)

    def execute(self, sql: str, *values: Any) -> sqlite3.Cursor:
        """Run a statement, except those that end a transaction."""
        if sql in {"COMMIT", "ROLLBACK"}:
            error = sqlite3.OperationalError("disk I/O error")
            error.sqlite_errorcode = sqlite3.SQLITE_IOERR
            raise error
        return super().execute(sql, *values)


class SlowDisk:
    """Connections whose COMMIT waits for the test while the disk is slow, and a clock that says it took 0.4 seconds."""

    def __init__(self) -> None:
        self.is_slow = False
        self.now = 0.0
        self.answers = threading.Event()
        self.on_loop = self.slow_on_loop = self.begun_logs = self.logs_begun_on_loop = 0
        self._loop = threading.current_thread()
        self._connect = sqlite3.connect

    def clock(self) -> float:
        """Seconds, which only a slow commit makes pass."""
        return self.now

    def connect(self, path: Path, **options: Any) -> sqlite3.Connection:
        """A connection to this disk."""
        disk = self

        class Connection(sqlite3.Connection):
            def execute(self, sql: str, *values: Any) -> sqlite3.Cursor:
                if sql == "COMMIT":
                    disk.wait(Path(path))
                return super().execute(sql, *values)

        return self._connect(path, factory=Connection, **options)

    def wait(self, path: Path) -> None:
        """What a commit meets."""
        on_loop = threading.current_thread() is self._loop
        self.on_loop += on_loop
        if self._begins_log(path):
            self.begun_logs += 1
            self.logs_begun_on_loop += on_loop
        if self.is_slow:
            self.slow_on_loop += on_loop
            self.now += 0.4
            if not on_loop:
                assert self.answers.wait(PATIENCE_SECONDS)
                self.answers.clear()

    async def answer_after_ticks(self, waiting: "asyncio.Future[Any]") -> None:
        """Let the disk answer once the loop has gone on for a while."""
        for _ in range(20):
            await asyncio.sleep(0)
        if not waiting.done():
            self.answers.set()

    def _begins_log(self, path: Path) -> bool:
        """Whether the next commit writes at the log's beginning, because everything in it is copied."""
        index = path.with_name(path.name + "-shm").read_bytes()
        last, copied = (int.from_bytes(index[at : at + 4], "little") for at in (16, 96))
        return last == copied


def new_file(folder: Path) -> Path:
    """A database with the table of these tests."""
    with sqlite3.connect(folder / "test.db") as made:
        made.execute("PRAGMA journal_mode=WAL")
        made.execute("CREATE TABLE t (n INTEGER PRIMARY KEY, pad TEXT)")
    made.close()
    return folder / "test.db"
