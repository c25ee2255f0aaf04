"""Review: the outcome, read back from the place, for the user to accept (DD-010). No model writes any of it."""

from collections.abc import Sequence
from typing import Any

from headgate.agents.codev.domain import Held
from headgate.agents.codev.ports import Working, WriteNote
from headgate.agents.codev.schemas import ReviewAnswer
from headgate.agents.codev.state import AgentState, Conflicted, Trial
from headgate.agents.codev.workflow.context import wished
from headgate.agents.codev.workflow.step import Update, as_seen, conflicted
from headgate.foundation.log import redact_text
from headgate.foundation.quoting import shortened

NO_REASON = "The result was not accepted. No reason was given: look for what does not fit the requirement."
MOST_LINES = 400
"""Lines of a difference that are shown."""


async def read_back(state: AgentState, working: Working) -> Update:
    """Read the flow as it is stored now, and what was written; only what was tested is shown for acceptance."""
    held = await as_seen(state, working, "after it was tested")
    if not isinstance(held, Held):
        return conflicted(state, working, held or Conflicted(message="There is no flow.", lines=[]))
    notes = [note for note in await working.journal.notes() if note.state == "done"]
    before = await working.journal.beginning()
    lines = working.workplace.compare(before.definition if before else None, held.definition) if notes else []
    shown = [redact_text(line) for line in lines[:MOST_LINES]]
    if len(lines) > MOST_LINES:
        shown.append(f"~ {len(lines) - MOST_LINES} more lines")
    summary = _summary(held, notes, state.get("trials") or [], made=before is None)
    link = working.workplace.link(held.flow_id)
    return {"review": {"summary": summary, "diff": list(shown), "flow_id": held.flow_id, "link": link}}


def ask_review(state: AgentState) -> dict[str, Any]:
    """What the person is shown: also what the judge still wants, where nothing is left to plan it with."""
    verdict = state.get("converge_verdict")
    asked = "Accept the result, or say what to change."
    still = f" The result was not judged complete: {verdict['reason']}" if verdict is not None else ""
    return {
        "type": "result_review",
        "prompt": f"Every test passed.{still} {asked}",
        "data": {
            **(state.get("review") or {}),
            "trials": state.get("trials") or [],
            "cases": state.get("cases") or [],
            "iteration": state["iteration"],
            "verdict": verdict,
        },
    }


def take_review(state: AgentState, answer: dict[str, Any]) -> Update:
    """Accept, or plan again with the user's changes, which get an extra iteration."""
    reply = ReviewAnswer.model_validate(answer)
    if reply.accepted:
        return {"accepted": True, "save_tests": reply.save_tests}
    if reply.stop:
        return {"accepted": False, "stop_code": "rejected"}
    wish = reply.feedback.strip()
    feedback = wish or NO_REASON
    iteration = state["iteration"] + 1
    return {
        "accepted": False,
        "approved": False,
        "feedback": feedback,
        "wishes": wished(state, wish),
        "iteration": iteration,
        "max_iterations": max(iteration, state["max_iterations"]),
        "messages": [{"role": "user", "content": feedback}],
    }


def _summary(held: Held, notes: Sequence[WriteNote], trials: Sequence[Trial], *, made: bool) -> str:
    what = "was not changed" if not notes else "was made" if made else "was changed"
    passed = sum(trial["passed"] for trial in trials)
    cases = len({trial["case"] for trial in trials})
    tests = f"{passed} of {len(trials)} trials of {cases} test case{'s' * (cases != 1)} passed."
    writes = [f"{number}. {_line(note.summary)}" for number, note in enumerate(notes, start=1)]
    parts = [f"The flow **{_line(held.name)}** {what}. {tests}"]
    return "\n\n".join([*parts, "\n".join(writes)] if writes else parts)


def _line(text: str) -> str:
    return shortened(" ".join(text.split()), 300).replace("*", "\\*").replace("<", "&lt;")
