"""Opens sessions with registered servers. No database connection is held during requests to a server."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pydantic import JsonValue

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal, within
from headgate.features.connections.http import ConnectionHttp
from headgate.features.mcptools import service
from headgate.features.mcptools.descriptions import Discovery, taken_tools
from headgate.features.mcptools.errors import (
    McpMissing,
    McpServerNotFound,
    McpServerOff,
    McpToolChanged,
    McpToolNotFound,
    McpToolsNotFound,
)
from headgate.features.mcptools.programs import ProgramRules
from headgate.features.mcptools.schemas import McpTestOut
from headgate.features.mcptools.service import Changes
from headgate.features.mcptools.tables import McpServerRow, McpToolRow
from headgate.features.mcptools.target import Secrets, Target
from headgate.foundation.crypto import SecretBox
from headgate.foundation.database import Database
from headgate.foundation.errors import HeadgateError
from headgate.foundation.guarded_http import GuardedHttp
from headgate.foundation.settings import McpSettings

if TYPE_CHECKING:  # imported at the first connection
    from headgate.features.mcptools.protocol import Session
    from headgate.features.mcptools.sampling import Answers


@dataclass(frozen=True, slots=True)
class Reader:
    """What a user or a run may send to a server.

    Args:
        secrets: The variables of the space, for headers that name one.
        connection: Opens a connection of the space by its name. Raises as `Connections.open`.
    """

    secrets: Secrets
    connection: Callable[[str], Awaitable[ConnectionHttp]]


@dataclass(frozen=True, slots=True)
class McpConnector:
    """Opens sessions with the servers of any tenant.

    Args:
        database: The database of servers and their tools.
        secret_box: Decrypts their headers.
        reader_of: The variables and connections of the user's space. Not for runs.
        http: Sends the requests.
        settings: Limits; whether programs are allowed.
        programs: The operator's rules for programs.
    """

    database: Database
    box: SecretBox
    reader_of: Callable[[Principal], Reader]
    http: GuardedHttp
    settings: McpSettings
    programs: ProgramRules

    async def connection(self, *, tenant_id: str, space_id: str, name: str, reader: Reader) -> "Connection":
        """A space's server with its enabled tools, without connecting.

        Raises `McpServerNotFound` with the nearest name, `McpServerOff`, `McpToolsNotFound`, `ProgramsRefused`.
        """
        async with self.database.reading() as session:
            row = await service.find_named(session, name, tenant_id=tenant_id, space_id=space_id)
            if row is None:
                raise McpServerNotFound(name, await service.names_in(session, tenant_id=tenant_id, space_id=space_id))
            _require_usable(row, self.programs)
            tools = await service.tools_of(session, row.id, tenant_id=tenant_id)
            target = service.target_of(row, self.box)
        return Connection(self, reader, target, [tool for tool in tools if tool.enabled])

    async def refresh(self, principal: Principal, id_or_name: str) -> tuple[Discovery, Changes]:
        """List a server's tools and store them; a failure is stored with the server and raised."""
        target, reader, server_id = await self._target(principal, id_or_name)
        try:
            discovery = await self._discover(reader, target)
        except HeadgateError as error:
            async with self.database.writing() as session:
                await service.note_failure(session, principal, server_id, str(error))
            raise
        async with self.database.writing() as session:
            return discovery, await service.store_discovery(session, principal, server_id, discovery)

    async def test(self, principal: Principal, id_or_name: str) -> McpTestOut:
        """Connect to a server and count its tools; nothing is stored. Raises `McpServerFailed`."""
        target, reader, _ = await self._target(principal, id_or_name)
        started = time.perf_counter()
        discovery = await self._discover(reader, target)
        ms = (time.perf_counter() - started) * 1000
        return McpTestOut(
            protocol=discovery.protocol, server=discovery.server, tools=len(discovery.tools), ms=round(ms, 1)
        )

    async def open_session(self, reader: Reader, target: Target) -> "Session":
        """Return a new session; the caller closes it. Raises also as the connection of the server does."""
        filled = await target.filled(reader.secrets)
        connection = await reader.connection(target.connection) if target.connection else None
        if target.transport == "stdio":
            self.programs.require_allowed(target.name)
            filled = replace(filled, access=self.programs.checked(target.name, target.access))
        session = _session_class()(filled, self.http, self.settings, connection, insecure=self.programs.insecure)
        await session.open()
        return session

    async def _target(self, principal: Principal, id_or_name: str) -> tuple[Target, Reader, str]:
        async with self.database.reading() as session:
            row = await service.get_server(session, principal, id_or_name, permission=Permission.MCP_SERVERS_MANAGE)
            return service.target_of(row, self.box), self.reader_of(within(principal, row.space_id)), row.id

    async def _discover(self, reader: Reader, target: Target) -> Discovery:
        session = await self.open_session(reader, target)
        try:
            tools, left_out = taken_tools(await session.list_tools(), limit=self.settings.max_tools)
            return Discovery(session.protocol, session.server, tools, left_out)
        finally:
            await session.close()


class Connection:
    """A step's connection to one server."""

    def __init__(self, connector: McpConnector, reader: Reader, target: Target, tools: Sequence[McpToolRow]) -> None:
        self._connector = connector
        self._reader = reader
        self._target = target
        self._opening = asyncio.Lock()
        self._session: Session | None = None
        self.tools = tuple(tools)
        """The enabled tools as the server described them when they were last found."""
        self.url = target.url
        """Its address; empty for a program."""
        self.sampling = target.sampling
        """The model that answers its requests; None for none."""

    async def call(self, tool: str, arguments: Mapping[str, JsonValue], answers: "Answers | None" = None) -> JsonValue:
        """Call a tool; the first call opens the session.

        Raises errors of the connection, of the tool and of `answers`.
        """
        chosen = next((own_tool for own_tool in self.tools if own_tool.name == tool), None)
        if chosen is None:
            raise McpToolNotFound(f"The MCP server '{self._target.name}' has no enabled tool '{tool[:128]}'.")
        if chosen.changed:
            raise McpToolChanged(self._target.name, tool)
        async with self._opening:
            if self._session is None or not self._session.is_open:
                self._session = await self._connector.open_session(self._reader, self._target)
        return await self._session.call_tool(tool, arguments, accepted=chosen.accepted_sha256, answers=answers)

    async def close(self) -> None:
        """End the session."""
        if self._session is not None:
            await self._session.close()


def _require_usable(row: McpServerRow, programs: ProgramRules) -> None:
    if not row.enabled:
        raise McpServerOff(
            f"The MCP server '{row.name}' is disabled.", remedy=("Enable it, or remove it from the flow.")
        )
    if row.transport == "stdio":
        programs.require_allowed(row.name)
    if row.tools_found_at is None:
        raise McpToolsNotFound(
            f"The tools of the MCP server '{row.name}' are not known yet. {row.error_message or ''}".strip(),
            remedy=f"List them with `headgate mcp-servers refresh {row.name}`.",
        )


def _session_class() -> "type[Session]":
    """Return the class that implements MCP, imported at the first connection. Raises `McpMissing`."""
    try:
        from headgate.features.mcptools.protocol import Session  # noqa: PLC0415 - heavy, see there
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in {"mcp", "mcp_types"}:
            raise
        raise McpMissing(
            "The MCP client package is not installed.", remedy="Install it: pip install 'headgate[mcp]'."
        ) from error
    return Session
