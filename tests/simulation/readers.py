"""Clients that watch runs: they lose the connection, come back to any process, and must miss and repeat nothing."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import aclosing
from random import Random
from typing import Any, cast

from headgate.features.runs.engine.backend import ExecutionBackend
from headgate.features.runs.errors import RunNotFound
from headgate.features.runs.events import ENDINGS
from headgate.features.runs.transitions import RunKey
from headgate.features.runs.views.stream import RunStream
from headgate.foundation.errors import Unavailable
from tests.simulation.loop import SimulatedLoop
from tests.simulation.server import Server, context_of

PAUSE_SECONDS = 0.5


class Reader:
    """Watches one run to its end.

    Args:
        key: The run.
        loop: Whose time it is.
        servers: The server of each number as it is now.
        random: Draws where it connects and when the connection is cut.
        fail: Called with what never may be.
    """

    def __init__(
        self,
        key: RunKey,
        loop: SimulatedLoop,
        servers: Sequence[Server | None],
        random: Random,
        fail: Callable[[str], None],
    ) -> None:
        self.run_id, self._tenant_id = key.run_id, key.tenant_id
        self._loop = loop
        self._servers = servers
        self._random = random
        self._fail = fail
        self._last_id = ""
        self.seen: list[tuple[int, str]] = []
        """Number and kind of each durable event."""
        self.has_ended = False

    async def read(self) -> None:
        """Read until the run is over."""
        while not self.has_ended:
            living = [one for one in self._servers if one is not None and one.answers]
            if living:
                server = self._random.choice(living)
                most = self._random.choice([1, 2, 3, 10, 1000])
                connection = self._loop.create_task(self._connect(server, most), context=context_of(server.process))
                while not connection.done() and server.process.alive:
                    await asyncio.wait([connection], timeout=PAUSE_SECONDS)
            await asyncio.sleep(self._random.random() * PAUSE_SECONDS)

    async def _connect(self, server: Server, most: int) -> None:
        stream = RunStream(cast("ExecutionBackend", server.engine), self._tenant_id, self.run_id)
        try:
            async with aclosing(stream.events(self._last_id)) as events:
                async for event in events:
                    self._take(event)
                    most -= 1
                    if most == 0 or self.has_ended:
                        return
        except (Unavailable, RunNotFound):
            return

    def _take(self, event: Any) -> None:
        self._last_id = event.id
        number, _, rest = event.id.partition(".")
        if rest:
            return
        if self.seen and int(number) <= self.seen[-1][0]:
            self._fail(f"repeated: event {number} ({event.kind}) came after event {self.seen[-1][0]}")
        self.seen.append((int(number), event.kind))
        self.has_ended = event.kind in ENDINGS
