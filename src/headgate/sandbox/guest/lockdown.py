"""The order in which a worker gives up its powers. Nothing of it can be taken back."""

import os
import platform
import resource
import sys
from pathlib import Path

from headgate.sandbox.guest import kernel, landlock, seccomp
from headgate.sandbox.guest.policy import Policy
from headgate.sandbox.guest.syscalls import ARCHITECTURES

SIGKILL = 9
STACK_BYTES = 8 << 20


def lock_down(policy: Policy, scratch: str, *, user: int | None, parent: int, broker: int | None) -> None:
    """Limits first, then, where the policy isolates, user, capabilities, Landlock and seccomp.

    Args:
        policy: The pool's policy.
        scratch: The only folder this worker may write in.
        user: User and group id to become; None to stay who we are.
        parent: Process id of the zygote.
        broker: The descriptor on which it may ask for connections; None for none.

    Raises:
        OSError: A layer was refused by the system.
    """
    _set_limits(policy, user)
    _be_first_to_die()
    if not policy.isolated:
        _die_with(parent)
        return
    ruleset = landlock.build_ruleset(
        kernel.landlock_abi(), libraries=policy.readable, devices=policy.devices, scratch=scratch
    )
    if user is not None:
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    kernel.clear_capabilities()
    kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
    kernel.prctl(kernel.PR_SET_DUMPABLE, 0)
    _die_with(parent)  # after the change of user, which would clear it
    kernel.landlock_enter(ruleset)
    os.close(ruleset)
    seccomp.install_filter(ARCHITECTURES[platform.machine()], os.getpid(), broker)


def _die_with(parent: int) -> None:
    """End when the zygote ends, however it ends."""
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
    for limit, wanted in limits.items():
        hard = resource.getrlimit(limit)[1]
        value = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        try:
            resource.setrlimit(limit, (value, value))
        except (ValueError, OSError):
            if policy.isolated:  # macOS refuses some of them
                raise


def _tasks_now() -> int:
    """Threads on the whole machine: no fewer than this user has, so the limit leaves room for ours and little more.

    The kernel counts a user's threads over all of his processes; counting just his would mean reading all of /proc.
    """
    try:
        return int(Path("/proc/loadavg").read_text().split()[3].partition("/")[2])
    except (OSError, IndexError, ValueError):
        return 4096


def _be_first_to_die() -> None:
    """When memory runs out the kernel takes a worker, never the server; and workers yield the processor to it."""
    os.nice(5)
    try:
        Path("/proc/self/oom_score_adj").write_text("1000")
    except OSError:
        return
