"""The pepper: 32 random bytes that make a person's folder name one that nobody can guess (seed 003, ADR-002)."""

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
    """The pepper of an installation, made by whoever needs it first; of two that start at once, one is kept by both.

    Raises:
        WorkspaceUnavailable: The file is not one of 32 bytes.
        OSError: It cannot be read or made.
    """
    try:
        return _read(base)
    except FileNotFoundError:
        _create(base)
        return _read(base)


def compute_user_namespace(pepper: bytes, tenant_id: str, user_id: str) -> str:
    """The name of a person's folder: 32 hexadecimal digits of HMAC-SHA256. No ids can be read from it."""
    return hmac.digest(pepper, f"{tenant_id}\0{user_id}".encode(), hashlib.sha256).hex()[:NAMESPACE_CHARACTERS]


def _read(base: Folder) -> bytes:
    descriptor = os.open(
        PEPPER_FILE, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=base.descriptor
    )
    with os.fdopen(descriptor, "rb") as file:
        regular = stat.S_ISREG(os.fstat(descriptor).st_mode)
        found = file.read(PEPPER_SIZE_BYTES + 1) if regular else b""
    if len(found) != PEPPER_SIZE_BYTES:
        raise WorkspaceUnavailable(
            f"{PEPPER_FILE} in the workspace folder does not hold {PEPPER_SIZE_BYTES} bytes.",
            remedy="Put the file back from a backup: with another one, nobody's files are found.",
        )
    return found


def _create(base: Folder) -> None:
    """Write it beside its place and link it there: it is there whole, and never in place of another."""
    part = f"{PEPPER_FILE}.{new_id()}"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
    try:
        with os.fdopen(os.open(part, flags, 0o600, dir_fd=base.descriptor), "wb") as file:
            file.write(os.urandom(PEPPER_SIZE_BYTES))
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileExistsError):  # another process was first: its pepper is the one
            os.link(part, PEPPER_FILE, src_dir_fd=base.descriptor, dst_dir_fd=base.descriptor)
    finally:
        with suppress(FileNotFoundError):  # it was never written
            os.unlink(part, dir_fd=base.descriptor)
