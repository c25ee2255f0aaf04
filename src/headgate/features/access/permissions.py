"""What each role may do, in one table. `docs/reference/permissions.md` is printed from it; nothing else decides it.

A person has one role in their tenant and, in each space they are a member of, one role there. Roles of a space are in
order: each may do what the ones before it may. A tenant's admin may do everything in every space of the tenant.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType


class TenantRole(StrEnum):
    """A person's role in their tenant."""

    MEMBER = "member"
    ADMIN = "admin"


class Role(StrEnum):
    """A person's role in a space, the least first."""

    VIEWER = "viewer"
    RUNNER = "runner"
    EDITOR = "editor"
    PUBLISHER = "publisher"
    OWNER = "owner"


class Permission(StrEnum):
    """One thing that a person may be allowed to do. The value is what errors, API keys and docs call it."""

    ACCOUNT_VIEW = "account.view"
    ACCOUNT_CHANGE = "account.change"
    ACCOUNT_PROTECT = "account.protect"
    CATALOG_VIEW = "catalog.view"
    PEOPLE_VIEW = "people.view"
    SPACES_CREATE = "spaces.create"
    VARIABLES_VIEW = "variables.view"
    WORKSPACE_USE = "workspace.use"
    PEOPLE_MANAGE = "people.manage"
    KEYS_MANAGE = "keys.manage"
    DIRECTORY_MANAGE = "directory.manage"
    VARIABLES_MANAGE = "variables.manage"
    MODELS_CLASSIFY = "models.classify"
    MODELS_MANAGE = "models.manage"
    MCP_SERVERS_PROGRAMS = "mcp_servers.programs"
    MAINTENANCE_RUN = "maintenance.run"
    KEYRING_MANAGE = "keyring.manage"
    QUOTAS_MANAGE = "quotas.manage"
    AUDIT_VIEW = "audit.view"
    SPACES_VIEW = "spaces.view"
    FLOWS_VIEW = "flows.view"
    RUNS_VIEW = "runs.view"
    FILES_VIEW = "files.view"
    ASSISTANTS_VIEW = "assistants.view"
    MCP_SERVERS_VIEW = "mcp_servers.view"
    RUNS_START = "runs.start"
    FILES_UPLOAD = "files.upload"
    FLOWS_EDIT = "flows.edit"
    RUNS_TEST = "runs.test"
    ASSISTANTS_EDIT = "assistants.edit"
    FLOWS_PUBLISH = "flows.publish"
    SPACES_MANAGE = "spaces.manage"
    MCP_SERVERS_MANAGE = "mcp_servers.manage"
    SPACE_VARIABLES_MANAGE = "space_variables.manage"


@dataclass(frozen=True, slots=True)
class Rule:
    """The least role that has a permission, and what it allows, for people."""

    least: Role | TenantRole
    allows: str


TABLE: Mapping[Permission, Rule] = MappingProxyType(
    {
        Permission.ACCOUNT_VIEW: Rule(TenantRole.MEMBER, "See one's own account, spaces, sessions and API keys."),
        Permission.ACCOUNT_CHANGE: Rule(
            TenantRole.MEMBER, "Change one's password, end one's sessions, make and revoke one's own API keys."
        ),
        Permission.ACCOUNT_PROTECT: Rule(
            TenantRole.MEMBER, "Set up and remove one's second factors, confirm that it is still oneself, sign out."
        ),
        Permission.CATALOG_VIEW: Rule(
            TenantRole.MEMBER, "See components, templates, providers, models and their classes."
        ),
        Permission.PEOPLE_VIEW: Rule(TenantRole.MEMBER, "See who is in the organisation, to add them to a space."),
        Permission.SPACES_CREATE: Rule(TenantRole.MEMBER, "Make a space, and own it."),
        Permission.VARIABLES_VIEW: Rule(TenantRole.MEMBER, "See the names of variables, never a secret value."),
        Permission.WORKSPACE_USE: Rule(
            TenantRole.MEMBER, "Read and write the files of one's own workspace, oneself or through the assistant."
        ),
        Permission.PEOPLE_MANAGE: Rule(
            TenantRole.ADMIN,
            "Invite people, change their role, shut them out, make links to set a new password, end their sessions, "
            "reset their second factor, and set the sign-in policy.",
        ),
        Permission.KEYS_MANAGE: Rule(TenantRole.ADMIN, "See and revoke everybody's API keys."),
        Permission.DIRECTORY_MANAGE: Rule(
            TenantRole.ADMIN,
            "Connect a directory (SCIM): create and revoke its token, and map its groups to roles in spaces.",
        ),
        Permission.VARIABLES_MANAGE: Rule(
            TenantRole.ADMIN, "Set and delete variables of the organisation, keys of model providers among them."
        ),
        Permission.MODELS_CLASSIFY: Rule(TenantRole.ADMIN, "Set the security class of models."),
        Permission.MODELS_MANAGE: Rule(
            TenantRole.ADMIN,
            "Choose the default models and their parameters; add, hide, price and describe models; fetch local ones.",
        ),
        Permission.MCP_SERVERS_PROGRAMS: Rule(
            TenantRole.ADMIN, "Register programs of the server's machine as MCP servers, where the operator allows it."
        ),
        Permission.MAINTENANCE_RUN: Rule(
            TenantRole.ADMIN, "See when retention and the other jobs of maintenance ran, and run them."
        ),
        Permission.KEYRING_MANAGE: Rule(
            TenantRole.ADMIN,
            "See and rotate the keys that encrypt secrets and sign evidence, as an admin of the installation's first "
            "organisation.",
        ),
        Permission.QUOTAS_MANAGE: Rule(
            TenantRole.ADMIN, "See what the organisation, its spaces and visitors have used, and set their limits."
        ),
        Permission.AUDIT_VIEW: Rule(TenantRole.ADMIN, "Read, check and export the audit log."),
        Permission.SPACES_VIEW: Rule(Role.VIEWER, "See a space and its members."),
        Permission.FLOWS_VIEW: Rule(Role.VIEWER, "See flows, their drafts and versions, and export them."),
        Permission.RUNS_VIEW: Rule(Role.VIEWER, "See runs, their input, steps, results, deliveries and evidence."),
        Permission.FILES_VIEW: Rule(Role.VIEWER, "See files that runs of the space took or made."),
        Permission.ASSISTANTS_VIEW: Rule(Role.VIEWER, "See shared assistants."),
        Permission.MCP_SERVERS_VIEW: Rule(Role.VIEWER, "See MCP servers and their tools."),
        Permission.RUNS_START: Rule(
            Role.RUNNER, "Run what is published, look ahead at it; cancel, resume, repeat and deliver again."
        ),
        Permission.FILES_UPLOAD: Rule(
            Role.RUNNER, "Upload files. They are seen by nobody else until a run or a test takes them."
        ),
        Permission.FLOWS_EDIT: Rule(
            Role.EDITOR,
            "Make, change, import and restore flows, ask the assistant; delete flows that are not published.",
        ),
        Permission.RUNS_TEST: Rule(Role.EDITOR, "Run drafts and versions that were never published."),
        Permission.ASSISTANTS_EDIT: Rule(Role.EDITOR, "Make, change and delete shared assistants."),
        Permission.FLOWS_PUBLISH: Rule(Role.PUBLISHER, "Publish a flow; delete or restore one that is published."),
        Permission.SPACES_MANAGE: Rule(
            Role.OWNER, "Rename and delete a space; add and remove members and set their role."
        ),
        Permission.MCP_SERVERS_MANAGE: Rule(
            Role.OWNER, "Register, change and remove MCP servers of a space, and switch their tools."
        ),
        Permission.SPACE_VARIABLES_MANAGE: Rule(Role.OWNER, "Set and delete variables of a space."),
    }
)
"""The whole of it."""


def of_tenant_role(role: TenantRole) -> frozenset[Permission]:
    """What a role in the tenant allows without any space."""
    order = list(TenantRole)
    return frozenset(
        permission
        for permission, rule in TABLE.items()
        if isinstance(rule.least, TenantRole) and order.index(rule.least) <= order.index(role)
    )


def of_role(role: Role) -> frozenset[Permission]:
    """What a role in a space allows there."""
    return _OF_ROLE[role]


def roles_with(permission: Permission) -> tuple[Role, ...]:
    """The roles in a space that have a permission, the least first; none for one of the tenant."""
    return tuple(role for role in Role if permission in _OF_ROLE[role])


def highest(*roles: Role | str | None) -> Role:
    """The role that includes the others; None counts for nothing. At least one is a role."""
    order = list(Role)
    return max((Role(role) for role in roles if role is not None), key=order.index)


def is_of_space(permission: Permission) -> bool:
    """Whether the permission is had in a space, and not in the tenant as a whole."""
    return isinstance(TABLE[permission].least, Role)


def _up_to(role: Role) -> frozenset[Permission]:
    order = list(Role)
    return frozenset(
        permission
        for permission, rule in TABLE.items()
        if isinstance(rule.least, Role) and order.index(rule.least) <= order.index(role)
    )


_OF_ROLE: Mapping[Role, frozenset[Permission]] = {role: _up_to(role) for role in Role}
MEMBER: frozenset[Permission] = of_tenant_role(TenantRole.MEMBER)
"""What every person of a tenant may."""
EVERYTHING: frozenset[Permission] = frozenset(Permission)
