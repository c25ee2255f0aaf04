"""The principal of a request. Every service takes it; every query is scoped by its tenant and visible spaces."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal

from headgate.features.access.errors import PermissionMissing, SecondFactorMissing
from headgate.features.access.permissions import (
    MEMBER,
    Permission,
    Role,
    TenantRole,
    is_of_space,
    of_role,
    of_tenant_role,
)
from headgate.foundation.errors import HeadgateError

DEFAULT_TENANT_ID = "00000000-0000-7000-8000-000000000001"
DEFAULT_SPACE_ID = "00000000-0000-7000-8000-000000000002"
DEFAULT_USER_ID = "00000000-0000-7000-8000-000000000003"

HELD = frozenset({Permission.ACCOUNT_VIEW, Permission.ACCOUNT_PROTECT})
"""Permissions of a session without a required second factor."""
_OF_ADMIN = of_tenant_role(TenantRole.ADMIN)
_OF_SPACES = MEMBER - {Permission.SPACES_CREATE, Permission.WORKSPACE_USE}


@dataclass(frozen=True, slots=True)
class Access:
    """Permissions in the tenant: roles, restricted by the API key of the request."""

    admin: bool = False
    roles: Mapping[str, Role] = field(default_factory=dict)
    """Space id to role. An admin needs none."""
    scopes: frozenset[Permission] | None = None
    """Scopes of the API key; None: not restricted."""
    spaces: frozenset[str] | None = None
    """Spaces of the API key; None: all of the user's. With spaces, permissions of admins are excluded: users, keys,
    variables and the audit log belong to the whole tenant. The key can neither create spaces nor access the user's
    workspace.
    """
    held: bool = False
    """Whether the session lacks the second factor that the organisation requires: until one is set up, `scopes` allows
    nothing else.
    """
    files: frozenset[str] = frozenset()
    """Files that the caller may use through a seal, for example a visitor's upload or the files of a rerun: the caller
    may use them in a run, regardless of other permissions. Never filled from an id in a request.
    """

    visitor: bool = False
    """Whether the caller is anonymous: their input is external content."""

    def granted(self, space_id: str | None = None) -> frozenset[Permission]:
        """Return the permissions in a space and the tenant; without a space, those of the tenant alone."""
        permissions = (_OF_ADMIN if self.admin else MEMBER) if self.spaces is None else _OF_SPACES
        if space_id is not None and self.sees(space_id):
            permissions |= of_role(Role.OWNER if self.admin else self.roles[space_id])
        return permissions if self.scopes is None else permissions & self.scopes

    def sees(self, space_id: str) -> bool:
        """Return whether the caller can view the space."""
        return (self.admin or space_id in self.roles) and (self.spaces is None or space_id in self.spaces)

    @property
    def visible(self) -> frozenset[str] | None:
        """Return the spaces that the caller can view; None: every space of the tenant."""
        if self.admin:
            return self.spaces
        own_spaces = frozenset(self.roles)
        return own_spaces if self.spaces is None else own_spaces & self.spaces


@dataclass(frozen=True, slots=True)
class Actor:
    """The actor in the audit log."""

    kind: Literal["user", "key", "command", "system"]
    name: str
    key_id: str | None = None
    key_prefix: str | None = None
    address: str | None = None
    """The network address of the request."""


SYSTEM = Actor("system", "Headgate")


@dataclass(frozen=True, slots=True)
class Principal:
    """A user acting in a tenant."""

    tenant_id: str
    user_id: str
    space_id: str
    """The default space of new objects; empty when there is none."""
    access: Access
    actor: Actor = SYSTEM

    @property
    def is_visitor(self) -> bool:
        """Whether the caller is anonymous: a visitor of a public page or widget."""
        return self.access.visitor

    def sees(self, space_id: str) -> bool:
        """Return whether the caller can view the space and its content."""
        return self.access.sees(space_id)

    @property
    def visible_spaces(self) -> frozenset[str] | None:
        """Return the spaces whose content lists include; None: every space of the tenant."""
        return self.access.visible

    def may(self, permission: Permission, space_id: str | None = None) -> bool:
        """Return whether the caller has a permission: of the tenant, or in a space."""
        if self.access.admin and self.access.scopes is None and self.access.spaces is None:
            return space_id is not None or not is_of_space(permission)
        return permission in self.access.granted(space_id)

    def spaces_where(self, permission: Permission) -> frozenset[str] | None:
        """Return the spaces in which the caller has a permission; None: every space of the tenant."""
        visible = self.access.visible
        if visible is None:
            return None if self.in_scope(permission) else frozenset()
        return frozenset(space_id for space_id in visible if self.may(permission, space_id))

    def may_somewhere(self, permission: Permission) -> bool:
        """Return whether the caller has a permission in at least one space."""
        visible = self.access.visible
        if visible is None:
            return self.in_scope(permission)
        return any(self.may(permission, space_id) for space_id in visible)

    def require(self, permission: Permission) -> None:
        """Raise `PermissionMissing` unless the caller has a permission of the tenant."""
        if not self.may(permission):
            raise self._missing(permission)

    def require_somewhere(self, permission: Permission) -> None:
        """Raise `PermissionMissing` unless the caller has a permission in at least one space."""
        if not self.may_somewhere(permission):
            raise self._missing(permission)

    def require_in(self, space_id: str, permission: Permission, hidden: HeadgateError) -> None:
        """Raise `hidden` when the caller cannot view the space, else `PermissionMissing` without the permission."""
        if not self.sees(space_id):
            raise hidden
        if not self.may(permission, space_id):
            raise self._missing(permission, space_id)

    def require_scope(self, permission: Permission) -> None:
        """Raise `PermissionMissing` when the API key excludes the permission, regardless of the space."""
        if not self.in_scope(permission):
            raise self._missing(permission)

    def in_scope(self, permission: Permission) -> bool:
        """Return whether the API key, if any, includes the permission."""
        return self.access.scopes is None or permission in self.access.scopes

    def _missing(self, permission: Permission, space_id: str | None = None) -> HeadgateError:
        """Return the error, which mentions the API key only when the user has the permission without it."""
        if self.access.held:
            return SecondFactorMissing()
        unrestricted = replace(self, access=replace(self.access, scopes=None, spaces=None))
        may = unrestricted.may(permission, space_id) or (space_id is None and unrestricted.may_somewhere(permission))
        return PermissionMissing(permission, by_key=may)


def bringing(principal: Principal, *more: Permission) -> Principal:
    """Return the principal with additional permissions that the scopes of the API key depend on."""
    access = principal.access
    scopes = None if access.scopes is None else access.scopes | set(more)
    return replace(principal, access=replace(access, scopes=scopes))


def within(principal: Principal, space_id: str) -> Principal:
    """Return the same principal, working in this space after admission: its variables are used."""
    return replace(principal, space_id=space_id)


def system_principal(tenant_id: str, space_id: str = "") -> Principal:
    """Return the principal of Headgate itself in a tenant: it has all permissions there."""
    return Principal(tenant_id=tenant_id, user_id="", space_id=space_id, access=Access(admin=True), actor=SYSTEM)


Again = Callable[[], Awaitable[Principal]]
"""Returns the current principal of a caller. Raises `Unauthenticated`."""

LOCAL = Principal(
    tenant_id=DEFAULT_TENANT_ID,
    user_id=DEFAULT_USER_ID,
    space_id=DEFAULT_SPACE_ID,
    access=Access(admin=True),
    actor=Actor("user", "Local user"),
)
"""The single user of an installation with auto-login."""
