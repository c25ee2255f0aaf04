"""The tenant that a command was told to work in: set by the root, read when the database is open."""

from contextvars import ContextVar

TENANT: ContextVar[str] = ContextVar("tenant", default="")
"""Name or id; empty: what the settings say."""
