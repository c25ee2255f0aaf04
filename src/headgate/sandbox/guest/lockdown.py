"""Drops a worker's privileges in order. The steps cannot be reverted."""

import os
import platform
import resource
import sys
from dataclasses import dataclass
from pathlib import Path

from headgate.sandbox.guest import kernel, landlock, seccomp
from headgate.sandbox.guest.policy import Policy
from headgate.sandbox.guest.syscalls import ARCHITECTURES

SIGKILL = 9
STACK_BYTES = 8 << 20


@dataclass(frozen=True, slots=True)
class Place:
    """Resources of one worker."""

    scratch: str
    """The only writable folder."""
    user: int | None
    """User and group id to change to; None to keep the current one."""
    parent: int
    """Process id of the zygote."""
    reading_layer: int | None = None
    """An additional Landlock ruleset that all workers share."""


def lock_down(policy: Policy, place: Place, broker: int | None) -> None:
    """Apply limits and then, where the policy isolates, user, capabilities, Landlock and seccomp.

    Args:
        policy: The pool's policy.
        place: The worker's resources.
        broker: The descriptor for connection requests; None without network.

    Raises:
        OSError: The system refused a layer.
    """
    _set_limits(policy, place.user)
    _be_first_to_die()
    if not policy.isolated:
        _die_with(place.parent)
        return
    ruleset = landlock.build_ruleset(
        kernel.landlock_abi(), libraries=policy.readable, devices=policy.devices, scratch=place.scratch
    )
    if place.user is not None:
        os.setgroups([])
        os.setresgid(place.user, place.user, place.user)
        os.setresuid(place.user, place.user, place.user)
    kernel.clear_capabilities()
    kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
    kernel.prctl(kernel.PR_SET_DUMPABLE, 0)
    _die_with(place.parent)  # after the change of user, which would clear it
    for layer in (ruleset, place.reading_layer):
        if layer is not None:
            kernel.landlock_enter(layer)
            os.close(layer)
    seccomp.install_filter(ARCHITECTURES[platform.machine()], os.getpid(), broker)


def _die_with(parent: int) -> None:
    """End this process when the zygote ends, for any reason."""
    if sys.platform == "linux":
        kernel.prctl(kernel.PR_SET_PDEATHSIG, SIGKILL)
    if os.getppid() != parent:
        os._exit(0)


def _set_limits(policy: Policy, user: int | None) -> None:
    limits = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_CPU: policy.processor_seconds,
        resource.RLIMIT_FSIZE: policy.file_bytes,
        resource.RLIMIT_NOFILE: policy.open_files,
        resource.RLIMIT_STACK: STACK_BYTES,
        resource.RLIMIT_AS: policy.memory_bytes,
        resource.RLIMIT_MEMLOCK: 0,
        resource.RLIMIT_NPROC: policy.threads + (1 if user is not None else _tasks_now()),
    }
    if hasattr(resource, "RLIMIT_MSGQUEUE"):
        limits[resource.RLIMIT_MSGQUEUE] = 0
    for limit, most in limits.items():
        hard = resource.getrlimit(limit)[1]
        value = most if hard == resource.RLIM_INFINITY else min(most, hard)
        try:
            resource.setrlimit(limit, (value, value))
        except (ValueError, OSError):
            if policy.isolated:  # macOS refuses some of them
                raise


def _tasks_now() -> int:
    """The number of threads on the machine: at least those of this user, so the limit leaves little more than needed.

    The kernel counts a user's threads across all processes; counting only those would require reading all of /proc.
    """
    try:
        return int(Path("/proc/loadavg").read_text().split()[3].partition("/")[2])
    except (OSError, IndexError, ValueError):
        return 4096


def _be_first_to_die() -> None:
    """Prefer workers as victims when memory runs out, and give the server priority for the processor."""
    os.nice(5)
    try:
        Path("/proc/self/oom_score_adj").write_text("1000")
    except OSError:
        return
