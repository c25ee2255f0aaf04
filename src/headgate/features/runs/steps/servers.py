"""MCP servers of one step: one session per server, opened at the first call, closed with the step."""

import asyncio
import hashlib
import re
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from pydantic import JsonValue

from headgate.features.runs.ports.limits import Circuits
from headgate.features.runs.ports.origin import Origin
from headgate.features.runs.ports.services import McpServers, ServerConnection, ServerTool
from headgate.features.runs.step_services import Services
from headgate.features.runs.steps.calls import StepCalls
from headgate.features.runs.steps.circuits import breaking, host_of
from headgate.features.runs.steps.outside import OutsideContent
from headgate.features.runs.steps.server_answers import Asked, AskedByServers, ServerAnswers, answering, raised_by
from headgate.sdk import Tool
from headgate.sdk.outside import mark

if TYPE_CHECKING:
    from headgate.features.runs.steps.context import StepContext

LONGEST_NAME = 64
"""Characters of a tool name that every model provider accepts."""
_SECONDS_BETWEEN_LOOKS = 1.0
_UNSAFE = re.compile(r"[^A-Za-z0-9_-]")


class StepServers:
    """The MCP servers of one step.

    Args:
        origin: The step; the servers are registered in the space of its flow.
        servers: Looks servers up.
        check_cancelled: Raises `Cancelled` when the run was cancelled.
        outside: Records the marks of responses; checks calls that may change something.
        circuits: Circuit breakers of servers; None if there are none.
        asked: Asks users and models what a server asks during a call; None: such questions are declined.
    """

    def __init__(
        self,
        origin: Origin,
        servers: McpServers,
        check_cancelled: Callable[[], Awaitable[None]],
        outside: OutsideContent,
        asked: Asked | None = None,
        *,
        circuits: Circuits | None = None,
    ) -> None:
        self._asked = asked
        self._circuits = circuits
        self._origin = origin
        self._servers = servers
        self._check_cancelled = check_cancelled
        self._outside = outside
        self._open: dict[str, ServerConnection] = {}

    async def tools(self, server: str) -> Sequence[Tool]:
        """Return the enabled tools of a server, in the order of its list."""
        connection = self._open.get(server)
        if connection is None:
            connection = self._open[server] = await self._servers.connection(self._origin, server)
        self._outside.describe(server)
        return [self._tool(server, connection, tool) for tool in connection.tools]

    async def aclose(self) -> None:
        """Close every session."""
        if self._open:
            connections, self._open = list(self._open.values()), {}
            await asyncio.gather(*(connection.close() for connection in connections))

    def _tool(self, server: str, connection: ServerConnection, described: ServerTool) -> Tool:
        async def call(arguments: dict[str, JsonValue]) -> JsonValue:
            self._outside.check_tool(f"{server}.{described.name}", server, reads=described.read_only)
            self._outside.add(mark("server", server))  # before the call: an error is the server's text too
            called: dict[str, JsonValue] = {"tool": f"{server}.{described.name}", "arguments": arguments}
            answers = None if self._asked is None else ServerAnswers(server, connection.sampling, called, self._asked)
            place = _place(server, connection)
            async with breaking(self._circuits, self._origin.key.tenant_id, place, answered=raised_by(answers)):
                return await self._watched(answering(connection.call(described.name, arguments, answers), answers))

        return Tool(
            name=model_name(server, described.name),
            description=f"[MCP server '{server}', in its own words] {described.description or described.name}",
            parameters=dict(described.input_schema),
            call=call,
            server=server,
            remote_name=described.name,
            changed=described.changed,
        )

    async def _watched(self, call: Awaitable[JsonValue]) -> JsonValue:
        """Return the call's result; a cancellation in another process ends it within about a second."""
        task = asyncio.ensure_future(call)
        try:
            while not (await asyncio.wait({task}, timeout=_SECONDS_BETWEEN_LOOKS))[0]:
                await self._check_cancelled()
            return task.result()
        finally:
            if not task.done():
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task


def of_step(
    ctx: "StepContext", origin: Origin, services: Services, outside: OutsideContent, calls: StepCalls | None
) -> StepServers:
    """Return the MCP servers of a step, which ask users and models in its name."""
    asked = AskedByServers(ctx, calls)
    return StepServers(origin, services.mcp, ctx.check_cancelled, outside, asked, circuits=services.circuits)


def _place(server: str, connection: ServerConnection) -> str:
    """Return what fails with a server: its host, or the program under the name of the server."""
    return host_of(connection.url) if connection.url else f"mcp {server}"


def model_name(server: str, tool: str) -> str:
    """Return `server.tool` in a form that every model provider accepts: `weather__forecast`.

    A changed name ends with a digest of the original, so that two names never collide.
    """
    plain_name = f"{server}__{tool}"
    safe = _UNSAFE.sub("_", plain_name)
    if safe == plain_name and len(plain_name) <= LONGEST_NAME:
        return plain_name
    digest = hashlib.sha256(plain_name.encode()).hexdigest()[:8]
    return f"{safe[: LONGEST_NAME - 9]}_{digest}"
