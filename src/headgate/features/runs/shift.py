"""A worker's time on duty: the leases it takes, and whether it still takes any."""

from headgate.features.runs.transitions import Lease, clock
from headgate.features.runs.worker import Worker

MICROSECONDS = 1_000_000


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
        """Whether a step may be taken from this holder."""
        return lease_until < clock() or self.worker.is_gone(worker_id)
