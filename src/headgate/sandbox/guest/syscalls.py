"""System calls that a worker may make, as data for `seccomp.py`.

`ALLOWED` calls pass with any arguments, `GUARDED` only when one of their alternatives holds, `NETWORK` likewise for
code with connections, and `ANSWERED` return the error that makes the C library use its older path. All others are
refused with EPERM, among them execve, fork, ptrace, connect, bind, mount, unshare, memfd_create, io_uring, bpf, keyctl,
symlink, link, chmod, chown, utimensat, setrlimit, and sendmsg and recvmsg (which pass descriptors).

Numbers: `asm/unistd_64.h` for x86_64, `asm-generic/unistd.h` for aarch64, which never had the older calls.
"""

import errno
from dataclasses import dataclass
from typing import Final

SELF: Final = -1
"""Represents the worker's process id, known only when its filter is built."""
BROKER: Final = -2
"""Represents the descriptor for connection requests of a worker with network."""

ALLOWED_FOR: Final = {
    "open descriptors": """
        read write readv writev pread64 pwrite64 lseek close close_range dup dup2 dup3 pipe pipe2
        fstat fsync fdatasync ftruncate fadvise64 sendfile
    """,
    "paths, of which Landlock decides": """
        stat lstat newfstatat statx access faccessat faccessat2 getdents getdents64 getcwd chdir fchdir
        readlink readlinkat mkdir mkdirat rmdir unlink unlinkat rename renameat umask
    """,
    "memory": "mmap munmap mprotect mremap madvise brk msync",
    "waiting, and the worker's own socket": """
        poll ppoll select pselect6 epoll_create epoll_create1 epoll_ctl epoll_wait epoll_pwait epoll_pwait2
        recvfrom shutdown getsockname getpeername
    """,
    "threads": """
        futex set_robust_list get_robust_list set_tid_address rseq membarrier sched_yield
        exit exit_group restart_syscall
    """,
    "own signals, timers and clocks": """
        rt_sigaction rt_sigprocmask rt_sigreturn rt_sigpending rt_sigtimedwait rt_sigsuspend sigaltstack
        pause nanosleep clock_nanosleep clock_gettime clock_getres gettimeofday time times
    """,
    "asking who and where we are": """
        getpid gettid getppid getpgrp getuid geteuid getgid getegid getresuid getresgid getgroups
        uname sysinfo getrusage getrlimit sched_getaffinity getcpu getrandom
    """,
}
ALLOWED: Final = tuple(name for names in ALLOWED_FOR.values() for name in names.split())

ANSWERED: Final = {
    "clone3": errno.ENOSYS,  # its flags are in memory, which a filter cannot read; the C library falls back to clone
    "openat2": errno.ENOSYS,
}


@dataclass(frozen=True, slots=True)
class Check:
    """Whether argument number `argument`, under `mask`, equals `value`."""

    argument: int
    value: int
    mask: int = 0xFFFFFFFF
    null: bool = False
    """The argument is a pointer and must be null: its upper half is compared too."""


@dataclass(frozen=True, slots=True)
class Guard:
    """A call that passes when all checks of one alternative hold, else returns `error`."""

    alternatives: tuple[tuple[Check, ...], ...]
    error: int = errno.EPERM
    idle: tuple[tuple[Check, ...], ...] = ()
    """Alternatives that return success and do nothing."""


def _one_of(argument: int, *values: int) -> tuple[tuple[Check, ...], ...]:
    return tuple((Check(argument, value),) for value in values)


# openat: no unnamed files (O_TMPFILE: they would escape the disk quota) and no truncation of files opened for reading
# (Landlock before version 3 allowed it).
_WRITE_ONLY, _READ_WRITE, _TRUNCATE, _UNNAMED = 0o1, 0o2, 0o1000, 0o20000000


def _opening(flags: int) -> Guard:
    return Guard(
        (
            (Check(flags, 0, _TRUNCATE | _UNNAMED),),
            (Check(flags, _WRITE_ONLY, _WRITE_ONLY | _UNNAMED),),
            (Check(flags, _READ_WRITE, _READ_WRITE | _UNNAMED),),
        )
    )


# clone: only threads of this process: CLONE_VM and CLONE_THREAD set, every CLONE_NEW* clear.
_CLONE_VM, _CLONE_THREAD, _CLONE_NEW = 0x100, 0x10000, 0x7E020000

_AF_UNIX, _SOCK_STREAM, _SOCK_TYPE_MASK = 1, 1, 0xF

_FCNTL_COMMANDS = (
    *(0, 1030),  # F_DUPFD, F_DUPFD_CLOEXEC
    *(1, 2, 3, 4),  # F_GETFD, F_SETFD, F_GETFL, F_SETFL
)  # not F_SETOWN and F_SETSIG (signals to others), F_SETPIPE_SZ (kernel memory without bound), leases
_RECORD_LOCKS = (6, 7)
"""F_SETLK and F_SETLKW. Locks of one process never exclude one another, and no other process opens its scratch files:
they succeed without reaching the kernel, as SQLite needs. On a shared library file a lock would be a channel to workers
of other tenants, so `flock` and lock queries (F_GETLK) are refused.
"""

_IOCTL_REQUESTS = (
    0x5401,  # TCGETS: is this a terminal
    0x5413,  # TIOCGWINSZ
    0x541B,  # FIONREAD
    0x5421,  # FIONBIO: sockets without blocking
    0x5450,  # FIONCLEX
    0x5451,  # FIOCLEX
)

_PRCTL_OPTIONS = (
    15,  # PR_SET_NAME: thread names
    16,  # PR_GET_NAME
    0x53564D41,  # PR_SET_VMA: names of memory ranges, set by newer C libraries
)

_SOCKET_OPTIONS = (3, 4, 30, 38, 39)  # SO_TYPE, SO_ERROR, SO_ACCEPTCONN, SO_PROTOCOL, SO_DOMAIN; never SO_PEERPIDFD

GUARDED: Final = {
    "open": _opening(flags=1),
    "openat": _opening(flags=2),
    "clone": Guard(((Check(0, _CLONE_VM | _CLONE_THREAD, _CLONE_VM | _CLONE_THREAD | _CLONE_NEW),),)),
    "kill": Guard(_one_of(0, SELF)),
    "tgkill": Guard(_one_of(0, SELF)),
    "prlimit64": Guard(  # reading own limits, never setting any
        ((Check(0, 0), Check(2, 0, null=True)), (Check(0, SELF), Check(2, 0, null=True)))
    ),
    "fcntl": Guard(_one_of(1, *_FCNTL_COMMANDS), idle=_one_of(1, *_RECORD_LOCKS)),
    "ioctl": Guard(_one_of(1, *_IOCTL_REQUESTS), error=errno.ENOTTY),
    "prctl": Guard(_one_of(0, *_PRCTL_OPTIONS)),
    "socketpair": Guard(((Check(0, _AF_UNIX), Check(1, _SOCK_STREAM, _SOCK_TYPE_MASK)),)),  # asyncio's wake-up pipe
    "getsockopt": Guard(_one_of(2, *_SOCKET_OPTIONS)),
    "sendto": Guard(((Check(4, 0, null=True),),)),  # on connected sockets only: no destination
    "renameat2": Guard(_one_of(4, 0, 1)),  # RENAME_NOREPLACE at most
}

_TCP_FAMILIES, _TCP_PROTOCOLS = (2, 10), (0, 6)  # AF_INET, AF_INET6; the default, IPPROTO_TCP
_SET_OPTIONS = (
    *((1, 2), (1, 9), (1, 20), (1, 21)),  # SOL_SOCKET: SO_REUSEADDR, SO_KEEPALIVE, SO_RCVTIMEO, SO_SNDTIMEO
    *((6, 1), (6, 4), (6, 5), (6, 6), (6, 18)),  # TCP: NODELAY, KEEPIDLE, KEEPINTVL, KEEPCNT, USER_TIMEOUT
)

NETWORK: Final = {
    "socket": Guard(  # to be replaced by a passed connection; it cannot connect itself
        tuple(
            (Check(0, family), Check(1, _SOCK_STREAM, _SOCK_TYPE_MASK), Check(2, protocol))
            for family in _TCP_FAMILIES
            for protocol in _TCP_PROTOCOLS
        )
    ),
    "setsockopt": Guard(tuple((Check(1, level), Check(2, option)) for level, option in _SET_OPTIONS)),
    "recvmsg": Guard(((Check(0, BROKER),),)),  # receives descriptors, from the server only
}
"""Additionally allowed for workers whose code may connect, through the server, to the hosts of its manifest."""


@dataclass(frozen=True, slots=True)
class Architecture:
    """System call numbers of a processor architecture."""

    audit: int
    """AUDIT_ARCH_* of `linux/audit.h`: a call under any other is fatal."""
    numbers: dict[str, int]
    highest: int | None = None
    """Numbers from this value on belong to another ABI of the same architecture and are fatal."""


def _table(text: str) -> dict[str, int]:
    tokens = text.split()
    return dict(zip(tokens[::2], map(int, tokens[1::2]), strict=True))


ARCHITECTURES: Final = {
    "x86_64": Architecture(
        audit=0xC000003E,
        highest=0x40000000,  # the x32 ABI
        numbers=_table("""
            read 0 write 1 open 2 close 3 stat 4 fstat 5 lstat 6 poll 7 lseek 8 mmap 9 mprotect 10 munmap 11 brk 12
            rt_sigaction 13 rt_sigprocmask 14 rt_sigreturn 15 ioctl 16 pread64 17 pwrite64 18 readv 19 writev 20
            access 21 pipe 22 select 23 sched_yield 24 mremap 25 msync 26 madvise 28 dup 32 dup2 33 pause 34
            nanosleep 35 getpid 39 sendfile 40 socket 41 sendto 44 recvfrom 45
            recvmsg 47 shutdown 48 getsockname 51 getpeername 52 socketpair 53 setsockopt 54 getsockopt 55 clone 56
            exit 60 kill 62 uname 63 fcntl 72 fsync 74 fdatasync 75 ftruncate 77 getdents 78 getcwd 79 chdir 80
            fchdir 81 rename 82 mkdir 83 rmdir 84 unlink 87 readlink 89 umask 95 gettimeofday 96 getrlimit 97
            getrusage 98 sysinfo 99 times 100 getuid 102 getgid 104 geteuid 107 getegid 108 getppid 110 getpgrp 111
            getgroups 115 getresuid 118 getresgid 120 rt_sigpending 127 rt_sigtimedwait 128 rt_sigsuspend 130
            sigaltstack 131 prctl 157 gettid 186 time 201 futex 202 sched_getaffinity 204 epoll_create 213
            getdents64 217 set_tid_address 218 restart_syscall 219 fadvise64 221 clock_gettime 228 clock_getres 229
            clock_nanosleep 230 exit_group 231 epoll_wait 232 epoll_ctl 233 tgkill 234 openat 257 mkdirat 258
            newfstatat 262 unlinkat 263 renameat 264 readlinkat 267 faccessat 269 pselect6 270 ppoll 271
            set_robust_list 273 get_robust_list 274 epoll_pwait 281 epoll_create1 291 dup3 292 pipe2 293 prlimit64 302
            getcpu 309 renameat2 316 getrandom 318 membarrier 324 statx 332 rseq 334 clone3 435 close_range 436
            openat2 437 faccessat2 439 epoll_pwait2 441
        """),
    ),
    "aarch64": Architecture(
        audit=0xC00000B7,
        numbers=_table("""
            getcwd 17 epoll_create1 20 epoll_ctl 21 epoll_pwait 22 dup 23 dup3 24 fcntl 25 ioctl 29 mkdirat 34
            unlinkat 35 renameat 38 ftruncate 46 faccessat 48 chdir 49 fchdir 50 openat 56 close 57 pipe2 59
            getdents64 61 lseek 62 read 63 write 64 readv 65 writev 66 pread64 67 pwrite64 68 sendfile 71 pselect6 72
            ppoll 73 readlinkat 78 newfstatat 79 fstat 80 fsync 82 fdatasync 83 exit 93 exit_group 94 set_tid_address 96
            futex 98 set_robust_list 99 get_robust_list 100 nanosleep 101 clock_gettime 113
            clock_getres 114 clock_nanosleep 115 sched_getaffinity 123 sched_yield 124 restart_syscall 128 kill 129
            tgkill 131 sigaltstack 132 rt_sigsuspend 133 rt_sigaction 134 rt_sigprocmask 135 rt_sigpending 136
            rt_sigtimedwait 137 rt_sigreturn 139 getresuid 148 getresgid 150 times 153 getgroups 158 uname 160
            getrlimit 163 getrusage 165 umask 166 prctl 167 getcpu 168 gettimeofday 169 getpid 172 getppid 173
            getuid 174 geteuid 175 getgid 176 getegid 177 gettid 178 sysinfo 179 socket 198 socketpair 199
            getsockname 204 getpeername 205 sendto 206 recvfrom 207 setsockopt 208 getsockopt 209 shutdown 210
            recvmsg 212 brk 214 munmap 215 mremap 216 clone 220 mmap 222 fadvise64 223 mprotect 226 msync 227
            madvise 233 prlimit64 261 renameat2 276 getrandom 278 membarrier 283 statx 291 rseq 293 clone3 435
            close_range 436 openat2 437 faccessat2 439 epoll_pwait2 441
        """),
    ),
}
