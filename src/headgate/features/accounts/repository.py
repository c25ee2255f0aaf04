"""Queries shared by the packages of accounts. The tenant is always required."""

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.accounts.tables import Tenant, User


async def find_tenant(session: AsyncSession, *, tenant_id: str) -> Tenant | None:
    """Return the tenant."""
    return await session.get(Tenant, tenant_id)


async def find_user(session: AsyncSession, user_id: str, *, tenant_id: str) -> User | None:
    """Return one user of the tenant who was not deleted."""
    query = select(User).where(User.id == user_id, User.tenant_id == tenant_id, User.deleted_at.is_(None))
    return (await session.execute(query)).scalar_one_or_none()
