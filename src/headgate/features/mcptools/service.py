"""Registering servers, and storing their tools."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

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
    McpToolsReplaced,
)
from headgate.features.mcptools.programs import ProgramAccess, ProgramRules
from headgate.features.mcptools.sampling import Sampling
from headgate.features.mcptools.schemas import McpServerIn, McpServerOut, McpServerPatch
from headgate.features.mcptools.tables import McpServerRow, McpToolRow
from headgate.features.mcptools.target import Given, Target, check_name, checked_target, same_place, seal, unseal
from headgate.foundation.crypto import SecretBox
from headgate.foundation.database import now
from headgate.foundation.ids import is_id, new_id
from headgate.foundation.pins import GONE, Pin, hash_of, renewed
from headgate.foundation.quoting import shortened
from headgate.graph.names import did_you_mean, listed

MAX_SERVERS = 100
"""Maximum servers of one space."""
MAX_PINNED = 2_000
"""Maximum tools that one server has had."""


@dataclass(frozen=True, slots=True)
class Changes:
    """Differences between a server's tools and the stored ones."""

    added: tuple[str, ...]
    changed: tuple[str, ...]
    removed: tuple[str, ...]


async def create_server(
    session: AsyncSession,
    principal: Principal,
    secret_box: SecretBox,
    programs: ProgramRules,
    *,
    server_in: McpServerIn,
) -> McpServerRow:
    """Register a server. Nothing is sent to it yet.

    Raises `SpaceNotFound`, `PermissionMissing`, `BadMcpServer`, `BadUrl`, `HeaderRefused`, `McpServerNameTaken`,
    `ProgramsRefused`.
    """
    space = server_in.space_id or principal.space_id
    await require_space(session, principal, space, Permission.MCP_SERVERS_MANAGE)
    check_name(server_in.name)
    if server_in.transport == "stdio":
        principal.require(Permission.MCP_SERVERS_PROGRAMS)
        programs.require_allowed(server_in.name)
    target = checked_target(
        server_in.name,
        server_in.transport,
        url=server_in.url,
        command=server_in.command,
        secrets=_secrets(server_in.transport, server_in.headers, server_in.env),
        connection=server_in.connection,
    )
    target = replace(target, sampling=server_in.sampling, access=_checked_access(server_in, programs))
    _require_asking(principal, None, target)
    servers = await repository.list_servers(session, tenant_id=principal.tenant_id, space_ids={space})
    if any(server.name == server_in.name for server in servers):
        raise McpServerNameTaken(server_in.name)
    if len(servers) >= MAX_SERVERS:
        raise BadMcpServer(f"The space already has {MAX_SERVERS} MCP servers.", remedy="Remove one first.")
    row = McpServerRow(
        id=new_id(), tenant_id=principal.tenant_id, space_id=space, name=server_in.name, transport=server_in.transport
    )
    row.enabled = server_in.enabled
    _write(row, target, secret_box)
    row.created_at = row.updated_at
    session.add(row)
    try:
        await session.flush()
    except IntegrityError as error:  # a concurrent request registered it
        raise McpServerNameTaken(server_in.name) from error
    await record_of(session, principal, "mcp_server.registered", row, after=_described(row))
    return row


async def list_servers(
    session: AsyncSession, principal: Principal, *, space_id: str | None = None
) -> Sequence[McpServerRow]:
    """Return the servers that the caller can view, of one space or of all, by name. Raises `SpaceNotFound`."""
    space_ids = await spaces_shown(session, principal, space_id, Permission.MCP_SERVERS_VIEW)
    return await repository.list_servers(session, tenant_id=principal.tenant_id, space_ids=space_ids)


async def get_server(
    session: AsyncSession,
    principal: Principal,
    id_or_name: str,
    *,
    permission: Permission = Permission.MCP_SERVERS_VIEW,
    lock: bool = False,
) -> McpServerRow:
    """Return a server for which the caller has the permission, by id or name; the caller's own space has precedence.

    Raises `McpServerNotFound`, `AmbiguousMcpServer`, `PermissionMissing`.
    """
    tenant = principal.tenant_id
    row = await (
        repository.find_server(session, id_or_name, tenant_id=tenant, lock=lock)
        if is_id(id_or_name)
        else _find_seen(session, principal, id_or_name, lock=lock)
    )
    if row is None or not principal.sees(row.space_id):
        servers = await repository.list_servers(session, tenant_id=tenant, space_ids=principal.visible_spaces)
        raise McpServerNotFound(id_or_name, {server.name for server in servers})
    principal.require_in(row.space_id, permission, McpServerNotFound(id_or_name))
    return row


async def _find_seen(session: AsyncSession, principal: Principal, name: str, *, lock: bool) -> McpServerRow | None:
    rows = await repository.find_servers_named(
        session, name[:64], tenant_id=principal.tenant_id, space_ids=principal.visible_spaces, lock=lock
    )
    candidates = [row for row in rows if row.space_id == principal.space_id] or rows
    if len(candidates) > 1:
        raise AmbiguousMcpServer(name, [row.id for row in candidates])
    return candidates[0] if candidates else None


async def find_named(session: AsyncSession, name: str, *, tenant_id: str, space_id: str) -> McpServerRow | None:
    """Return a server of a space by its name."""
    rows = await repository.find_servers_named(session, name[:64], tenant_id=tenant_id, space_ids={space_id})
    return rows[0] if rows else None


async def names_in(session: AsyncSession, *, tenant_id: str, space_id: str) -> list[str]:
    """Return the names of a space's servers."""
    rows = await repository.list_servers(session, tenant_id=tenant_id, space_ids={space_id})
    return [row.name for row in rows]


async def update_server(
    session: AsyncSession,
    principal: Principal,
    secret_box: SecretBox,
    programs: ProgramRules,
    id_or_name: str,
    *,
    patch: McpServerPatch,
) -> McpServerRow:
    """Change a server. Its secrets are not kept for another URL or program.

    Raises `McpServerNotFound`, `PermissionMissing`, `BadMcpServer`, `ProgramsRefused`.
    """
    row = await get_server(session, principal, id_or_name, permission=Permission.MCP_SERVERS_MANAGE, lock=True)
    if row.transport == "stdio":
        if patch.command is not None or patch.env is not None or patch.access is not None:
            principal.require(Permission.MCP_SERVERS_PROGRAMS)
        programs.require_allowed(row.name)
    before, told_before = target_of(row, secret_box), _described(row)
    secrets = patch.headers if row.transport == "http" else patch.env
    if (patch.env if row.transport == "http" else patch.headers) is not None:
        raise BadMcpServer(f"The server '{row.name}' takes {'headers' if row.transport == 'http' else 'env'}.")
    current_secrets = {
        name: SecretStr(value) if isinstance(value, str) else value for name, value in before.secrets.items()
    }
    target = checked_target(
        row.name,
        row.transport,
        url=row.url if patch.url is None else patch.url,
        command=(row.command or []) if patch.command is None else patch.command,
        secrets=current_secrets if secrets is None else secrets,
        connection=row.connection if patch.connection is None else patch.connection,
    )
    if patch.access is not None and row.transport == "http":
        raise BadMcpServer(f"The server '{row.name}' has a URL, so it cannot have hosts or folders.")
    target = replace(
        target,
        sampling=patch.sampling if "sampling" in patch.model_fields_set else before.sampling,
        access=before.access if patch.access is None else programs.checked(row.name, patch.access),
    )
    _require_asking(principal, before, target)
    if secrets is None and before.secrets and not same_place(before, target):
        raise BadMcpServer(
            f"The headers of '{row.name}' were stored for another "
            f"{'server' if row.transport == 'http' else 'program'}.",
            remedy="Send them again with the new URL or command, or send none: {}.",
        )
    row.enabled = row.enabled if patch.enabled is None else patch.enabled
    _write(row, target, secret_box)
    await session.flush()
    await record_of(session, principal, "mcp_server.changed", row, before=told_before, after=_described(row))
    return row


async def delete_server(session: AsyncSession, principal: Principal, id_or_name: str) -> None:
    """Delete a server and its tools. Raises `McpServerNotFound`."""
    row = await get_server(session, principal, id_or_name, permission=Permission.MCP_SERVERS_MANAGE)
    await record_of(session, principal, "mcp_server.removed", row, before=_described(row))
    await repository.delete_server(session, row.id, tenant_id=principal.tenant_id)


async def list_tools(
    session: AsyncSession,
    principal: Principal,
    id_or_name: str,
    *,
    permission: Permission = Permission.MCP_SERVERS_VIEW,
) -> Sequence[McpToolRow]:
    """Return the last listed tools of a server. Raises `McpServerNotFound`, `PermissionMissing`."""
    row = await get_server(session, principal, id_or_name, permission=permission)
    return await repository.list_tools(session, row.id, tenant_id=principal.tenant_id)


async def tools_of(session: AsyncSession, server_id: str, *, tenant_id: str) -> Sequence[McpToolRow]:
    """Return the tools of a loaded server, in the server's order."""
    return await repository.list_tools(session, server_id, tenant_id=tenant_id)


async def set_tool_enabled(
    session: AsyncSession, principal: Principal, id_or_name: str, name: str, *, enabled: bool
) -> McpToolRow:
    """Enable or disable a tool for flows. Raises `McpServerNotFound`, `McpToolNotFound` with the nearest name."""
    server = await get_server(session, principal, id_or_name, permission=Permission.MCP_SERVERS_MANAGE)
    row = await repository.find_tool(session, server.id, name, tenant_id=principal.tenant_id)
    if row is None:
        names = [tool.name for tool in await repository.list_tools(session, server.id, tenant_id=principal.tenant_id)]
        raise McpToolNotFound(
            f"The MCP server '{server.name}' has no tool '{name[:128]}'{did_you_mean(name, names) or '.'}",
            remedy=f"Its tools are: {listed(names)}. Refresh it to update the list.",
        )
    before, row.enabled = row.enabled, enabled
    await session.flush()
    change = {"tool": name, "enabled": enabled}
    await record_of(
        session, principal, "mcp_server.tool_switched", server, before=change | {"enabled": before}, after=change
    )
    return row


async def store_discovery(
    session: AsyncSession, principal: Principal, id_or_name: str, discovery: Discovery
) -> Changes:
    """Replace a server's tools; disabled tools stay disabled, changed ones wait until a user accepts them."""
    server = await get_server(session, principal, id_or_name, permission=Permission.MCP_SERVERS_MANAGE, lock=True)
    rows = await repository.list_pinned(session, server.id, tenant_id=principal.tenant_id)
    stored = {row.name: row for row in rows}
    if len({*stored, *(tool.name for tool in discovery.tools)}) > MAX_PINNED:
        raise BadMcpServer(
            f"The server '{server.name}' has had more than {MAX_PINNED} tools.", remedy="Remove it, and add it again."
        )
    names = [tool.name for tool in discovery.tools]
    added: list[str] = []
    changed: list[str] = []
    for position, tool in enumerate(discovery.tools):
        row = stored.get(tool.name)
        if row is None:
            added.append(tool.name)
            row = McpToolRow(server_id=server.id, name=tool.name, tenant_id=principal.tenant_id, enabled=True)
            session.add(row)
            _pin(row, renewed(None, None, tool.contract))
        elif hash_of(tool.contract) != row.sha256:
            (changed if row.sha256 != GONE else added).append(tool.name)
            _pin(row, renewed(row.pin, row.contract, tool.contract))
        row.place, row.description, row.input_schema = position, tool.description, tool.input_schema
        row.read_only = tool.read_only
    removed = [name for name, row in stored.items() if name not in names and row.sha256 != GONE]
    for name in removed:
        _pin(stored[name], renewed(stored[name].pin, stored[name].contract, None))
    server.tools_found_at = now()
    server.error_message = f"Skipped: {'; '.join(discovery.left_out)}." if discovery.left_out else None
    await session.flush()
    changes = Changes(tuple(added), tuple(changed), tuple(removed))
    payload = {"added": added, "changed": changed, "removed": removed}
    await record_of(session, principal, "mcp_server.refreshed", server, after={"tools": names}, payload=payload)
    return changes


async def accept_tools(
    session: AsyncSession, principal: Principal, id_or_name: str, *, tools: Mapping[str, str]
) -> Sequence[str]:
    """Accept the changed descriptions of tools, by name with the hash that the user has seen; empty: all of them.

    Raises `McpServerNotFound`, `McpToolNotFound`, `McpToolsReplaced` for another description than the user has seen.
    """
    server = await get_server(session, principal, id_or_name, permission=Permission.MCP_SERVERS_MANAGE, lock=True)
    rows = {row.name: row for row in await repository.list_tools(session, server.id, tenant_id=principal.tenant_id)}
    for name, sha256 in tools.items():
        if name not in rows:
            raise McpToolNotFound(f"The MCP server '{server.name}' has no tool '{name[:128]}'.")
        if sha256 and sha256 != rows[name].sha256:
            raise McpToolsReplaced(f"The tool '{name}' has changed again in the meantime.", remedy="View it first.")
    accepted = [row for name, row in rows.items() if row.changed and (not tools or name in tools)]
    payload = {"tools": {row.name: {"before": row.accepted_sha256, "after": row.sha256} for row in accepted}}
    for row in accepted:
        _pin(row, Pin(row.sha256, row.sha256))
    await session.flush()
    await record_of(session, principal, "mcp_server.tools_accepted", server, payload=payload)
    return [row.name for row in accepted]


def _pin(row: McpToolRow, pin: Pin) -> None:
    row.sha256, row.accepted_sha256 = pin.sha256, pin.accepted_sha256
    row.accepted = None if pin.accepted is None else dict(pin.accepted)


async def note_failure(session: AsyncSession, principal: Principal, id_or_name: str, message: str) -> None:
    """Store why a server's tools could not be listed; the stored tools stay."""
    row = await get_server(session, principal, id_or_name, permission=Permission.MCP_SERVERS_MANAGE, lock=True)
    row.error_message = shortened(message, 4000)
    await session.flush()
    await record_of(session, principal, "mcp_server.refresh_failed", row, payload={"error": shortened(message, 500)})


def target_of(row: McpServerRow, secret_box: SecretBox) -> Target:
    """Return the server's target: its own secrets decrypted, variables by name. Raises `Unavailable`."""
    secrets = unseal(secret_box, row.sealed)
    sampling = None if row.sampling is None else Sampling.model_validate(row.sampling)
    access = ProgramAccess.model_validate(row.access or {})
    return Target(row.name, row.transport, row.url, tuple(row.command or ()), secrets, row.connection, sampling, access)


def _described(row: McpServerRow) -> Mapping[str, object]:
    """Return a server's values for the audit log: names of its headers, never their values."""
    fields = {"name", "transport", "url", "command", "access", "secret_names", "connection", "sampling", "enabled"}
    return McpServerOut.model_validate(row).model_dump(mode="json", include=fields)


def _write(row: McpServerRow, target: Target, secret_box: SecretBox) -> None:
    row.url, row.connection = target.url, target.connection
    row.command = list(target.command) or None
    row.sealed = seal(secret_box, target.secrets)
    row.access = target.access.model_dump() if target.transport == "stdio" else None
    row.secret_names = sorted(target.secrets)
    row.sampling = None if target.sampling is None else target.sampling.model_dump()
    row.updated_at = now()


def _checked_access(server_in: McpServerIn, programs: ProgramRules) -> ProgramAccess:
    if server_in.transport == "http" and server_in.access != ProgramAccess():
        raise BadMcpServer(f"The server '{server_in.name}' has a URL, so it cannot have hosts or folders.")
    return programs.checked(server_in.name, server_in.access)


def _require_asking(principal: Principal, before: Target | None, after: Target) -> None:
    """Raise `PermissionMissing` for a server that would have a model without a user: an admin decides on that."""
    if after.sampling is None or after.sampling.ask:
        return
    if before is None or before.sampling != after.sampling or not same_place(before, after):
        principal.require(Permission.MODELS_MANAGE)


def _secrets(transport: str, headers: Given, env: Given) -> Given:
    """Return the secrets of the transport. Raises `BadMcpServer` when those of the other transport were given."""
    wrong, right = (env, headers) if transport == "http" else (headers, env)
    if wrong:
        raise BadMcpServer(
            f"A server with transport {transport} takes no {'env' if transport == 'http' else 'headers'}.",
            remedy=f"Give {'headers' if transport == 'http' else 'env'}.",
        )
    return right
