"""Leases of a worker: how long a claim lasts, and when a claim may be taken from its holder."""

import time
from dataclasses import dataclass

from headgate.features.jobs.worker import Worker

MICROSECONDS = 1_000_000
LATE_LEASES = 10
"""Leases that a worker which is seen alive may be overdue."""
TIMER = "timer"
"""Holder of a job that waits for a moment: no worker. Its lease ends at that moment."""
_MOST_WATCHED = 10_000


def clock() -> int:
    """The present moment: microseconds in UTC."""
    return time.time_ns() // 1000


@dataclass(frozen=True, slots=True)
class Lease:
    """Who claims, since when, and until when nobody else may."""

    worker_id: str
    at: int
    """The present moment: the time of the transition."""
    until: int


class Leases:
    """The leases that one worker takes, and its judgement of those of others.

    Args:
        worker: Who claims.
        seconds: How long a claim lasts without being renewed.
    """

    def __init__(self, worker: Worker, seconds: float) -> None:
        self.worker = worker
        self.seconds = seconds
        self._watched: dict[tuple[str, int], float] = {}
        """Leases that end later than any may, and when each was first seen, on a clock that only goes forward."""

    def lease(self) -> Lease:
        """A lease from now."""
        now = clock()
        return Lease(self.worker.id, now, now + int(self.seconds * MICROSECONDS))

    def is_lost(self, worker_id: str, lease_until: int, *, owned: bool) -> bool:
        """Whether a claim may be taken from its holder.

        This worker itself has lost a claim only when it does not own the job (`owned`): what is running here is never
        lost, however late its lease was renewed. Another worker that surely ended has lost its claim at once. One that
        lives on this machine and is only late with its heartbeat (a busy loop, a clock that jumped) is given time. Of
        any other the lease decides. A lease that ends later than any may, because the clock was set back after it was
        taken, is over when nobody renewed it for as long as one lasts. What waits for a moment is held until then.
        """
        if worker_id == self.worker.id:
            return not owned
        if worker_id == TIMER:
            return clock() >= lease_until
        if self.worker.is_gone(worker_id):
            return True
        patience = LATE_LEASES * self.seconds if self.worker.sees_alive(worker_id) else 0
        overdue = (clock() - lease_until) / MICROSECONDS
        if overdue < -2 * self.seconds:
            return self._unchanged_for(worker_id, lease_until) > self.seconds + patience
        return overdue > patience

    def _unchanged_for(self, worker_id: str, lease_until: int) -> float:
        """Seconds since this lease was first seen; a holder who renews it changes when it ends."""
        if len(self._watched) > _MOST_WATCHED:
            self._watched.clear()
        now = time.monotonic()
        return now - self._watched.setdefault((worker_id, lease_until), now)
