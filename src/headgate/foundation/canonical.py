"""Canonical bytes of a JSON value (RFC 8785, JSON Canonicalization Scheme) and their SHA-256."""

import hashlib
from typing import Any

import rfc8785

SAFE_INTEGER = 2**53 - 1
"""Readers that store numbers as IEEE doubles (RFC 7493) lose digits above it."""


def canonical(value: Any) -> bytes:  # noqa: ANN401 - any JSON value
    """The canonical bytes. Raises `rfc8785.CanonicalizationError` for values that are not JSON; see `portable`."""
    return rfc8785.dumps(value)


def digest(value: Any) -> str:  # noqa: ANN401 - any JSON value
    """SHA-256 of the canonical bytes, 64 hexadecimal digits."""
    return hashlib.sha256(canonical(value)).hexdigest()


def portable(value: Any) -> Any:  # noqa: ANN401 - any JSON value
    """Return the value with numbers that every reader parses alike: integers beyond 2^53 - 1 become text.

    A database with its own JSON number type returns 1e22 as an integer; both forms become the same text.
    """
    if isinstance(value, dict):
        return {str(key): portable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [portable(item) for item in value]
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float) and abs(value) > SAFE_INTEGER and value == int(value):
        return str(int(value))
    return value
