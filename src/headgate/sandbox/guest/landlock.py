"""File access of a worker: read libraries, write its scratch folder, nothing else.

Landlock does not control names and sizes (stat), modes, owners or times; seccomp refuses changes of the last three.
"""

import os
import struct
from collections.abc import Iterable
from pathlib import Path

from headgate.sandbox.guest import kernel

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR, REMOVE_DIR, REMOVE_FILE = (1 << bit for bit in range(6))
MAKE_DIR, MAKE_REGULAR = 1 << 7, 1 << 8
REFER, TRUNCATE, IOCTL_DEVICE = 1 << 13, 1 << 14, 1 << 15

FIRST_VERSION = (1 << 13) - 1
"""All rights of version 1; a right that is handled and not granted is refused."""

LIBRARY = READ_FILE | READ_DIR
DEVICE = READ_FILE | WRITE_FILE
SCRATCH = (
    READ_FILE | READ_DIR | WRITE_FILE | REMOVE_DIR | REMOVE_FILE | MAKE_DIR | MAKE_REGULAR | REFER | TRUNCATE
)  # no links, pipes, sockets or devices, and nothing to execute
MAKE_SOCKET, MAKE_FIFO, MAKE_LINK = 1 << 9, 1 << 10, 1 << 12
PROGRAM = LIBRARY | EXECUTE
"""What a program may do with the system's files."""
OWN = SCRATCH | EXECUTE | MAKE_SOCKET | MAKE_FIFO | MAKE_LINK
"""What a program may do in its folders; no devices."""
ON_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEVICE
"""Rights that a rule on a file may grant."""


def handled_rights(version: int) -> int:
    """Return the file rights that this version of Landlock supports."""
    rights = FIRST_VERSION
    for since, right in ((2, REFER), (3, TRUNCATE), (5, IOCTL_DEVICE)):
        if version >= since:
            rights |= right
    return rights


def ruleset_attributes(version: int, *, connects: bool = False) -> bytes:
    """Return a packed `struct landlock_ruleset_attr` for files, TCP (4), and signals and abstract sockets (6).

    `connects`: TCP is left to the network namespace of the process.
    """
    network, scope = 0 if connects else 0b11, 0b11
    if version >= 6:
        return struct.pack("=QQQ", handled_rights(version), network, scope)
    if version >= 4:
        return struct.pack("=QQ", handled_rights(version), network)
    return struct.pack("=Q", handled_rights(version))


def build_ruleset(version: int, *, libraries: Iterable[str], devices: Iterable[str], scratch: str) -> int:
    """Return a descriptor of the ruleset for `kernel.landlock_enter`.

    Build it before the change of user: root can open libraries that the worker's user cannot. Missing paths are
    skipped.
    """
    return build_granting(version, ((libraries, LIBRARY), (devices, DEVICE), ((scratch,), SCRATCH)))


def build_granting(version: int, grants: Iterable[tuple[Iterable[str], int]], *, connects: bool = False) -> int:
    """Return a descriptor of a ruleset that grants these rights on these paths. Missing paths are skipped."""
    ruleset = kernel.landlock_ruleset(ruleset_attributes(version, connects=connects))
    for paths, access in grants:
        for path in paths:
            _allow(ruleset, path, access & handled_rights(version))
    return ruleset


def build_reading_layer(readable: Iterable[str], listable: Iterable[str]) -> int:
    """A descriptor of a ruleset for reading only, applied in addition to another: only what both allow is readable.

    It may have hundreds of rules, so it is built once and shared by all workers.

    Args:
        readable: Files and folders.
        listable: Folders that can be listed; their content can only be read when it is also `readable`.
    """
    ruleset = kernel.landlock_ruleset(struct.pack("=Q", LIBRARY))
    for paths, access in ((readable, LIBRARY), (listable, READ_DIR)):
        for path in paths:
            _allow(ruleset, path, access)
    return ruleset


def _allow(ruleset: int, path: str, access: int) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except (FileNotFoundError, PermissionError):
        return
    try:
        if not Path(path).is_dir():
            access &= ON_FILES
        kernel.landlock_allow(ruleset, access, descriptor)
    finally:
        os.close(descriptor)
