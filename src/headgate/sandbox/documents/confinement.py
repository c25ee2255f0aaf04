"""Confinement of the document process before it reads any text.

Where the system has no Landlock or seccomp, resource limits and the restrictions of pandoc and Typst remain.
"""

import os
import platform
import resource
import sys
import sysconfig
from collections.abc import Iterable
from pathlib import Path

from headgate.sandbox.guest import kernel, landlock, seccomp
from headgate.sandbox.guest.syscalls import ARCHITECTURES

SIGKILL = 9
CPU_SECONDS = 120
MEMORY_BYTES = 2 << 30
FILE_BYTES = 256 << 20
OPEN_FILES = 128


def limit_resources() -> None:
    """Limit memory, processor time and file sizes of this process and its children."""
    limits = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_CPU: CPU_SECONDS,
        resource.RLIMIT_AS: MEMORY_BYTES,
        resource.RLIMIT_FSIZE: FILE_BYTES,
        resource.RLIMIT_NOFILE: OPEN_FILES,
    }
    for limit, most in limits.items():
        hard = resource.getrlimit(limit)[1]
        value = most if hard == resource.RLIM_INFINITY else min(most, hard)
        try:
            resource.setrlimit(limit, (value, value))
        except (ValueError, OSError):  # macOS refuses some of them
            continue


def die_with_parent() -> None:
    """End this process when the server ends."""
    if sys.platform == "linux":
        kernel.prctl(kernel.PR_SET_PDEATHSIG, SIGKILL)


def confine_files(*, program: Path, readable: Iterable[Path], scratch: Path) -> bool:
    """Allow only to execute `program`, read `readable` and the libraries, and write `scratch`; no TCP.

    Returns False where the system has no Landlock.
    """
    version = kernel.landlock_abi() if sys.platform == "linux" else 0
    if version == 0:
        return False
    libraries = [sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    ruleset = landlock.build_ruleset(
        version, libraries=[*libraries, *map(str, readable)], devices=("/dev/null",), scratch=str(scratch)
    )
    descriptor = os.open(program, os.O_PATH | os.O_CLOEXEC)
    kernel.landlock_allow(ruleset, landlock.EXECUTE | landlock.READ_FILE, descriptor)
    os.close(descriptor)
    kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
    kernel.landlock_enter(ruleset)
    os.close(ruleset)
    return True


def confine_calls() -> bool:
    """Allow only the system calls of computation: no process, no socket. Returns False when that is not possible."""
    architecture = ARCHITECTURES.get(platform.machine())
    if sys.platform != "linux" or architecture is None or not kernel.seccomp_available():
        return False
    kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
    seccomp.install_filter(architecture, os.getpid())
    return True
