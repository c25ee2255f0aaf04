"""Runs several processes as one: their output with a name before it, restarted when they die, stopped together."""

import asyncio
import signal
import subprocess
import sys
import time
from asyncio.subprocess import PIPE, STDOUT, Process
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

from headgate.entrypoints import process_record
from headgate.entrypoints.process_record import ProcessRecord
from headgate.foundation.errors import HeadgateError

STOP_SECONDS = 20.0
"""How long the parts may take to stop."""
STEADY_SECONDS = 10.0
"""A part that lived this long is started again at once; one that did not, after a growing pause."""
LONGEST_PAUSE_SECONDS = 30.0
POLL_SECONDS = 0.2
"""Interval of the checks whether a service is alive."""
LONGEST_LINE = 1 << 20
_COLOURS = ("36", "35", "33", "32")


@dataclass(frozen=True, slots=True)
class Part:
    """One process."""

    name: str
    command: list[str]


class Service(Protocol):
    """A server that parts need. It is started before them and stopped after them, by the caller."""

    @property
    def name(self) -> str:
        """name: Display name."""
        ...

    @property
    def pid(self) -> int | None:
        """Its process."""
        ...

    @property
    def ends_by(self) -> int:
        """The signal that asks it to end."""
        ...

    def is_alive(self) -> bool:
        """Whether its process lives."""
        ...

    def restart(self) -> None:
        """Start it again after it ended; return when it answers. Raises `Unavailable`."""
        ...


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

    def run(self) -> int:
        """Run until SIGINT or SIGTERM. Returns the exit code."""
        return asyncio.run(self._run())

    async def _run(self) -> int:
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            with suppress(NotImplementedError):
                loop.add_signal_handler(number, self._stopping.set)
        keepers = [asyncio.create_task(self._keep(part, place)) for place, part in enumerate(self._parts)]
        keepers += [asyncio.create_task(self._guard(service, len(self._parts))) for service in self._services]
        try:
            await self._stopping.wait()
        finally:
            self._stopping.set()
            await self._stop()
            for keeper in keepers:
                keeper.cancel()
            await asyncio.wait(keepers)
        return 0

    async def _keep(self, part: Part, place: int) -> None:
        """Start a part, and again whenever it ends."""
        backoff = Backoff()
        while not self._stopping.is_set():
            began = time.monotonic()
            process = await asyncio.create_subprocess_exec(
                # Of a session of their own: Ctrl+C reaches this process, which stops them in order.
                *part.command, stdout=PIPE, stderr=STDOUT, limit=LONGEST_LINE, start_new_session=True
            )  # fmt: skip
            self._processes[part.name] = process
            self._record.add(part.name, process_record.Process.of(process.pid, group=True))
            await self._pass_on(part, place, process)
            code = await process.wait()
            if self._stopping.is_set():
                return
            pause = backoff.after(time.monotonic() - began)
            self._print_line(part.name, place, f"ended with code {code}; restarting in {pause:g} seconds")
            await self._stops_within(pause)

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

    def _print_line(self, name: str, place: int, line: str) -> None:
        name = name.ljust(self._width)
        if sys.stderr.isatty():
            name = f"\x1b[{_COLOURS[place % len(_COLOURS)]}m{name}\x1b[0m"
        sys.stderr.write(f"{name} | {line}\n")
        sys.stderr.flush()

    async def _stop(self) -> None:
        """Stop the parts in reverse order; kill those that do not end."""
        running = [
            self._processes[part.name]
            for part in reversed(self._parts)
            if part.name in self._processes and self._processes[part.name].returncode is None
        ]
        for process in running:
            process.terminate()
        with suppress(TimeoutError):
            async with asyncio.timeout(STOP_SECONDS):
                await asyncio.gather(*(process.wait() for process in running))
        for process in running:
            if process.returncode is None:
                process.kill()
                await process.wait()


def record_service(record: ProcessRecord, service: Service) -> None:
    """Record the process of a service that runs."""
    if service.pid is not None:
        record.add(service.name, process_record.Process.of(service.pid, number=service.ends_by))
