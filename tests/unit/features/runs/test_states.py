import pytest

from headgate.features.runs.states import (
    ACTIVE_RUNS,
    ATTEMPT_MOVES,
    BORN_SETTLED,
    CLAIMABLE_RUNS,
    LIVE_RUNS,
    RUN_CONTINUES,
    RUN_MOVES,
    RUN_RESUMES,
    STEP_MOVES,
    STEP_RESUMES,
    AttemptStatus,
    RunStatus,
    StepStatus,
    guard,
    sources,
    sql_list,
)


class TestMoves:
    @pytest.mark.parametrize("after", [RunStatus.COMPLETED, RunStatus.FAILED, RunStatus.CANCELLED])
    def test_lead_out_of_no_final_state_of_a_run(self, after: RunStatus) -> None:
        assert not [move for move in RUN_MOVES if move[0] == after]
        assert after.over

    def test_lead_back_to_no_earlier_state(self) -> None:
        assert sources(STEP_MOVES, StepStatus.PENDING) == {StepStatus.WAITING}
        assert sources(RUN_MOVES, RunStatus.QUEUED) == frozenset()
        assert sources(ATTEMPT_MOVES, AttemptStatus.STARTED) == frozenset()

    def test_let_a_completed_step_go_nowhere(self) -> None:
        assert not [after for before, after in STEP_MOVES if before is StepStatus.COMPLETED]

    def test_reach_every_state(self) -> None:
        for moves, first, states in (
            (RUN_MOVES, RunStatus.QUEUED, RunStatus),
            (STEP_MOVES, StepStatus.PENDING, StepStatus),
            (ATTEMPT_MOVES, AttemptStatus.STARTED, AttemptStatus),
        ):
            reached = {str(first)}
            for _ in states:
                reached |= {str(after) for before, after in moves if str(before) in reached}
            assert reached == {str(state) for state in states}

    def test_know_which_runs_are_live(self) -> None:
        assert {RunStatus.QUEUED, RunStatus.RUNNING, RunStatus.WAITING, RunStatus.PAUSED} == LIVE_RUNS
        assert {RunStatus.QUEUED, RunStatus.RUNNING, RunStatus.WAITING} == CLAIMABLE_RUNS
        assert {RunStatus.QUEUED, RunStatus.RUNNING} == ACTIVE_RUNS
        assert not RunStatus.RUNNING.over

    def test_of_a_resume_lead_back_from_failed_only_and_never_from_completed(self) -> None:
        assert {before for before, _ in RUN_RESUMES} == {RunStatus.FAILED}
        assert sources(STEP_RESUMES, StepStatus.PENDING) == {StepStatus.FAILED, StepStatus.CANCELLED}
        assert not RUN_RESUMES & RUN_MOVES
        assert not STEP_RESUMES & STEP_MOVES

    def test_of_a_continued_run_start_from_paused_only(self) -> None:
        assert {before for before, _ in RUN_CONTINUES} == {RunStatus.PAUSED}
        assert not RUN_CONTINUES & RUN_MOVES

    def test_let_only_settled_steps_be_taken_over(self) -> None:
        assert all(state.settled for state in BORN_SETTLED)


class TestSql:
    def test_lists_states_in_a_stable_order(self) -> None:
        assert sql_list({RunStatus.RUNNING, RunStatus.QUEUED}) == "('queued', 'running')"

    def test_guards_a_move_with_the_states_it_may_start_from(self) -> None:
        assert guard(STEP_MOVES, StepStatus.SKIPPED) == "status IN ('pending')"
        assert guard(RUN_MOVES, RunStatus.CANCELLED) == "status IN ('paused', 'queued', 'running', 'waiting')"
