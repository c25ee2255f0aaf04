"""Registering servers, and keeping what they say about their tools."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import SecretStr
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal
from headgate.features.accounts.spaces.service import require_space, spaces_shown
from headgate.features.audit.recorder import record_of
from headgate.features.mcptools import repository
from headgate.features.mcptools.descriptions import Discovery
from headgate.features.mcptools.errors import (
    AmbiguousMcpServer,
    BadMcpServer,
    McpServerNameTaken,
    McpServerNotFound,
    McpToolNotFound,
    ProgramsRefused,
)
from headgate.features.mcptools.schemas import McpServerIn, McpServerOut, McpServerPatch
from headgate.features.mcptools.tables import McpServerRow, McpToolRow
from headgate.features.mcptools.target import Given, Target, check_name, checked_target, same_place, seal, unseal
from headgate.foundation.crypto import SecretBox
from headgate.foundation.database import now
from headgate.foundation.ids import is_id, new_id
from headgate.foundation.quoting import shortened
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

    Raises `SpaceNotFound`, `PermissionMissing`, `BadMcpServer`, `BadUrl`, `HeaderRefused`, `McpServerNameTaken`,
    `ProgramsRefused`.
    """
    space = wanted.space_id or principal.space_id
    await require_space(session, principal, space, Permission.MCP_SERVERS_MANAGE)
    check_name(wanted.name)
    if wanted.transport == "stdio":
        principal.require(Permission.MCP_SERVERS_PROGRAMS)
        if not settings.allow_stdio:
            raise ProgramsRefused(wanted.name)
    target = checked_target(
        wanted.name,
        wanted.transport,
        url=wanted.url,
        command=wanted.command,
        secrets=_secrets(wanted.transport, wanted.headers, wanted.env),
    )
    known = await repository.list_servers(session, tenant_id=principal.tenant_id, space_ids={space})
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
    try:
        await session.flush()
    except IntegrityError as error:  # somebody else registered it at the same moment
        raise McpServerNameTaken(wanted.name) from error
    await record_of(session, principal, "mcp_server.registered", row, after=_described(row))
    return row


async def list_servers(
    session: AsyncSession, principal: Principal, *, space_id: str | None = None
) -> Sequence[McpServerRow]:
    """The servers that the caller sees, of one space or of all, by name. Raises `SpaceNotFound`."""
    shown = await spaces_shown(session, principal, space_id, Permission.MCP_SERVERS_VIEW)
    return await repository.list_servers(session, tenant_id=principal.tenant_id, space_ids=shown)


async def get_server(
    session: AsyncSession,
    principal: Principal,
    which: str,
    *,
    permission: Permission = Permission.MCP_SERVERS_VIEW,
    lock: bool = False,
) -> McpServerRow:
    """A server that the caller may do this with, by its id or name; of a name, the one in their own space wins.

    Raises `McpServerNotFound`, `AmbiguousMcpServer`, `PermissionMissing`.
    """
    tenant = principal.tenant_id
    row = await (
        repository.find_server(session, which, tenant_id=tenant, lock=lock)
        if is_id(which)
        else _find_seen(session, principal, which, lock=lock)
    )
    if row is None or not principal.sees(row.space_id):
        seen = await repository.list_servers(session, tenant_id=tenant, space_ids=principal.visible_spaces)
        raise McpServerNotFound(which, {one.name for one in seen})
    principal.require_in(row.space_id, permission, McpServerNotFound(which))
    return row


async def _find_seen(session: AsyncSession, principal: Principal, name: str, *, lock: bool) -> McpServerRow | None:
    rows = await repository.find_servers_named(
        session, name[:64], tenant_id=principal.tenant_id, space_ids=principal.visible_spaces, lock=lock
    )
    found = [row for row in rows if row.space_id == principal.space_id] or rows
    if len(found) > 1:
        raise AmbiguousMcpServer(name, [row.id for row in found])
    return found[0] if found else None


async def find_named(session: AsyncSession, name: str, *, tenant_id: str, space_id: str) -> McpServerRow | None:
    """A server of a space by its name."""
    rows = await repository.find_servers_named(session, name[:64], tenant_id=tenant_id, space_ids={space_id})
    return rows[0] if rows else None


async def names_in(session: AsyncSession, *, tenant_id: str, space_id: str) -> list[str]:
    """The names of a space's servers."""
    rows = await repository.list_servers(session, tenant_id=tenant_id, space_ids={space_id})
    return [row.name for row in rows]


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

    Raises `McpServerNotFound`, `PermissionMissing`, `BadMcpServer`, `ProgramsRefused`.
    """
    row = await get_server(session, principal, which, permission=Permission.MCP_SERVERS_MANAGE, lock=True)
    if row.transport == "stdio":
        if patch.command is not None or patch.env is not None:
            principal.require(Permission.MCP_SERVERS_PROGRAMS)
        if not settings.allow_stdio:
            raise ProgramsRefused(row.name)
    before, told_before = target_of(row, box), _described(row)
    given = patch.headers if row.transport == "http" else patch.env
    if (patch.env if row.transport == "http" else patch.headers) is not None:
        raise BadMcpServer(f"The server '{row.name}' takes {'headers' if row.transport == 'http' else 'env'}.")
    kept = {name: SecretStr(one) if isinstance(one, str) else one for name, one in before.secrets.items()}
    after = checked_target(
        row.name,
        row.transport,
        url=row.url if patch.url is None else patch.url,
        command=(row.command or []) if patch.command is None else patch.command,
        secrets=kept if given is None else given,
    )
    if given is None and before.secrets and not same_place(before, after):
        raise BadMcpServer(
            f"The headers of '{row.name}' were given for another {'server' if row.transport == 'http' else 'program'}.",
            remedy="Give them again with the new address or command, or give none: {}.",
        )
    row.enabled = row.enabled if patch.enabled is None else patch.enabled
    _write(row, after, box)
    await session.flush()
    await record_of(session, principal, "mcp_server.changed", row, before=told_before, after=_described(row))
    return row


async def delete_server(session: AsyncSession, principal: Principal, which: str) -> None:
    """Forget a server and its tools. Raises `McpServerNotFound`."""
    row = await get_server(session, principal, which, permission=Permission.MCP_SERVERS_MANAGE)
    await record_of(session, principal, "mcp_server.removed", row, before=_described(row))
    await repository.delete_server(session, row.id, tenant_id=principal.tenant_id)


async def list_tools(
    session: AsyncSession, principal: Principal, which: str, *, permission: Permission = Permission.MCP_SERVERS_VIEW
) -> Sequence[McpToolRow]:
    """What a server offered when it was last asked. Raises `McpServerNotFound`, `PermissionMissing`."""
    row = await get_server(session, principal, which, permission=permission)
    return await repository.list_tools(session, row.id, tenant_id=principal.tenant_id)


async def tools_of(session: AsyncSession, server_id: str, *, tenant_id: str) -> Sequence[McpToolRow]:
    """The tools of a server that was found already, in the server's order."""
    return await repository.list_tools(session, server_id, tenant_id=tenant_id)


async def set_tool_enabled(
    session: AsyncSession, principal: Principal, which: str, name: str, *, enabled: bool
) -> McpToolRow:
    """Let flows use a tool, or not. Raises `McpServerNotFound`, `McpToolNotFound` with the nearest name."""
    server = await get_server(session, principal, which, permission=Permission.MCP_SERVERS_MANAGE)
    row = await repository.find_tool(session, server.id, name, tenant_id=principal.tenant_id)
    if row is None:
        known = [one.name for one in await repository.list_tools(session, server.id, tenant_id=principal.tenant_id)]
        raise McpToolNotFound(
            f"The MCP server '{server.name}' has no tool '{name[:128]}'{did_you_mean(name, known) or '.'}",
            remedy=f"It has: {listed(known)}. Refresh it to look again.",
        )
    before, row.enabled = row.enabled, enabled
    await session.flush()
    change = {"tool": name, "enabled": enabled}
    await record_of(
        session, principal, "mcp_server.tool_switched", server, before=change | {"enabled": before}, after=change
    )
    return row


async def store_discovery(session: AsyncSession, principal: Principal, which: str, found: Discovery) -> Changes:
    """Replace a server's tools; a tool that was switched off stays off."""
    server = await get_server(session, principal, which, permission=Permission.MCP_SERVERS_MANAGE, lock=True)
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
        elif (row.description, row.input_schema, row.read_only) != (
            tool.description,
            tool.input_schema,
            tool.read_only,
        ):
            changed.append(tool.name)
        row.place, row.description, row.input_schema = place, tool.description, tool.input_schema
        row.read_only = tool.read_only
    removed = [name for name in known if name not in names]
    for name in removed:
        await session.delete(known[name])
    server.tools_found_at = now()
    server.error_message = f"Left out: {'; '.join(found.left_out)}." if found.left_out else None
    await session.flush()
    changes = Changes(tuple(added), tuple(changed), tuple(removed))
    told = {"added": added, "changed": changed, "removed": removed}
    await record_of(session, principal, "mcp_server.refreshed", server, after={"tools": names}, payload=told)
    return changes


async def note_failure(session: AsyncSession, principal: Principal, which: str, message: str) -> None:
    """Keep why a server's tools could not be found; those that were known stay."""
    row = await get_server(session, principal, which, permission=Permission.MCP_SERVERS_MANAGE, lock=True)
    row.error_message = shortened(message, 4000)
    await session.flush()
    await record_of(session, principal, "mcp_server.refresh_failed", row, payload={"error": shortened(message, 500)})


def target_of(row: McpServerRow, box: SecretBox) -> Target:
    """Where the server is, its secrets in the clear but variables by name. Raises `Unavailable`."""
    return Target(row.name, row.transport, row.url, tuple(row.command or ()), unseal(box, row.sealed))


def _described(row: McpServerRow) -> Mapping[str, object]:
    """A server as the audit log may know it: names of its headers, never what they hold."""
    told = {"name", "transport", "url", "command", "secret_names", "enabled"}
    return McpServerOut.model_validate(row).model_dump(mode="json", include=told)


def _write(row: McpServerRow, target: Target, box: SecretBox) -> None:
    row.url = target.url
    row.command = list(target.command) or None
    row.sealed = seal(box, target.secrets)
    row.secret_names = sorted(target.secrets)
    row.updated_at = now()


def _secrets(transport: str, headers: Given, env: Given) -> Given:
    """The ones that belong to the transport. Raises `BadMcpServer` when the others were given."""
    wrong, right = (env, headers) if transport == "http" else (headers, env)
    if wrong:
        raise BadMcpServer(
            f"A server with transport {transport} takes no {'env' if transport == 'http' else 'headers'}.",
            remedy=f"Give {'headers' if transport == 'http' else 'env'}.",
        )
    return right
