"""System calls that a program may not make, as data for `seccomp.py`.

Programs such as those of Node.js need most calls, so the others are listed here: those that would leave the walls
(namespaces, mounts, other processes, kernel interfaces that no filter sees into) and those that outlive the program
(System V objects, kernel keys). `BY_PATH` adds, where a program shares user and mounts with the server, changes of
modes, owners and times by path, which Landlock does not control.

Numbers: `asm/unistd_64.h` for x86_64, `asm-generic/unistd.h` for aarch64.
"""

import errno
from typing import Final

from headgate.sandbox.guest.syscalls import Check, Guard

_AF_INET, _AF_INET6 = 2, 10
_CLONE_NEW = 0x7E020000
_ABSENT: Final = ("io_uring_setup", "io_uring_enter", "io_uring_register", "clone3")
"""Programs use another way when these are missing. A filter cannot see what they do."""

GUARDED: Final = {"clone": Guard(((Check(0, 0, _CLONE_NEW),),))}
"""No clone with a new namespace."""
WITH_NETWORK: Final = Guard(((Check(0, _AF_INET),), (Check(0, _AF_INET6),)), error=errno.EAFNOSUPPORT)
"""Sockets of a network namespace; never Unix sockets, by which files reach services of the system."""
WITHOUT_NETWORK: Final = Guard((), error=errno.EAFNOSUPPORT)

DENIED: Final = {
    "x86_64": """
        ptrace 101 process_vm_readv 310 process_vm_writev 311 process_madvise 440 kcmp 312 pidfd_getfd 438
        unshare 272 setns 308 mount 165 umount2 166 pivot_root 155 chroot 161 open_tree 428 move_mount 429 fsopen 430
        fsconfig 431 fsmount 432 fspick 433 mount_setattr 442 open_by_handle_at 304 name_to_handle_at 303
        bpf 321 perf_event_open 298 userfaultfd 323 io_uring_setup 425 io_uring_enter 426 io_uring_register 427
        clone3 435 add_key 248 request_key 249 keyctl 250 shmget 29 semget 64 msgget 68 mq_open 240
        kexec_load 246 kexec_file_load 320 init_module 175 finit_module 313 delete_module 176 reboot 169
        swapon 167 swapoff 168 acct 163 quotactl 179 quotactl_fd 443 syslog 103 vhangup 153 lookup_dcookie 212
        settimeofday 164 clock_settime 227 adjtimex 159 clock_adjtime 305 sethostname 170 setdomainname 171
        iopl 172 ioperm 173 personality 135 fanotify_init 300 move_pages 279 migrate_pages 256
    """,
    "aarch64": """
        ptrace 117 process_vm_readv 270 process_vm_writev 271 process_madvise 440 kcmp 272 pidfd_getfd 438
        unshare 97 setns 268 mount 40 umount2 39 pivot_root 41 chroot 51 open_tree 428 move_mount 429 fsopen 430
        fsconfig 431 fsmount 432 fspick 433 mount_setattr 442 open_by_handle_at 265 name_to_handle_at 264
        bpf 280 perf_event_open 241 userfaultfd 282 io_uring_setup 425 io_uring_enter 426 io_uring_register 427
        clone3 435 add_key 217 request_key 218 keyctl 219 shmget 194 semget 190 msgget 186 mq_open 180
        kexec_load 104 kexec_file_load 294 init_module 105 finit_module 273 delete_module 106 reboot 142
        swapon 224 swapoff 225 acct 89 quotactl 60 quotactl_fd 443 syslog 116 vhangup 58 lookup_dcookie 18
        settimeofday 170 clock_settime 112 adjtimex 171 clock_adjtime 266 sethostname 161 setdomainname 162
        personality 92 fanotify_init 262 move_pages 239 migrate_pages 238
    """,
}
BY_PATH: Final = {
    "x86_64": """
        chmod 90 fchmodat 268 fchmodat2 452 chown 92 lchown 94 fchownat 260 utime 132 utimes 235 futimesat 261
        utimensat 280 setxattr 188 lsetxattr 189 removexattr 197 lremovexattr 198 setxattrat 463 removexattrat 466
    """,
    "aarch64": """
        fchmodat 53 fchmodat2 452 fchownat 54 utimensat 88 setxattr 5 lsetxattr 6 removexattr 14 lremovexattr 15
        setxattrat 463 removexattrat 466
    """,
}


def denied_calls(machine: str, *, own_files: bool) -> dict[int, int]:
    """Return the error by number of each denied call. `own_files`: whether it can change no other files."""
    tokens = (DENIED[machine] + ("" if own_files else BY_PATH[machine])).split()
    names = zip(tokens[::2], map(int, tokens[1::2]), strict=True)
    return {number: errno.ENOSYS if name in _ABSENT else errno.EPERM for name, number in names}
