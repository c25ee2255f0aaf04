import ctypes.util
import errno
import os
import re
import socket
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.sandbox.guest.denied import denied_calls
from headgate.sandbox.guest.seccomp import (
    ALLOW,
    ANSWER,
    KILL,
    RETURN,
    build_filter,
    build_program_filter,
    pack_filter,
)
from headgate.sandbox.guest.syscalls import ALLOWED, ANSWERED, ARCHITECTURES, GUARDED, NETWORK
from tests.unit.sandbox.bpf import run_filter

PROCESS = 4711
REFUSED = ANSWER | errno.EPERM
PROGRAMS = {name: build_filter(architecture, PROCESS) for name, architecture in ARCHITECTURES.items()}
BROKER = 5
CONNECTED = {name: build_filter(architecture, PROCESS, BROKER) for name, architecture in ARCHITECTURES.items()}

OLDER_CALLS = {
    *(
        "access",
        "dup2",
        "epoll_create",
        "epoll_wait",
        "getdents",
        "getpgrp",
        "lstat",
        "mkdir",
        "open",
        "pause",
    ),
    *("pipe", "poll", "readlink", "rename", "rmdir", "select", "stat", "time", "unlink"),
}
DANGEROUS = """
    execve execveat fork vfork ptrace socket connect bind listen accept sendmsg recvmsg setsockopt mount umount2
    unshare setns chroot memfd_create io_uring_setup bpf keyctl add_key symlink symlinkat link linkat chmod fchmod
    fchmodat chown fchownat utimensat setxattr setuid setresuid setrlimit process_vm_readv pidfd_open
    pidfd_send_signal truncate userfaultfd perf_event_open open_by_handle_at seccomp sched_setaffinity setpriority
    mknod mknodat fallocate flock alarm setitimer timer_create timerfd_create
"""

both = pytest.mark.parametrize("machine", sorted(ARCHITECTURES))


def decide(machine: str, call: str | int, *arguments: int, connected: bool = False) -> int:
    architecture = ARCHITECTURES[machine]
    number = architecture.numbers[call] if isinstance(call, str) else call
    program = (CONNECTED if connected else PROGRAMS)[machine]
    return run_filter(program, audit=architecture.audit, number=number, arguments=arguments)


@both
class TestBuildFilter:
    def test_lets_through_what_is_allowed(self, machine: str) -> None:
        known = [name for name in ALLOWED if name in ARCHITECTURES[machine].numbers]
        assert {name: decide(machine, name) for name in known} == dict.fromkeys(known, ALLOW)

    def test_refuses_every_number_that_is_not_listed(self, machine: str) -> None:
        listed = set(ARCHITECTURES[machine].numbers.values())
        unlisted = [number for number in range(600) if number not in listed]
        assert {decide(machine, number) for number in unlisted} == {REFUSED}

    def test_kills_on_a_foreign_architecture(self, machine: str) -> None:
        foreign = 0x40000003  # 32-bit x86, whose numbers mean other calls
        assert run_filter(PROGRAMS[machine], audit=foreign, number=1) == KILL

    def test_tells_the_c_library_to_take_its_older_path(self, machine: str) -> None:
        assert {name: decide(machine, name) for name in ANSWERED} == dict.fromkeys(ANSWERED, ANSWER | errno.ENOSYS)

    def test_never_jumps_further_than_a_byte_or_out_of_the_program(self, machine: str) -> None:
        program = PROGRAMS[machine]
        for place, step in enumerate(program):
            assert max(step.holds, step.fails) < 256
            assert place + 1 + max(step.holds, step.fails) < len(program) or step.code == RETURN

    def test_fits_the_kernels_limit(self, machine: str) -> None:
        assert len(PROGRAMS[machine]) <= 4096
        assert len(pack_filter(PROGRAMS[machine])) == 8 * len(PROGRAMS[machine])


@both
class TestGuards:
    @pytest.mark.parametrize(
        ("flags", "verdict"),
        [
            (0x3D0F00, ALLOW),  # what a thread is made with
            (0x7D0F00, ALLOW),  # and by musl
            (0x11, REFUSED),  # fork
            (0x4111, REFUSED),  # vfork
            (0x100, REFUSED),  # a process that shares memory
            (0x3D0F00 | 0x10000000, REFUSED),  # a thread in a new user namespace
            (0x3D0F00 | 0x20000, REFUSED),  # in a new mount namespace
        ],
    )
    def test_clone_makes_threads_only(self, machine: str, flags: int, verdict: int) -> None:
        assert decide(machine, "clone", flags) == verdict

    @pytest.mark.parametrize("call", ["kill", "tgkill"])
    @pytest.mark.parametrize(("target", "verdict"), [(PROCESS, ALLOW), (1, REFUSED), (0, REFUSED), (-1, REFUSED)])
    def test_signals_reach_the_worker_itself_only(self, machine: str, call: str, target: int, verdict: int) -> None:
        assert decide(machine, call, target, 9) == verdict

    def test_limits_can_be_read_and_not_set(self, machine: str) -> None:
        assert decide(machine, "prlimit64", 0, 7, 0, 0x7FFF_0000_1000) == ALLOW
        assert decide(machine, "prlimit64", PROCESS, 7, 0, 0x7FFF_0000_1000) == ALLOW
        assert decide(machine, "prlimit64", 0, 7, 0x7FFF_0000_1000) == REFUSED
        assert decide(machine, "prlimit64", 0, 7, 1 << 32) == REFUSED, "an address whose lower half is zero"
        assert decide(machine, "prlimit64", 1, 7, 0) == REFUSED

    @pytest.mark.parametrize(
        ("flags", "verdict"),
        [
            (os.O_RDONLY, ALLOW),
            (os.O_RDONLY | os.O_CLOEXEC, ALLOW),
            (os.O_WRONLY | os.O_CREAT | os.O_TRUNC, ALLOW),
            (os.O_RDWR | os.O_TRUNC, ALLOW),
            (os.O_RDONLY | os.O_TRUNC, REFUSED),
            (os.O_RDWR | 0o20000000, REFUSED),
            (os.O_WRONLY | os.O_TRUNC | 0o20000000, REFUSED),
        ],
    )
    def test_openat_makes_no_unnamed_files_and_truncates_nothing_it_only_reads(
        self, machine: str, flags: int, verdict: int
    ) -> None:
        assert decide(machine, "openat", -100, 0, flags) == verdict

    def test_sockets_are_connected_pairs_only(self, machine: str) -> None:
        assert decide(machine, "socketpair", socket.AF_UNIX, socket.SOCK_STREAM | 0o2004000) == ALLOW
        assert decide(machine, "socketpair", socket.AF_UNIX, socket.SOCK_DGRAM) == REFUSED
        assert decide(machine, "socketpair", socket.AF_INET, socket.SOCK_STREAM) == REFUSED

    def test_getsockopt_hands_out_no_process(self, machine: str) -> None:
        assert decide(machine, "getsockopt", 3, socket.SOL_SOCKET, socket.SO_TYPE) == ALLOW
        assert {decide(machine, "getsockopt", 3, socket.SOL_SOCKET, option) for option in (17, 31, 77)} == {REFUSED}

    def test_sendto_names_no_destination(self, machine: str) -> None:
        assert decide(machine, "sendto", 3, 0, 10, 0, 0) == ALLOW
        assert decide(machine, "sendto", 3, 0, 10, 0, 0x7FFF_0000_0000) == REFUSED
        assert decide(machine, "sendto", 3, 0, 10, 0, 1 << 32) == REFUSED

    def test_fcntl_sends_no_signals_and_grows_no_pipes(self, machine: str) -> None:
        assert decide(machine, "fcntl", 3, 1030) == ALLOW
        assert {decide(machine, "fcntl", 3, command) for command in (8, 10, 1024, 1031)} == {REFUSED}

    def test_record_locks_succeed_without_reaching_the_kernel(self, machine: str) -> None:
        assert {decide(machine, "fcntl", 3, command) for command in (6, 7)} == {ANSWER}
        assert {decide(machine, "fcntl", 3, command) for command in (5, 36, 37, 38)} == {REFUSED}

    def test_ioctl_asks_whether_a_descriptor_is_a_terminal_and_little_else(self, machine: str) -> None:
        assert decide(machine, "ioctl", 0, 0x5401) == ALLOW
        assert decide(machine, "ioctl", 0, 0x5412) == ANSWER | errno.ENOTTY  # TIOCSTI types for the terminal's owner

    def test_prctl_names_things_and_changes_no_powers(self, machine: str) -> None:
        assert decide(machine, "prctl", 15) == ALLOW
        assert {decide(machine, "prctl", option) for option in (1, 4, 22, 23, 38)} == {REFUSED}

    def test_renameat2_exchanges_nothing(self, machine: str) -> None:
        assert decide(machine, "renameat2", -100, 0, -100, 0, 0) == ALLOW
        assert decide(machine, "renameat2", -100, 0, -100, 0, 2) == REFUSED

    @given(number=st.integers(0, 2**32 - 1), arguments=st.lists(st.integers(0, 2**64 - 1), max_size=6))
    def test_any_call_ends_in_a_verdict(self, machine: str, number: int, arguments: list[int]) -> None:
        verdict = decide(machine, number, *arguments)
        assert verdict in {ALLOW, KILL, REFUSED, ANSWER | errno.ENOSYS, ANSWER | errno.ENOTTY}


@both
class TestNetwork:
    """What is let through in addition where code may have connections, and nowhere else."""

    @pytest.mark.parametrize("call", sorted(NETWORK))
    def test_is_refused_to_everybody_else(self, machine: str, call: str) -> None:
        allowed = {"socket": (2, 1, 6), "setsockopt": (3, 6, 1), "recvmsg": (BROKER,)}[call]
        assert decide(machine, call, *allowed, connected=True) == ALLOW
        assert decide(machine, call, *allowed) == REFUSED

    @pytest.mark.parametrize(
        "arguments",
        [
            (socket.AF_INET, socket.SOCK_DGRAM, 0),
            (socket.AF_INET, socket.SOCK_RAW, 6),
            (socket.AF_INET, socket.SOCK_STREAM, 262),  # IPPROTO_MPTCP
            (socket.AF_INET, socket.SOCK_STREAM, 132),  # IPPROTO_SCTP
            (socket.AF_UNIX, socket.SOCK_STREAM, 0),
            (socket.AF_NETLINK, socket.SOCK_STREAM, 0),
            (socket.AF_VSOCK, socket.SOCK_STREAM, 0),
            (38, socket.SOCK_STREAM, 0),  # AF_ALG
        ],
    )
    def test_makes_tcp_sockets_only(self, machine: str, arguments: tuple[int, ...]) -> None:
        assert decide(machine, "socket", *arguments, connected=True) == REFUSED
        assert decide(machine, "socket", socket.AF_INET6, socket.SOCK_STREAM | 0o2004000, 6, connected=True) == ALLOW

    def test_takes_descriptors_from_the_broker_only(self, machine: str) -> None:
        assert {decide(machine, "recvmsg", number, connected=True) for number in range(20) if number != BROKER} == {
            REFUSED
        }

    @pytest.mark.parametrize(
        ("level", "option"),
        [(1, 25), (1, 36), (1, 8), (1, 33), (6, 31), (6, 30), (6, 19), (6, 13), (0, 1), (41, 1), (6, 23)],
    )  # BINDTODEVICE, MARK, RCVBUF, RCVBUFFORCE, ULP, FASTOPEN_CONNECT, REPAIR, CONGESTION, IP_TOS, ..., FASTOPEN
    def test_sets_harmless_options_only(self, machine: str, level: int, option: int) -> None:
        assert decide(machine, "setsockopt", 3, level, option, connected=True) == REFUSED

    @pytest.mark.parametrize("call", ["execve", "connect", "bind", "listen", "accept", "sendmsg", "sendmmsg"])
    def test_leads_nowhere_by_itself(self, machine: str, call: str) -> None:
        numbers = {
            "x86_64": {
                "connect": 42,
                "accept": 43,
                "sendmsg": 46,
                "bind": 49,
                "listen": 50,
                "execve": 59,
                "sendmmsg": 307,
            },
            "aarch64": {
                "bind": 200,
                "listen": 201,
                "accept": 202,
                "connect": 203,
                "sendmsg": 211,
                "execve": 221,
                "sendmmsg": 269,
            },
        }
        assert decide(machine, numbers[machine][call], 3, connected=True) == REFUSED

    def test_sends_to_nobody_by_name(self, machine: str) -> None:
        fast_open = 0x20000000
        assert decide(machine, "sendto", 3, 0, 10, fast_open, 0x7FFF_0000_0000, 16, connected=True) == REFUSED


class TestX32:
    def test_numbers_of_the_other_abi_are_fatal(self) -> None:
        assert decide("x86_64", 0x40000000) == KILL
        assert decide("x86_64", 0x40000000 + 59) == KILL


class TestTables:
    @both
    def test_name_every_call_they_speak_of(self, machine: str) -> None:
        spoken_of = {*ALLOWED, *GUARDED, *NETWORK, *ANSWERED}
        assert set(ARCHITECTURES[machine].numbers) <= spoken_of
        assert spoken_of <= set(ARCHITECTURES["x86_64"].numbers)

    def test_leave_out_on_arm64_only_what_it_never_had(self) -> None:
        missing = set(ARCHITECTURES["x86_64"].numbers) - set(ARCHITECTURES["aarch64"].numbers)
        assert missing == OLDER_CALLS

    @both
    def test_number_no_two_calls_alike(self, machine: str) -> None:
        numbers = list(ARCHITECTURES[machine].numbers.values())
        assert len(numbers) == len(set(numbers))

    @pytest.mark.parametrize(
        ("machine", "header", "pattern"),
        [
            ("x86_64", "/usr/include/x86_64-linux-gnu/asm/unistd_64.h", r"#define __NR_(\w+) (\d+)"),
            ("aarch64", "/usr/include/asm-generic/unistd.h", r"#define __NR(?:3264)?_(\w+)\s+(\d+)"),
        ],
    )
    def test_agree_with_the_kernels_headers(self, machine: str, header: str, pattern: str) -> None:
        if not Path(header).exists():
            pytest.skip("the kernel's headers are not installed")
        numbers = {name: int(number) for name, number in re.findall(pattern, Path(header).read_text())}
        if machine == "aarch64":
            numbers["newfstatat"] = numbers["fstatat"]  # one call, two names
        ours = ARCHITECTURES[machine].numbers
        assert ours == {name: numbers[name] for name in ours}

    @both
    def test_agree_with_libseccomp(self, machine: str) -> None:
        """A second source for both: the library that container engines build their filters with."""
        name = ctypes.util.find_library("seccomp")
        if name is None:
            pytest.skip("libseccomp is not installed")
        library = ctypes.CDLL(name)
        library.seccomp_arch_resolve_name.restype = ctypes.c_uint32
        architecture = ARCHITECTURES[machine]
        assert library.seccomp_arch_resolve_name(machine.encode()) == architecture.audit
        resolve = library.seccomp_syscall_resolve_name_arch
        numbers = {call: resolve(ctypes.c_uint32(architecture.audit), call.encode()) for call in architecture.numbers}
        assert architecture.numbers == numbers

    def test_let_nothing_dangerous_through(self) -> None:
        assert {*DANGEROUS.split()} & {*ALLOWED, *GUARDED} == set()


@both
@pytest.mark.parametrize("network", [False, True])
class TestBuildProgramFilter:
    def outcome(self, machine: str, number: int, *arguments: int, network: bool, own_files: bool = False) -> int:
        program = build_program_filter(machine, network=network, own_files=own_files)
        return run_filter(program, audit=ARCHITECTURES[machine].audit, number=number, arguments=arguments)

    def test_lets_through_what_workers_may_do(self, machine: str, *, network: bool) -> None:
        numbers = ARCHITECTURES[machine].numbers
        known = [name for name in ALLOWED if name in numbers]
        assert {self.outcome(machine, numbers[name], network=network) for name in known} == {ALLOW}

    def test_refuses_every_denied_call(self, machine: str, *, network: bool) -> None:
        for own_files in (False, True):
            calls = denied_calls(machine, own_files=own_files)
            outcomes = {number: self.outcome(machine, number, network=network, own_files=own_files) for number in calls}
            assert outcomes == {number: ANSWER | error for number, error in calls.items()}
        by_path = denied_calls(machine, own_files=False).keys() - denied_calls(machine, own_files=True).keys()
        assert {self.outcome(machine, number, network=network, own_files=True) for number in by_path} == {ALLOW}

    def test_refuses_namespaces_and_unix_sockets(self, machine: str, *, network: bool) -> None:
        numbers = ARCHITECTURES[machine].numbers
        assert self.outcome(machine, numbers["clone"], 0x3D0F00, network=network) == ALLOW
        for flag in (0x20000, 0x8000000, 0x10000000, 0x20000000, 0x40000000):
            assert self.outcome(machine, numbers["clone"], 0x3D0F00 | flag, network=network) == REFUSED
        families = {
            family: self.outcome(machine, numbers["socket"], family, 1, network=network) for family in range(45)
        }
        reached = {family for family, outcome in families.items() if outcome == ALLOW}
        assert reached == ({2, 10} if network else set())
        assert self.outcome(machine, numbers["socketpair"], 1, 1, network=network) == ALLOW

    def test_kills_on_a_foreign_architecture(self, machine: str, *, network: bool) -> None:
        program = build_program_filter(machine, network=network, own_files=True)
        assert run_filter(program, audit=0x40000003, number=1) == KILL
        assert all(0 <= step.holds < 256 and 0 <= step.fails < 256 for step in program)
