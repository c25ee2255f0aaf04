"""Secrets that are handed out once and kept as a hash: of sessions, and of links that set a password."""

import hashlib
import secrets

TOKEN_BYTES = 32
"""256 bits: nobody guesses one, so a fast hash is enough to keep it by."""


def new_token() -> str:
    """A new secret: 43 characters of URL-safe base64."""
    return secrets.token_urlsafe(TOKEN_BYTES)


def hash_of(token: str) -> str:
    """What is kept of it, and what it is found by: SHA-256, in hexadecimal."""
    return hashlib.sha256(token.encode()).hexdigest()
