"""Format of a ciphertext: `hg1.KEYID.CONTENT`, which names its key."""

MARK = b"hg1."
"""Prefix of every ciphertext, followed by the key id and a full stop."""
ID_CHARACTERS = 16
"""Length of a key id."""
PREFIX = len(MARK) + ID_CHARACTERS + 1
"""Length of the prefix of a ciphertext, in bytes."""


def prefix_of(key_id: str) -> bytes:
    """Return the prefix of every ciphertext of a key."""
    return MARK + key_id.encode() + b"."


def key_id_of(token: bytes) -> str:
    """Return the key id in a ciphertext; empty when there is none."""
    return token[len(MARK) : PREFIX - 1].decode("ascii", "replace") if token.startswith(MARK) else ""
