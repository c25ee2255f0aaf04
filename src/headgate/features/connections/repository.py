"""Queries on connections. The tenant is always required."""

from collections.abc import Collection, Sequence
from datetime import datetime

from sqlalchemy import ColumnElement, delete, or_, select, true, update
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.connections.tables import ConnectionRow, ConnectionToken


async def find(
    session: AsyncSession, connection_id: str, *, tenant_id: str, user_id: str, lock: bool = False
) -> ConnectionRow | None:
    """Return a connection that a user can view, by id."""
    query = select(ConnectionRow).where(
        ConnectionRow.id == connection_id, ConnectionRow.tenant_id == tenant_id, _of(user_id)
    )
    return (await session.execute(query.with_for_update() if lock else query)).scalar_one_or_none()


async def find_shared(
    session: AsyncSession, connection_id: str, *, tenant_id: str, space_id: str | None, kinds: Collection[str]
) -> ConnectionRow | None:
    """Return a shared connection of these kinds, of a space (None: of any space of the tenant)."""
    row = ConnectionRow
    query = select(row).where(
        row.id == connection_id, row.tenant_id == tenant_id, row.owner_id.is_(None), row.kind.in_(kinds)
    )
    return (await session.execute(query if space_id is None else query.where(row.space_id == space_id))).scalar()


async def list_connections(
    session: AsyncSession,
    *,
    tenant_id: str,
    space_ids: Collection[str] | None,
    user_id: str,
    name: str | None = None,
    lock: bool = False,
) -> Sequence[ConnectionRow]:
    """Return the shared connections of these spaces (None: all) and the user's own ones, by name.

    A user's own connection is before a shared one with the same name.
    """
    query = select(ConnectionRow).where(ConnectionRow.tenant_id == tenant_id, _of(user_id), _in(space_ids))
    if name is not None:
        query = query.where(ConnectionRow.name == name)
    query = query.order_by(ConnectionRow.name, ConnectionRow.owner_id.is_(None), ConnectionRow.id)
    return (await session.execute(query.with_for_update() if lock else query)).scalars().all()


async def list_of_space(session: AsyncSession, *, tenant_id: str, space_id: str) -> Sequence[ConnectionRow]:
    """Return every connection of a space, also those of single users."""
    query = select(ConnectionRow).where(ConnectionRow.tenant_id == tenant_id, ConnectionRow.space_id == space_id)
    return (await session.execute(query.order_by(ConnectionRow.name, ConnectionRow.id))).scalars().all()


async def delete_connection(session: AsyncSession, connection_id: str, *, tenant_id: str) -> bool:
    """Delete a connection with its tokens; return whether there was one."""
    query = (
        delete(ConnectionRow)
        .where(ConnectionRow.id == connection_id, ConnectionRow.tenant_id == tenant_id)
        .returning(ConnectionRow.id)
    )
    return (await session.execute(query)).scalar_one_or_none() is not None


async def delete_token(session: AsyncSession, connection_id: str, *, tenant_id: str) -> None:
    """Delete the tokens of a connection; a refresh under way stores none."""
    query = delete(ConnectionToken).where(
        ConnectionToken.connection_id == connection_id, ConnectionToken.tenant_id == tenant_id
    )
    await session.execute(query)


async def touch(session: AsyncSession, connection_id: str, *, tenant_id: str, at: datetime) -> None:
    """Store when a connection was last used."""
    query = (
        update(ConnectionRow)
        .where(ConnectionRow.id == connection_id, ConnectionRow.tenant_id == tenant_id)
        .values(last_used_at=at)
    )
    await session.execute(query)


async def set_status(
    session: AsyncSession,
    connection_id: str,
    *,
    tenant_id: str,
    status: str,
    error: str | None,
    tested_at: datetime | None,
    authorized: bool = False,
) -> None:
    """Store the outcome of a test or an authorization. `authorized`: there are new tokens."""
    values: dict[str, object] = {"status": status, "error_message": error}
    if authorized:
        values["rejected_at"] = None
    if tested_at is not None:
        values["tested_at"] = tested_at
    query = (
        update(ConnectionRow)
        .where(ConnectionRow.id == connection_id, ConnectionRow.tenant_id == tenant_id)
        .values(**values)
    )
    await session.execute(query)


def _of(user_id: str) -> ColumnElement[bool]:
    if not user_id:
        return ConnectionRow.owner_id.is_(None)
    return or_(ConnectionRow.owner_id.is_(None), ConnectionRow.owner_id == user_id)


def _in(space_ids: Collection[str] | None) -> ColumnElement[bool]:
    return true() if space_ids is None else ConnectionRow.space_id.in_(space_ids)


async def connection_names(session: AsyncSession, ids: Collection[str], *, tenant_id: str) -> dict[str, str]:
    """Return the names of connections by id."""
    row = ConnectionRow
    query = select(row.id, row.name).where(row.id.in_(ids), row.tenant_id == tenant_id)
    return {named.id: named.name for named in await session.execute(query)}
