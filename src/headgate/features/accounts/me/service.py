"""The caller's account and permissions."""

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
    """The account of a principal."""

    tenant: Tenant
    user: User
    space: Space | None
    """Default space of new flows; None when it no longer exists."""


@dataclass(frozen=True, slots=True)
class SpaceRights:
    """Permissions of the caller in one space."""

    space_id: str
    role: Role | None
    permissions: Sequence[Permission]


@dataclass(frozen=True, slots=True)
class Rights:
    """Permissions of the caller, restricted by the API key of the request."""

    tenant: Sequence[Permission]
    """In the tenant as a whole."""
    every_space: Sequence[Permission]
    """In each space of the tenant, for admins."""
    spaces: Sequence[SpaceRights]
    """In the spaces that the caller is a member of, or that the key is for."""


async def get_account(session: AsyncSession, principal: Principal) -> Account:
    """Return the caller's tenant, user and space. Raises `AccountNotFound` when tenant or user no longer exists."""
    tenant = await repository.find_tenant(session, tenant_id=principal.tenant_id)
    user = await repository.find_user(session, principal.user_id, tenant_id=principal.tenant_id)
    space = await find_space(session, principal.space_id, tenant_id=principal.tenant_id)
    if tenant is None or user is None:
        raise AccountNotFound("Your account no longer exists.", remedy="Sign in again.")
    return Account(tenant=tenant, user=user, space=space)


def rights_of(principal: Principal) -> Rights:
    """Return the permissions of a caller, from the permission table."""
    access = principal.access
    visible = sorted(space_id for space_id in {*access.roles, *(access.spaces or ())} if access.sees(space_id))
    everywhere = principal.visible_spaces is None
    return Rights(
        tenant=_ordered(access.granted()),
        every_space=[
            permission
            for permission in TABLE
            if is_of_space(permission) and everywhere and principal.in_scope(permission)
        ],
        spaces=[
            SpaceRights(
                space_id=space_id,
                role=access.roles.get(space_id),
                permissions=[
                    permission for permission in _ordered(access.granted(space_id)) if is_of_space(permission)
                ],
            )
            for space_id in visible
        ],
    )


def _ordered(granted: frozenset[Permission]) -> Sequence[Permission]:
    return [permission for permission in TABLE if permission in granted]
