"""The worker of an engine and its leases on steps, and whether it still claims any."""

from collections.abc import Container

from headgate.features.jobs.leases import Leases
from headgate.features.jobs.worker import Worker
from headgate.features.runs.transitions import Holder


class WorkerLease(Leases):
    """Worker state shared by the parts of one engine.

    Args:
        worker: Identity of the worker.
        lease_seconds: Duration of a lease.
        owned_runs: Ids of the runs that the worker executes or has queued.
    """

    def __init__(self, worker: Worker, lease_seconds: float, owned_runs: Container[str] = frozenset()) -> None:
        super().__init__(worker, lease_seconds)
        self.owned = owned_runs
        self.stopping = False
        """Whether no further steps are claimed."""
        self.handing_over = False
        """Whether no further steps are claimed, so that other workers continue the runs of this one."""

    @property
    def admits(self) -> bool:
        """Whether runs are started and recovered here."""
        return not (self.stopping or self.draining)

    def has_lost(self, run_id: str, holder: Holder) -> bool:
        """Whether a step may be claimed from its holder: see `Leases.is_lost`."""
        return self.is_lost(holder.worker_id, holder.lease_until, owned=run_id in self.owned)
