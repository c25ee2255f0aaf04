"""The worker of an engine and its leases on steps, and whether it still claims any."""

from collections.abc import Container, Mapping

from headgate.features.jobs.leases import Leases
from headgate.features.jobs.worker import Worker
from headgate.features.runs.steps.active import ActiveRun
from headgate.features.runs.store.port import RunStore
from headgate.features.runs.transitions import Held, Holder


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

    async def renew(self, store: RunStore, held_steps: Mapping[Held, ActiveRun]) -> list[ActiveRun]:
        """Renew the leases of running steps. Returns the runs with a step whose lease is lost.

        A transition in flight may have settled a step in the database before its answer is here. So that answer decides
        about the run: it says whether the step was still this worker's.
        """
        if not held_steps:
            return []
        renewed = await store.renew(list(held_steps), self.lease())
        return [
            run
            for held, run in held_steps.items()
            if held not in renewed and run.holds(held.step_id, held.attempt) and not run.turn.locked()
        ]

    def has_lost(self, run_id: str, holder: Holder) -> bool:
        """Whether a step may be claimed from its holder: see `Leases.is_lost`."""
        return self.is_lost(holder.worker_id, holder.lease_until, owned=run_id in self.owned)
