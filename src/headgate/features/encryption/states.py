"""States of a data key."""

from enum import StrEnum


class DataKeyState(StrEnum):
    """State of a tenant's data key."""

    ACTIVE = "active"
    """Encrypts new content."""
    OLD = "old"
    """Opens existing content, and encrypts nothing new."""
    DESTROYED = "destroyed"
    """Destroyed, and its content with it."""
