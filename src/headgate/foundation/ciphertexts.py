"""The form of a ciphertext: `hg1.KEYID.CONTENT`, so that it names the key that reads it."""

MARK = b"hg1."
"""What every ciphertext begins with; then the id of its key and a full stop."""
ID_CHARACTERS = 16
"""Of a key."""
PREFIX = len(MARK) + ID_CHARACTERS + 1
"""Bytes of a ciphertext before what is encrypted."""


def prefix_of(key_id: str) -> bytes:
    """What every ciphertext of a key begins with."""
    return MARK + key_id.encode() + b"."


def key_id_of(token: bytes) -> str:
    """The id of the key that a ciphertext names; empty for one that names none."""
    return token[len(MARK) : PREFIX - 1].decode("ascii", "replace") if token.startswith(MARK) else ""
