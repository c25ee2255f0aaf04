"""Leases of a worker: how long a claim lasts, and when it expires for recovery."""

import time
from dataclasses import dataclass

from headgate.features.jobs.worker import Worker

MICROSECONDS = 1_000_000
LATE_LEASES = 10
"""Number of leases that a live worker may be overdue."""
_MOST_WATCHED = 10_000


def clock() -> int:
    """Return the current time: microseconds in UTC."""
    return time.time_ns() // 1000


@dataclass(frozen=True, slots=True)
class Lease:
    """The worker of a claim, its start, and its end."""

    worker_id: str
    at: int
    """The current time: the time of the transition."""
    until: int


class Leases:
    """The leases of one worker, and its judgement of those of others.

    Args:
        worker: The claiming worker.
        seconds: Duration of a claim without renewal.
    """

    def __init__(self, worker: Worker, seconds: float) -> None:
        self.worker = worker
        self.seconds = seconds
        self.draining = False
        """Whether this worker claims nothing new, because an operator drains it."""
        self._watched: dict[tuple[str, int], float] = {}
        """Leases that end later than any may, and when each was first seen, on a clock that only goes forward."""

    def lease(self) -> Lease:
        """Return a lease that starts now."""
        now = clock()
        return Lease(self.worker.id, now, now + int(self.seconds * MICROSECONDS))

    def is_lost(self, worker_id: str, lease_until: int, *, owned: bool) -> bool:
        """Return whether a claim may be taken from its holder.

        A claim of this worker is lost only when it does not own the job (`owned`): a job that runs here is never lost,
        however late its lease was renewed. The claim of another worker that has certainly ended is lost at once. A live
        worker on this machine whose heartbeat is late (a busy loop, a clock change) gets more time. For all others the
        lease decides. A lease with an end too far in the future, because the clock was set back, is over when it was
        not renewed for one duration.
        """
        if worker_id == self.worker.id:
            return not owned
        if self.worker.is_gone(worker_id):
            return True
        patience = LATE_LEASES * self.seconds if self.worker.sees_alive(worker_id) else 0
        overdue = (clock() - lease_until) / MICROSECONDS
        if overdue < -2 * self.seconds:
            return self._unchanged_for(worker_id, lease_until) > self.seconds + patience
        return overdue > patience

    def _unchanged_for(self, worker_id: str, lease_until: int) -> float:
        """Return seconds since this lease was first seen; renewal changes its end."""
        if len(self._watched) > _MOST_WATCHED:
            self._watched.clear()
        now = time.monotonic()
        return now - self._watched.setdefault((worker_id, lease_until), now)
