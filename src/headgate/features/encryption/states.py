"""States of a data key."""

from enum import StrEnum


class DataKeyState(StrEnum):
    """What a tenant's data key is used for."""

    ACTIVE = "active"
    """New content is encrypted with it."""
    OLD = "old"
    """It opens what it encrypted, and encrypts nothing new."""
    DESTROYED = "destroyed"
    """It is gone, and with it what it encrypted."""
