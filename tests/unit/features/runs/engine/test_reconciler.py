from typing import Any

import pytest

from headgate.features.runs.engine.reconciler import Action, Rules, judge
from headgate.features.runs.states import MAX_ATTEMPTS, RunStatus
from headgate.features.runs.transitions import Claim, Holder, LiveRun, RunKey

NOW = 1_000_000_000_000
SECOND = 1_000_000
ALIVE, DEAD = Holder("a", 1, "alive", NOW), Holder("d", 2, "dead", NOW)
HOPELESS = Holder("h", 7, "dead", NOW, interruptions=MAX_ATTEMPTS - 1)


def run(*holders: Holder, **more: Any) -> LiveRun:
    members: dict[str, Any] = {
        "status": RunStatus.RUNNING,
        "flow_deleted": False,
        "created_at": NOW - 10 * SECOND,
        "started_at": NOW - 10 * SECOND,
        "dispatched_at": None,
    }
    return LiveRun(RunKey("r", "t", "f", 1), holders=holders, **(members | more))


def verdict(live: LiveRun, *, now: int = NOW, **rules: Any) -> Any:
    return judge(
        live,
        now=now,
        has_lost=lambda _run_id, one: one.worker_id == "dead",
        rules=Rules(**rules),
    )


class TestJudge:
    def test_leaves_a_run_that_somebody_works_on(self) -> None:
        assert verdict(run(ALIVE)).action is Action.LEAVE

    def test_takes_up_what_a_dead_worker_left_beside_one_that_lives(self) -> None:
        found = verdict(run(ALIVE, DEAD))
        assert (found.action, found.lost) == (Action.TAKE_UP, (Claim("d", 2),))

    @pytest.mark.parametrize("status", [RunStatus.QUEUED, RunStatus.RUNNING])
    def test_takes_up_what_nobody_works_on(self, status: RunStatus) -> None:
        assert verdict(run(status=status)).action is Action.TAKE_UP

    @pytest.mark.parametrize(
        ("holders", "action"),
        [((), Action.END), ((DEAD,), Action.END), ((ALIVE,), Action.LEAVE), ((ALIVE, DEAD), Action.LEAVE)],
    )
    def test_lets_a_step_of_a_deleted_flow_finish_and_ends_the_run_else(
        self, holders: tuple[Holder, ...], action: Action
    ) -> None:
        found = verdict(run(*holders, flow_deleted=True))
        assert (found.action, found.code) == (action, "flow_deleted" if action is Action.END else "")

    def test_ends_a_run_with_the_step_that_killed_every_worker(self) -> None:
        found = verdict(run(ALIVE, HOPELESS))
        assert (found.action, found.code, found.step) == (Action.END, "worker_lost", Claim("h", 7))
        assert str(MAX_ATTEMPTS) in found.message

    def test_takes_up_a_step_after_any_number_of_attempts_that_did_not_end_in_a_death(self) -> None:
        assert verdict(run(Holder("w", 100, "dead", NOW, interruptions=MAX_ATTEMPTS - 2))).action is Action.TAKE_UP

    @pytest.mark.parametrize("holders", [(), (ALIVE,), (DEAD,)])
    def test_ends_a_run_that_was_worked_on_too_long(self, holders: tuple[Holder, ...]) -> None:
        worked = run(*holders, worked=10 * SECOND)
        assert verdict(worked, run_timeout_seconds=9).code == "run_stale"
        assert verdict(worked, run_timeout_seconds=11).code == ""
        assert verdict(worked).code == ""

    def test_ends_no_run_for_the_time_that_nobody_worked_on_it(self) -> None:
        assert verdict(run(DEAD, worked=SECOND), now=NOW + 10**12, run_timeout_seconds=9).action is Action.TAKE_UP
        assert verdict(run(ALIVE), now=NOW + 10**12, run_timeout_seconds=9).action is Action.LEAVE

    def test_leaves_a_run_to_its_queue_for_a_while(self) -> None:
        handed = run(dispatched_at=NOW - 5 * SECOND)
        assert verdict(handed, redispatch_seconds=6).action is Action.LEAVE
        assert verdict(handed, redispatch_seconds=4).action is Action.TAKE_UP

    def test_hands_a_run_out_again_whose_dispatch_lies_far_in_the_future(self) -> None:
        assert verdict(run(dispatched_at=NOW + 3600 * SECOND), redispatch_seconds=60).action is Action.TAKE_UP

    @pytest.mark.parametrize("status", [RunStatus.QUEUED, RunStatus.RUNNING])
    def test_never_ends_a_run_that_waits(self, status: RunStatus) -> None:
        waiting = run(status=status, dispatched_at=NOW - 10**6 * SECOND)
        assert verdict(waiting, redispatch_seconds=6).action is Action.TAKE_UP
