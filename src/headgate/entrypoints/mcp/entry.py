"""`/mcp` in the application: opened at the first request, closed with the server."""

import asyncio

from headgate.entrypoints.compose import Parts
from headgate.entrypoints.http.wire import App
from headgate.entrypoints.mcp.studio import load_server, studio_of


class McpEntry:
    """Holds the MCP server of an application, loaded at its first request.

    Args:
        parts: Services of its tools.
    """

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._opened: asyncio.Future[App] | None = None
        self._owner: asyncio.Task[None] | None = None
        self._end = asyncio.Event()

    async def app(self) -> App:
        """The ASGI application for `/mcp`; where opening it failed, it is tried again. Raises `McpNotInstalled`."""
        if self._opened is None or (self._opened.done() and self._opened.exception() is not None):
            self._opened = asyncio.get_running_loop().create_future()
            self._owner = asyncio.create_task(self._own(self._opened), name="mcp server")
        return await asyncio.shield(self._opened)  # a client that leaves meanwhile takes it from nobody else

    async def close(self) -> None:
        """End requests in progress."""
        self._end.set()
        if self._owner is not None:
            await asyncio.wait([self._owner])

    async def _own(self, opened: "asyncio.Future[App]") -> None:
        """The library's task group must be left in the task that entered it."""
        try:
            server = await asyncio.to_thread(load_server)  # a second of imports; others are answered meanwhile
            async with server.open_http(studio_of(self._parts), self._parts.telemetry.metrics) as app:
                opened.set_result(app)
                await self._end.wait()
        except Exception as error:
            if opened.done():
                raise
            opened.set_exception(error)
