"""What goes wrong in a simulation."""

import asyncio
import sqlite3
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from random import Random

from tests.simulation.cluster import SimulatedBroker
from tests.simulation.loop import WORLD, MachineClock, Process
from tests.simulation.machine import Disk
from tests.simulation.plan import CLOCK_JUMPS_SECONDS, Fault, Plan
from tests.simulation.server import Server

PROCESS_FAULTS = frozenset({"crash", "crash at statement", "stop"})


class Faults:
    """Strikes as the plan says.

    Args:
        plan: What happens.
        path: The database.
        disk: The disk under it.
        broker: The message queue.
        servers: The server of each number as it is now; None while it is down.
        everyone: Every server there ever was, by its worker's id, from the moment its process starts.
        clocks: The clock of the machine of each number.
        restart: Starts a server that is down.
        kill: Ends a process.
        note: Writes a line of the trace.
    """

    def __init__(
        self,
        plan: Plan,
        path: Path,
        disk: Disk,
        broker: SimulatedBroker,
        servers: Sequence[Server | None],
        *,
        everyone: Mapping[str, Server],
        clocks: Sequence[MachineClock],
        restart: Callable[[int], Awaitable[Server]],
        kill: Callable[[Process], None],
        note: Callable[[str, Process], None],
    ) -> None:
        self._plan = plan
        self._path = path
        self._disk = disk
        self._broker = broker
        self._servers = servers
        self._everyone = everyone
        self._clocks = clocks
        self._restart = restart
        self._kill = kill
        self._note = note
        self._random = Random(f"{plan.seed}:faults")
        self._around_all: list[tuple[float, float]] = []
        """When faults that are around every process began, and when they will have ended."""

    def around(self, now: float) -> list[tuple[float, float]]:
        """The faults that are around every process at a moment: one that starts then is disturbed by them as well."""
        return [interval for interval in self._around_all if interval[1] >= now]

    async def strike(self, fault: Fault) -> None:
        """Have one fault happen, and end."""
        loop = asyncio.get_running_loop()
        await asyncio.sleep(fault.at)
        server = self._servers[fault.process]
        living = [one for one in self._everyone.values() if one.process.alive]
        touched = [one for one in living if one is server] if fault.kind in PROCESS_FAULTS else living
        if fault.kind in PROCESS_FAULTS and not touched:
            return
        interval = (loop.time(), loop.time() + fault.seconds)
        if fault.kind not in PROCESS_FAULTS:
            self._around_all.append(interval)
        for one in touched:
            one.disturbed.append(interval)
        self._note(f"{fault.kind} for {fault.seconds:.2f} s", touched[0].process if len(touched) == 1 else WORLD)
        await self._happen(fault, server)
        for one in touched:
            one.disturbed.append((loop.time(), loop.time()))

    async def _happen(self, fault: Fault, server: Server | None) -> None:
        if fault.kind == "crash" and server is not None:
            self._kill(server.process)
            await self._down(fault)
        elif fault.kind == "crash at statement" and server is not None:
            await self._crash_at_statement(fault, server)
        elif fault.kind == "stop" and server is not None:
            server.process.stopped_until = asyncio.get_running_loop().time() + fault.seconds
            await asyncio.sleep(fault.seconds)
        elif fault.kind == "clock":
            await self._clock(fault)
        elif fault.kind == "locked":
            await self._locked(fault)
        elif fault.kind == "queue lost":
            self._broker.flush()
        else:
            await self._switch(fault)

    async def _down(self, fault: Fault) -> None:
        await asyncio.sleep(fault.seconds)
        await self._restart(fault.process)

    async def _crash_at_statement(self, fault: Fault, server: Server) -> None:
        loop, process = asyncio.get_running_loop(), server.process
        self._disk.deaths[process] = (process.statements + fault.statement, fault.after)
        until = loop.time() + self._plan.last_event
        while process.alive and loop.time() < until:  # noqa: ASYNC110 - it dies in the middle of something
            await asyncio.sleep(0.2)
        self._disk.deaths.pop(process, None)
        await self._down(fault)

    async def _clock(self, fault: Fault) -> None:
        """The clock of a machine is set wrong, and right again. Leases compare clocks: others may lose steps by it."""
        offset = self._random.choice(CLOCK_JUMPS_SECONDS)
        clock = self._clocks[fault.process]
        clock.offset = offset
        await asyncio.sleep(fault.seconds)
        clock.offset = 0.0

    async def _locked(self, fault: Fault) -> None:
        other = sqlite3.connect(self._path, isolation_level=None, timeout=0)
        with suppress(sqlite3.OperationalError):
            other.execute("BEGIN IMMEDIATE")
            await asyncio.sleep(fault.seconds)
            other.execute("ROLLBACK")
        other.close()

    async def _switch(self, fault: Fault) -> None:
        """Faults that are on for a while."""
        owner, name = {
            "disk full": (self._disk, "full"),
            "queue away": (self._broker, "away"),
            "messages odd": (self._broker, "unreliable"),
        }[fault.kind]
        setattr(owner, name, True)
        await asyncio.sleep(fault.seconds)
        setattr(owner, name, False)
