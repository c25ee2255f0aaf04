"""Tokens that are issued once and stored as a hash: of sessions, and of one-time links."""

import hashlib
import secrets

TOKEN_BYTES = 32
"""256 random bits, so a fast hash suffices."""


def new_token() -> str:
    """Return a new token: 43 characters of URL-safe base64."""
    return secrets.token_urlsafe(TOKEN_BYTES)


def hash_of(token: str) -> str:
    """Return the stored hash of a token, used for lookup: SHA-256, in hexadecimal."""
    return hashlib.sha256(token.encode()).hexdigest()
