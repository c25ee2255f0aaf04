"""Runs several processes as one: their output with a name before it, restarted when they die, stopped together."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from asyncio.subprocess import PIPE, STDOUT, Process
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

from headgate.entrypoints import handed_over, process_record
from headgate.entrypoints.process_record import ProcessRecord
from headgate.foundation.errors import HeadgateError, Unavailable

STOP_SECONDS = 20.0
"""How long the parts may take to stop."""
STEADY_SECONDS = 10.0
"""A part that lived this long is started again at once; one that did not, after a growing pause."""
LONGEST_PAUSE_SECONDS = 30.0
POLL_SECONDS = 0.2
"""Interval of the checks whether a service is alive."""
LONGEST_LINE = 1 << 20
_COLOURS = ("36", "35", "33", "32")


READY_SECONDS = 120.0
"""How long a process may take until it replaces another."""


@dataclass(frozen=True, slots=True)
class Replacement:
    """How a process is replaced by a new one."""

    signal: int
    """Asks the old one to finish what it has and to end."""
    seconds: float
    """How long it may take for that, in addition to `STOP_SECONDS`."""
    reports: bool = True
    """Whether the new one reports when it is ready."""


@dataclass(frozen=True, slots=True)
class Part:
    """One process."""

    name: str
    command: list[str]
    replacement: Replacement | None = None
    """None: it is not replaced."""
    listening: int | None = None
    """The descriptor of the socket that each process of the part is handed."""


class Service(Protocol):
    """A server that parts need. It is started before them and stopped after them, by the caller."""

    @property
    def name(self) -> str:
        """name: Display name."""

    @property
    def pid(self) -> int | None:
        """Its process."""

    @property
    def ends_by(self) -> int:
        """The signal that asks it to end."""

    def is_alive(self) -> bool:
        """Whether its process lives."""

    def restart(self) -> None:
        """Start it again after it ended; return when it answers. Raises `Unavailable`."""


class Backoff:
    """The pause before the next start: longer with each start that did not last."""

    def __init__(self) -> None:
        self._pause = 0.5

    def after(self, lived_seconds: float) -> float:
        """The pause after a process that lived this long."""
        self._pause = 1.0 if lived_seconds > STEADY_SECONDS else min(2 * self._pause, LONGEST_PAUSE_SECONDS)
        return self._pause


class Supervisor:
    """Keeps parts and services running until it is stopped.

    Args:
        parts: In the order in which they are started; they are stopped in the opposite one.
        record: The file of the processes, to end them after the supervisor was killed.
        services: Servers that are already running; restarted when they die.
    """

    def __init__(self, parts: Sequence[Part], record: ProcessRecord, services: Sequence[Service] = ()) -> None:
        self._parts = parts
        self._record = record
        self._services = services
        self._width = max(
            len(name) for name in (*(part.name for part in parts), *(service.name for service in services))
        )
        self._stopping = asyncio.Event()
        self._processes: dict[str, Process] = {}
        self._keepers: dict[str, asyncio.Task[None]] = {}
        self._starting = asyncio.Lock()
        """Held while a process of a part is started or becomes its current one."""
        self._old: set[Process] = set()
        """Processes that were replaced and finish what they have."""
        self._readers: set[asyncio.Task[None]] = set()
        self._restart: asyncio.Task[None] | None = None

    def run(self) -> int:
        """Run until SIGINT or SIGTERM. Returns the exit code."""
        return asyncio.run(self._run())

    async def _run(self) -> int:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            with suppress(NotImplementedError):
                loop.add_signal_handler(number, self._stopping.set)
        if sys.platform != "win32":
            loop.add_signal_handler(signal.SIGHUP, self._restart_soon)
        for part in self._parts:
            self._keepers[part.name] = asyncio.create_task(self._keep(part, None))
        guards = [asyncio.create_task(self._guard(service, len(self._parts))) for service in self._services]
        try:
            await self._stopping.wait()
        finally:
            self._stopping.set()
            if self._restart is not None:
                self._restart.cancel()
                await asyncio.wait([self._restart])
            await self._stop()
            tasks = {*self._keepers.values(), *guards, *self._readers}
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
        return 0

    async def _start(self, part: Part, name: str, ready: int | None = None) -> Process:
        """Start a process of a part, and record it under a name."""
        variables, descriptors = handed_over.environment_of(part.listening, ready)
        process = await asyncio.create_subprocess_exec(
            *part.command,
            stdout=PIPE,
            stderr=STDOUT,
            limit=LONGEST_LINE,
            env={**os.environ, **variables},
            pass_fds=descriptors,
            # Of a session of their own: Ctrl+C reaches this process, which stops them in order.
            start_new_session=True,
        )
        self._record.add(name, process_record.Process.of(process.pid, group=True))
        reader = asyncio.create_task(self._pass_on(part, self._parts.index(part), process))
        self._readers.add(reader)
        reader.add_done_callback(self._readers.discard)
        return process

    async def _keep(self, part: Part, process: Process | None) -> None:
        """Wait for the end of a process, which is running or started here, and start the part whenever it ended."""
        backoff = Backoff()
        while not self._stopping.is_set():
            began = time.monotonic()
            async with self._starting:
                process = process or await self._start(part, part.name)
                self._processes[part.name] = process
            code = await process.wait()
            if self._stopping.is_set():
                return
            process = None
            pause = backoff.after(time.monotonic() - began)
            self._print_line(part.name, None, f"ended with code {code}; restarting in {pause:g} seconds")
            await self._stops_within(pause)

    def _restart_soon(self) -> None:
        if self._restart is None or self._restart.done():
            self._restart = asyncio.create_task(self._replace_all())

    async def _replace_all(self) -> None:
        """Replace the parts one after another, up to the first that cannot be replaced; record the outcome."""
        self._record.write_restart("running")
        for part in self._parts:
            try:
                await self._replace(part)
            except (HeadgateError, OSError) as error:
                self._print_line(part.name, None, f"not replaced: {error}")
                self._record.write_restart("failed", f"{part.name}: {error}")
                return
        self._record.write_restart("done")

    async def _replace(self, part: Part) -> None:
        """Start a new process; once it is ready, let the old one finish. Raises `Unavailable` when it is not ready."""
        how = part.replacement
        if how is None:
            raise Unavailable("It cannot be replaced on this system.", remedy="Restart `headgate up`.")
        new = await self._ready(part, how)
        async with self._starting:  # no other process of the part is being started
            self._keepers[part.name].cancel()
            old = self._processes[part.name]
            self._old.add(old)
            self._record.add(f"{part.name}, old", process_record.Process.of(old.pid, group=True))
            self._record.add(part.name, process_record.Process.of(new.pid, group=True))
            self._record.remove(f"{part.name}, new")
            self._keepers[part.name] = asyncio.create_task(self._keep(part, new))
        self._print_line(part.name, None, f"process {new.pid} replaces {old.pid}")
        with suppress(ProcessLookupError):
            old.send_signal(how.signal)
        await _ended([old], how.seconds + STOP_SECONDS)
        self._old.discard(old)
        self._record.remove(f"{part.name}, old")

    async def _ready(self, part: Part, how: Replacement) -> Process:
        """Start a process and return it when it is ready. Raises `Unavailable`; then it was ended."""
        reading, writing = os.pipe()
        try:
            new = await self._start(part, f"{part.name}, new", writing if how.reports else None)
        finally:
            os.close(writing)
        ready = False
        try:
            ready = not how.reports or await _reported(reading)
        finally:
            os.close(reading)
            if not ready:
                with suppress(ProcessLookupError):
                    new.terminate()
                await _ended([new], STOP_SECONDS)
                self._record.remove(f"{part.name}, new")
        if not ready:
            raise Unavailable("The new process did not become ready.", remedy="See its log above.")
        return new

    async def _guard(self, service: Service, place: int) -> None:
        """Restart a service whenever its process is gone."""
        backoff, began = Backoff(), time.monotonic()
        while not await self._stops_within(POLL_SECONDS):
            if await asyncio.to_thread(service.is_alive):
                continue
            pause = backoff.after(time.monotonic() - began)
            self._print_line(service.name, place, f"ended; restarting in {pause:g} seconds")
            if await self._stops_within(pause):
                return
            try:
                await asyncio.to_thread(service.restart)
            except (HeadgateError, OSError, subprocess.SubprocessError) as error:
                self._print_line(service.name, place, f"could not be started: {error}")
                continue
            finally:
                began = time.monotonic()  # a start that takes long is no time that the service ran
            record_service(self._record, service)
            self._print_line(service.name, place, "runs again")

    async def _stops_within(self, seconds: float) -> bool:
        """Wait so long, or until everything is to stop."""
        with suppress(TimeoutError):
            await asyncio.wait_for(self._stopping.wait(), seconds)
        return self._stopping.is_set()

    async def _pass_on(self, part: Part, place: int, process: Process) -> None:
        """Every line the part writes, with its name."""
        if process.stdout is None:
            return
        while True:
            try:
                line = await process.stdout.readline()
            except ValueError:
                continue  # a line that is too long is omitted
            if not line:
                return
            if text := line.decode(errors="replace").rstrip():
                self._print_line(part.name, place, text)

    def _print_line(self, name: str, place: int | None, line: str) -> None:
        if place is None:
            place = next(place for place, part in enumerate(self._parts) if part.name == name)
        name = name.ljust(self._width)
        if sys.stderr.isatty():
            name = f"\x1b[{_COLOURS[place % len(_COLOURS)]}m{name}\x1b[0m"
        sys.stderr.write(f"{name} | {line}\n")
        sys.stderr.flush()

    async def _stop(self) -> None:
        """Stop the parts in reverse order; kill those that do not end."""
        current = [self._processes[part.name] for part in reversed(self._parts) if part.name in self._processes]
        running = [process for process in (*current, *self._old) if process.returncode is None]
        for process in running:
            process.terminate()
        await _ended(running, STOP_SECONDS)


async def _ended(processes: Sequence[Process], seconds: float) -> None:
    """Wait for the end of processes; kill those that take longer."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await asyncio.gather(*(process.wait() for process in processes))
    for process in processes:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def _reported(descriptor: int) -> bool:
    """Wait until a process reports that it is ready; False when it ends or takes too long."""
    loop, readable = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(descriptor, readable.set)
    try:
        async with asyncio.timeout(READY_SECONDS):
            await readable.wait()
    except TimeoutError:
        return False
    finally:
        loop.remove_reader(descriptor)
    return os.read(descriptor, 1) != b""


def record_service(record: ProcessRecord, service: Service) -> None:
    """Record the process of a service that runs."""
    if service.pid is not None:
        record.add(service.name, process_record.Process.of(service.pid, number=service.ends_by))
