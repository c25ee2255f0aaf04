"""Key files: one key each, 32 bytes in URL-safe base64, readable by the owner only."""

import base64
import binascii
import os
from contextlib import suppress
from pathlib import Path

from headgate.foundation.errors import Unavailable
from headgate.foundation.ids import new_id

_BYTES = 32


def new_key() -> bytes:
    """Return a new random key, in base64."""
    return base64.urlsafe_b64encode(os.urandom(_BYTES))


def is_key(text: bytes) -> bytes | None:
    """Return the bytes of a key in base64; None when it is not base64."""
    try:
        return base64.urlsafe_b64decode(text)
    except (binascii.Error, ValueError):
        return None


def read_key(path: Path) -> bytes:
    """Return the key in a file. Raises `Unavailable`."""
    try:
        return path.read_bytes().strip()
    except OSError as error:
        raise Unavailable(
            f"The key cannot be read from {path}: {error.strerror}.", remedy="Check the file's permissions."
        ) from error


def write_key(path: Path, key: bytes, variable: str) -> None:
    """Write a new key atomically, readable by the owner only, without ever replacing an existing one.

    Args:
        path: The file; its folder exists.
        key: The key.
        variable: The variable to name when it cannot be written. Raises `Unavailable`.
    """
    part = path.with_name(f"{path.name}.{new_id()}")
    try:
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(key)
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileExistsError):  # another process was first: its key is used
            os.link(part, path)
    except OSError as error:
        raise Unavailable(
            f"The key cannot be written to {path}: {error.strerror}.",
            remedy=f"Check HEADGATE_DATA_DIR and its permissions, or set {variable}.",
        ) from error
    finally:
        with suppress(OSError):  # it was never written
            part.unlink()
