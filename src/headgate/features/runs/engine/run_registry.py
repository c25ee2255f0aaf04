"""The runs that one process owns: queued or running here.

There is at most one entry per run id, from the moment the run is queued until its last task has ended. Every entry
point (start, resume, sweep) calls `enqueue` or `start`, neither of which awaits anything, so a run cannot be started
twice in a process, in any interleaving. Leases are renewed by the claims of these entries.
"""

import asyncio
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from headgate.features.runs.steps.active import ActiveRun
from headgate.features.runs.terms import MOST_PRIORITY, SECONDS_PER_POINT
from headgate.features.runs.transitions import Held
from headgate.foundation.fair_places import Share
from headgate.foundation.fair_queue import FairQueue, Ticket

MOST_KEPT = 256
"""Queued runs whose state stays in memory; the others are read from their rows when their turn comes."""


@dataclass(slots=True, eq=False)
class OwnedRun:
    """One run of this process."""

    run_id: str
    share: Share
    """Tenant, space and user for whom it is executed."""
    run: ActiveRun | None = None
    """Its state; None while it is queued without it, or is being restored."""
    ticket: "Ticket[OwnedRun] | None" = None
    requeue: bool = False
    """Whether to queue it again after its release: it was resumed while its last tasks were ending."""
    tasks: "set[asyncio.Task[None]]" = field(default_factory=set)
    """Its unfinished tasks."""
    since: float = 0.0
    """When it was queued here, by the monotonic clock."""

    @property
    def queued(self) -> bool:
        """Whether it waits for a slot. Otherwise it has one."""
        return self.ticket is not None and not self.ticket.granted


def _order(entry: OwnedRun, priority: int) -> float:
    """Return the place of a run among those of its user: as if each point were time that it has waited."""
    return entry.since - priority * SECONDS_PER_POINT


class RunRegistry:
    """Owned runs by id, and the queue of those that wait for a slot, shared fairly by tenant, space and user.

    Args:
        slots: Most runs at a time.
        spare: Further runs, of those below their share while all slots are taken; see `FairQueue`.
        weights: Weight of tenants, spaces and users by id; 1 of others.
    """

    def __init__(self, slots: int, spare: int = 0, weights: Mapping[str, float] = MappingProxyType({})) -> None:
        self._entries: dict[str, OwnedRun] = {}
        self._queue: FairQueue[OwnedRun] = FairQueue(slots, spare, weight=lambda path: weights.get(path[-1], 1.0))
        self._kept = 0

    def __contains__(self, run_id: object) -> bool:
        return run_id in self._entries

    def __iter__(self) -> Iterator[OwnedRun]:
        return iter(self._entries.values())

    def get(self, run_id: str) -> OwnedRun | None:
        """Return the entry of a run, queued or running."""
        return self._entries.get(run_id)

    def active(self, run_id: str) -> OwnedRun | None:
        """Return the entry of a run that has a slot."""
        entry = self._entries.get(run_id)
        return None if entry is None or entry.queued else entry

    @property
    def queue_length(self) -> int:
        """Runs that wait for a slot."""
        return len(self._queue)

    def start(self, run: ActiveRun) -> OwnedRun | None:
        """Enter a new run with a slot. Returns None, and changes nothing, when it has to wait for one."""
        entry = OwnedRun(run.key.run_id, run.share, run)
        entry.ticket = self._queue.take(run.share, entry)
        if entry.ticket is None:
            return None
        self._entries[run.key.run_id] = entry
        return entry

    def enqueue(self, run_id: str, share: Share, run: ActiveRun | None = None, *, priority: int = 0) -> bool:
        """Queue a run. Returns False, and changes nothing, when this process owns it already."""
        if run_id in self._entries:
            return False
        keep = run is not None and self._kept < MOST_KEPT
        self._kept += keep
        entry = self._entries[run_id] = OwnedRun(run_id, share, run if keep else None, since=time.monotonic())
        entry.ticket = self._queue.add(share, entry, _order(entry, priority))
        return True

    def prioritize(self, run_id: str, priority: int) -> None:
        """Change the priority of a run that waits here."""
        entry = self._entries.get(run_id)
        if entry is not None and entry.ticket is not None and entry.queued:
            self._queue.move(entry.ticket, _order(entry, priority))

    def next(self) -> OwnedRun | None:
        """Give a free slot to the next run in the queue."""
        ticket = self._queue.next()
        if ticket is None:
            return None
        self._kept -= ticket.item.run is not None
        return ticket.item

    def release(self, entry: OwnedRun) -> None:
        """Remove a run without tasks, or queue it again if requested."""
        del self._entries[entry.run_id]
        if entry.ticket is not None:
            self._queue.release(entry.ticket)
        if entry.requeue:
            self.enqueue(entry.run_id, entry.share, priority=MOST_PRIORITY)

    def claims(self) -> dict[Held, ActiveRun]:
        """Yield the claimed steps of every owned run."""
        return {
            Held(entry.run_id, claim.step_id, claim.attempt): entry.run
            for entry in self._entries.values()
            if entry.run is not None
            for claim in entry.run.working.values()
        }
