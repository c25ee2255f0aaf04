"""Connections to SQLite are closed whatever happens at the same moment."""

import asyncio
import sqlite3 as raw
import threading
from contextlib import closing
from pathlib import Path

import pytest

from headgate.foundation.database import sqlite
from tests.support.patience import PATIENCE_SECONDS


class TestClosing:
    async def test_ends_when_the_connection_is_stopped_meanwhile(self, tmp_path: Path) -> None:
        connection = await sqlite.connect(tmp_path / "a.db")
        closing = asyncio.create_task(connection.close())
        await asyncio.sleep(0)  # it has asked for the close and waits for it
        connection.stop()
        closing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(closing, PATIENCE_SECONDS)
        connection._thread.join(5)
        assert not connection._thread.is_alive()

    async def test_twice_is_once(self, tmp_path: Path) -> None:
        connection = await sqlite.connect(tmp_path / "a.db")
        await connection.close()
        await asyncio.wait_for(connection.close(), PATIENCE_SECONDS)
        assert connection.stop() is None

    @pytest.mark.parametrize("way", ["closed", "stopped"])
    async def test_gives_the_write_lock_up_while_a_cursor_still_exists(self, tmp_path: Path, way: str) -> None:
        connection = await sqlite.connect(tmp_path / "a.db", isolation_level=None)
        await connection.executescript(
            "PRAGMA journal_mode=WAL; CREATE TABLE rows (x); INSERT INTO rows VALUES (1), (2)"
        )
        await connection.execute("BEGIN IMMEDIATE")
        cursor = await connection.execute("SELECT x FROM rows")  # as a traceback holds it
        if way == "closed":
            await connection.close()
        else:
            connection.stop()
            connection._thread.join(PATIENCE_SECONDS)
        with closing(raw.connect(tmp_path / "a.db", isolation_level=None, timeout=0)) as other:
            other.execute("INSERT INTO rows VALUES (3)")
        assert cursor is not None


class TestClosedLoops:
    """A statement that is executed while the loop that asked for it is closed."""

    @pytest.mark.parametrize("stopped", [True, False])
    def test_end_no_thread_with_an_error(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, stopped: bool
    ) -> None:
        errors: list[threading.ExceptHookArgs] = []
        monkeypatch.setattr(threading, "excepthook", errors.append)
        reached, closed = threading.Event(), threading.Event()

        def slow() -> bool:
            reached.set()
            return closed.wait(60)

        async def leave() -> sqlite.SqliteConnection:
            connection = sqlite.connect(tmp_path / "a.db")
            await connection
            await connection.create_function("slow", 0, slow)
            statement = asyncio.ensure_future(connection.execute("SELECT slow()"))
            await asyncio.to_thread(reached.wait, 60)
            statement.cancel()
            if stopped:
                connection.stop()
            return connection

        connection = asyncio.run(leave())
        closed.set()
        if not stopped:
            connection.stop()
        connection._thread.join(60)
        assert not connection._thread.is_alive()
        assert errors == []
