"""A session as a Markdown document (DD-034), with all untrusted text quoted. Pure."""

from collections.abc import Iterator, Sequence
from typing import Any

from headgate.agents.codev.schemas import SessionResponse
from headgate.agents.codev.sessions.markdown import block, cell, line
from headgate.agents.codev.sessions.timeline import recorded
from headgate.agents.codev.tables import EventRow
from headgate.foundation.quoting import shortened

_STATUS = {
    "in_progress": "at work",
    "pending_interrupt": "waiting for an answer",
    "completed": "completed",
    "stopped": "stopped",
    "error": "failed",
}
_WRITES = {
    "intended": "started, outcome unknown",
    "done": "made",
    "refused": "rejected, nothing written",
    "rolled_back": "rolled back",
    "kept": "kept, because others changed the flow after it",
}
MOST_TRIALS = 100


def summarise(session: SessionResponse, events: Sequence[EventRow] = ()) -> str:
    """The document, with the record of what happened. Parts of which nothing is known are omitted."""
    parts = [
        "\n".join(_head(session)),
        _part("Requirement", block(session.requirement)),
        _part("Clarification", block(session.state.get("clarification"))),
        _part("What was found", block(session.state.get("discovery_summary"))),
        _part("Plan", block(session.state.get("plan"))),
        _part("Tests", "\n".join(_cases(session.state.get("cases")))),
        _part("Changes", "\n".join(_writes(session.state.get("writes")))),
        _part("The model's assessment", block(session.state.get("patch_summary"))),
        _part("Trials", "\n".join(_trials(session.state.get("trials")))),
        _part("Verdict", "\n".join(_verdict(session.state.get("converge_verdict")))),
        _part("Conflict", block((session.state.get("conflict") or {}).get("message"))),
        _part("Outcome", block(session.stop_reason)),
        _part("Record", "\n\n".join(recorded(events))),
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _head(session: SessionResponse) -> Iterator[str]:
    yield "# Development session"
    yield ""
    yield f"- Session: {line(session.thread_id)}"
    yield f"- Status: {_STATUS[session.status]}, phase {line(session.phase)}, iteration {session.iteration}"
    where = f"{session.domain} / {session.instance_id}" if session.instance_id else session.domain
    yield f"- Place: {line(where)}"
    if session.flow_id:
        yield f"- Flow: {line(session.flow_name or session.flow_id)} ({line(session.flow_id)})"
    if session.model:
        yield f"- Model: {line(session.model)}"
    used = session.total_input_tokens + session.total_output_tokens
    yield (
        f"- Tokens: {used:,} of {session.token_budget:,} "
        f"({session.total_input_tokens:,} in, {session.total_output_tokens:,} out)"
    )
    began, changed = (f"{at:%Y-%m-%d %H:%M:%S} UTC" for at in (session.created_at, session.updated_at))
    yield f"- Started: {began}, last change: {changed}"


def _part(title: str, text: str) -> str:
    return f"## {title}\n\n{text}" if text else ""


def _cases(cases: Any) -> Iterator[str]:  # noqa: ANN401 - JSON of the state
    for case in cases or ():
        text = str(case.get("text", ""))
        name = line(case.get("name", ""))
        yield f"- {name}: {line(shortened(text, 300))}" if text else f"- {name}"


def _writes(writes: Any) -> Iterator[str]:  # noqa: ANN401 - JSON of the state
    for write in writes or ():
        state = _WRITES.get(str(write.get("state")), str(write.get("state")))
        yield f"{write.get('number')}. {line(write.get('tool'))}: {line(write.get('summary'))} ({state})"


def _trials(trials: Any) -> Iterator[str]:  # noqa: ANN401 - JSON of the state
    if not trials:
        return
    yield "| Test | Trial | Passed | Answer or fault |"
    yield "|---|---|---|---|"
    for trial in trials[:MOST_TRIALS]:
        detail = trial.get("error") or "; ".join(trial.get("misses") or ()) or trial.get("answer", "")
        passed = "yes" if trial.get("passed") else "no"
        yield f"| {cell(trial.get('case'))} | {trial.get('trial')} | {passed} | {cell(shortened(str(detail), 300))} |"
    if len(trials) > MOST_TRIALS:
        yield f"\n{len(trials) - MOST_TRIALS} more trials are not listed."


def _verdict(verdict: Any) -> Iterator[str]:  # noqa: ANN401 - JSON of the state
    if verdict:
        yield f"- Category: {line(verdict.get('category'))}"
        yield f"- Reason: {line(verdict.get('reason'))}"
        yield f"- Fix: {line(verdict.get('fix'))}"
