"""Queries on OAuth tokens and pending authorizations. The tenant is always required."""

from datetime import datetime

from sqlalchemy import delete, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.connections.tables import ConnectionAuthorization, ConnectionRow, ConnectionToken
from headgate.foundation.database import insert_into


async def find_token(session: AsyncSession, connection_id: str, *, tenant_id: str) -> ConnectionToken | None:
    """Return the tokens of a connection."""
    token = await session.get(ConnectionToken, connection_id)
    return token if token is not None and token.tenant_id == tenant_id else None


async def save_token(
    session: AsyncSession,
    connection_id: str,
    *,
    tenant_id: str,
    sealed: bytes,
    scopes: str,
    expires_at: datetime | None,
) -> None:
    """Replace the tokens of a connection, after an authorization by a user. A refresh under way is void."""
    values = {"sealed": sealed, "scopes": scopes, "expires_at": expires_at, "lease": None, "lease_until": None}
    query = (
        insert_into(session, ConnectionToken)
        .values(connection_id=connection_id, tenant_id=tenant_id, revision=1, **values)
        .on_conflict_do_update(
            index_elements=["connection_id"],
            set_={**values, "revision": ConnectionToken.revision + 1},
            where=ConnectionToken.tenant_id == tenant_id,
        )
    )
    await session.execute(query)


async def claim_refresh(
    session: AsyncSession,
    connection_id: str,
    *,
    tenant_id: str,
    revision: int,
    lease: str,
    at: datetime,
    until: datetime,
) -> bool:
    """Claim the refresh of these tokens; return whether it was free and they are still the current ones."""
    empty = {"sealed": None, "scopes": "", "expires_at": None, "revision": 0}
    await session.execute(
        insert_into(session, ConnectionToken)
        .values(connection_id=connection_id, tenant_id=tenant_id, lease=None, lease_until=None, **empty)
        .on_conflict_do_nothing()
    )
    query = (
        update(ConnectionToken)
        .where(
            ConnectionToken.connection_id == connection_id,
            ConnectionToken.tenant_id == tenant_id,
            ConnectionToken.revision == revision,
            or_(ConnectionToken.lease.is_(None), ConnectionToken.lease_until < at),
        )
        .values(lease=lease, lease_until=until)
        .returning(ConnectionToken.connection_id)
    )
    return (await session.execute(query)).scalar_one_or_none() is not None


async def finish_refresh(
    session: AsyncSession,
    connection_id: str,
    *,
    tenant_id: str,
    lease: str,
    sealed: bytes,
    scopes: str,
    expires_at: datetime | None,
) -> bool:
    """Store the tokens of a refresh; return whether the claim was still held."""
    query = (
        update(ConnectionToken)
        .where(
            ConnectionToken.connection_id == connection_id,
            ConnectionToken.tenant_id == tenant_id,
            ConnectionToken.lease == lease,
        )
        .values(
            sealed=sealed,
            scopes=scopes,
            expires_at=expires_at,
            revision=ConnectionToken.revision + 1,
            lease=None,
            lease_until=None,
        )
        .returning(ConnectionToken.connection_id)
    )
    return (await session.execute(query)).scalar_one_or_none() is not None


async def release(session: AsyncSession, connection_id: str, *, tenant_id: str, lease: str) -> bool:
    """End a claim without new tokens; return whether it was still held."""
    query = (
        update(ConnectionToken)
        .where(
            ConnectionToken.connection_id == connection_id,
            ConnectionToken.tenant_id == tenant_id,
            ConnectionToken.lease == lease,
        )
        .values(lease=None, lease_until=None)
        .returning(ConnectionToken.connection_id)
    )
    return (await session.execute(query)).scalar_one_or_none() is not None


async def reject_token(
    session: AsyncSession, connection_id: str, *, tenant_id: str, revision: int, error: str, at: datetime
) -> bool:
    """Mark a connection whose current tokens a server rejected; return whether they are current and it is new."""
    current = select(ConnectionToken.connection_id).where(
        ConnectionToken.connection_id == connection_id,
        ConnectionToken.tenant_id == tenant_id,
        ConnectionToken.revision == revision,
    )
    query = (
        update(ConnectionRow)
        .where(ConnectionRow.id == connection_id, ConnectionRow.tenant_id == tenant_id)
        .where(ConnectionRow.rejected_at.is_(None), current.exists())
        .values(rejected_at=at, error_message=error)
        .returning(ConnectionRow.id)
    )
    return (await session.execute(query)).scalar_one_or_none() is not None


async def add_authorization(
    session: AsyncSession,
    state_hash: str,
    *,
    connection_id: str,
    tenant_id: str,
    user_id: str,
    sealed: bytes,
    expires_at: datetime,
    at: datetime,
) -> None:
    """Store a pending authorization, and delete expired ones of the tenant."""
    expired = (ConnectionAuthorization.tenant_id == tenant_id, ConnectionAuthorization.expires_at < at)
    await session.execute(delete(ConnectionAuthorization).where(*expired))
    session.add(
        ConnectionAuthorization(
            state_hash=state_hash,
            connection_id=connection_id,
            tenant_id=tenant_id,
            user_id=user_id,
            sealed=sealed,
            expires_at=expires_at,
        )
    )
    await session.flush()


async def take_authorization(
    session: AsyncSession, state_hash: str, *, tenant_id: str, user_id: str, at: datetime
) -> ConnectionAuthorization | None:
    """Return a pending authorization of a user and delete it: it is used once."""
    query = (
        delete(ConnectionAuthorization)
        .where(
            ConnectionAuthorization.state_hash == state_hash,
            ConnectionAuthorization.tenant_id == tenant_id,
            ConnectionAuthorization.user_id == user_id,
            ConnectionAuthorization.expires_at >= at,
        )
        .returning(ConnectionAuthorization)
    )
    return (await session.execute(query)).scalar_one_or_none()


async def find_authorization(
    session: AsyncSession, state_hash: str, *, tenant_id: str, user_id: str, at: datetime
) -> ConnectionAuthorization | None:
    """Return a pending authorization of a user."""
    row = await session.get(ConnectionAuthorization, state_hash)
    if row is None or (row.tenant_id, row.user_id) != (tenant_id, user_id) or row.expires_at < at:
        return None
    return row
