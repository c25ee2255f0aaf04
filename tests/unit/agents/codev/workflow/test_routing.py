"""Where a session goes on, as a table."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.agents.codev.state import AgentState, Trial
from headgate.agents.codev.workflow import routing
from headgate.agents.codev.workflow.build import ROUTES
from headgate.agents.codev.workflow.opening import initial_state
from tests.support.properties import cases

ASKED = {"type": "human", "data": {"content": "x"}}
CALLED = {"type": "ai", "data": {"content": ""}, "calls": [{"id": "1", "name": "t", "args": {}}]}
MISSING = [{"type": "openAIApi"}]
CONFLICT = {"message": "m", "lines": []}
VERDICT = {"category": "LOGIC", "reason": "r", "fix": "f"}


def state(**changes: Any) -> AgentState:
    begun = initial_state("s", "r", flow_id=None, test_trials=2, max_iterations=3, token_budget=1000)
    return {**begun, **changes}  # type: ignore[typeddict-item]


def trial(*, passed: bool) -> Trial:
    return Trial(
        case="a", trial=1, passed=passed, answer="", misses=[], error="", run_id="", link="", duration_ms=0
    )  # fmt: skip


@pytest.mark.parametrize(
    ("node", "changes", "goes_to"),
    [
        ("clarify", {}, "discover"),
        ("clarify", {"ambiguity": 4, "questions": ["q"]}, "discover"),
        ("clarify", {"ambiguity": 5, "questions": ["q"]}, "ask_clarification"),
        ("clarify", {"ambiguity": 9, "questions": []}, "discover"),
        ("discover", {"exchange": [ASKED, CALLED]}, "discover_tools"),
        ("discover", {"exchange": [ASKED]}, "discover"),
        ("discover", {"exchange": []}, "check_credentials"),
        ("check_credentials", {}, "plan"),
        ("check_credentials", {"missing_credentials": MISSING}, "ask_credentials"),
        ("check_credentials", {"missing_credentials": MISSING, "credentials_skipped": True}, "plan"),
        ("check_credentials", {"credentials_given": True, "flow_id": "f", "approved": True}, "test"),
        ("check_credentials", {"credentials_given": True, "flow_id": "f", "approved": False}, "plan"),
        ("plan", {"exchange": [ASKED]}, "plan"),
        ("plan", {}, "approve_plan"),
        ("plan", {"repairs_approved": True}, "approve_plan"),
        ("plan", {"approved": True}, "patch"),
        ("approve_plan", {"approved": True}, "patch"),
        ("approve_plan", {"approved": False}, "plan"),
        ("approve_plan", {"stop_code": "rejected"}, "stop"),
        ("patch", {"exchange": [ASKED, CALLED]}, "patch_tools"),
        ("patch", {"exchange": [ASKED]}, "patch"),
        ("patch", {"exchange": []}, "test"),
        ("patch", {"conflict": CONFLICT}, "discover"),
        ("patch_tools", {"exchange": [ASKED]}, "patch"),
        ("patch_tools", {"conflict": CONFLICT}, "discover"),
        ("test", {"cases": [{}]}, "converge"),
        ("test", {"cases": [{}], "flow_id": "f"}, "test"),
        ("test", {"cases": [{}], "flow_id": "f", "trials": [trial(passed=True)]}, "test"),
        ("test", {"cases": [{}], "flow_id": "f", "trials": [trial(passed=True)] * 2}, "converge"),
        ("converge", {"exchange": [ASKED]}, "converge"),
        ("converge", {"converge_verdict": VERDICT}, "plan"),
        ("converge", {"converge_verdict": {**VERDICT, "category": "CREDENTIAL"}}, "check_credentials"),
        ("converge", {"converge_verdict": VERDICT, "left_open": True}, "read_back"),
        ("converge", {}, "read_back"),
        ("read_back", {}, "review"),
        ("read_back", {"conflict": CONFLICT}, "discover"),
        ("review", {"accepted": True}, "keep"),
        ("review", {"accepted": False}, "plan"),
        ("ask_model_key", {"continue_at": "patch"}, "patch"),
        ("ask_model_key", {"continue_at": "patch", "stop_code": "model_key"}, "stop"),
        ("stop", {"continue_at": "patch"}, "patch"),
        ("stop", {"continue_at": "patch", "stop_code": "budget"}, "end"),
        ("stop", {"stop_code": "rejected"}, "end"),
    ],
)
def test_goes_on(node: str, changes: dict[str, Any], goes_to: str) -> None:
    assert ROUTES[node][0](state(**changes)) == goes_to


class TestEveryRoute:
    ANY = st.fixed_dictionaries(
        {},
        optional={
            "ambiguity": st.integers(0, 10),
            "questions": st.lists(st.just("q"), max_size=2),
            "exchange": st.sampled_from([[], [ASKED], [ASKED, CALLED]]),
            "missing_credentials": st.sampled_from([[], MISSING]),
            "credentials_skipped": st.booleans(),
            "approved": st.booleans(),
            "conflict": st.sampled_from([None, CONFLICT]),
            "flow_id": st.sampled_from([None, "f"]),
            "cases": st.lists(st.just({}), max_size=2),
            "trials": st.lists(st.booleans().map(lambda passed: trial(passed=passed)), max_size=4),
            "converge_verdict": st.sampled_from([None, VERDICT]),
            "left_open": st.booleans(),
            "accepted": st.booleans(),
            "stop_code": st.sampled_from([None, "budget", "iterations", "rejected", "model_key"]),
        },
    )

    @given(ANY, st.sampled_from(sorted(ROUTES)))
    @cases(200)
    def test_leads_to_a_node_that_it_may_lead_to_and_stops_when_stopped(
        self, changes: dict[str, Any], node: str
    ) -> None:
        route, ways = ROUTES[node]
        goes_to = route(state(**changes))
        assert goes_to in ways
        assert changes.get("stop_code") is None or "stop" not in ways or goes_to == "stop"

    def test_to_writing_is_through_an_approval(self) -> None:
        leading = {node for node, (_, ways) in ROUTES.items() if "patch" in ways}
        # The last two lead only to where the session was.
        assert leading == {"plan", "approve_plan", "patch", "patch_tools", "ask_model_key", "stop"}
        assert all(ROUTES[node][0](state(approved=False)) != "patch" for node in ("plan", "approve_plan"))


class TestAllPassed:
    @pytest.mark.parametrize(
        ("passed", "flow_id", "expected"),
        [
            ([True, True], "f", True),
            ([True, False], "f", False),
            ([True], "f", False),
            ([], "f", False),
            ([True, True], None, False),
        ],
    )
    def test_wants_every_trial_and_a_flow(self, passed: list[bool], flow_id: str | None, expected: bool) -> None:
        trials = [trial(passed=one) for one in passed]
        assert routing.all_passed(state(cases=[{}], trials=trials, flow_id=flow_id)) is expected

    def test_is_never_true_without_cases(self) -> None:
        assert not routing.all_passed(state(cases=[], trials=[], flow_id="f"))
