"""Who is asking, and what they may do."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import TABLE, Permission, Role, is_of_space
from headgate.features.access.principal import Principal
from headgate.features.accounts import repository
from headgate.features.accounts.errors import AccountNotFound
from headgate.features.accounts.spaces.repository import find_space
from headgate.features.accounts.tables import Space, Tenant, User


@dataclass(frozen=True, slots=True)
class Account:
    """What stands behind a principal."""

    tenant: Tenant
    user: User
    space: Space | None
    """Where new flows go when none is named; None when it is gone."""


@dataclass(frozen=True, slots=True)
class SpaceRights:
    """What the caller may do in one space."""

    space_id: str
    role: Role | None
    permissions: Sequence[Permission]


@dataclass(frozen=True, slots=True)
class Rights:
    """What the caller may do, cut down by the API key they came with."""

    tenant: Sequence[Permission]
    """In the tenant as a whole."""
    every_space: Sequence[Permission]
    """In each space of the tenant: an admin's."""
    spaces: Sequence[SpaceRights]
    """In the spaces that they are a member of, or that their key is for."""


async def get_account(session: AsyncSession, principal: Principal) -> Account:
    """The caller's tenant, user and space. Raises `AccountNotFound` when tenant or user is gone."""
    tenant = await repository.find_tenant(session, tenant_id=principal.tenant_id)
    user = await repository.find_user(session, principal.user_id, tenant_id=principal.tenant_id)
    space = await find_space(session, principal.space_id, tenant_id=principal.tenant_id)
    if tenant is None or user is None:
        raise AccountNotFound("Your account is gone.", remedy="Sign in again.")
    return Account(tenant=tenant, user=user, space=space)


def rights_of(principal: Principal) -> Rights:
    """What a caller may do, from the table of permissions."""
    access = principal.access
    seen = sorted(space_id for space_id in {*access.roles, *(access.spaces or ())} if access.sees(space_id))
    everywhere = principal.visible_spaces is None
    return Rights(
        tenant=_ordered(access.granted()),
        every_space=[one for one in TABLE if is_of_space(one) and everywhere and principal.in_scope(one)],
        spaces=[
            SpaceRights(
                space_id=space_id,
                role=access.roles.get(space_id),
                permissions=[one for one in _ordered(access.granted(space_id)) if is_of_space(one)],
            )
            for space_id in seen
        ],
    )


def _ordered(granted: frozenset[Permission]) -> Sequence[Permission]:
    return [one for one in TABLE if one in granted]
