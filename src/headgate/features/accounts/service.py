"""Who is asking, and the spaces of their tenant."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.principal import Principal
from headgate.features.accounts import repository
from headgate.features.accounts.errors import AccountNotFound, SpaceNameTaken
from headgate.features.accounts.tables import Space, Tenant, User
from headgate.foundation.database import now
from headgate.foundation.ids import new_id


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


async def list_spaces(
    session: AsyncSession, principal: Principal, *, limit: int = 50, after: str | None = None
) -> Sequence[Space]:
    """The spaces of the caller's tenant, oldest first."""
    return await repository.list_spaces(session, tenant_id=principal.tenant_id, limit=limit, after=after)


async def create_space(session: AsyncSession, principal: Principal, *, name: str) -> Space:
    """A new space that the caller owns. Raises `SpaceNameTaken`."""
    space = Space(
        id=new_id(), tenant_id=principal.tenant_id, name=name, owner_user_id=principal.user_id, created_at=now()
    )
    try:
        await repository.add_space(session, space)
    except IntegrityError as error:
        raise SpaceNameTaken(name) from error
    return space
