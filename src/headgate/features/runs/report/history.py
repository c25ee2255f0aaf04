"""What a step of a run waited for and started: approvals, events, earlier attempts, runs. Pure."""

from collections.abc import Iterator, Mapping
from typing import Any

from headgate.features.runs.report.markdown import plain, table
from headgate.features.runs.report.words import Words
from headgate.foundation.quoting import shortened
from headgate.sdk.coerce import text_of

_MOST_CHARACTERS = 2000
"""Printed of an answer; the evidence has all of them."""
_MOST_ROWS = 100
"""Rows printed of one table; the evidence has all of them."""

Entry = Mapping[str, Any]


def history(labels: Words, entry: Entry) -> Iterator[str]:
    """Return the tables of a step from its evidence entry."""
    yield from _attempts(labels, entry)
    yield from _limits(labels, entry)
    for approval in entry.get("approvals", ()):
        yield from _approval(labels, approval)
    for wait in entry.get("event_waits", ()):
        yield _event(labels, wait)
    yield from _started_runs(labels, entry)


def _attempts(labels: Words, entry: Entry) -> Iterator[str]:
    attempts = entry.get("attempts") or ()
    if not any(attempt.get("error") for attempt in attempts):
        return
    head = [labels[name] for name in ("attempt", "status", "started", "finished", "error")]
    yield table(
        head,
        (
            (
                str(attempt["attempt_no"]),
                plain(labels.get(attempt["status"], attempt["status"])),
                *_times(attempt),
                _error(attempt),
            )
            for attempt in attempts[:_MOST_ROWS]
        ),
    )
    yield from _rest(labels["more_attempts"], attempts)


def _limits(labels: Words, entry: Entry) -> Iterator[str]:
    """Return the limits of models and connections that the step kept, from its log."""
    details = [line["details"] for line in entry.get("log") or () if isinstance(line.get("details"), Mapping)]
    rows = {
        (plain(f"{labels[kind]} {detail[kind]}"), plain(str(detail["limit"])))
        for detail in details
        for kind in ("model", "connection")
        if isinstance(detail.get("limit"), int) and isinstance(detail.get(kind), str)
    }
    if rows:
        yield table([labels["limited"], labels["at_most"]], sorted(rows)[:_MOST_ROWS])


def _error(attempt: Entry) -> str:
    error = attempt.get("error")
    return plain(f"{error['message']} ({error['code']})") if error else ""


def _approval(labels: Words, approval: Entry) -> Iterator[str]:
    tool = approval.get("tool")
    title = labels["approval_tool"].format(tool=tool) if tool else labels["approval"]
    state = labels["approval_of"].format(
        status=labels.get(approval["status"], approval["status"]),
        needed=approval["needed"],
        since=when(approval["created_at"]),
        due=when(approval["due_at"]) or labels["no_due"],
    )
    yield f"**{plain(title)}**: {plain(state)}"
    decisions = approval["decisions"]
    if decisions:
        head = [labels[name] for name in ("who", "decision", "when", "shown")]
        yield table(head, (_decision(labels, decision) for decision in decisions))
    answers = [(name, answer) for decision in decisions for name, answer in decision.get("answers", {}).items()]
    if answers:
        head = [labels["field"], labels["answer"]]
        yield table(
            head, ((plain(name), plain(shortened(text_of(answer), _MOST_CHARACTERS))) for name, answer in answers)
        )


def _decision(labels: Words, decision: Entry) -> tuple[str, ...]:
    outside = decision.get("outside_reviewer")
    who = labels["outside"].format(name=outside) if outside else decision["user_name"]
    shown = decision["shown_sha256"]
    return (
        plain(str(who)),
        plain(labels.get(decision["decision"], decision["decision"])),
        plain(when(decision["decided_at"])),
        plain(shown) if isinstance(shown, str) else plain(labels["withheld"]),
    )


def _event(labels: Words, wait: Entry) -> str:
    state = labels["event_of"].format(
        name=wait["name"],
        status=labels.get(wait["status"], wait["status"]),
        since=when(wait["since"]),
        due=when(wait["due_at"]) or labels["no_due"],
    )
    sender = wait.get("sender")
    parts = [state, labels["sender"].format(name=sender["name"])] if sender and sender.get("name") else [state]
    return f"**{plain(labels['event'])}**: {plain(', '.join(parts))}"


def _started_runs(labels: Words, entry: Entry) -> Iterator[str]:
    runs = entry.get("started_runs") or ()
    if not runs:
        return
    yield f"**{plain(labels['started_runs'])}**"
    head = ["#", labels["run"], labels["flow"], labels["version"].format(version="").strip().capitalize()]
    rows = (
        (str(run["iteration"] + 1), plain(run["run_id"]), plain(run["flow_id"]), str(run["flow_version"]))
        for run in runs[:_MOST_ROWS]
    )
    yield table(head, rows)
    yield from _rest(labels["more_runs"], runs)


def _rest(words: str, rows: Any) -> Iterator[str]:  # noqa: ANN401 - a list
    if len(rows) > _MOST_ROWS:
        yield plain(words.format(count=len(rows) - _MOST_ROWS))


def _times(entry: Entry) -> tuple[str, str]:
    return plain(when(entry.get("started_at"))), plain(when(entry.get("finished_at")))


def when(moment: str | None) -> str:
    """Return an ISO time of the evidence without fractions of a second."""
    return "" if moment is None else f"{moment[:19].replace('T', ' ')} UTC"
