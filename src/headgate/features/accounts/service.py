"""Who is asking."""

from dataclasses import dataclass

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.principal import Principal
from headgate.features.accounts import repository
from headgate.features.accounts.errors import AccountNotFound
from headgate.features.accounts.tables import Space, Tenant, User


@dataclass(frozen=True, slots=True)
class Account:
    """What stands behind a principal."""

    tenant: Tenant
    user: User
    space: Space
    """Where new flows go when none is named."""


async def get_account(session: AsyncSession, principal: Principal) -> Account:
    """The caller's tenant, user and space. Raises `AccountNotFound` when one of them is gone."""
    tenant = await repository.find_tenant(session, tenant_id=principal.tenant_id)
    user = await repository.find_user(session, principal.user_id, tenant_id=principal.tenant_id)
    space = await repository.find_space(session, principal.space_id, tenant_id=principal.tenant_id)
    if tenant is None or user is None or space is None:
        raise AccountNotFound("Your account is gone.", remedy="Sign in again.")
    return Account(tenant=tenant, user=user, space=space)
