"""Every query on tenants themselves: only the command line asks them."""

from collections.abc import Sequence

from sqlalchemy import func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.accounts.tables import Tenant, User


async def list_tenants(session: AsyncSession) -> Sequence[tuple[Tenant, int]]:
    """Every tenant, oldest first, and how many people it has."""
    people = func.count(User.email)
    query = select(Tenant, people).outerjoin(User, User.tenant_id == Tenant.id).group_by(Tenant.id)
    rows = (await session.execute(query.order_by(Tenant.created_at, Tenant.id))).all()
    return [(tenant, count) for tenant, count in rows]


async def find_tenant_called(session: AsyncSession, wanted: str) -> Tenant | None:
    """The tenant of that id or name, upper and lower case alike."""
    query = select(Tenant).where(or_(Tenant.id == wanted, func.lower(Tenant.name) == wanted.lower()))
    return (await session.execute(query.order_by(Tenant.id).limit(1))).scalar_one_or_none()


async def find_operator(session: AsyncSession, *, tenant_id: str) -> User | None:
    """Whom commands act as in a tenant: the user who cannot sign in."""
    query = select(User).where(User.tenant_id == tenant_id, User.email.is_(None), User.sso_subject.is_(None))
    return (await session.execute(query.order_by(User.id).limit(1))).scalar_one_or_none()
