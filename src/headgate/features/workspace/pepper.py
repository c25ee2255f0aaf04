"""The pepper: 32 random bytes that make the names of user folders unpredictable (seed 003, ADR-002)."""

import hashlib
import hmac
import os
import stat
from contextlib import suppress

from headgate.features.workspace.errors import WorkspaceUnavailable
from headgate.features.workspace.folder import Folder
from headgate.foundation.ids import new_id

PEPPER_FILE = ".fs_pepper"
PEPPER_SIZE_BYTES = 32
NAMESPACE_CHARACTERS = 32
"""128 bits in hexadecimal."""


def load_or_create_pepper(base: Folder) -> bytes:
    """Return the pepper of an installation, created on first use; concurrent processes agree on one.

    Raises:
        WorkspaceUnavailable: The file does not have 32 bytes.
        OSError: It cannot be read or created.
    """
    try:
        return _read(base)
    except FileNotFoundError:
        _create(base)
        return _read(base)


def compute_user_namespace(pepper: bytes, tenant_id: str, user_id: str) -> str:
    """Return the name of a user's folder: 32 hexadecimal digits of HMAC-SHA256, which reveal no ids."""
    return hmac.digest(pepper, f"{tenant_id}\0{user_id}".encode(), hashlib.sha256).hex()[:NAMESPACE_CHARACTERS]


def _read(base: Folder) -> bytes:
    descriptor = os.open(
        PEPPER_FILE, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=base.descriptor
    )
    with os.fdopen(descriptor, "rb") as file:
        regular = stat.S_ISREG(os.fstat(descriptor).st_mode)
        content = file.read(PEPPER_SIZE_BYTES + 1) if regular else b""
    if len(content) != PEPPER_SIZE_BYTES:
        raise WorkspaceUnavailable(
            f"{PEPPER_FILE} in the workspace folder does not hold {PEPPER_SIZE_BYTES} bytes.",
            remedy="Restore the file from a backup: with another one, the files of users cannot be found.",
        )
    return content


def _create(base: Folder) -> None:
    """Write a temporary file and link it: it appears atomically, and never replaces another."""
    part = f"{PEPPER_FILE}.{new_id()}"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        with os.fdopen(os.open(part, flags, 0o600, dir_fd=base.descriptor), "wb") as file:
            file.write(os.urandom(PEPPER_SIZE_BYTES))
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileExistsError):  # another process was first: its pepper is used
            os.link(part, PEPPER_FILE, src_dir_fd=base.descriptor, dst_dir_fd=base.descriptor)
    finally:
        with suppress(FileNotFoundError):  # it was never written
            os.unlink(part, dir_fd=base.descriptor)
