"""Connections to SQLite are closed whatever happens at the same moment."""

import asyncio
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
