"""Permissions of each role, in one table. `docs/reference/permissions.md` is generated from it; it is the only source.

A user has one role in the tenant and one role in each space that the user is a member of. Roles of a space are ordered:
each includes the permissions of the previous ones. A tenant's admin has all permissions in every space of the tenant.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType


class TenantRole(StrEnum):
    """A user's role in the tenant."""

    MEMBER = "member"
    ADMIN = "admin"


class Role(StrEnum):
    """A user's role in a space, lowest first."""

    VIEWER = "viewer"
    RUNNER = "runner"
    EDITOR = "editor"
    PUBLISHER = "publisher"
    OWNER = "owner"


class Permission(StrEnum):
    """A permission. The value is its name in errors, API keys and docs."""

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
    PACKS_MANAGE = "packs.manage"
    QUOTAS_MANAGE = "quotas.manage"
    AUDIT_VIEW = "audit.view"
    SPACES_VIEW = "spaces.view"
    FLOWS_VIEW = "flows.view"
    FLOWS_COMMENT = "flows.comment"
    RUNS_VIEW = "runs.view"
    FILES_VIEW = "files.view"
    ASSISTANTS_VIEW = "assistants.view"
    MCP_SERVERS_VIEW = "mcp_servers.view"
    CONNECTIONS_VIEW = "connections.view"
    KNOWLEDGE_VIEW = "knowledge.view"
    RUNS_START = "runs.start"
    FILES_UPLOAD = "files.upload"
    CONNECTIONS_OWN = "connections.own"
    FLOWS_EDIT = "flows.edit"
    RUNS_TEST = "runs.test"
    ASSISTANTS_EDIT = "assistants.edit"
    KNOWLEDGE_EDIT = "knowledge.edit"
    FLOWS_PUBLISH = "flows.publish"
    TRIGGERS_MANAGE = "triggers.manage"
    ALERTS_MANAGE = "alerts.manage"
    SPACES_MANAGE = "spaces.manage"
    MCP_SERVERS_MANAGE = "mcp_servers.manage"
    CONNECTIONS_MANAGE = "connections.manage"
    SPACE_VARIABLES_MANAGE = "space_variables.manage"
    KNOWLEDGE_MANAGE = "knowledge.manage"


@dataclass(frozen=True, slots=True)
class Rule:
    """The lowest role with a permission, and a description for users."""

    least: Role | TenantRole
    allows: str


TABLE: Mapping[Permission, Rule] = MappingProxyType(
    {
        Permission.ACCOUNT_VIEW: Rule(TenantRole.MEMBER, "View your account, spaces, sessions and API keys."),
        Permission.ACCOUNT_CHANGE: Rule(
            TenantRole.MEMBER, "Change your password, end your sessions, create and revoke your API keys."
        ),
        Permission.ACCOUNT_PROTECT: Rule(
            TenantRole.MEMBER, "Set up and remove your second factors, confirm your identity, sign out."
        ),
        Permission.CATALOG_VIEW: Rule(
            TenantRole.MEMBER, "View components, templates, providers, models and their classifications."
        ),
        Permission.PEOPLE_VIEW: Rule(TenantRole.MEMBER, "View the users of the organisation, to add them to a space."),
        Permission.SPACES_CREATE: Rule(TenantRole.MEMBER, "Create a space, and own it."),
        Permission.VARIABLES_VIEW: Rule(TenantRole.MEMBER, "View the names of variables, never a secret value."),
        Permission.WORKSPACE_USE: Rule(
            TenantRole.MEMBER, "Read and write the files of your own workspace, directly or through the assistant."
        ),
        Permission.PEOPLE_MANAGE: Rule(
            TenantRole.ADMIN,
            (
                "Invite users, create service accounts, change their role, deactivate them, create links to set a new "
                "password, end their sessions, reset their second factor, and set the sign-in policy."
            ),
        ),
        Permission.KEYS_MANAGE: Rule(
            TenantRole.ADMIN, "View and revoke the API keys of all users, create those of service accounts."
        ),
        Permission.DIRECTORY_MANAGE: Rule(
            TenantRole.ADMIN,
            "Connect a directory (SCIM): create and revoke its token, and map its groups to roles in spaces.",
        ),
        Permission.VARIABLES_MANAGE: Rule(
            TenantRole.ADMIN, "Set and delete variables of the organisation, including the keys of model providers."
        ),
        Permission.MODELS_CLASSIFY: Rule(TenantRole.ADMIN, "Set the classification of models."),
        Permission.MODELS_MANAGE: Rule(
            TenantRole.ADMIN,
            (
                "Choose the default models and their parameters; add, hide, price and describe models; "
                "download local ones; let MCP servers ask a model without a user."
            ),
        ),
        Permission.MCP_SERVERS_PROGRAMS: Rule(
            TenantRole.ADMIN, "Register programs on the server's machine as MCP servers, where the operator allows it."
        ),
        Permission.MAINTENANCE_RUN: Rule(
            TenantRole.ADMIN, "View when retention and the other maintenance jobs ran, and run them."
        ),
        Permission.KEYRING_MANAGE: Rule(
            TenantRole.ADMIN,
            (
                "View and rotate the keys that encrypt secrets and sign evidence, as an admin of the "
                "installation's first organisation."
            ),
        ),
        Permission.PACKS_MANAGE: Rule(
            TenantRole.ADMIN,
            (
                "View, install, upgrade and remove packs and the signing keys that are trusted, as an admin of the "
                "installation's first organisation."
            ),
        ),
        Permission.QUOTAS_MANAGE: Rule(
            TenantRole.ADMIN, "View the usage of the organisation, its spaces and visitors, and set their limits."
        ),
        Permission.AUDIT_VIEW: Rule(TenantRole.ADMIN, "Read, verify and export the audit log."),
        Permission.SPACES_VIEW: Rule(Role.VIEWER, "View a space and its members."),
        Permission.FLOWS_VIEW: Rule(Role.VIEWER, "View flows, their drafts and versions, and export them."),
        Permission.FLOWS_COMMENT: Rule(
            Role.VIEWER, "Comment on flows and their nodes, and mention members of the space."
        ),
        Permission.RUNS_VIEW: Rule(Role.VIEWER, "View runs, their input, steps, results, deliveries and evidence."),
        Permission.FILES_VIEW: Rule(Role.VIEWER, "View files that runs of the space used or created."),
        Permission.ASSISTANTS_VIEW: Rule(Role.VIEWER, "View shared assistants."),
        Permission.MCP_SERVERS_VIEW: Rule(Role.VIEWER, "View MCP servers and their tools."),
        Permission.CONNECTIONS_VIEW: Rule(
            Role.VIEWER, "View shared connections of a space and your own ones, never their secrets."
        ),
        Permission.KNOWLEDGE_VIEW: Rule(
            Role.VIEWER, "View knowledge bases, and search and read the documents whose readers include you."
        ),
        Permission.RUNS_START: Rule(
            Role.RUNNER,
            "Run published versions and dry-run them; cancel, pause, resume, rerun, redeliver, decide approvals.",
        ),
        Permission.FILES_UPLOAD: Rule(
            Role.RUNNER, "Upload files. Nobody else can view them until a run or a test uses them."
        ),
        Permission.CONNECTIONS_OWN: Rule(
            Role.RUNNER, "Add, change, authorize, test and delete your own connections, which only your runs use."
        ),
        Permission.FLOWS_EDIT: Rule(
            Role.EDITOR,
            "Create, change, import and restore flows, use the assistant; delete flows that are not published.",
        ),
        Permission.RUNS_TEST: Rule(Role.EDITOR, "Run drafts and versions that were never published."),
        Permission.ASSISTANTS_EDIT: Rule(Role.EDITOR, "Create, change and delete shared assistants."),
        Permission.KNOWLEDGE_EDIT: Rule(
            Role.EDITOR, "Create and change knowledge bases; add documents, and change and delete those you can view."
        ),
        Permission.FLOWS_PUBLISH: Rule(Role.PUBLISHER, "Publish a flow; delete or restore one that is published."),
        Permission.TRIGGERS_MANAGE: Rule(
            Role.PUBLISHER,
            "Add, change, pause and remove triggers, which start a published flow by themselves; backfill schedules.",
        ),
        Permission.ALERTS_MANAGE: Rule(
            Role.PUBLISHER,
            "Add, change and remove alert rules and service level objectives; mute and test rules; send failed notices"
            " of alerts again.",
        ),
        Permission.SPACES_MANAGE: Rule(
            Role.OWNER, "Rename and delete a space; add and remove members and set their role."
        ),
        Permission.MCP_SERVERS_MANAGE: Rule(
            Role.OWNER, "Register, change and remove MCP servers of a space, and enable or disable their tools."
        ),
        Permission.CONNECTIONS_MANAGE: Rule(
            Role.OWNER, "Add, change, authorize, test and delete shared connections of a space."
        ),
        Permission.SPACE_VARIABLES_MANAGE: Rule(Role.OWNER, "Set and delete variables of a space."),
        Permission.KNOWLEDGE_MANAGE: Rule(
            Role.OWNER, "Delete knowledge bases; list, change and delete documents whose readers do not include you."
        ),
    }
)
"""The complete table."""


def of_tenant_role(role: TenantRole) -> frozenset[Permission]:
    """Return the permissions of a tenant role outside of spaces."""
    order = list(TenantRole)
    return frozenset(
        permission
        for permission, rule in TABLE.items()
        if isinstance(rule.least, TenantRole) and order.index(rule.least) <= order.index(role)
    )


def of_role(role: Role) -> frozenset[Permission]:
    """Return the permissions of a role in a space."""
    return _OF_ROLE[role]


def roles_with(permission: Permission) -> tuple[Role, ...]:
    """Return the roles in a space with a permission, lowest first; none for a permission of the tenant."""
    return tuple(role for role in Role if permission in _OF_ROLE[role])


def highest(*roles: Role | str | None) -> Role:
    """Return the role that includes the others; None is ignored. At least one is a role."""
    order = list(Role)
    return max((Role(role) for role in roles if role is not None), key=order.index)


def is_of_space(permission: Permission) -> bool:
    """Return whether the permission applies to a space, and not to the tenant as a whole."""
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
"""Permissions of every user of a tenant."""
EVERYTHING: frozenset[Permission] = frozenset(Permission)
