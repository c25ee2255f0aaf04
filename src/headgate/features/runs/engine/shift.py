"""The leases of an engine's worker on the steps of runs, and whether it still takes any."""

from collections.abc import Container

from headgate.features.jobs.leases import Leases
from headgate.features.jobs.worker import Worker
from headgate.features.runs.transitions import Holder


class Shift(Leases):
    """What everything in one engine shares about its worker.

    Args:
        worker: Who works.
        lease_seconds: How long a claimed step is left to it.
        owned: Ids of the runs that the worker is working on or has queued.
    """

    def __init__(self, worker: Worker, lease_seconds: float, owned: Container[str] = frozenset()) -> None:
        super().__init__(worker, lease_seconds)
        self.owned = owned
        self.stopping = False
        """Whether no further step is to be claimed."""

    def has_lost(self, run_id: str, holder: Holder) -> bool:
        """Whether a step may be taken from its holder: see `Leases.is_lost`."""
        return self.is_lost(holder.worker_id, holder.lease_until, owned=run_id in self.owned)
