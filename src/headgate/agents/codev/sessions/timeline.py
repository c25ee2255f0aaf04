"""Timeline of a session as Markdown: questions and answers, plans, approvals, trials, verdicts."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from headgate.agents.codev.sessions.markdown import block, line
from headgate.agents.codev.tables import EventRow
from headgate.foundation.quoting import shortened

Data = Mapping[str, Any]


def recorded(events: Sequence[EventRow]) -> Iterator[str]:
    """A paragraph for each thing that happened; what no user decides or reads is omitted."""
    for event in events:
        words = _WORDS.get(event.kind, _nothing)(event.data)
        if words:
            yield f"**{event.at:%Y-%m-%d %H:%M:%S} UTC** {words}"


def _nothing(_data: Data) -> str:
    return ""


def _plan(data: Data) -> str:
    cases = [str(case.get("name", "")) for case in data.get("cases") or ()]
    tests = f"\n\nTests: {', '.join(map(line, cases))}" if cases else ""
    return f"Plan {data.get('iteration', 1)}:\n\n{block(data.get('plan'))}{tests}"


def _asked(data: Data) -> str:
    about = data.get("data") or {}
    if data.get("type") == "clarification":
        return f"Questions:\n\n{block(chr(10).join(map(str, about.get('questions') or ())))}"
    return f"Asked: {line(data.get('prompt'))}"


def _write(data: Data) -> str:
    return f"Write {data.get('number')} ({line(data.get('state'))}): {line(data.get('summary'))}"


def _trial(data: Data) -> str:
    reason = data.get("error") or "; ".join(data.get("misses") or ()) or data.get("answer", "")
    run = f", run {line(data['run_id'])}" if data.get("run_id") else ""
    passed = "passed" if data.get("passed") else "failed"
    return (
        f"Test {line(data.get('case'))}, trial {data.get('trial')}: {passed}{run}. {line(shortened(str(reason), 300))}"
    )


def _verdict(data: Data) -> str:
    if data.get("done"):
        return "Verdict: done."
    return f"Verdict {line(data.get('category'))}: {line(data.get('reason'))} To do: {line(data.get('fix'))}"


def _conflict(data: Data) -> str:
    return f"Conflict: {line(data.get('message'))}"


def _ended(data: Data) -> str:
    return f"Ended: {line(data.get('status'))} {line(data.get('stop_reason'))}".rstrip()


def _failed(data: Data) -> str:
    return f"Failed: {line(data.get('message'))}"


def _action(data: Data) -> str:
    by = data.get("by") or {}
    who = line(by.get("name") or by.get("user_id") or by.get("kind"))
    name = str(data.get("action"))
    words = _ACTIONS.get(name)
    return f"{who} {words(data) if words is not None else name}"


def _answered(data: Data) -> str:
    given = data.get("response") or {}
    kind = given.get("type")
    if kind == "clarification":
        return f"answered:\n\n{block(given.get('text'))}" if given.get("text") else "answered nothing."
    if kind == "credential_check":
        return (
            "continued without the credentials."
            if given.get("skip")
            else ("confirmed that the credentials are available.")
        )
    agreed = given.get("approved") or given.get("accepted")
    what = "the plan" if kind == "plan_approval" else "the result"
    if agreed:
        edited = given.get("plan")
        return f"approved {what}" + (f", edited:\n\n{block(edited)}" if edited else ".")
    ended = " and ended the session" if given.get("stop") else ""
    return f"rejected {what}{ended}" + (f":\n\n{block(given['feedback'])}" if given.get("feedback") else ".")


def _continued(data: Data) -> str:
    budget = f" and a budget of {data['token_budget']:,} tokens" if data.get("token_budget") else ""
    return f"continued the session with {line(data.get('model'))}{budget}."


def _credential(data: Data) -> str:
    return f"added the credential {line(data.get('type'))}."


def _rolled_back(data: Data) -> str:
    flows = ", ".join(line(flow.get("name")) for flow in data.get("flows") or ())
    choice = f" Others had changed it; the answer was {line(data['choice'])}." if data.get("choice") else ""
    return f"rolled back {flows}.{choice}"


_WORDS: Mapping[str, Callable[[Data], str]] = {
    "plan": _plan,
    "interrupt": _asked,
    "write": _write,
    "trial": _trial,
    "verdict": _verdict,
    "conflict": _conflict,
    "done": _ended,
    "error": _failed,
    "action": _action,
}
_ACTIONS: Mapping[str, Callable[[Data], str]] = {
    "answered": _answered,
    "continued": _continued,
    "credential_added": _credential,
    "rolled_back": _rolled_back,
    "stopped": lambda _data: "stopped the session.",
}
