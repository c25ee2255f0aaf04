"""The heartbeat of a process: says that it lives and what it works on, and learns whether it is to be drained."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Literal

from headgate import __version__
from headgate.features.jobs.leases import MICROSECONDS, clock
from headgate.features.jobs.upkeep import end, repeat
from headgate.features.processes import repository
from headgate.foundation.database import Database
from headgate.foundation.errors import HeadgateError
from headgate.foundation.log import get_logger
from headgate.foundation.outages import Outage

Kind = Literal["server", "worker"]
BEAT_SECONDS = 1.0
"""How often a process looks whether it is to be drained."""
SAVE_SECONDS = 5.0
"""How often it says that it lives; changes of what it works on are stored at once."""
DEAD_SECONDS = 30.0
"""A process that said nothing for so long is dead."""
KEPT_SECONDS = 7 * 86_400.0
"""How long dead processes are listed."""
log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Drain:
    """Whether a process takes no new work, and whether it hands over what it has."""

    draining: bool = False
    handing_over: bool = False


class Heartbeat:
    """The heartbeat of one process.

    Args:
        database: Holds the processes.
        kind: What the process is.
        process_id: Its id.
        work: Returns counts of what it works on.
        apply: Called when it is to be drained, or no more.
        parent_id: The worker of a child, which is drained with it.
    """

    def __init__(
        self,
        database: Database,
        kind: Kind,
        process_id: str,
        *,
        work: Callable[[], Mapping[str, int]],
        apply: Callable[[Drain], None],
        parent_id: str | None = None,
    ) -> None:
        self._database = database
        self.process_id = process_id
        self._drained_with = parent_id or process_id
        self._work = work
        self._apply = apply
        self._drain = Drain()
        self._saved: tuple[int, Mapping[str, int]] = (0, {})
        self._values = {
            "id": process_id,
            "parent_id": parent_id,
            "kind": kind,
            "host": process_id.partition(":")[0],
            "pid": os.getpid(),
            "version": __version__,
            "started_at": clock(),
        }

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Beat until the block ends; then the process is forgotten, since it stops in order."""
        outage = Outage(log, "database of processes")
        try:
            await self.beat()
        except HeadgateError as error:
            outage.failed(error.detail)
        beating = asyncio.create_task(repeat(self.beat, BEAT_SECONDS, outage))
        try:
            yield
        finally:
            await end([beating])
            await self._leave()

    async def beat(self) -> None:
        """Say what it works on, when that changed or some time passed, and apply what an operator asked for."""
        at, work = clock(), {kind: count for kind, count in self._work().items() if count}
        saved_at, saved = self._saved
        if work != saved or at - saved_at >= SAVE_SECONDS * MICROSECONDS:
            async with self._database.writing() as session:
                await repository.save_process(session, {**self._values, "seen_at": at, "work": work})
            self._saved = at, work
        async with self._database.reading() as session:
            row = await repository.find_process(session, self._drained_with)
        if row is None:
            return
        drain = Drain(row.draining_at is not None, row.hand_over_at is not None and at >= row.hand_over_at)
        if drain != self._drain:
            log.info("drain changed", draining=drain.draining, handing_over=drain.handing_over)
            self._drain = drain
            self._apply(drain)
            self._saved = 0, {}  # what it works on from now on is stored at the next beat

    async def _leave(self) -> None:
        before = clock() - int(KEPT_SECONDS * MICROSECONDS)
        try:
            async with self._database.writing() as session:
                await repository.forget_processes(session, self.process_id, before=before)
        except HeadgateError as error:
            log.warning("process not deleted from the list", problem=error.detail)
