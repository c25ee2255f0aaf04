"""Queries on users and sessions by the provider's subject. The tenant is always required."""

from datetime import datetime

from sqlalchemy import delete, select
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.accounts.tables import User, UserSession


async def find_by_subject(session: AsyncSession, *, tenant_id: str, issuer: str, subject: str) -> User | None:
    """Return the user with this subject of the provider."""
    query = select(User).where(User.sso_subject == subject, User.sso_issuer == issuer, User.tenant_id == tenant_id)
    return (await session.execute(query)).scalar_one_or_none()


async def end_provider_sessions(
    session: AsyncSession,
    *,
    tenant_id: str,
    issuer: str,
    subject: str | None,
    provider_session: str | None,
    until: datetime,
) -> list[tuple[str, str]]:
    """End sessions that were started through the provider up to a time: one by its provider id, or all of a user.

    Returns id and user of each.
    """
    of_issuer = select(User.id).where(User.sso_issuer == issuer, User.tenant_id == tenant_id)
    if subject is not None:
        of_issuer = of_issuer.where(User.sso_subject == subject)
    query = delete(UserSession).where(
        UserSession.tenant_id == tenant_id,
        UserSession.method == "single_sign_on",
        UserSession.created_at <= until,
        UserSession.user_id.in_(of_issuer),
    )
    if provider_session is not None:
        query = query.where(UserSession.provider_session == provider_session)
    rows = await session.execute(query.returning(UserSession.id, UserSession.user_id))
    return [(row[0], row[1]) for row in rows]
