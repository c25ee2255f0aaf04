"""What an API key is for: permissions by name, or a role's name for all that the role may."""

from collections.abc import Iterable
from difflib import get_close_matches

from headgate.features.access.permissions import Permission, Role, TenantRole, of_role, of_tenant_role
from headgate.features.accounts.keys.errors import ScopeUnknown

_ROLES: dict[str, frozenset[Permission]] = {role.value: of_role(role) for role in Role} | {
    role.value: of_tenant_role(role) for role in TenantRole
}


def expand(scopes: Iterable[str]) -> frozenset[Permission]:
    """The permissions that scopes stand for, as the table has them now. Raises `ScopeUnknown`."""
    found: set[Permission] = set()
    for scope in scopes:
        found |= _ROLES.get(scope) or {_permission(scope)}
    return frozenset(found)


def known(stored: Iterable[str]) -> frozenset[Permission]:
    """The permissions of a stored key; a name that this Headgate does not know allows nothing."""
    return frozenset(_BY_NAME[name] for name in stored if name in _BY_NAME)


def names() -> tuple[str, ...]:
    """Every name that a scope may have: permissions, then roles."""
    return (*_BY_NAME, *_ROLES)


def _permission(scope: str) -> Permission:
    if scope not in _BY_NAME:
        raise ScopeUnknown(scope, get_close_matches(scope, names(), n=1))
    return _BY_NAME[scope]


_BY_NAME: dict[str, Permission] = {permission.value: permission for permission in Permission}
