"""What stays of an iteration when somebody else changed the flow."""

from typing import Any, cast

from headgate.agents.codev.ports import Working
from headgate.agents.codev.state import AgentState, Conflicted
from headgate.agents.codev.workflow.nodes import plan
from headgate.agents.codev.workflow.step import conflicted

VERDICT = {"category": "LOGIC", "reason": "The total is wrong.", "fix": "Sum the right column."}
TRIAL = {"case": "adds up", "trial": 1, "passed": False, "error": "", "misses": ["is not 7"], "answer": "6"}


class Told:
    """Takes what is told."""

    def emit(self, kind: str, data: dict[str, Any]) -> None:
        assert kind == "conflict"


def state(**members: Any) -> AgentState:
    base = {
        "requirement": "Add up.",
        "iteration": 1,
        "max_iterations": 3,
        "test_trials": 1,
        "cases": [{"name": "adds up"}],
    }
    return cast("AgentState", base | members)


class TestConflict:
    def test_keeps_the_verdict_and_the_failed_tests_for_the_repair(self) -> None:
        before = state(converge_verdict=VERDICT, trials=[TRIAL])
        update = conflicted(before, cast("Working", Told()), Conflicted(message="Changed by Bo.", lines=["+ x"]))
        told = str(plan._context(cast("AgentState", {**before, **update}), "headgate", "# Flow"))
        assert "The total is wrong." in told
        assert "the answer is not 7" in told
        assert "Changed by Bo." in told

    def test_keeps_failed_tests_that_no_verdict_was_given_for(self) -> None:
        before = state(trials=[TRIAL])
        update = conflicted(before, cast("Working", Told()), Conflicted(message="Changed by Bo.", lines=[]))
        assert "the answer is not 7" in str(plan._context(cast("AgentState", {**before, **update}), "headgate", ""))

    def test_ends_every_approval(self) -> None:
        update = conflicted(state(approved=True), cast("Working", Told()), Conflicted(message="Changed.", lines=[]))
        assert (update["approved"], update["iteration"]) == (False, 2)
