"""Creating tenants, and acting in one as the operator."""

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
"""The name of the user of commands, as in the first tenant."""
FIRST_SPACE = "General"


async def create_tenant(session: AsyncSession, actor: Actor, *, name: str) -> Tenant:
    """Create an organisation with one space and no user who can sign in. Raises `TenantNameTaken`."""
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
    """Rename an organisation. Raises `TenantNotFound`, `TenantNameTaken`."""
    row = await repository.find_tenant_called(session, tenant)
    if row is None:
        raise TenantNotFound(tenant)
    other_tenant = await repository.find_tenant_called(session, name)
    if other_tenant is not None and other_tenant.id != row.id:
        raise TenantNameTaken(name)
    before, row.name = row.name, name
    await session.flush()
    operator = await get_operator(session, actor, tenant=row.id)
    await record(
        session, operator, "tenant.renamed", id=row.id, name=name, before={"name": before}, after={"name": name}
    )
    return row


async def list_tenants(session: AsyncSession) -> Sequence[tuple[Tenant, int]]:
    """Return every tenant, oldest first, with the number of its users."""
    return await repository.list_tenants(session)


async def get_operator(session: AsyncSession, actor: Actor, *, tenant: str) -> Principal:
    """Return the operator's principal in the tenant with that name or id. Raises `TenantNotFound`."""
    row = await repository.find_tenant_called(session, tenant)
    if row is None:
        raise TenantNotFound(tenant)
    user = await repository.find_operator(session, tenant_id=row.id)
    if user is None:
        return Principal(tenant_id=row.id, user_id="", space_id="", access=Access(admin=True), actor=actor)
    return _operator(user, actor)


def _operator(user: User, actor: Actor) -> Principal:
    return Principal(
        tenant_id=user.tenant_id,
        user_id=user.id,
        space_id=user.home_space_id or "",
        access=Access(admin=True),
        actor=actor,
    )
