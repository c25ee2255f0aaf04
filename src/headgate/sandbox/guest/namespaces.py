"""Namespaces of a program: mounts that are read-only but for its folders, no other processes, an empty network."""

import os
import socket
import struct
import sys
from collections.abc import Iterable
from pathlib import Path

from headgate.sandbox.guest import kernel

if sys.platform != "win32":
    import fcntl

HOME_BYTES = 512 << 20
HOME_FILES = 50_000
PROXY_PORT = 3128
_SPACES = kernel.CLONE_NEWNS | kernel.CLONE_NEWIPC | kernel.CLONE_NEWPID | kernel.CLONE_NEWNET
_SIOCSIFFLAGS, _IFF_UP = 0x8914, 1
_NAME_BYTES, _REQUEST_BYTES = 16, 40


def are_possible() -> bool:
    """Return whether this process may enter new namespaces. Tried by a child, since there is no way back."""
    child = os.fork()
    if child == 0:
        try:
            enter()
            make_mounts_read_only(())
            os._exit(0)
        except OSError:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def enter() -> None:
    """Enter namespaces, those of processes with the next child. Raises OSError when the system refuses."""
    user, group = os.geteuid(), os.getegid()
    if user == 0:
        kernel.unshare(_SPACES)
    else:
        kernel.unshare(_SPACES | kernel.CLONE_NEWUSER)
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1")


def make_mounts_read_only(writable: Iterable[str]) -> None:
    """Make everything read-only except these folders, so that no path changes a mode, an owner or a time."""
    kernel.mount("none", "/", "", kernel.MS_REC | kernel.MS_PRIVATE)
    folders = list(writable)
    for folder in folders:
        kernel.mount(folder, folder, "", kernel.MS_BIND)
    kernel.set_read_only("/", read_only=True)
    for folder in folders:
        kernel.set_read_only(folder, read_only=False)


def mount_home(home: str, user: int) -> None:
    """Mount an empty folder in memory that ends with the program."""
    options = f"size={HOME_BYTES},nr_inodes={HOME_FILES},mode=700,uid={user},gid={user}"
    kernel.mount("home", home, "tmpfs", kernel.MS_NOSUID | kernel.MS_NODEV, options)


def mount_processes() -> bool:
    """Show the program its own processes in /proc; False where a container hides parts of it."""
    try:
        kernel.mount("proc", "/proc", "proc", kernel.MS_NOSUID | kernel.MS_NODEV)
    except OSError:
        return False
    return True


def listening_socket() -> socket.socket:
    """Return a socket that only processes of this network can reach, for the server to accept connections from."""
    listening = socket.create_server(("127.0.0.1", PROXY_PORT), backlog=64)
    listening.set_inheritable(False)
    return listening


def start_loopback() -> None:
    """Bring up the loopback interface of this network."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        request = struct.pack(f"{_NAME_BYTES}sH", b"lo", _IFF_UP).ljust(_REQUEST_BYTES, b"\0")
        fcntl.ioctl(control, _SIOCSIFFLAGS, request)
