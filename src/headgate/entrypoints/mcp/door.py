"""`/mcp` in the application: opened at the first request, closed with the server."""

import asyncio
from typing import Any

from headgate.entrypoints.compose import Parts
from headgate.entrypoints.http.wire import App
from headgate.entrypoints.mcp.studio import load_server, studio_of


class McpDoor:
    """Holds the MCP server of an application. A start without MCP clients pays nothing for it.

    Args:
        parts: What its tools stand on.
    """

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._lock = asyncio.Lock()
        self._app: App | None = None
        self._owner: asyncio.Task[None] | None = None
        self._end = asyncio.Event()

    async def app(self) -> App:
        """The ASGI application for `/mcp`. Raises `McpNotInstalled`."""
        async with self._lock:
            if self._app is None:
                self._app = await self._open()
        return self._app

    async def close(self) -> None:
        """End what is under way."""
        self._end.set()
        if self._owner is not None:
            await asyncio.wait([self._owner])

    async def _open(self) -> App:
        server = await asyncio.to_thread(load_server)  # a second of imports; others are answered meanwhile
        opened: asyncio.Future[App] = asyncio.get_running_loop().create_future()
        self._owner = asyncio.create_task(self._own(server, opened), name="mcp server")
        return await opened

    async def _own(self, server: Any, opened: "asyncio.Future[App]") -> None:  # noqa: ANN401 - a module
        """The library's task group must be left in the task that entered it."""
        async with server.open_http(studio_of(self._parts), self._parts.telemetry.metrics) as app:
            opened.set_result(app)
            await self._end.wait()
