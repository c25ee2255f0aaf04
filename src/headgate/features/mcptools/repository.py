"""Queries on MCP servers and their tools. The tenant is always required."""

from collections.abc import Collection, Sequence

from sqlalchemy import Select, delete, select
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.mcptools.tables import McpServerRow, McpToolRow
from headgate.foundation.pins import GONE


async def find_server(
    session: AsyncSession, server_id: str, *, tenant_id: str, lock: bool = False
) -> McpServerRow | None:
    """One server by its id."""
    query = select(McpServerRow).where(McpServerRow.id == server_id, McpServerRow.tenant_id == tenant_id)
    return (await session.execute(query.with_for_update() if lock else query)).scalar_one_or_none()


async def find_servers_named(
    session: AsyncSession, name: str, *, tenant_id: str, space_ids: Collection[str] | None, lock: bool = False
) -> Sequence[McpServerRow]:
    """Return the servers with that name, of these spaces; `space_ids` None: of all."""
    query = select(McpServerRow).where(McpServerRow.name == name, McpServerRow.tenant_id == tenant_id)
    if space_ids is not None:
        query = query.where(McpServerRow.space_id.in_(space_ids))
    query = query.order_by(McpServerRow.id)
    return (await session.execute(query.with_for_update() if lock else query)).scalars().all()


async def list_servers(
    session: AsyncSession, *, tenant_id: str, space_ids: Collection[str] | None
) -> Sequence[McpServerRow]:
    """Return the servers of these spaces, by name; `space_ids` None: of all."""
    query = select(McpServerRow).where(McpServerRow.tenant_id == tenant_id)
    if space_ids is not None:
        query = query.where(McpServerRow.space_id.in_(space_ids))
    return (await session.execute(query.order_by(McpServerRow.name, McpServerRow.id))).scalars().all()


async def delete_server(session: AsyncSession, server_id: str, *, tenant_id: str) -> bool:
    """Delete a server and its tools; return whether there was one."""
    query = (
        delete(McpServerRow)
        .where(McpServerRow.id == server_id, McpServerRow.tenant_id == tenant_id)
        .returning(McpServerRow.id)
    )
    return (await session.execute(query)).scalar_one_or_none() is not None


async def list_tools(session: AsyncSession, server_id: str, *, tenant_id: str) -> Sequence[McpToolRow]:
    """Return the tools of a server, in the server's order, without those that are gone."""
    query = _present(tenant_id).where(McpToolRow.server_id == server_id).order_by(McpToolRow.place, McpToolRow.name)
    return (await session.execute(query)).scalars().all()


async def list_tools_of(session: AsyncSession, server_ids: Collection[str], *, tenant_id: str) -> Sequence[McpToolRow]:
    """Return the tools of several servers."""
    query = _present(tenant_id).where(McpToolRow.server_id.in_(server_ids))
    return (await session.execute(query.order_by(McpToolRow.place, McpToolRow.name))).scalars().all()


async def find_tool(session: AsyncSession, server_id: str, name: str, *, tenant_id: str) -> McpToolRow | None:
    """One tool of a server."""
    query = _present(tenant_id).where(McpToolRow.server_id == server_id, McpToolRow.name == name)
    return (await session.execute(query)).scalar_one_or_none()


async def list_pinned(session: AsyncSession, server_id: str, *, tenant_id: str) -> Sequence[McpToolRow]:
    """Return every tool that a server has had, also those that are gone."""
    query = select(McpToolRow).where(McpToolRow.server_id == server_id, McpToolRow.tenant_id == tenant_id)
    return (await session.execute(query)).scalars().all()


def _present(tenant_id: str) -> Select[McpToolRow]:
    return select(McpToolRow).where(McpToolRow.tenant_id == tenant_id, McpToolRow.sha256 != GONE)
