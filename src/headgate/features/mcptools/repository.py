"""Every query on MCP servers and their tools. The tenant is always required."""

from collections.abc import Sequence

from sqlalchemy import delete, select
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.accounts.tables import Space
from headgate.features.mcptools.tables import McpServerRow, McpToolRow


async def space_exists(session: AsyncSession, space_id: str, *, tenant_id: str) -> bool:
    """Whether the tenant has that space."""
    query = select(Space.id).where(Space.id == space_id, Space.tenant_id == tenant_id)
    return (await session.execute(query)).scalar_one_or_none() is not None


async def find_server(
    session: AsyncSession, server_id: str, *, tenant_id: str, lock: bool = False
) -> McpServerRow | None:
    """One server by its id."""
    query = select(McpServerRow).where(McpServerRow.id == server_id, McpServerRow.tenant_id == tenant_id)
    return (await session.execute(query.with_for_update() if lock else query)).scalar_one_or_none()


async def find_server_named(session: AsyncSession, name: str, *, tenant_id: str, space_id: str) -> McpServerRow | None:
    """One server of a space by its name."""
    query = select(McpServerRow).where(
        McpServerRow.name == name, McpServerRow.space_id == space_id, McpServerRow.tenant_id == tenant_id
    )
    return (await session.execute(query)).scalar_one_or_none()


async def list_servers(session: AsyncSession, *, tenant_id: str, space_id: str) -> Sequence[McpServerRow]:
    """The servers of a space, by name."""
    query = (
        select(McpServerRow)
        .where(McpServerRow.tenant_id == tenant_id, McpServerRow.space_id == space_id)
        .order_by(McpServerRow.name)
    )
    return (await session.execute(query)).scalars().all()


async def delete_server(session: AsyncSession, server_id: str, *, tenant_id: str) -> bool:
    """Remove a server and its tools; whether there was one."""
    query = (
        delete(McpServerRow)
        .where(McpServerRow.id == server_id, McpServerRow.tenant_id == tenant_id)
        .returning(McpServerRow.id)
    )
    return (await session.execute(query)).scalar_one_or_none() is not None


async def list_tools(session: AsyncSession, server_id: str, *, tenant_id: str) -> Sequence[McpToolRow]:
    """The tools of a server, in the server's order."""
    query = (
        select(McpToolRow)
        .where(McpToolRow.server_id == server_id, McpToolRow.tenant_id == tenant_id)
        .order_by(McpToolRow.place, McpToolRow.name)
    )
    return (await session.execute(query)).scalars().all()


async def find_tool(session: AsyncSession, server_id: str, name: str, *, tenant_id: str) -> McpToolRow | None:
    """One tool of a server."""
    query = select(McpToolRow).where(
        McpToolRow.server_id == server_id, McpToolRow.name == name, McpToolRow.tenant_id == tenant_id
    )
    return (await session.execute(query)).scalar_one_or_none()
