"""How a session ends: what was accepted is kept, or it says why it stopped and what stands written."""

from headgate.agents.codev.ports import Working
from headgate.agents.codev.state import AgentState
from headgate.agents.codev.workflow.routing import CONTINUES
from headgate.agents.codev.workflow.step import Update, emit_phase, tokens_used
from headgate.foundation.errors import HeadgateError
from headgate.foundation.log import get_logger
from headgate.graph.cases import TestCase

log = get_logger(__name__)


async def keep(state: AgentState, working: Working) -> Update:
    """Store the flow as a pattern, and its tests if requested. Failures are reported and change nothing else."""
    emit_phase(state, working, "done")
    pattern_id, lost = await _as_pattern(state, working)
    note = " ".join(filter(None, [lost, await _tests(state, working) if state.get("save_tests") else ""]))
    messages = [{"role": "assistant", "content": note}] if note else []
    return {"done": True, "pattern_id": pattern_id, "stop_reason": None, "note": note, "messages": messages}


async def stop(state: AgentState, working: Working) -> Update:
    """Say why the session stopped before it was done (DD-029), and what stands."""
    emit_phase(state, working, "done")
    update: Update = {"stop_reason": f"{_why(state)} {await _describe_state(working)}"}
    return update if state.get("stop_code") in CONTINUES else update | {"exchange": []}


def _why(state: AgentState) -> str:
    where = f"iteration {state['iteration']} of {state['max_iterations']}"
    code = state.get("stop_code")
    if code == "budget":
        return f"The token budget is used up, in {where}: {tokens_used(state):,} tokens of {state['token_budget']:,}."
    if code == "model_key":
        key = state.get("model_key") or {}
        return f"The session was ended, because its model {key.get('model')} cannot be called: {key.get('reason')}"
    if code == "rejected":
        what = "The result was not accepted" if state.get("approved") else "The plan was not approved"
        return f"{what}, and the session was ended."
    conflict, verdict = state.get("conflict"), state.get("converge_verdict")
    tried = f"{state['max_iterations']} iteration{'s' * (state['max_iterations'] != 1)} were tried, the maximum."
    if state["max_iterations"] == 1:
        tried = "1 iteration was tried, the maximum."
    if conflict is not None:
        return f"{tried} {conflict['message']}"
    return f"{tried} Last {verdict['category']}: {verdict['reason']}" if verdict is not None else tried


async def _describe_state(working: Working) -> str:
    written = sum(note.state == "done" for note in await working.journal.notes())
    if not written:
        return "Nothing was written."
    writes = "1 write of this session is kept" if written == 1 else f"{written} writes of this session are kept"
    return f"{writes}; rolling back undoes what was written."


async def _as_pattern(state: AgentState, working: Working) -> tuple[str | None, str]:
    """The pattern's id, or why there is none: only what was accepted is kept."""
    try:
        held = await working.workplace.read(state.get("flow_id") or "")
        if held.mark != state.get("flow_mark"):
            return None, "The flow was changed after its review: it was not stored as a pattern."
        requirement = state["requirement"]
        pattern_id = await working.patterns.keep(requirement=requirement, held=held, session_id=working.session_id)
    except HeadgateError as error:
        log.warning("pattern not stored", session=state["session_id"], error=error.detail)
        return None, f"The flow was not stored as a pattern: {error}"
    return pattern_id, ""


async def _tests(state: AgentState, working: Working) -> str:
    """Keep the cases as the flow's test set; why that was not possible, in words."""
    if working.test_sets is None:
        return "The instance has no test sets: the cases were not stored."
    cases = [TestCase.model_validate(case) for case in state.get("cases") or []]
    try:
        await working.test_sets.keep(state.get("flow_id") or "", cases)
    except HeadgateError as error:
        log.warning("test set not stored", session=state["session_id"], error=error.detail)
        return f"The cases were not stored as the flow's test set: {error}"
    return ""
