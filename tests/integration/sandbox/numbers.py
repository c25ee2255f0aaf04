"""Numbers of the system calls that attacks make, which the sandbox's own tables have no reason to know."""

import platform

from headgate.sandbox.guest.syscalls import ARCHITECTURES

FORBIDDEN = {
    "x86_64": {
        "connect": 42,
        "sendmsg": 46,
        "vfork": 58,
        "execve": 59,
        "ptrace": 101,
        "rt_sigqueueinfo": 129,
        "mlockall": 151,
        "mount": 165,
        "init_module": 175,
        "keyctl": 250,
        "unshare": 272,
        "perf_event_open": 298,
        "open_by_handle_at": 304,
        "setns": 308,
        "process_vm_readv": 310,
        "seccomp": 317,
        "bpf": 321,
        "userfaultfd": 323,
        "io_uring_setup": 425,
        "pidfd_getfd": 438,
    },
    "aarch64": {
        "mount": 40,
        "unshare": 97,
        "init_module": 105,
        "ptrace": 117,
        "rt_sigqueueinfo": 138,
        "connect": 203,
        "sendmsg": 211,
        "keyctl": 219,
        "execve": 221,
        "mlockall": 230,
        "perf_event_open": 241,
        "open_by_handle_at": 265,
        "setns": 268,
        "process_vm_readv": 270,
        "seccomp": 277,
        "bpf": 280,
        "userfaultfd": 282,
        "io_uring_setup": 425,
        "pidfd_getfd": 438,
    },
}
MACHINE = platform.machine()
NUMBERS: dict[str, int] = (
    ARCHITECTURES[MACHINE].numbers | FORBIDDEN[MACHINE] if MACHINE in ARCHITECTURES else {}
)  # elsewhere these tests are skipped
