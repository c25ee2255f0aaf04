"""Queries on people by what the provider calls them. The tenant is always required."""

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.accounts.tables import User


async def find_by_subject(session: AsyncSession, *, tenant_id: str, issuer: str, subject: str) -> User | None:
    """The person whom this provider calls so."""
    query = select(User).where(User.sso_subject == subject, User.sso_issuer == issuer, User.tenant_id == tenant_id)
    return (await session.execute(query)).scalar_one_or_none()
