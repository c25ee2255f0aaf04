"""Server side of the zygote: starts it, requests workers, and receives their exits."""

import asyncio
import contextlib
import json
import socket
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from headgate.sandbox import libraries
from headgate.sandbox.errors import SandboxUnavailable, not_ready
from headgate.sandbox.guest.policy import Policy
from headgate.sandbox.guest.scratch import remove_scratch

BOOT = (
    "import sys; sys.path.insert(0, sys.argv[1]); from headgate.sandbox.guest.zygote import main; "
    "del sys.path[0]; main(int(sys.argv[2]))"
)
START_SECONDS = 60.0
STOP_SECONDS = 5.0
ANSWER_BYTES = 65536


@dataclass(slots=True)
class Launcher:
    """One running zygote. Create it with `start`; bound to the event loop it was started in."""

    process: subprocess.Popen[bytes]
    control: socket.socket
    network: bool = False
    """Whether its workers get a second socket."""
    root: Path = field(default_factory=Path)
    """The zygote's folder, which contains the workers' scratch folders."""
    alive: bool = True
    _received: bytes = b""
    _started: asyncio.Future[str] = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    _ends: dict[str, Callable[[int | None], None]] = field(default_factory=dict)

    @classmethod
    async def start(cls, policy: Policy) -> Self:
        """Start a zygote with an empty environment and wait until it can fork. Raises `SandboxUnavailable`."""
        local, remote = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        local.settimeout(0)
        try:
            process = subprocess.Popen(  # noqa: ASYNC220, S603 - our own interpreter; vfork returns within a millisecond
                [sys.executable, "-I", "-S", "-X", "utf8", "-c", BOOT, policy.platform, str(remote.fileno())],
                env=libraries.environment(),
                cwd="/",
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[remote.fileno()],
                start_new_session=True,
            )
        except OSError as error:
            local.close()
            raise SandboxUnavailable(
                f"The sandbox process did not start: {error}.",
                remedy=f"Check that {sys.executable} can be run.",
            ) from error
        finally:
            remote.close()
        launcher = cls(process, local, policy.network)
        asyncio.get_running_loop().add_reader(local.fileno(), launcher._hear)
        await launcher._begin(policy)
        return launcher

    async def _begin(self, policy: Policy) -> None:
        try:
            self.control.send(policy.to_json() + b"\n")
            self.root = Path(await asyncio.wait_for(self._started, START_SECONDS))
        except (OSError, TimeoutError) as error:
            await self.aclose()
            remedy = "The server's error output has the reason; the folder for temporary files must be writable."
            raise not_ready("The sandbox process", START_SECONDS, error, remedy) from error
        except BaseException:
            await self.aclose()
            raise

    def spawn(
        self, worker: str, slot: int, connections: Sequence[socket.socket], ended: Callable[[int | None], None]
    ) -> None:
        """Start a worker that serves the first connection and, with network, sends requests on the second.

        `ended` is called once with its exit status, None when unknown.

        Raises:
            SandboxUnavailable: The zygote ended.
        """
        order = json.dumps({"spawn": worker, "slot": slot}).encode() + b"\n"
        try:
            socket.send_fds(self.control, [order], [connection.fileno() for connection in connections])
        except OSError as error:
            self._lost()
            raise SandboxUnavailable("The sandbox process ended.", remedy="Try again.") from error
        self._ends[worker] = ended

    def kill(self, worker: str) -> None:
        """Kill a worker. Its scratch folder is removed too."""
        try:
            self.control.send(json.dumps({"kill": worker}).encode() + b"\n")
        except OSError:
            self._lost()

    async def aclose(self) -> None:
        """Stop the zygote and every worker, and wait for it."""
        self._lost()
        try:
            await asyncio.to_thread(self.process.wait, STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            await asyncio.to_thread(self.process.wait)
        if self.root.name and self.root.exists():  # left by a killed zygote
            with contextlib.suppress(OSError):
                await asyncio.to_thread(remove_scratch, self.root)

    def _hear(self) -> None:
        try:
            data = self.control.recv(ANSWER_BYTES)
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            data = b""
        if not data:
            self._lost()
            return
        *lines, self._received = (self._received + data).split(b"\n")
        for line in lines:
            self._take(json.loads(line))

    def _take(self, message: dict[str, Any]) -> None:
        if "started" in message and not self._started.done():
            self._started.set_result(message["started"])
        elif "ended" in message and (on_end := self._ends.pop(message["ended"], None)):
            on_end(message["status"])

    def _lost(self) -> None:
        """Handle the end of the zygote: there will be no further messages."""
        if not self.alive:
            return
        self.alive = False
        asyncio.get_running_loop().remove_reader(self.control.fileno())
        self.control.close()
        if not self._started.done():
            self._started.set_exception(ConnectionError("the zygote ended"))
        for on_end in self._ends.values():
            on_end(None)
        self._ends.clear()
