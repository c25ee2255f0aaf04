"""Scopes of API keys: permissions by name, or a role's name for all of its permissions."""

from collections.abc import Iterable
from difflib import get_close_matches

from headgate.features.access.permissions import Permission, Role, TenantRole, of_role, of_tenant_role
from headgate.features.accounts.keys.errors import ScopeUnknown

_ROLES: dict[str, frozenset[Permission]] = {role.value: of_role(role) for role in Role} | {
    role.value: of_tenant_role(role) for role in TenantRole
}


def expand(scopes: Iterable[str]) -> frozenset[Permission]:
    """Return the permissions of scopes, from the current table. Raises `ScopeUnknown`."""
    permissions: set[Permission] = set()
    for scope in scopes:
        permissions |= _ROLES.get(scope) or {_permission(scope)}
    return frozenset(permissions)


def known(stored: Iterable[str]) -> frozenset[Permission]:
    """Return the permissions of a stored key; unknown names allow nothing."""
    return frozenset(_BY_NAME[name] for name in stored if name in _BY_NAME)


def names() -> tuple[str, ...]:
    """Return every valid scope name: permissions, then roles."""
    return (*_BY_NAME, *_ROLES)


def _permission(scope: str) -> Permission:
    if scope not in _BY_NAME:
        raise ScopeUnknown(scope, get_close_matches(scope, names(), n=1))
    return _BY_NAME[scope]


_BY_NAME: dict[str, Permission] = {permission.value: permission for permission in Permission}
