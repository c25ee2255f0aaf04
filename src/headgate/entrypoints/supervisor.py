"""Runs several processes as one: their output with a name before it, started again when they die, stopped together."""

import asyncio
import signal
import sys
import time
from asyncio.subprocess import PIPE, STDOUT, Process
from contextlib import suppress
from dataclasses import dataclass

STOP_SECONDS = 20.0
"""How long the parts may take to stop."""
STEADY_SECONDS = 10.0
"""A part that lived this long is started again at once; one that did not, after a growing pause."""
LONGEST_PAUSE_SECONDS = 30.0
LONGEST_LINE = 1 << 20
_COLOURS = ("36", "35", "33", "32")


@dataclass(frozen=True, slots=True)
class Part:
    """One process."""

    name: str
    command: list[str]


class Supervisor:
    """Keeps parts running until it is told to stop.

    Args:
        parts: In the order in which they are started; they are stopped in the opposite one.
    """

    def __init__(self, parts: list[Part]) -> None:
        self._parts = parts
        self._width = max(len(part.name) for part in parts)
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
        pause = 1.0
        while not self._stopping.is_set():
            began = time.monotonic()
            process = await asyncio.create_subprocess_exec(
                # Of a session of their own: Ctrl+C reaches this process, which stops them in order.
                *part.command, stdout=PIPE, stderr=STDOUT, limit=LONGEST_LINE, start_new_session=True
            )  # fmt: skip
            self._processes[part.name] = process
            await self._pass_on(part, place, process)
            code = await process.wait()
            if self._stopping.is_set():
                return
            pause = 1.0 if time.monotonic() - began > STEADY_SECONDS else min(2 * pause, LONGEST_PAUSE_SECONDS)
            self._say(part, place, f"ended with code {code}; started again in {pause:g} seconds")
            with suppress(TimeoutError):
                await asyncio.wait_for(self._stopping.wait(), pause)

    async def _pass_on(self, part: Part, place: int, process: Process) -> None:
        """Every line the part writes, with its name."""
        if process.stdout is None:
            return
        while True:
            try:
                line = await process.stdout.readline()
            except ValueError:
                continue  # a line too long to be read at once is left out
            if not line:
                return
            self._say(part, place, line.decode(errors="replace").rstrip("\n"))

    def _say(self, part: Part, place: int, line: str) -> None:
        name = part.name.ljust(self._width)
        if sys.stderr.isatty():
            name = f"\x1b[{_COLOURS[place % len(_COLOURS)]}m{name}\x1b[0m"
        sys.stderr.write(f"{name} | {line}\n")
        sys.stderr.flush()

    async def _stop(self) -> None:
        """Tell the parts to stop, the last first; kill what does not."""
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
