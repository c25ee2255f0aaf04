"""States of a key.

prepared ──every process can read it──► current ──the next one is current──► old ──unused──► retired
                                                                              └──compromised──► revoked
"""

from enum import StrEnum


class KeyState(StrEnum):
    """State of a key."""

    PREPARED = "prepared"
    """Created; not used for writing until every process can read it."""
    CURRENT = "current"
    OLD = "old"
    """Decrypts existing values."""
    RETIRED = "retired"
    """Its material is deleted. Signatures of a retired signing key stay valid."""
    REVOKED = "revoked"
    """Compromised: its signatures are not accepted."""


READABLE = (KeyState.PREPARED, KeyState.CURRENT, KeyState.OLD)
GONE = (KeyState.RETIRED, KeyState.REVOKED)
