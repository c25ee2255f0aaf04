"""The runs that one process owns: queued here, or being worked on here.

There is at most one entry per run id, from the moment the run is queued until its last task has ended. Every way in
(a start, a resume, a sweep) goes through `enqueue` or `start`, neither of which awaits anything, so a run cannot be
begun twice in a process however the ways in are interleaved. Leases are renewed by the claims of these entries.
"""

import asyncio
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from headgate.features.runs.steps.active import ActiveRun
from headgate.features.runs.transitions import Held

MOST_KEPT = 256
"""Queued runs whose state is kept in memory; the others are read from their rows when their turn comes."""


@dataclass(slots=True, eq=False)
class OwnedRun:
    """One run of this process."""

    run_id: str
    run: ActiveRun | None = None
    """Its state; None while it is queued without it, or is being read back."""
    queued: bool = False
    """Whether it waits for a slot. Otherwise it has one."""
    requeue: bool = False
    """Whether it is to be queued again once it is released: it was resumed while its last tasks were ending."""
    tasks: "set[asyncio.Task[None]]" = field(default_factory=set)
    """Tasks that work on it and have not ended."""


class RunRegistry:
    """Owned runs by id, and the queue of those that wait for a slot.

    Args:
        slots: Most runs that are worked on at once.
    """

    def __init__(self, slots: int) -> None:
        self._slots = slots
        self._entries: dict[str, OwnedRun] = {}
        self._queue: deque[OwnedRun] = deque()
        self._kept = 0

    def __contains__(self, run_id: object) -> bool:
        return run_id in self._entries

    def __iter__(self) -> Iterator[OwnedRun]:
        return iter(self._entries.values())

    def get(self, run_id: str) -> OwnedRun | None:
        """The entry of a run, queued or worked on."""
        return self._entries.get(run_id)

    def active(self, run_id: str) -> OwnedRun | None:
        """The entry of a run that has a slot."""
        entry = self._entries.get(run_id)
        return None if entry is None or entry.queued else entry

    @property
    def queue_length(self) -> int:
        """Runs that wait for a slot."""
        return len(self._queue)

    @property
    def has_slot(self) -> bool:
        """Whether a run that comes now need not wait: a slot is free and nobody waits for one."""
        return not self._queue and self._free_slots > 0

    @property
    def _free_slots(self) -> int:
        return self._slots - (len(self._entries) - len(self._queue))

    def start(self, run: ActiveRun) -> OwnedRun:
        """Enter a new run that has a slot at once."""
        entry = self._entries[run.key.run_id] = OwnedRun(run.key.run_id, run)
        return entry

    def enqueue(self, run_id: str, run: ActiveRun | None = None) -> bool:
        """Queue a run; False, and nothing changes, when this process owns it already."""
        if run_id in self._entries:
            return False
        keep = run is not None and self._kept < MOST_KEPT
        self._kept += keep
        entry = self._entries[run_id] = OwnedRun(run_id, run if keep else None, queued=True)
        self._queue.append(entry)
        return True

    def next(self) -> OwnedRun | None:
        """Give a free slot to the run that waits longest."""
        if not self._queue or self._free_slots <= 0:
            return None
        entry = self._queue.popleft()
        entry.queued = False
        self._kept -= entry.run is not None
        return entry

    def release(self, entry: OwnedRun) -> None:
        """No task works on the run any more: forget it, or queue it again where that was asked for."""
        del self._entries[entry.run_id]
        if entry.requeue:
            self.enqueue(entry.run_id)

    def claims(self) -> dict[Held, ActiveRun]:
        """The claimed steps of every owned run."""
        return {
            Held(entry.run_id, claim.step_id, claim.attempt): entry.run
            for entry in self._entries.values()
            if entry.run is not None
            for claim in entry.run.working.values()
        }
