"""Programs behind walls: what each may reach, and the command that starts it.

A program runs where `guest/program.py` puts it. Its connections arrive here: the launcher passes a listening socket of
the program's own network, and a proxy accepts from it, with the checks of every other outgoing connection.
"""

import asyncio
import contextlib
import os
import shutil
import socket
import sys
import tempfile
import zlib
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from headgate.foundation.guarded_http import GuardedHttp
from headgate.sandbox import libraries
from headgate.sandbox.errors import SandboxUnavailable
from headgate.sandbox.guest.namespaces import PROXY_PORT
from headgate.sandbox.guest.program import ANSWER_BYTES, NETWORK_SECONDS, TAKEN, ProgramPolicy
from headgate.sandbox.guest.scratch import remove_scratch
from headgate.sandbox.hosts import covered, read_pattern

BOOT = (
    "import sys; sys.path.insert(0, sys.argv[1]); from headgate.sandbox.guest.program import main; "
    "del sys.path[0]; main(*sys.argv[2:])"
)
FIRST_USER, USERS = 61100, 84
"""User ids without other users, after those of sandbox workers."""
_PROXY = f"http://127.0.0.1:{PROXY_PORT}"
_PROXY_VARIABLES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")
_PROXIED = {**dict.fromkeys(_PROXY_VARIABLES, _PROXY), "NODE_USE_ENV_PROXY": "1"}


@dataclass(frozen=True, slots=True)
class Access:
    """What a program may reach in addition to the system's files."""

    hosts: tuple[str, ...] = ()
    """Patterns of `sandbox.hosts`."""
    read: tuple[str, ...] = ()
    write: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Launch:
    """How to start a program: its launcher with arguments, and environment variables."""

    command: tuple[str, ...]
    environment: Mapping[str, str]


@contextlib.asynccontextmanager
async def launched(
    name: str, command: Sequence[str], access: Access, http: GuardedHttp, *, insecure: bool
) -> AsyncIterator[Launch]:
    """Prepare a program's home and network; both end with the block.

    Args:
        name: Programs with different names have different users where the server is root.
        command: The program and its arguments.
        access: What it may reach.
        http: Checks and opens its connections.
        insecure: Whether it runs as the server does where a wall is missing.

    Raises:
        SandboxUnavailable: There are no walls on Windows.
    """
    if sys.platform == "win32":
        if not insecure:
            raise SandboxUnavailable("Programs cannot be isolated on Windows.", remedy="Use a server with a URL.")
        yield Launch(tuple(command), {})
        return
    home = tempfile.mkdtemp(prefix="headgate-program-")
    user = FIRST_USER + zlib.crc32(name.encode()) % USERS if os.geteuid() == 0 else None
    async with contextlib.AsyncExitStack() as stack:
        stack.callback(_remove, Path(home))
        broker = await stack.enter_async_context(_network(home, access.hosts, http)) if access.hosts else ""
        policy = ProgramPolicy(insecure, home, access.read, access.write, user, broker)
        start = (sys.executable, "-I", "-S", "-X", "utf8", "-c", BOOT, libraries.platform_folder())
        environment = {"HOME": home, "TMPDIR": home, "USER": "program", "LOGNAME": "program", "SHELL": "/bin/sh"}
        yield Launch((*start, policy.to_json(), *command), environment | (_PROXIED if broker else {}))


@contextlib.asynccontextmanager
async def _network(home: str, hosts: Sequence[str], http: GuardedHttp) -> AsyncIterator[str]:
    """Take the listening socket of a program's network, and serve it. Yields the path of the socket that takes it."""
    patterns = [read_pattern(host) for host in hosts]
    path = f"{home}/broker"
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
        line.bind(path)
        line.listen(1)
        line.settimeout(0)

        async def serve() -> None:
            loop = asyncio.get_running_loop()
            launcher, _ = await loop.sock_accept(line)
            with launcher:
                launcher.settimeout(NETWORK_SECONDS / 2)
                try:
                    listening = await asyncio.to_thread(_listening_socket, launcher)
                    with contextlib.ExitStack() as unused:
                        unused.enter_context(listening)
                        relay = http.program_proxy(listening, lambda host, port: covered(patterns, host, port))
                        unused.pop_all()
                except OSError as error:
                    launcher.sendall(str(error).encode()[:ANSWER_BYTES])
                    return
                launcher.sendall(TAKEN)
            try:
                await asyncio.Event().wait()
            finally:
                relay.close()

        serving = asyncio.create_task(serve())
        try:
            yield path
        finally:
            serving.cancel()
            await asyncio.gather(serving, return_exceptions=True)


def _listening_socket(launcher: socket.socket) -> socket.socket:
    """Receive the socket that a program's network listens on. Raises OSError."""
    _, descriptors, _, _ = socket.recv_fds(launcher, 1, 1)
    if not descriptors:
        raise OSError("no socket arrived; the server may have too many open files")
    return socket.socket(fileno=descriptors[0])


def _remove(home: Path) -> None:
    with contextlib.suppress(OSError):
        remove_scratch(home)
    shutil.rmtree(home, ignore_errors=True)
