"""Server side of one worker: its socket, lifetime and watchdog."""

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

from headgate.sandbox.errors import SandboxUnavailable, not_ready
from headgate.sandbox.guest.wire import HEADER_BYTES, frame_length, pack
from headgate.sandbox.limits import Limits
from headgate.sandbox.workers.launcher import Launcher
from headgate.sandbox.workers.request import Owner

READY_SECONDS = 20.0
READY_BYTES = 4096
END_SECONDS = 2.0


class Worker:
    """A confined process that runs one piece of code in one execution. Create it with `start`."""

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
        """Fork, confine and wait until it is ready. `on_end` is called once, also on failure.

        Raises:
            SandboxUnavailable: The system refused a layer, or the zygote ended.
        """
        worker = cls(name, slot, launcher)
        worker.status.add_done_callback(lambda _status: on_end())
        local, remote = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            with remote, worker._broker_pair() as further:
                launcher.spawn(name, slot, [remote, *further], worker._ended)
        except SandboxUnavailable:
            local.close()
            worker._hang_up()
            worker._ended(None)
            raise
        worker._reader, worker._writer = await asyncio.open_unix_connection(sock=local)
        try:
            await worker._await_readiness()
        except BaseException:
            worker.kill()
            raise
        return worker

    @contextlib.contextmanager
    def _broker_pair(self) -> Iterator[list[socket.socket]]:
        """Return the worker's end of a second socket, when the zygote's workers have network."""
        if not self.launcher.network:
            yield []
            return
        self.broker, remote = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.broker.settimeout(0)
        with remote:
            yield [remote]

    def _hang_up(self) -> None:
        if self.broker:
            self.broker.close()
            self.broker = None

    async def _await_readiness(self) -> None:
        try:
            async with asyncio.timeout(READY_SECONDS):
                message = orjson.loads(await self.read_frame(READY_BYTES))
        except (OSError, EOFError, TimeoutError) as error:
            raise not_ready("A sandbox worker", READY_SECONDS, error, "Run `headgate doctor`.") from error
        if "fatal" in message:
            raise SandboxUnavailable(
                f"A sandbox worker could not be locked down: {message['fatal']}.",
                remedy="Run `headgate doctor`; see docs/concepts/sandbox.md.",
            )
        self.process = message["ready"]

    def _ended(self, status: int | None) -> None:
        if not self.status.done():
            self.status.set_result(status)

    @property
    def gone(self) -> bool:
        """Whether it cannot serve any further calls."""
        return self.status.done() or self._reader.at_eof() or self._writer.is_closing()

    async def send(self, payload: bytes) -> None:
        """Send one frame."""
        self._writer.write(pack(payload))
        await self._writer.drain()

    async def read_frame(self, limit: int) -> bytes:
        """Return the next frame. Raises `EOFError` when the worker ended, `FrameTooLong`."""
        header = await self._reader.readexactly(HEADER_BYTES)
        return await self._reader.readexactly(frame_length(header, limit))

    def kill(self) -> None:
        """Kill it."""
        self.launcher.kill(self.name)
        self._writer.transport.abort()
        self._hang_up()

    async def exit_status(self) -> int | None:
        """Return its exit status after its end; None when unknown."""
        with contextlib.suppress(TimeoutError):
            return await asyncio.wait_for(asyncio.shield(self.status), END_SECONDS)
        return None

    def processor_seconds(self) -> float:
        """Return its processor time so far, over all its threads; 0 when the system does not report it."""
        return process_seconds(self.process)

    def left_traces(self) -> bool:
        """Return whether its last call left threads or files."""
        return self._threads() != 1 or self._left_files()

    def _threads(self) -> int:
        """Return its number of threads, counted by the system and not by the process itself; 0 when it has ended."""
        try:
            return Path(f"/proc/{self.process}/task").stat().st_nlink - 2
        except OSError:
            return 0

    def _left_files(self) -> bool:
        """Return whether its scratch folder contains anything."""
        try:
            with os.scandir(self.scratch) as entries:
                return next(entries, None) is not None
        except OSError:
            return True


def process_seconds(process: int) -> float:
    """Return the processor time of another process, from its clock (`clock_getcpuclockid(3)`)."""
    try:
        return time.clock_gettime((~process << 3) | 2)
    except OSError:
        return 0.0


def _entries_of(folder: str) -> Iterator[os.DirEntry[str]]:
    """Return the entries of a folder; empty when it was removed. Raises `OSError`."""
    with suppress(FileNotFoundError, NotADirectoryError), os.scandir(folder) as entries:
        yield from entries


def folder_excess(folder: Path, limits: Limits) -> str:
    """Return why a scratch folder exceeds its quota, for users; empty when it does not. Stops as soon as possible."""
    size, entries, waiting = 0, 0, [str(folder)]
    try:
        free = os.statvfs(folder)
        if free.f_bavail * free.f_frsize < limits.disk_reserve_bytes:
            return f"the disk has less than {limits.disk_reserve_bytes} bytes left"
        while waiting:
            for entry in _entries_of(waiting.pop()):
                entries += 1
                if entries > limits.scratch_entries:
                    return f"it created more than {limits.scratch_entries} files and folders"
                with suppress(FileNotFoundError):  # it was removed; the remaining files still count
                    size += entry.stat(follow_symlinks=False).st_blocks * 512
                if entry.is_dir(follow_symlinks=False):
                    waiting.append(entry.path)
    except FileNotFoundError:
        return ""  # the folder was removed: its worker has ended
    except OSError:
        return "its folders are nested too deep or cannot be listed"
    return f"it wrote more than {limits.scratch_bytes} bytes of files" if size > limits.scratch_bytes else ""
