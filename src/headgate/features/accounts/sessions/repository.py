"""Queries on sessions and one-time links, and on users who sign in."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, cast

from sqlalchemy import CursorResult, delete, func, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.accounts.tables import OneTimeLink, Tenant, User, UserSession


async def users_of_address(
    session: AsyncSession, email: str, *, organisation: str | None
) -> Sequence[tuple[User, Tenant]]:
    """Return all users with that e-mail address in all tenants, or in the named one: there is no caller yet."""
    query = select(User, Tenant).join(Tenant, Tenant.id == User.tenant_id).where(User.email == email)
    if organisation is not None:
        query = query.where(func.lower(Tenant.name) == organisation.lower())
    return [(user, tenant) for user, tenant in (await session.execute(query.order_by(Tenant.id))).all()]


async def find_active(session: AsyncSession, user_id: str, *, tenant_id: str, lock: bool = False) -> User | None:
    """Return an active user, never a service account; with `lock`, locked until the transaction ends."""
    query = select(User).where(User.id == user_id, User.tenant_id == tenant_id, User.active, User.kind == "user")
    if lock:
        query = query.with_for_update().execution_options(populate_existing=True)
    return (await session.execute(query)).scalar_one_or_none()


async def find_session(session: AsyncSession, *, tenant_id: str, user_id: str, token_hash: str) -> UserSession | None:
    """Return the user's session with that token."""
    query = select(UserSession).where(
        UserSession.token_hash == token_hash, UserSession.user_id == user_id, UserSession.tenant_id == tenant_id
    )
    return (await session.execute(query)).scalar_one_or_none()


async def list_sessions(
    session: AsyncSession, *, tenant_id: str, user_id: str, at: datetime, idle_since: datetime, limit: int
) -> Sequence[UserSession]:
    """Return the user's active sessions, most recently used first."""
    query = (
        select(UserSession)
        .where(
            UserSession.user_id == user_id,
            UserSession.tenant_id == tenant_id,
            UserSession.expires_at > at,
            UserSession.last_seen_at > idle_since,
        )
        .order_by(UserSession.last_seen_at.desc(), UserSession.id.desc())
        .limit(limit)
    )
    return (await session.execute(query)).scalars().all()


async def delete_sessions(
    session: AsyncSession,
    *,
    tenant_id: str,
    user_id: str,
    only: str | None = None,
    besides: str | None = None,
    token_hash: str | None = None,
) -> int:
    """End sessions of a user: one by id or token, or all except one. Returns their number."""
    query = delete(UserSession).where(UserSession.user_id == user_id, UserSession.tenant_id == tenant_id)
    if only is not None:
        query = query.where(UserSession.id == only)
    if besides is not None:
        query = query.where(UserSession.id != besides)
    if token_hash is not None:
        query = query.where(UserSession.token_hash == token_hash)
    return _count(await session.execute(query))


async def delete_dead_sessions(
    session: AsyncSession, *, tenant_id: str, user_id: str, at: datetime, idle_since: datetime
) -> None:
    """Delete a user's expired sessions."""
    await session.execute(
        delete(UserSession).where(
            UserSession.user_id == user_id,
            UserSession.tenant_id == tenant_id,
            or_(UserSession.expires_at <= at, UserSession.last_seen_at <= idle_since),
        )
    )


async def find_link(session: AsyncSession, token_hash: str, *, at: datetime) -> tuple[OneTimeLink, User, Tenant] | None:
    """Return the valid link of that token, its user, and their tenant."""
    query = (
        select(OneTimeLink, User, Tenant)
        .join(User, User.id == OneTimeLink.user_id)
        .join(Tenant, Tenant.id == User.tenant_id)
        .where(
            OneTimeLink.token_hash == token_hash,
            OneTimeLink.used_at.is_(None),
            OneTimeLink.expires_at > at,
            User.active,
            User.kind == "user",
        )
    )
    row = (await session.execute(query)).one_or_none()
    return None if row is None else (row[0], row[1], row[2])


async def claim_link(session: AsyncSession, link_id: str, *, tenant_id: str, at: datetime) -> bool:
    """Consume a link: True for exactly one of concurrent callers."""
    result = await session.execute(
        update(OneTimeLink)
        .where(
            OneTimeLink.id == link_id,
            OneTimeLink.tenant_id == tenant_id,
            OneTimeLink.used_at.is_(None),
            OneTimeLink.expires_at > at,
        )
        .values(used_at=at)
    )
    return _count(result) == 1


async def delete_links(session: AsyncSession, *, tenant_id: str, user_id: str) -> None:
    """Invalidate every link of a user."""
    await session.execute(delete(OneTimeLink).where(OneTimeLink.user_id == user_id, OneTimeLink.tenant_id == tenant_id))


def _count(result: object) -> int:
    return int(cast("CursorResult[Any]", result).rowcount)
