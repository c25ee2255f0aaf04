"""Test: every case as often as was asked, one run a step, so that a kill repeats one at most (DD-021)."""

from typing import cast
from uuid import uuid4

from langgraph.config import get_config
from pydantic import JsonValue

from headgate.agents.codev.domain import Held, TrialResult
from headgate.agents.codev.ports import Working
from headgate.agents.codev.state import AgentState, Conflicted, Trial
from headgate.agents.codev.workflow.routing import trials_wanted
from headgate.agents.codev.workflow.step import Update, as_seen, conflicted, emit_phase, used
from headgate.foundation.log import redact_text
from headgate.foundation.quoting import clipped_to
from headgate.graph.cases import Outcome, TestCase, misses

MOST_UNSURE = 3
"""How often a trial is run again because the flow was saved while it ran; then it is somebody else's change."""
LONGEST_ANSWER = 4_000
"""Characters of an answer that are kept."""
_LONGEST_ERROR = 1_000
_MEANWHILE = "while it was tested"
_GONE = Conflicted(message="There is no flow.", lines=[])


async def test(state: AgentState, working: Working) -> Update:
    """Run the next trial, of the flow that was written and no other. Without a flow there is none.

    A flow that was saved meanwhile and is as before may have been another while the trial ran: it is run again.
    """
    trials = list(state.get("trials") or [])
    if not trials:
        emit_phase(state, working, "test")
    flow_id, total = state.get("flow_id"), trials_wanted(state)
    if not flow_id or len(trials) >= total:
        return {"trials": trials}
    seen = await as_seen(state, working, _MEANWHILE)
    if not isinstance(seen, Held):
        return conflicted(state, working, seen or _GONE)
    number, again = divmod(len(trials), state["test_trials"])
    case = TestCase.model_validate((state.get("cases") or [])[number])
    # Its own chat, also where a trial is run again: half of one would be remembered. The same after a restart in
    # the middle of this step, so that the run that the engine has recovered is adopted and not started again.
    session = f"{state['session_id']}-{state['iteration']}-{number + 1}-{again + 1}-{_step()}"
    result = await working.workplace.run_case(flow_id, case, session=session)
    cost = used(state, working, result.input_tokens, result.output_tokens)
    after = await as_seen(state, working, _MEANWHILE)
    if not isinstance(after, Held):
        return conflicted(state, working, after or _GONE) | cost
    if after.saved != seen.saved:
        return _unsure(state, working, after.name) | cost
    trial = _judged(case, again + 1, result)
    working.emit("trial", {**cast("dict[str, JsonValue]", dict(trial)), "of": total})
    return {"trials": [*trials, trial], "unsure": 0, **cost}


def _step() -> str:
    """The number of this step in its session: unique in it, and the same when the step is done again after a kill."""
    try:
        return str(get_config()["metadata"]["langgraph_step"])
    except (RuntimeError, KeyError):  # outside a graph
        return uuid4().hex[:8]


def _unsure(state: AgentState, working: Working, name: str) -> Update:
    """The flow was saved while the trial ran, and is as before: it may have been another in between."""
    unsure = state.get("unsure", 0) + 1
    if unsure < MOST_UNSURE:
        return {"unsure": unsure}
    message = f"'{name}' was repeatedly saved by another user {_MEANWHILE}."
    return conflicted(state, working, Conflicted(message=message, lines=[]))


def _judged(case: TestCase, again: int, result: TrialResult) -> Trial:
    """The trial, judged by its case alone: no model is asked whether it passed."""
    objection = "trials ask no model" if case.expect.judge_model else ""
    missed = [] if result.error else misses(case.expect, Outcome(result.answer, objection=objection))
    return Trial(
        case=case.name,
        trial=again,
        passed=not result.error and not missed,
        answer=redact_text(clipped_to(result.answer, LONGEST_ANSWER)),
        misses=[redact_text(line) for line in missed],
        error=redact_text(clipped_to(result.error, _LONGEST_ERROR)),
        run_id=result.run_id,
        link=result.link,
        duration_ms=result.duration_ms,
    )
