"""Making tenants, and acting in one as whoever keeps the installation."""

from collections.abc import Sequence

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import TenantRole
from headgate.features.access.principal import Access, Actor, Principal
from headgate.features.accounts.spaces.service import create_space
from headgate.features.accounts.tables import Tenant, User
from headgate.features.accounts.tenants import repository
from headgate.features.accounts.tenants.errors import TenantNameTaken, TenantNotFound
from headgate.features.audit.recorder import record
from headgate.foundation.database import now
from headgate.foundation.ids import new_id

OPERATOR = "local"
"""The name of whom commands act as; as in the tenant that is there from the start."""
FIRST_SPACE = "General"


async def create_tenant(session: AsyncSession, actor: Actor, *, name: str) -> Tenant:
    """A new organisation with one space and nobody who can sign in. Raises `TenantNameTaken`."""
    if await repository.find_tenant_called(session, name) is not None:
        raise TenantNameTaken(name)
    tenant = Tenant(id=new_id(), name=name, created_at=now())
    session.add(tenant)
    await session.flush()
    user = User(
        id=new_id(), tenant_id=tenant.id, name=OPERATOR, role=TenantRole.ADMIN.value, active=True, created_at=now()
    )
    session.add(user)
    await session.flush()
    operator = _operator(user, actor)
    user.home_space_id = (await create_space(session, operator, name=FIRST_SPACE)).space.id
    await session.flush()
    await record(session, operator, "tenant.created", id=tenant.id, name=name, after={"name": name})
    return tenant


async def rename_tenant(session: AsyncSession, actor: Actor, *, tenant: str, name: str) -> Tenant:
    """Call an organisation otherwise. Raises `TenantNotFound`, `TenantNameTaken`."""
    found = await repository.find_tenant_called(session, tenant)
    if found is None:
        raise TenantNotFound(tenant)
    other = await repository.find_tenant_called(session, name)
    if other is not None and other.id != found.id:
        raise TenantNameTaken(name)
    before, found.name = found.name, name
    await session.flush()
    operator = await get_operator(session, actor, tenant=found.id)
    await record(
        session, operator, "tenant.renamed", id=found.id, name=name, before={"name": before}, after={"name": name}
    )
    return found


async def list_tenants(session: AsyncSession) -> Sequence[tuple[Tenant, int]]:
    """Every tenant, oldest first, and how many people it has."""
    return await repository.list_tenants(session)


async def get_operator(session: AsyncSession, actor: Actor, *, tenant: str) -> Principal:
    """Whoever keeps the installation, acting in the tenant of that name or id. Raises `TenantNotFound`."""
    found = await repository.find_tenant_called(session, tenant)
    if found is None:
        raise TenantNotFound(tenant)
    user = await repository.find_operator(session, tenant_id=found.id)
    if user is None:
        return Principal(tenant_id=found.id, user_id="", space_id="", access=Access(admin=True), actor=actor)
    return _operator(user, actor)


def _operator(user: User, actor: Actor) -> Principal:
    return Principal(
        tenant_id=user.tenant_id,
        user_id=user.id,
        space_id=user.home_space_id or "",
        access=Access(admin=True),
        actor=actor,
    )
