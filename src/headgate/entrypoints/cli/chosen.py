"""The tenant and space of a command: set by the root command, resolved when the database is open."""

from contextvars import ContextVar

TENANT: ContextVar[str] = ContextVar("tenant", default="")
"""Name or id; empty: from the settings."""
SPACE: ContextVar[str] = ContextVar("space", default="")
"""Name or id of the space for new resources; empty: the home space of the command's user."""
