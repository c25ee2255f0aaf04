"""A worker's time on duty: the leases it takes, and whether it still takes any."""

from headgate.features.runs.engine.worker import Worker
from headgate.features.runs.transitions import Lease, clock

MICROSECONDS = 1_000_000
LATE_LEASES = 10
"""Leases that a worker seen alive may be overdue."""


class Shift:
    """What everything in one engine shares about its worker.

    Args:
        worker: Who works.
        lease_seconds: How long a claimed step is left to it.
    """

    def __init__(self, worker: Worker, lease_seconds: float) -> None:
        self.worker = worker
        self.lease_seconds = lease_seconds
        self.stopping = False
        """Whether no further step is to be claimed."""

    def lease(self) -> Lease:
        """A lease from now."""
        now = clock()
        return Lease(self.worker.id, now, now + int(self.lease_seconds * MICROSECONDS))

    def has_lost(self, worker_id: str, lease_until: int) -> bool:
        """Whether a step may be taken from this holder.

        One that surely ended has lost it at once. One that lives on this machine and is only late with its heartbeat (a
        busy loop, a clock that jumped) is given time. Of any other the lease decides.
        """
        if self.worker.is_gone(worker_id):
            return True
        overdue = clock() - lease_until
        if overdue <= 0:
            return False
        patience = LATE_LEASES * self.lease_seconds if self.worker.sees_alive(worker_id) else 0
        return overdue > patience * MICROSECONDS
