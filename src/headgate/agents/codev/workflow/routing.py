"""The routes of a session after each node. Pure: a route reads the state and changes nothing."""

from headgate.agents.codev.state import AgentState
from headgate.agents.codev.workflow.messages import calls_waiting

CONTINUES = frozenset({"budget", "model_key"})
"""Codes of stops after which a session continues where it was, with a larger budget or another model."""
ASKED_FROM = 5
"""Ambiguity from which questions are asked (DD-033)."""


def after_clarify(state: AgentState) -> str:
    """Questions are asked only where much is unclear."""
    if state.get("stop_code"):
        return "stop"
    return "ask_clarification" if state.get("questions") and state.get("ambiguity", 0) >= ASKED_FROM else "discover"


def after_discover(state: AgentState) -> str:
    """To the tools that were called; without any, the phase is over."""
    if state.get("stop_code"):
        return "stop"
    return _tools_or_again(state, "discover") or "check_credentials"


def after_credentials(state: AgentState) -> str:
    """What is missing is asked for, unless the user chose to continue without; given after a verdict, it is tested."""
    if state.get("missing_credentials") and not state.get("credentials_skipped"):
        return "ask_credentials"
    tested = state.get("credentials_given") and state.get("flow_id") and state.get("approved")
    return "test" if tested else "plan"


def after_plan(state: AgentState) -> str:
    """To the user; a repair continues if the approval covers it; a plan without readable tests is requested again."""
    if state.get("stop_code"):
        return "stop"
    if state.get("exchange"):
        return "plan"
    return "patch" if state.get("approved") else "approve_plan"


def after_approval(state: AgentState) -> str:
    """Nothing is written without approval."""
    if state.get("stop_code"):
        return "stop"
    return "patch" if state.get("approved") else "plan"


def after_patch(state: AgentState) -> str:
    """To the tools that were called; back to the start when somebody else changed the flow; else to the tests."""
    if state.get("stop_code"):
        return "stop"
    if state.get("conflict"):
        return "discover"
    return _tools_or_again(state, "patch") or "test"


def after_patch_tools(state: AgentState) -> str:
    """Back to the model with what came of its calls, unless somebody else changed the flow."""
    if state.get("stop_code"):
        return "stop"
    return "discover" if state.get("conflict") else "patch"


def after_test(state: AgentState) -> str:
    """One trial after another, until all were run (DD-021), unless somebody else changed the flow."""
    if state.get("stop_code"):
        return "stop"
    if state.get("conflict"):
        return "discover"
    return "test" if trials_left(state) else "converge"


def after_converge(state: AgentState) -> str:
    """An unreadable verdict is requested again; then to credentials, plan, or the user, who may accept less."""
    if state.get("stop_code"):
        return "stop"
    if state.get("exchange"):
        return "converge"
    verdict = state.get("converge_verdict")
    if verdict is None or state.get("left_open"):
        return "read_back"
    return "check_credentials" if verdict["category"] == "CREDENTIAL" else "plan"


def after_read_back(state: AgentState) -> str:
    """What the person reviews is what was tested."""
    if state.get("stop_code"):
        return "stop"
    return "discover" if state.get("conflict") else "review"


def after_review(state: AgentState) -> str:
    """Accepted, or what should be otherwise is planned."""
    if state.get("stop_code"):
        return "stop"
    return "keep" if state.get("accepted") else "plan"


def after_model_key(state: AgentState) -> str:
    """The node whose model call failed runs again, unless the user ended the session."""
    return "stop" if state.get("stop_code") else state.get("continue_at") or "stop"


def after_stop(state: AgentState) -> str:
    """The end; after `stop_code` was reset, where the session was."""
    return "end" if state.get("stop_code") else state.get("continue_at") or "end"


def _tools_or_again(state: AgentState, node: str) -> str:
    """During a phase: to its tools if some were called, else to the model again."""
    exchange = state.get("exchange")
    if not exchange:
        return ""
    return f"{node}_tools" if calls_waiting(exchange) else node


def trials_wanted(state: AgentState) -> int:
    """How many trials an iteration has; none without a flow."""
    return len(state.get("cases") or []) * state["test_trials"] if state.get("flow_id") else 0


def trials_left(state: AgentState) -> bool:
    """Whether trials of this iteration have not been run."""
    return len(state.get("trials") or []) < trials_wanted(state)


def all_passed(state: AgentState) -> bool:
    """Whether there is a flow, and every trial of every case passed (DD-021)."""
    trials = state.get("trials") or []
    total = trials_wanted(state)
    return 0 < total <= len(trials) and all(trial["passed"] for trial in trials)
