"""Converge: a structured verdict, which code checks against what was run (DD-019)."""

import re
from typing import Any

from headgate.agents.codev.ports import Working
from headgate.agents.codev.state import AgentState, Trial, Verdict
from headgate.agents.codev.workflow import prompts
from headgate.agents.codev.workflow.context import describe_trials, earlier_plan, flow_now, opening
from headgate.agents.codev.workflow.messages import model, user_message
from headgate.agents.codev.workflow.reading import Judged, read_credentials, read_verdict
from headgate.agents.codev.workflow.routing import all_passed, trials_wanted
from headgate.agents.codev.workflow.step import OVER_BUDGET, Update, ask, emit_phase
from headgate.foundation.quoting import clipped_to, shortened

_KEYS = re.compile(r"\b401\b|\b403\b|unauthori[sz]ed|api[ _-]?key|credential|authenticat", re.IGNORECASE)
_SHAPE = re.compile(
    r"\b50\d\b|\b422\b|\b400\b|internal server error|validation|invalid flow|cannot read propert|not connected"
    r"|unknown component|missing input|required",
    re.IGNORECASE,
)
_LONGEST_SAID = 2_000
_AGAIN = (
    "That is not a verdict. Answer with `DONE` alone on a line, or with `ITERATE` alone on a line and then `Category:`,"
    " `Reason:` and `Fix:`, one line each. Nothing else."
)


async def converge(state: AgentState, working: Working) -> Update:
    """Ask for a verdict; one that cannot be read once more, and then the trials say it."""
    exchange = list(state.get("exchange") or [])
    if not exchange:
        emit_phase(state, working, "converge")
    system = prompts.system("converge", working.workplace)
    context = _context(state, await flow_now(state, working.workplace))
    reply = await ask(state, working, "converge", [*context, *exchange], system=system)
    judged = read_verdict(reply.answer.text)
    if judged is None and not exchange and not reply.over:
        answers = [model(clipped_to(reply.answer.text, _LONGEST_SAID))] if reply.answer.text.strip() else []
        return {**reply.used, "exchange": [*answers, user_message(_AGAIN)]}
    types = read_credentials(reply.answer.text)[1]
    return {**reply.used, "exchange": [], **_decided(state, working, judged, over=reply.over), **_asks(types)}


def _asks(types: list[str]) -> Update:
    """A failed trial asks for credentials again, also if the user chose to continue without."""
    return {"wanted_credentials": types, "credentials_skipped": False, "credentials_given": False}


def _decided(state: AgentState, working: Working, judged: Judged | None, *, over: bool) -> Update:
    passed = all_passed(state)
    if passed and (judged is None or judged.done):
        working.emit("verdict", {"done": True})
        # All that costs tokens is done: what is left is for the person, whatever is left of the budget.
        return {"converge_verdict": None, "left_open": False, "stop_code": None}
    derived = derive(state)
    verdict = derived if judged is None or judged.done else judged.verdict(derived)
    working.emit("verdict", {"done": False, **{name: str(value) for name, value in verdict.items()}})
    last = state["iteration"] >= state["max_iterations"]
    left_open = passed and (over or last)
    update: Update = {
        "converge_verdict": dict(verdict),
        "left_open": left_open,
        # A user who refuses an incomplete result refuses the result, not the plan that they approved.
        "approved": bool(state.get("approved") and (left_open or state.get("repairs_approved"))),
        "messages": [{"role": "assistant", "content": f"{verdict['category']}: {verdict['reason']}"}],
    }
    if left_open:
        return update | {"stop_code": None}
    if last:
        return update | {"stop_code": "budget" if over else "iterations"}
    return update | {"iteration": state["iteration"] + 1} | (OVER_BUDGET if over else {})


def derive(state: AgentState) -> Verdict:
    """The verdict that the trials themselves say."""
    trials = state.get("trials") or []
    failed = next((trial for trial in trials if not trial["passed"]), None)
    if not state.get("flow_id") or not trials:
        reason = "There is no flow yet." if not state.get("flow_id") else "No test was run."
        return Verdict(category="INCOMPLETE", reason=reason, fix="Execute the steps of the plan.")
    if failed is None:
        return Verdict(
            category="LOGIC",
            reason="Every trial passed, but the requirement is not met.",
            fix="Compare the answers with the requirement, and add a case for what is not tested.",
        )
    error = failed["error"]
    if _KEYS.search(error):
        return Verdict(category="CREDENTIAL", reason=_why(failed), fix="Bind a credential that is there and works.")
    if _SHAPE.search(error):
        return Verdict(category="STRUCTURE", reason=_why(failed), fix="Correct the component that the error names.")
    return Verdict(category="LOGIC", reason=_why(failed), fix="Change the one setting that this answer comes from.")


def _why(trial: Trial) -> str:
    what = trial["error"] or f"the answer {'; '.join(trial['misses']) or 'is not as expected'}"
    return f"{trial['case']}, trial {trial['trial']}: {shortened(' '.join(what.split()), 500)}"


def _context(state: AgentState, flow: str) -> list[dict[str, Any]]:
    summary = state.get("patch_summary") or "Nothing."
    tests = describe_trials(state.get("trials") or [], trials_wanted(state))
    report = f"# What the phase before says it wrote\n\n{summary}\n\n{tests}\n\nGive your verdict now."
    return [opening(state), *earlier_plan(state), user_message(f"{flow}\n\n{report}")]
