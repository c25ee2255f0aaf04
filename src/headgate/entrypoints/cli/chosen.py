"""The tenant and space that a command was told to work in: set by the root, read when the database is open."""

from contextvars import ContextVar

TENANT: ContextVar[str] = ContextVar("tenant", default="")
"""Name or id; empty: what the settings say."""
SPACE: ContextVar[str] = ContextVar("space", default="")
"""Name or id of the space that new things go to; empty: the one that the command's user is at home in."""
