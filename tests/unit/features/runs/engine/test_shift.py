"""Whether a step may be taken from its holder."""

from pathlib import Path

import pytest

from headgate.features.jobs.leases import LATE_LEASES, TIMER
from headgate.features.jobs.worker import Worker
from headgate.features.runs.engine.shift import Shift
from headgate.features.runs.transitions import Holder, clock

LEASE_SECONDS = 2.0
SECOND = 1_000_000


@pytest.fixture
def worker(tmp_path: Path) -> Worker:
    return Worker(tmp_path)


class TestHasLost:
    @pytest.mark.parametrize("overdue_seconds", [-1, 1, 3600, 86_400 * 365])
    def test_is_never_true_of_a_step_that_works_here(self, worker: Worker, overdue_seconds: int) -> None:
        shift = Shift(worker, LEASE_SECONDS, owned={"run"})
        late = Holder("step", 1, worker.id, clock() - overdue_seconds * SECOND)
        assert not shift.has_lost("run", late)

    @pytest.mark.parametrize("overdue_seconds", [-1, 1])
    def test_is_true_at_once_of_what_was_left_here(self, worker: Worker, overdue_seconds: int) -> None:
        shift = Shift(worker, LEASE_SECONDS, owned={"another"})
        assert shift.has_lost("run", Holder("step", 1, worker.id, clock() - overdue_seconds * SECOND))

    def test_is_true_of_a_stranger_whose_lease_ran_out(self, worker: Worker) -> None:
        shift = Shift(worker, LEASE_SECONDS, owned={"run"})
        assert shift.has_lost("run", Holder("step", 1, "elsewhere:1:a", clock() - SECOND))
        assert not shift.has_lost("run", Holder("step", 1, "elsewhere:1:a", clock() + SECOND))

    def test_is_true_of_a_step_that_waits_once_its_moment_has_come(self, worker: Worker) -> None:
        shift = Shift(worker, LEASE_SECONDS)
        assert not shift.has_lost("run", Holder("step", 1, TIMER, clock() + 86_400 * SECOND))
        assert shift.has_lost("run", Holder("step", 1, TIMER, clock()))

    def test_is_true_at_once_of_one_that_ended_and_late_of_one_that_lives(self, worker: Worker, tmp_path: Path) -> None:
        shift, other = Shift(worker, LEASE_SECONDS), Worker(tmp_path)
        other.open()
        late, very_late = (clock() - int(leases * LEASE_SECONDS * SECOND) for leases in (1, LATE_LEASES + 1))
        assert not shift.has_lost("run", Holder("step", 1, other.id, late))
        assert shift.has_lost("run", Holder("step", 1, other.id, very_late))
        other.close()
        assert shift.has_lost("run", Holder("step", 1, other.id, clock() + SECOND))
