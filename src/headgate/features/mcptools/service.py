"""Registering servers, and keeping what they say about their tools."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import SecretStr
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.principal import Principal
from headgate.features.mcptools import repository
from headgate.features.mcptools.descriptions import Discovery
from headgate.features.mcptools.errors import (
    BadMcpServer,
    McpServerNameTaken,
    McpServerNotFound,
    McpToolNotFound,
    ProgramsRefused,
)
from headgate.features.mcptools.schemas import McpServerIn, McpServerPatch
from headgate.features.mcptools.tables import McpServerRow, McpToolRow
from headgate.features.mcptools.target import Target, check_name, checked_target, same_place, seal, unseal
from headgate.foundation.crypto import SecretBox
from headgate.foundation.database import now
from headgate.foundation.ids import is_id, new_id
from headgate.foundation.settings import McpSettings
from headgate.graph.names import did_you_mean, listed

MAX_SERVERS = 100
"""Servers of one space."""


@dataclass(frozen=True, slots=True)
class Changes:
    """How a server's tools differ from those that were known."""

    added: tuple[str, ...]
    changed: tuple[str, ...]
    removed: tuple[str, ...]


async def create_server(
    session: AsyncSession, principal: Principal, box: SecretBox, settings: McpSettings, *, wanted: McpServerIn
) -> McpServerRow:
    """Register a server. Nothing is sent to it yet.

    Raises `BadMcpServer`, `BadUrl`, `HeaderRefused`, `McpServerNameTaken`, `ProgramsRefused`.
    """
    check_name(wanted.name)
    if wanted.transport == "stdio" and not settings.allow_stdio:
        raise ProgramsRefused(wanted.name)
    target = checked_target(
        wanted.name,
        wanted.transport,
        url=wanted.url,
        command=wanted.command,
        secrets=_secrets(wanted.transport, wanted.headers, wanted.env),
    )
    space = wanted.space_id or principal.space_id
    if not await repository.space_exists(session, space, tenant_id=principal.tenant_id):
        raise BadMcpServer(f"There is no space '{space[:64]}'.", remedy="List the spaces to see their ids.")
    known = await repository.list_servers(session, tenant_id=principal.tenant_id, space_id=space)
    if any(one.name == wanted.name for one in known):
        raise McpServerNameTaken(wanted.name)
    if len(known) >= MAX_SERVERS:
        raise BadMcpServer(f"The space has {MAX_SERVERS} MCP servers already.", remedy="Remove one first.")
    row = McpServerRow(
        id=new_id(), tenant_id=principal.tenant_id, space_id=space, name=wanted.name, transport=wanted.transport
    )
    row.enabled = wanted.enabled
    _write(row, target, box)
    row.created_at = row.updated_at
    session.add(row)
    await session.flush()
    return row


async def list_servers(
    session: AsyncSession, principal: Principal, *, space_id: str | None = None
) -> Sequence[McpServerRow]:
    """The servers of a space, by name."""
    return await repository.list_servers(
        session, tenant_id=principal.tenant_id, space_id=space_id or principal.space_id
    )


async def get_server(session: AsyncSession, principal: Principal, which: str, *, lock: bool = False) -> McpServerRow:
    """A server by its id, or by its name in the caller's space. Raises `McpServerNotFound`."""
    tenant = principal.tenant_id
    if is_id(which):
        row = await repository.find_server(session, which, tenant_id=tenant, lock=lock)
    else:
        row = await find_named(session, which, tenant_id=tenant, space_id=principal.space_id)
    if row is None:
        known = await repository.list_servers(session, tenant_id=tenant, space_id=principal.space_id)
        raise McpServerNotFound(which, [one.name for one in known])
    return row


async def find_named(session: AsyncSession, name: str, *, tenant_id: str, space_id: str) -> McpServerRow | None:
    """A server of a space by its name."""
    return await repository.find_server_named(session, name[:64], tenant_id=tenant_id, space_id=space_id)


async def update_server(
    session: AsyncSession,
    principal: Principal,
    box: SecretBox,
    settings: McpSettings,
    which: str,
    *,
    patch: McpServerPatch,
) -> McpServerRow:
    """Change a server. What it was told in confidence does not follow it to another address or program.

    Raises `McpServerNotFound`, `BadMcpServer`, `ProgramsRefused`.
    """
    row = await get_server(session, principal, which, lock=True)
    if row.transport == "stdio" and not settings.allow_stdio:
        raise ProgramsRefused(row.name)
    before = target_of(row, box)
    given = patch.headers if row.transport == "http" else patch.env
    if (patch.env if row.transport == "http" else patch.headers) is not None:
        raise BadMcpServer(f"The server '{row.name}' takes {'headers' if row.transport == 'http' else 'env'}.")
    secrets = given if given is not None else {name: SecretStr(value) for name, value in before.secrets.items()}
    after = checked_target(
        row.name,
        row.transport,
        url=row.url if patch.url is None else patch.url,
        command=(row.command or []) if patch.command is None else patch.command,
        secrets=secrets,
    )
    if given is None and before.secrets and not same_place(before, after):
        raise BadMcpServer(
            f"The headers of '{row.name}' were given for another {'server' if row.transport == 'http' else 'program'}.",
            remedy="Give them again with the new address or command, or give none: {}.",
        )
    row.enabled = row.enabled if patch.enabled is None else patch.enabled
    _write(row, after, box)
    await session.flush()
    return row


async def delete_server(session: AsyncSession, principal: Principal, which: str) -> None:
    """Forget a server and its tools. Raises `McpServerNotFound`."""
    row = await get_server(session, principal, which)
    await repository.delete_server(session, row.id, tenant_id=principal.tenant_id)


async def list_tools(session: AsyncSession, principal: Principal, which: str) -> Sequence[McpToolRow]:
    """What a server offered when it was last asked. Raises `McpServerNotFound`."""
    row = await get_server(session, principal, which)
    return await repository.list_tools(session, row.id, tenant_id=principal.tenant_id)


async def tools_of(session: AsyncSession, server_id: str, *, tenant_id: str) -> Sequence[McpToolRow]:
    """The tools of a server that was found already, in the server's order."""
    return await repository.list_tools(session, server_id, tenant_id=tenant_id)


async def set_tool_enabled(
    session: AsyncSession, principal: Principal, which: str, name: str, *, enabled: bool
) -> McpToolRow:
    """Let flows use a tool, or not. Raises `McpServerNotFound`, `McpToolNotFound` with the nearest name."""
    server = await get_server(session, principal, which)
    row = await repository.find_tool(session, server.id, name, tenant_id=principal.tenant_id)
    if row is None:
        known = [one.name for one in await repository.list_tools(session, server.id, tenant_id=principal.tenant_id)]
        raise McpToolNotFound(
            f"The MCP server '{server.name}' has no tool '{name[:128]}'{did_you_mean(name, known) or '.'}",
            remedy=f"It has: {listed(known)}. Refresh it to look again.",
        )
    row.enabled = enabled
    await session.flush()
    return row


async def store_discovery(session: AsyncSession, principal: Principal, which: str, found: Discovery) -> Changes:
    """Replace a server's tools; a tool that was switched off stays off."""
    server = await get_server(session, principal, which, lock=True)
    rows = await repository.list_tools(session, server.id, tenant_id=principal.tenant_id)
    known = {row.name: row for row in rows}
    names = [tool.name for tool in found.tools]
    added: list[str] = []
    changed: list[str] = []
    for place, tool in enumerate(found.tools):
        row = known.get(tool.name)
        if row is None:
            added.append(tool.name)
            row = McpToolRow(server_id=server.id, name=tool.name, tenant_id=principal.tenant_id, enabled=True)
            session.add(row)
        elif (row.description, row.input_schema) != (tool.description, tool.input_schema):
            changed.append(tool.name)
        row.place, row.description, row.input_schema = place, tool.description, tool.input_schema
    removed = [name for name in known if name not in names]
    for name in removed:
        await session.delete(known[name])
    server.tools_found_at = now()
    server.error_message = f"Left out: {'; '.join(found.left_out)}." if found.left_out else None
    await session.flush()
    return Changes(tuple(added), tuple(changed), tuple(removed))


async def note_failure(session: AsyncSession, principal: Principal, which: str, message: str) -> None:
    """Keep why a server's tools could not be found; those that were known stay."""
    row = await get_server(session, principal, which, lock=True)
    row.error_message = message[:4000]
    await session.flush()


def target_of(row: McpServerRow, box: SecretBox) -> Target:
    """Where the server is, its secrets in the clear but variables by name. Raises `Unavailable`."""
    return Target(row.name, row.transport, row.url, tuple(row.command or ()), unseal(box, row.sealed))


def _write(row: McpServerRow, target: Target, box: SecretBox) -> None:
    row.url = target.url
    row.command = list(target.command) or None
    row.sealed = seal(box, target.secrets)
    row.secret_names = sorted(target.secrets)
    row.updated_at = now()


def _secrets(transport: str, headers: Mapping[str, SecretStr], env: Mapping[str, SecretStr]) -> Mapping[str, SecretStr]:
    """The ones that belong to the transport. Raises `BadMcpServer` when the others were given."""
    wrong, right = (env, headers) if transport == "http" else (headers, env)
    if wrong:
        raise BadMcpServer(
            f"A server with transport {transport} takes no {'env' if transport == 'http' else 'headers'}.",
            remedy=f"Give {'headers' if transport == 'http' else 'env'}.",
        )
    return right
