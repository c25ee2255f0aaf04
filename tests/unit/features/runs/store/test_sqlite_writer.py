"""Writes to a real SQLite file: grouping, one job's failure, the lock held by somebody else, a log that stays short."""

import asyncio
import sqlite3
import threading
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from headgate.features.runs.store import sqlite_writer
from headgate.features.runs.store.sqlite_writer import SqliteWriter
from headgate.foundation.errors import Unavailable
from headgate.foundation.settings import DatabaseSettings


@pytest.fixture
def path(tmp_path: Path) -> Path:
    with sqlite3.connect(tmp_path / "test.db") as made:
        made.execute("PRAGMA journal_mode=WAL")
        made.execute("CREATE TABLE t (n INTEGER PRIMARY KEY, pad TEXT)")
    made.close()
    return tmp_path / "test.db"


async def opened(path: Path, **settings: object) -> SqliteWriter:
    writer = SqliteWriter(path, DatabaseSettings.model_validate(settings))
    await writer.open()
    return writer


@pytest.fixture(params=["NORMAL", "FULL"])
async def writer(path: Path, request: pytest.FixtureRequest) -> AsyncIterator[SqliteWriter]:
    found = await opened(path, synchronous=request.param)
    yield found
    await found.close()


def insert(number: int, pad: str = "") -> sqlite_writer.Job[int]:
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
        assert writer.glance(lambda db: db.execute("SELECT count(*) FROM t").fetchone()) == (1,)
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


class TestCheckpoints:
    async def test_keep_the_log_short_under_steady_writing(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sqlite_writer, "CHECKPOINT_PAGES", 100)
        writer = await opened(path)
        largest = 0
        for number in range(3000):
            await writer.submit(insert(number, "x" * 1000))
            if number % 100 == 0:
                if writer._checkpoint is not None:
                    await asyncio.wait([writer._checkpoint])
                largest = max(largest, path.with_name("test.db-wal").stat().st_size)
        assert largest < 4_000_000
        assert len(numbers(path)) == 3000
        await writer.close()

    async def test_happen_off_the_loop(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sqlite_writer, "CHECKPOINT_PAGES", 10)
        copied: list[threading.Thread] = []
        writer = await opened(path)
        copy_back = writer._copy_back

        def watched() -> None:
            copied.append(threading.current_thread())
            copy_back()

        monkeypatch.setattr(writer, "_copy_back", watched)
        for number in range(50):
            await writer.submit(insert(number))
            await asyncio.sleep(0.001)
        await writer.close()
        assert copied
        assert threading.main_thread() not in copied
