"""Who is asking. Every service takes it; every query is scoped by its tenant."""

from dataclasses import dataclass

from headgate.features.accounts.tables import DEFAULT_SPACE_ID, DEFAULT_TENANT_ID, DEFAULT_USER_ID


@dataclass(frozen=True, slots=True)
class Principal:
    """A user acting in a tenant."""

    tenant_id: str
    user_id: str
    space_id: str
    """The space that new flows go to when none is named."""


LOCAL = Principal(tenant_id=DEFAULT_TENANT_ID, user_id=DEFAULT_USER_ID, space_id=DEFAULT_SPACE_ID)
"""The single user of an installation with auto-login."""
