"""The server's side of one worker: its socket, its life, its watchdog."""

import asyncio
import contextlib
import os
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Self

import orjson

from headgate.sandbox.errors import SandboxUnavailable
from headgate.sandbox.guest.wire import HEADER_BYTES, frame_length, pack
from headgate.sandbox.limits import Limits
from headgate.sandbox.workers.launcher import Launcher
from headgate.sandbox.workers.request import Owner

READY_SECONDS = 20.0
READY_BYTES = 4096
END_SECONDS = 2.0


class Worker:
    """A locked-down process that runs one piece of code in one execution. Make it with `start`."""

    def __init__(self, name: str, slot: int, launcher: Launcher) -> None:
        self.name = name
        self.slot = slot
        self.launcher = launcher
        self.scratch = launcher.root / name
        self.process = 0
        self.calls = 0
        self.owner: Owner | None = None
        """What it belongs to from its first call on."""
        self.idle_since = 0.0
        self.status: asyncio.Future[int | None] = asyncio.get_running_loop().create_future()
        """Exit status once it has ended: negative for a signal, None when unknown."""
        self.broker: socket.socket | None = None
        """Our end of the socket on which it asks for connections."""
        self._reader: asyncio.StreamReader
        self._writer: asyncio.StreamWriter

    @classmethod
    async def start(cls, launcher: Launcher, name: str, slot: int, on_end: Callable[[], None]) -> Self:
        """Fork, lock down and wait until it is ready. `on_end` is called once, also when this fails.

        Raises:
            SandboxUnavailable: A layer was refused by the system, or the zygote is gone.
        """
        worker = cls(name, slot, launcher)
        worker.status.add_done_callback(lambda _status: on_end())
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            with theirs, worker._broker_pair() as further:
                launcher.spawn(name, slot, [theirs, *further], worker._ended)
        except SandboxUnavailable:
            ours.close()
            worker._hang_up()
            worker._ended(None)
            raise
        worker._reader, worker._writer = await asyncio.open_unix_connection(sock=ours)
        try:
            await worker._await_readiness()
        except BaseException:
            worker.kill()
            raise
        return worker

    @contextlib.contextmanager
    def _broker_pair(self) -> Iterator[list[socket.socket]]:
        """The worker's end of a second socket, where its zygote's workers have network."""
        if not self.launcher.network:
            yield []
            return
        self.broker, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.broker.settimeout(0)
        with theirs:
            yield [theirs]

    def _hang_up(self) -> None:
        if self.broker:
            self.broker.close()
            self.broker = None

    async def _await_readiness(self) -> None:
        try:
            async with asyncio.timeout(READY_SECONDS):
                message = orjson.loads(await self.read_frame(READY_BYTES))
        except (OSError, EOFError, TimeoutError) as error:
            raise SandboxUnavailable(
                "a sandbox worker did not get ready.", remedy="Run `headgate doctor`; see docs/concepts/sandbox.md."
            ) from error
        if "fatal" in message:
            raise SandboxUnavailable(
                f"a sandbox worker could not be locked down: {message['fatal']}.",
                remedy="Run `headgate doctor`; see docs/concepts/sandbox.md.",
            )
        self.process = message["ready"]

    def _ended(self, status: int | None) -> None:
        if not self.status.done():
            self.status.set_result(status)

    @property
    def gone(self) -> bool:
        """Whether it can take no further call."""
        return self.status.done() or self._reader.at_eof() or self._writer.is_closing()

    async def send(self, payload: bytes) -> None:
        """Send one frame."""
        self._writer.write(pack(payload))
        await self._writer.drain()

    async def read_frame(self, limit: int) -> bytes:
        """The next frame. Raises `EOFError` when the worker ended, `FrameTooLong`."""
        header = await self._reader.readexactly(HEADER_BYTES)
        return await self._reader.readexactly(frame_length(header, limit))

    def kill(self) -> None:
        """End it now."""
        self.launcher.kill(self.name)
        self._writer.transport.abort()
        self._hang_up()

    async def exit_status(self) -> int | None:
        """How it ended, once it has; None when that is unknown."""
        with contextlib.suppress(TimeoutError):
            return await asyncio.wait_for(asyncio.shield(self.status), END_SECONDS)
        return None

    def processor_seconds(self) -> float:
        """Processor time it has used so far, over all its threads; 0 where the system does not say."""
        return process_seconds(self.process)

    def left_traces(self) -> bool:
        """Whether its last call left threads or files."""
        return self._threads() != 1 or self._left_files()

    def _threads(self) -> int:
        """How many threads it has, counted by the system and not by the process itself; 0 when it is gone."""
        try:
            return Path(f"/proc/{self.process}/task").stat().st_nlink - 2
        except OSError:
            return 0

    def _left_files(self) -> bool:
        """Whether its scratch folder holds anything."""
        try:
            with os.scandir(self.scratch) as entries:
                return next(entries, None) is not None
        except OSError:
            return True


def process_seconds(process: int) -> float:
    """Processor time of another process, from its clock (`clock_getcpuclockid(3)`)."""
    try:
        return time.clock_gettime((~process << 3) | 2)
    except OSError:
        return 0.0


def _entries_of(folder: str) -> Iterator[os.DirEntry[str]]:
    """What is in a folder; nothing when it went meanwhile. Raises `OSError`."""
    with suppress(FileNotFoundError, NotADirectoryError), os.scandir(folder) as entries:
        yield from entries


def folder_excess(folder: Path, limits: Limits) -> str:
    """Why a scratch folder is over its quota, for people; empty when it is not. Looks at no more than it must."""
    size, entries, waiting = 0, 0, [str(folder)]
    try:
        free = os.statvfs(folder)
        if free.f_bavail * free.f_frsize < limits.disk_reserve_bytes:
            return f"the disk has less than {limits.disk_reserve_bytes} bytes left"
        while waiting:
            for entry in _entries_of(waiting.pop()):
                entries += 1
                if entries > limits.scratch_entries:
                    return f"it made more than {limits.scratch_entries} files and folders"
                with suppress(FileNotFoundError):  # it went meanwhile; what is still there counts all the same
                    size += entry.stat(follow_symlinks=False).st_blocks * 512
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
    except FileNotFoundError:
        return ""  # the whole folder went: its worker has ended
    except OSError:
        return "its folders nest too deeply or cannot be listed"
    return f"it wrote more than {limits.scratch_bytes} bytes of files" if size > limits.scratch_bytes else ""
