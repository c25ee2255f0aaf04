"""Kernel calls that Python does not wrap. The only module that uses ctypes; Linux only, raises OSError elsewhere.

Numbers and structures: `linux/prctl.h`, `linux/landlock.h`, `linux/filter.h`, `linux/capability.h`, `linux/sched.h`,
`linux/mount.h`.
"""

import ctypes
import functools
import os
import struct
import sys

PR_SET_PDEATHSIG = 1
PR_SET_DUMPABLE = 4
PR_SET_SECCOMP = 22
PR_SET_NO_NEW_PRIVS = 38
SECCOMP_MODE_FILTER = 2

LANDLOCK_CREATE_RULESET = 444  # the three have the same number on every architecture
LANDLOCK_ADD_RULE = 445
LANDLOCK_RESTRICT_SELF = 446
LANDLOCK_CREATE_RULESET_VERSION = 1
LANDLOCK_RULE_PATH_BENEATH = 1

CLONE_NEWNS, CLONE_NEWIPC, CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET = 1 << 17, 1 << 27, 1 << 28, 1 << 29, 1 << 30
MS_NOSUID, MS_NODEV, MS_BIND, MS_REC, MS_PRIVATE = 2, 4, 1 << 12, 1 << 14, 1 << 18
MOUNT_SETATTR, MOUNT_READ_ONLY, AT_WORKING_FOLDER, AT_RECURSIVE = 442, 1, -100, 0x8000

CAPABILITY_VERSION_3 = 0x20080522
USER_CAPABILITIES = sum(1 << bit for bit in (0, 1, 3, 5, 6, 7))
"""CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_FOWNER, CAP_KILL, CAP_SETGID, CAP_SETUID."""
EFAULT = 14


class _FilterProgram(ctypes.Structure):
    """`struct sock_fprog`: number of 8-byte instructions, and their address."""

    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p))


@functools.cache
def _libc() -> ctypes.CDLL:
    if sys.platform != "linux":
        raise OSError("these calls exist on Linux only")
    library = ctypes.CDLL(None, use_errno=True)
    library.syscall.restype = ctypes.c_long
    return library


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def _syscall(number: int, *arguments: int | bytes | None) -> int:
    converted = [ctypes.c_long(value) if isinstance(value, int) else value for value in arguments]
    return _checked(int(_libc().syscall(ctypes.c_long(number), *converted)))


def prctl(option: int, value: int = 0) -> None:
    """Set one attribute of this process. Raises OSError."""
    zero = ctypes.c_ulong(0)
    _checked(int(_libc().prctl(ctypes.c_int(option), ctypes.c_ulong(value), zero, zero, zero)))


def clear_capabilities() -> None:
    """Drop all capabilities, including ambient ones."""
    header = struct.pack("=Ii", CAPABILITY_VERSION_3, 0)
    _checked(int(_libc().capset(header, bytes(24))))


def unshare(flags: int) -> None:
    """Leave the namespaces of these CLONE_NEW* flags for new ones. Raises OSError."""
    _checked(int(_libc().unshare(ctypes.c_int(flags))))


def mount(source: str, target: str, kind: str, flags: int = 0, options: str = "") -> None:
    """Mount. Raises OSError."""
    texts = [text.encode() for text in (source, target, kind, options)]
    _checked(int(_libc().mount(texts[0], texts[1], texts[2], ctypes.c_ulong(flags), texts[3])))


def set_read_only(target: str, *, read_only: bool) -> None:
    """Make a mount read-only with every mount beneath it, or only this one writable (`mount_setattr`, Linux 5.12)."""
    attributes = struct.pack("=QQQQ", *((MOUNT_READ_ONLY, 0) if read_only else (0, MOUNT_READ_ONLY)), 0, 0)
    flags = AT_RECURSIVE if read_only else 0
    _syscall(MOUNT_SETATTR, AT_WORKING_FOLDER, target.encode(), flags, attributes, len(attributes))


def seccomp_available() -> bool:
    """Whether the kernel supports seccomp filters: only then does it report a filter at address zero as invalid."""
    try:
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER)
    except OSError as error:
        return error.errno == EFAULT
    return False


def install_seccomp(program: bytes) -> None:
    """Install a filter on this thread, irrevocably. `program` is a sequence of `struct sock_filter`, 8 bytes each."""
    buffer = ctypes.create_string_buffer(program, len(program))
    header = _FilterProgram(len(program) // 8, ctypes.cast(buffer, ctypes.c_void_p))
    zero = ctypes.c_ulong(0)
    mode = ctypes.c_ulong(SECCOMP_MODE_FILTER)
    _checked(int(_libc().prctl(ctypes.c_int(PR_SET_SECCOMP), mode, ctypes.byref(header), zero, zero)))


def landlock_abi() -> int:
    """Return the kernel's Landlock version; 0 when it is missing or hidden by a container's profile."""
    try:
        return _syscall(LANDLOCK_CREATE_RULESET, None, 0, LANDLOCK_CREATE_RULESET_VERSION)
    except OSError:
        return 0


def landlock_ruleset(attributes: bytes) -> int:
    """Return a descriptor of a new ruleset from a packed `struct landlock_ruleset_attr`."""
    return _syscall(LANDLOCK_CREATE_RULESET, attributes, len(attributes), 0)


def landlock_allow(ruleset: int, access: int, directory: int) -> None:
    """Allow `access` (bits) beneath an open path."""
    attributes = struct.pack("=Qi", access, directory)
    _syscall(LANDLOCK_ADD_RULE, ruleset, LANDLOCK_RULE_PATH_BENEATH, attributes, 0)


def landlock_enter(ruleset: int) -> None:
    """Apply a ruleset to this thread, irrevocably."""
    _syscall(LANDLOCK_RESTRICT_SELF, ruleset, 0)


def can_change_user() -> bool:
    """Whether this process may change to another user, transfer folders, and kill and clean up after that user."""
    header = struct.pack("=Ii", CAPABILITY_VERSION_3, 0)
    buffer = ctypes.create_string_buffer(24)
    _checked(int(_libc().capget(header, buffer)))
    effective = int.from_bytes(buffer.raw[:4], "little")
    return effective & USER_CAPABILITIES == USER_CAPABILITIES
