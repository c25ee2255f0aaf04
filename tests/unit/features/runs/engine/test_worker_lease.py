"""Whether a step may be taken from its holder."""

from pathlib import Path

import pytest

from headgate.features.jobs.leases import LATE_LEASES
from headgate.features.jobs.worker import Worker
from headgate.features.runs.engine.worker_lease import WorkerLease
from headgate.features.runs.transitions import Holder, clock

LEASE_SECONDS = 2.0
SECOND = 1_000_000


@pytest.fixture
def worker(tmp_path: Path) -> Worker:
    return Worker(tmp_path)


class TestHasLost:
    @pytest.mark.parametrize("overdue_seconds", [-1, 1, 3600, 86_400 * 365])
    def test_is_never_true_of_a_step_that_works_here(self, worker: Worker, overdue_seconds: int) -> None:
        worker_lease = WorkerLease(worker, LEASE_SECONDS, owned_runs={"run"})
        late = Holder("step", 1, worker.id, clock() - overdue_seconds * SECOND)
        assert not worker_lease.has_lost("run", late)

    @pytest.mark.parametrize("overdue_seconds", [-1, 1])
    def test_is_true_at_once_of_what_was_left_here(self, worker: Worker, overdue_seconds: int) -> None:
        worker_lease = WorkerLease(worker, LEASE_SECONDS, owned_runs={"another"})
        assert worker_lease.has_lost("run", Holder("step", 1, worker.id, clock() - overdue_seconds * SECOND))

    def test_is_true_of_a_stranger_whose_lease_ran_out(self, worker: Worker) -> None:
        worker_lease = WorkerLease(worker, LEASE_SECONDS, owned_runs={"run"})
        assert worker_lease.has_lost("run", Holder("step", 1, "elsewhere:1:a", clock() - SECOND))
        assert not worker_lease.has_lost("run", Holder("step", 1, "elsewhere:1:a", clock() + SECOND))

    def test_is_true_at_once_of_one_that_ended_and_late_of_one_that_lives(self, worker: Worker, tmp_path: Path) -> None:
        worker_lease, other = WorkerLease(worker, LEASE_SECONDS), Worker(tmp_path)
        other.open()
        late, very_late = (clock() - int(leases * LEASE_SECONDS * SECOND) for leases in (1, LATE_LEASES + 1))
        assert not worker_lease.has_lost("run", Holder("step", 1, other.id, late))
        assert worker_lease.has_lost("run", Holder("step", 1, other.id, very_late))
        other.close()
        assert worker_lease.has_lost("run", Holder("step", 1, other.id, clock() + SECOND))
