"""States of a key.

prepared ──every process can read it──► current ──the next one is current──► old ──nothing uses it──► retired
                                                                              └──somebody else has it──► revoked
"""

from enum import StrEnum


class KeyState(StrEnum):
    """What a key is used for now."""

    PREPARED = "prepared"
    """Made; nothing is written with it until every process can read it."""
    CURRENT = "current"
    OLD = "old"
    """It reads what was written with it."""
    RETIRED = "retired"
    """Its material is deleted. Signatures of a retired signing key stay valid."""
    REVOKED = "revoked"
    """Somebody else may have had it: its signatures prove nothing."""


READABLE = (KeyState.PREPARED, KeyState.CURRENT, KeyState.OLD)
GONE = (KeyState.RETIRED, KeyState.REVOKED)
