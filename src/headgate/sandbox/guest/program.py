"""Starts a program behind walls, and passes on what it writes: `main(POLICY, COMMAND...)` with the server's user.

The program gets namespaces of its own where the system allows them, a user of its own where the server is root,
Landlock and seccomp. It reads the system's files and its declared folders, writes its home and its declared folders,
and reaches no network: connections go through an HTTP proxy, whose listening socket the server gets from here.
"""

import json
import os
import platform
import selectors
import shutil
import socket
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from headgate.sandbox.guest import kernel, landlock, namespaces, seccomp
from headgate.sandbox.guest.syscalls import ARCHITECTURES

if sys.platform != "win32":
    import resource

SYSTEM_FOLDERS = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/opt", "/nix/store"),
    "/sys/devices/system/cpu",
)
SYSTEM_FILES = tuple(
    f"/etc/{name}"
    for name in (
        *("alternatives", "ca-certificates", "ca-certificates.conf", "crypto-policies", "fonts", "gai.conf", "group"),
        *("host.conf", "hosts", "ld.so.cache", "ld.so.conf", "ld.so.conf.d", "locale.alias", "locale.conf"),
        *("localtime", "magic", "mime.types", "nsswitch.conf", "os-release", "passwd", "pki/tls/certs"),
        *("pki/ca-trust", "protocols", "resolv.conf", "services", "ssl/certs", "ssl/openssl.cnf", "timezone"),
    )
)
DEVICES = ("/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom")
SIGNALS_SINCE = 6
"""The version of Landlock that refuses signals to processes outside, where there is no process namespace."""
DATA_BYTES = 4 << 30
FILE_BYTES = 1 << 30
OPEN_FILES = 1024
PROCESSES = 128
LINE_BYTES = 32 << 20
"""Maximum size of one message."""
ERROR_BYTES = 1 << 20
"""Maximum of what is passed on of standard error."""
PIECE_BYTES = 1 << 16
NETWORK_SECONDS = 20.0
"""How long the server may need to take the socket of the program's network."""
TAKEN = b"1"
"""The server's answer when it serves the network; any other is its reason."""
ANSWER_BYTES = 1024
REFUSED, NOT_FOUND = 126, 127
_EXPECTED = (
    "A program must be in a folder of the system or in a declared one, and readable to other users when Headgate runs "
    "as root"
)
SIGKILL = 9


@dataclass(frozen=True, slots=True)
class ProgramPolicy:
    """What a program may reach."""

    insecure: bool
    """Whether it runs as the server does where a wall is missing, since the operator accepts that."""
    home: str
    """An empty folder."""
    readable: tuple[str, ...]
    """Folders in addition to those of the system."""
    writable: tuple[str, ...]
    user: int | None
    """User and group when the server is root."""
    broker: str
    """The Unix socket that takes the proxy's listening socket; empty without network."""

    def to_json(self) -> str:
        """Return one line."""
        return json.dumps(asdict(self))


@dataclass(frozen=True, slots=True)
class Walls:
    """The walls of a program."""

    isolated: bool = False
    """Whether Landlock, seccomp and, where the server is root, another user apply."""
    namespaces: bool = False
    """Whether it has separate namespaces."""


class RefusedError(Exception):
    """The program is not started; the text says why."""


def main(policy_json: str, *command: str) -> None:
    """Run the program until it ends, and exit with its status."""
    members: dict[str, Any] = json.loads(policy_json)
    policy = ProgramPolicy(**members)
    try:
        status = _run(policy, command)
    except RefusedError as error:
        _report(str(error))
        status = REFUSED
    except OSError as error:
        _report(f"its walls could not be set up: {error}")
        status = REFUSED
    os._exit(status)


def _run(policy: ProgramPolicy, command: tuple[str, ...]) -> int:
    path = shutil.which(command[0])
    if path is None:
        _report(f"could not be started: No such file: {command[0]}")
        return NOT_FOUND
    walls = walls_here(hosts=bool(policy.broker), insecure=policy.insecure)
    if walls.namespaces:
        namespaces.enter()
        namespaces.start_loopback()
        if policy.broker:
            _hand_over(policy.broker)
        namespaces.make_mounts_read_only(policy.writable)
        namespaces.mount_home(policy.home, os.geteuid() if policy.user is None else policy.user)
    elif policy.user is not None and walls.isolated:
        os.chown(policy.home, policy.user, policy.user)
    (out, into_out), (err, into_err) = os.pipe(), os.pipe()
    launcher = os.getpid()
    child = os.fork()
    if child == 0:
        try:
            for source, standard in ((into_out, 1), (into_err, 2)):
                os.dup2(source, standard)
            os.closerange(3, OPEN_FILES)
            _become(policy, walls, launcher)
            os.execv(path, command)  # noqa: S606 - the program of an admin, behind its walls
        except OSError as error:
            _report(f"could not be started: {error.strerror}: {path}. {_EXPECTED}")
        finally:
            os._exit(REFUSED)
    for descriptor in (into_out, into_err):
        os.close(descriptor)
    os.dup2(os.open(os.devnull, os.O_RDWR), 0)
    _pass_on(child, out, err)
    return _exit_code(os.waitpid(child, 0)[1])


def walls_here(*, hosts: bool, insecure: bool) -> Walls:
    """Return the walls that this system has. Raises `RefusedError` when they are too few.

    Args:
        hosts: Whether the program has a network.
        insecure: Whether it may do without.
    """
    version = kernel.landlock_abi() if sys.platform == "linux" else 0
    if version == 0 or not kernel.seccomp_available() or platform.machine() not in ARCHITECTURES:
        missing = "it needs Linux with Landlock and seccomp"
    elif namespaces.are_possible():
        return Walls(isolated=True, namespaces=True)
    elif hosts:
        missing = "without namespaces a program can have no network: allow user namespaces, or declare no hosts"
    elif version < SIGNALS_SINCE:
        missing = "it gives the server no namespaces, and its Landlock (before Linux 6.12) refuses no signals"
    else:
        return Walls(isolated=True)
    if insecure:
        return Walls()
    raise RefusedError(
        f"this system cannot isolate the program: {missing}; or, where every user who may register programs is "
        "trusted, set HEADGATE_SANDBOX__INSECURE=true"
    )


def _hand_over(broker: str) -> None:
    """Give the server the socket that it accepts this network's connections from. Raises `RefusedError`, OSError."""
    with namespaces.listening_socket() as listening, socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
        line.settimeout(NETWORK_SECONDS)
        line.connect(broker)
        socket.send_fds(line, [b"1"], [listening.fileno()])
        answer = line.recv(ANSWER_BYTES)
    if answer != TAKEN:
        reason = answer.decode(errors="replace") or "the server did not take its socket"
        raise RefusedError(f"its network could not be set up: {reason}")


def _become(policy: ProgramPolicy, walls: Walls, launcher: int) -> None:
    """Drop everything that the program may not have. Raises OSError."""
    has_own_processes = walls.namespaces and namespaces.mount_processes()
    _limit(policy.user if walls.isolated else None)
    if walls.isolated:
        version = kernel.landlock_abi()
        processes = ("/proc",) if has_own_processes else ("/proc/cpuinfo", "/proc/meminfo", "/proc/stat")
        grants = (
            ((*SYSTEM_FOLDERS, *SYSTEM_FILES, *policy.readable), landlock.PROGRAM),
            (processes, landlock.LIBRARY),
            (DEVICES, landlock.DEVICE),
            ((policy.home, *policy.writable), landlock.OWN),
        )
        ruleset = landlock.build_granting(version, grants, connects=walls.namespaces)
        if policy.user is not None:
            os.setgroups([])
            os.setresgid(policy.user, policy.user, policy.user)
            os.setresuid(policy.user, policy.user, policy.user)
        kernel.clear_capabilities()
        kernel.prctl(kernel.PR_SET_NO_NEW_PRIVS, 1)
    if sys.platform == "linux":
        kernel.prctl(kernel.PR_SET_PDEATHSIG, SIGKILL)  # after the change of user, which clears it
    if not walls.namespaces and os.getppid() != launcher:
        os._exit(0)
    if walls.isolated:
        kernel.landlock_enter(ruleset)
        os.close(ruleset)
        own_files = walls.namespaces or policy.user is not None
        calls = seccomp.build_program_filter(platform.machine(), network=walls.namespaces, own_files=own_files)
        kernel.install_seccomp(seccomp.pack_filter(calls))
    os.chdir(policy.home)


def _limit(user: int | None) -> None:
    tasks = 0 if user is not None else int(Path("/proc/loadavg").read_text().split()[3].partition("/")[2])
    limits = {
        resource.RLIMIT_CORE: 0,
        resource.RLIMIT_DATA: DATA_BYTES,
        resource.RLIMIT_FSIZE: FILE_BYTES,
        resource.RLIMIT_NOFILE: OPEN_FILES,
        resource.RLIMIT_NPROC: PROCESSES + tasks,
    }
    for limit, most in limits.items():
        hard = resource.getrlimit(limit)[1]
        value = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(limit, (value, value))
    os.nice(5)
    Path("/proc/self/oom_score_adj").write_text("1000")


def _pass_on(child: int, out: int, err: int) -> None:
    """Copy output until both ends are closed. A message without an end would fill the server: it ends the program."""
    length = errors = 0
    with selectors.DefaultSelector() as selector:
        for source in (out, err):
            selector.register(source, selectors.EVENT_READ)
        while selector.get_map():
            for key, _ in selector.select():
                piece = os.read(key.fd, PIECE_BYTES)
                if not piece:
                    selector.unregister(key.fd)
                elif key.fd == err:
                    _write(2, piece[: max(0, ERROR_BYTES - errors)])
                    errors += len(piece)
                else:
                    *ended, last = piece.split(b"\n")
                    length = len(last) if ended else length + len(piece)
                    if length > LINE_BYTES:
                        _report(f"its message is longer than {LINE_BYTES} bytes")
                        os.kill(child, SIGKILL)
                        return
                    _write(1, piece)


def _write(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


def _exit_code(status: int) -> int:
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


def _report(problem: str) -> None:
    sys.stderr.write(f"{problem}.\n")
    sys.stderr.flush()
