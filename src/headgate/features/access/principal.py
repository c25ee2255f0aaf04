"""Who is asking. Every service takes it; every query is scoped by its tenant and what it may see."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
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
"""What a session without a required second factor can do."""
_OF_ADMIN = of_tenant_role(TenantRole.ADMIN)
_OF_SPACES = MEMBER - {Permission.SPACES_CREATE, Permission.WORKSPACE_USE}


@dataclass(frozen=True, slots=True)
class Access:
    """What somebody may do in their tenant: their roles, cut down by the API key they came with."""

    admin: bool = False
    roles: Mapping[str, Role] = field(default_factory=dict)
    """Space id to role. An admin needs none."""
    scopes: frozenset[Permission] | None = None
    """What an API key is for; None: no key narrows it."""
    spaces: frozenset[str] | None = None
    """The spaces an API key is for; None: all that the person has. With spaces it does nothing that only admins may:
    people, keys, variables and the audit log are of the whole tenant. Nor does it make spaces, which it is not for, or
    touch the person's workspace, which is in none."""
    held: bool = False
    """Whether they signed in without the second factor that their organisation requires: until they have set one up,
    `scopes` allows nothing else."""
    files: frozenset[str] = frozenset()
    """Files that they hold by a seal, as a visitor holds an upload of theirs or a rerun the files of its run: they may
    give these to a run, whatever else they see. Never filled from an id that a request contains."""

    visitor: bool = False
    """Whether they are anonymous: what they send is content from outside."""

    def granted(self, space_id: str | None = None) -> frozenset[Permission]:
        """The permissions in a space and the tenant; without a space, those of the tenant alone."""
        found = (_OF_ADMIN if self.admin else MEMBER) if self.spaces is None else _OF_SPACES
        if space_id is not None and self.sees(space_id):
            found |= of_role(Role.OWNER if self.admin else self.roles[space_id])
        return found if self.scopes is None else found & self.scopes

    def sees(self, space_id: str) -> bool:
        """Whether the space is there for them at all."""
        return (self.admin or space_id in self.roles) and (self.spaces is None or space_id in self.spaces)

    @property
    def visible(self) -> frozenset[str] | None:
        """The spaces whose things they see; None: every space of the tenant."""
        if self.admin:
            return self.spaces
        mine = frozenset(self.roles)
        return mine if self.spaces is None else mine & self.spaces


@dataclass(frozen=True, slots=True)
class Actor:
    """Who the audit log names."""

    kind: Literal["user", "key", "command", "system"]
    name: str
    key_id: str | None = None
    key_prefix: str | None = None
    address: str | None = None
    """The network address that the request came from."""


SYSTEM = Actor("system", "Headgate")


@dataclass(frozen=True, slots=True)
class Principal:
    """A user acting in a tenant."""

    tenant_id: str
    user_id: str
    space_id: str
    """The space that new things go to when none is named; empty when they have none."""
    access: Access
    actor: Actor = SYSTEM

    @property
    def is_visitor(self) -> bool:
        """Whether nobody knows who they are: they came through a page or widget that is open to everyone."""
        return self.access.visitor

    def sees(self, space_id: str) -> bool:
        """Whether the space, and what is in it, is there for them at all."""
        return self.access.sees(space_id)

    @property
    def visible_spaces(self) -> frozenset[str] | None:
        """The spaces whose things lists show; None: every space of the tenant."""
        return self.access.visible

    def may(self, permission: Permission, space_id: str | None = None) -> bool:
        """Whether they have a permission: of the tenant, or in a space."""
        if self.access.admin and self.access.scopes is None and self.access.spaces is None:
            return space_id is not None or not is_of_space(permission)
        return permission in self.access.granted(space_id)

    def spaces_where(self, permission: Permission) -> frozenset[str] | None:
        """The spaces in which they have a permission of a space; None: every space of the tenant."""
        visible = self.access.visible
        if visible is None:
            return None if self.in_scope(permission) else frozenset()
        return frozenset(space_id for space_id in visible if self.may(permission, space_id))

    def may_somewhere(self, permission: Permission) -> bool:
        """Whether they have a permission of a space in at least one space."""
        visible = self.access.visible
        if visible is None:
            return self.in_scope(permission)
        return any(self.may(permission, space_id) for space_id in visible)

    def require(self, permission: Permission) -> None:
        """Raise `PermissionMissing` unless they have a permission of the tenant."""
        if not self.may(permission):
            raise self._missing(permission)

    def require_somewhere(self, permission: Permission) -> None:
        """Raise `PermissionMissing` unless they have a permission in at least one space."""
        if not self.may_somewhere(permission):
            raise self._missing(permission)

    def require_in(self, space_id: str, permission: Permission, hidden: HeadgateError) -> None:
        """Raise `hidden` when the space is not there for them, `PermissionMissing` when they may see but not do."""
        if not self.sees(space_id):
            raise hidden
        if not self.may(permission, space_id):
            raise self._missing(permission, space_id)

    def require_scope(self, permission: Permission) -> None:
        """Raise `PermissionMissing` when their API key is not for this, wherever it would be done."""
        if not self.in_scope(permission):
            raise self._missing(permission)

    def in_scope(self, permission: Permission) -> bool:
        """Whether their API key, where they have one, is for this at all."""
        return self.access.scopes is None or permission in self.access.scopes

    def _missing(self, permission: Permission, space_id: str | None = None) -> HeadgateError:
        """The error, which blames an API key only where the person without it may."""
        if self.access.held:
            return SecondFactorMissing()
        person = replace(self, access=replace(self.access, scopes=None, spaces=None))
        may = person.may(permission, space_id) or (space_id is None and person.may_somewhere(permission))
        return PermissionMissing(permission, by_key=may)


def bringing(principal: Principal, *more: Permission) -> Principal:
    """Somebody whose API key is for these too: what the key is for cannot be done without them."""
    access = principal.access
    scopes = None if access.scopes is None else access.scopes | set(more)
    return replace(principal, access=replace(access, scopes=scopes))


def holding(principal: Principal, files: Iterable[str]) -> Principal:
    """Somebody who holds these files too, by a seal that Headgate has checked."""
    access = principal.access
    return replace(principal, access=replace(access, files=access.files | frozenset(files)))


def within(principal: Principal, space_id: str) -> Principal:
    """The same caller, working in this space, which they were let into: its variables are used."""
    return replace(principal, space_id=space_id)


def system_principal(tenant_id: str, space_id: str = "") -> Principal:
    """Headgate itself, working for a tenant: it may do everything there."""
    return Principal(tenant_id=tenant_id, user_id="", space_id=space_id, access=Access(admin=True), actor=SYSTEM)


Again = Callable[[], Awaitable[Principal]]
"""Asks who somebody is, and what they may do, as things are now. Raises `Unauthenticated`."""

LOCAL = Principal(
    tenant_id=DEFAULT_TENANT_ID,
    user_id=DEFAULT_USER_ID,
    space_id=DEFAULT_SPACE_ID,
    access=Access(admin=True),
    actor=Actor("user", "Local user"),
)
"""The single user of an installation with auto-login."""
