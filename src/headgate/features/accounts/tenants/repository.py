"""Queries on tenants: only used by the command line."""

from collections.abc import Sequence

from sqlalchemy import func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.accounts.tables import Tenant, User


async def list_tenants(session: AsyncSession) -> Sequence[tuple[Tenant, int]]:
    """Return every tenant, oldest first, with the number of its users."""
    user_count = func.count(User.email)
    query = select(Tenant, user_count).outerjoin(User, User.tenant_id == Tenant.id).group_by(Tenant.id)
    rows = (await session.execute(query.order_by(Tenant.created_at, Tenant.id))).all()
    return [(tenant, count) for tenant, count in rows]


async def find_tenant_called(session: AsyncSession, name: str) -> Tenant | None:
    """Return the tenant with that id or name, regardless of case."""
    query = select(Tenant).where(or_(Tenant.id == name, func.lower(Tenant.name) == name.lower()))
    return (await session.execute(query.order_by(Tenant.id).limit(1))).scalar_one_or_none()


async def find_operator(session: AsyncSession, *, tenant_id: str) -> User | None:
    """Return the user of commands in a tenant: the user who cannot sign in."""
    conditions = (User.kind == "user", User.email.is_(None), User.sso_subject.is_(None))
    query = select(User).where(User.tenant_id == tenant_id, *conditions)
    return (await session.execute(query.order_by(User.id).limit(1))).scalar_one_or_none()
