"""A worker's time on duty: the leases it takes, and whether it still takes any."""

import time
from collections.abc import Container

from headgate.features.jobs.worker import Worker
from headgate.features.runs.transitions import Holder, Lease, clock

MICROSECONDS = 1_000_000
LATE_LEASES = 10
"""Leases that a worker seen alive may be overdue."""
_MOST_WATCHED = 10_000


class Shift:
    """What everything in one engine shares about its worker.

    Args:
        worker: Who works.
        lease_seconds: How long a claimed step is left to it.
        owned: Ids of the runs that the worker is working on or has queued.
    """

    def __init__(self, worker: Worker, lease_seconds: float, owned: Container[str] = frozenset()) -> None:
        self.worker = worker
        self.owned = owned
        self.lease_seconds = lease_seconds
        self.stopping = False
        """Whether no further step is to be claimed."""
        self._watched: dict[tuple[str, int], float] = {}
        """Leases that end later than any may, and when each was seen first, in seconds that only go forward."""

    def lease(self) -> Lease:
        """A lease from now."""
        now = clock()
        return Lease(self.worker.id, now, now + int(self.lease_seconds * MICROSECONDS))

    def has_lost(self, run_id: str, holder: Holder) -> bool:
        """Whether a step may be taken from its holder.

        This worker itself has lost a step only when it does not own the run: a step that works here is never lost,
        however late its lease was renewed. Another worker that surely ended has lost it at once. One that lives on this
        machine and is only late with its heartbeat (a busy loop, a clock that jumped) is given time. Of any other the
        lease decides. A lease that ends later than any may, because the clock was set back after it was taken, is over
        when nobody renewed it for as long as one lasts.
        """
        if holder.worker_id == self.worker.id:
            return run_id not in self.owned
        if self.worker.is_gone(holder.worker_id):
            return True
        patience = LATE_LEASES * self.lease_seconds if self.worker.sees_alive(holder.worker_id) else 0
        overdue = (clock() - holder.lease_until) / MICROSECONDS
        if overdue < -2 * self.lease_seconds:
            return self._unchanged_for(holder.worker_id, holder.lease_until) > self.lease_seconds + patience
        return overdue > patience

    def _unchanged_for(self, worker_id: str, lease_until: int) -> float:
        """Seconds since this lease was seen first; who renews one changes when it ends."""
        if len(self._watched) > _MOST_WATCHED:
            self._watched.clear()
        now = time.monotonic()
        return now - self._watched.setdefault((worker_id, lease_until), now)
