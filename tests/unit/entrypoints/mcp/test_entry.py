"""The door to the MCP server: opened by the first request, whatever becomes of that request."""

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any, cast

import pytest

from headgate.entrypoints.compose import Parts
from headgate.entrypoints.mcp import entry
from headgate.entrypoints.mcp.entry import McpEntry
from headgate.entrypoints.mcp.studio import McpNotInstalled
from tests.support.patience import PATIENCE_SECONDS


class Library:
    """Stands for the module that takes a second to import: it is there when `ready` is set, and counts its servers."""

    def __init__(self) -> None:
        self.ready = threading.Event()
        self.missing = False
        self.open = 0
        self.opened = 0

    def load(self) -> "Library":
        assert self.ready.wait(10)
        if self.missing:
            raise McpNotInstalled("It is not there.")
        return self

    @asynccontextmanager
    async def open_http(self, _studio: object, _metrics: object) -> AsyncIterator[str]:
        self.opened += 1
        self.open += 1
        try:
            yield "the application"
        finally:
            self.open -= 1


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> Library:
    found = Library()
    monkeypatch.setattr(entry, "load_server", found.load)
    monkeypatch.setattr(entry, "studio_of", lambda _parts: None)
    return found


def a_door() -> McpEntry:
    parts: Any = SimpleNamespace(telemetry=SimpleNamespace(metrics=None))
    return McpEntry(cast("Parts", parts))


class TestMcpDoor:
    async def test_opens_one_server_for_all_who_come_at_once(self, library: Library) -> None:
        library.ready.set()
        mcp = a_door()
        assert {str(app) for app in await asyncio.gather(*(mcp.app() for _ in range(5)))} == {"the application"}
        assert (library.opened, library.open) == (1, 1)
        await mcp.close()
        assert library.open == 0

    async def test_keeps_nobody_waiting_for_a_client_that_left(self, library: Library) -> None:
        mcp = a_door()
        first = asyncio.create_task(mcp.app())
        await asyncio.sleep(0)
        first.cancel()
        await asyncio.wait([first])
        library.ready.set()
        async with asyncio.timeout(PATIENCE_SECONDS):
            assert str(await mcp.app()) == "the application"
        assert library.opened == 1
        await mcp.close()

    async def test_tells_why_it_cannot_be_opened_and_tries_again(self, library: Library) -> None:
        library.ready.set()
        library.missing = True
        mcp = a_door()
        with pytest.raises(McpNotInstalled):
            await mcp.app()
        library.missing = False
        assert str(await mcp.app()) == "the application"
        await mcp.close()
