"""Output of `headgate codev` for a waiting or ended session: its question or its outcome."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.markdown import Markdown
from rich.markup import escape
from rich.panel import Panel
from rich.syntax import Syntax

from headgate.agents.codev.schemas import InterruptPayload, RollbackPreview, SessionResponse
from headgate.entrypoints.cli.codev_view import missed
from headgate.entrypoints.cli.exit_codes import FAILED, OK, WAITING
from headgate.entrypoints.cli.expected import expected, given
from headgate.entrypoints.cli.output import console, print_command, table
from headgate.entrypoints.cli.printable import printable
from headgate.graph.cases import TestCase

_MOST_LINES = 200
HOW_TO_ANSWER: Mapping[str, tuple[str, ...]] = {
    "clarification": ('--answer "..."',),
    "credential_check": ("--credentials-made", "--skip-credentials"),
    "plan_approval": ("--approve", "--plan FILE", '--feedback "..."', "--reject"),
    "result_review": ("--accept", "--accept --save-tests", '--feedback "..."', "--reject"),
}
"""Options of `codev resume` by question."""


def exit_code_of(session: SessionResponse) -> int:
    """0 for a session that was finished, 8 for one that waits, 1 for one that stopped or failed."""
    if session.status == "pending_interrupt":
        return WAITING
    return OK if session.status == "completed" else FAILED


def show_interrupt(interrupt: InterruptPayload, hint: str = "") -> None:
    """Show the session's question, with everything needed to answer."""
    if hint:
        console.print(f"\n{_safe(hint)}")
    console.print(f"\n[bold]{_safe(interrupt.prompt)}[/]")
    show = {
        "clarification": _questions,
        "credential_check": _credentials,
        "plan_approval": _plan,
        "result_review": _result,
    }[interrupt.type]
    show(interrupt.data)


def show_how_to_answer(session: SessionResponse) -> None:
    """Without a terminal, show the commands that answer."""
    if session.interrupt is None:
        return
    console.print("\n[yellow]The session waits.[/] Answer with one of these:")
    for option in HOW_TO_ANSWER[session.interrupt.type]:
        print_command(f"headgate codev resume {session.thread_id} {option}")


def conclude(session: SessionResponse) -> None:
    """Show the outcome of the session, and possible next commands."""
    words = {"completed": "[green]done[/]", "stopped": "[yellow]stopped[/]", "error": "[red]failed[/]"}
    state = words.get(session.status, session.status.replace("_", " "))
    console.print(f"\nThe session is {state}." if session.status != "error" else f"\nThe session {state}.")
    if session.stop_reason:
        console.print(_safe(session.stop_reason))
    tokens = session.total_input_tokens + session.total_output_tokens
    spent = f"{tokens} of {session.token_budget} tokens" if session.token_budget else f"{tokens} tokens"
    console.print(f"[dim]{_safe(session.model)} · plan {session.iteration} · {spent}[/]")
    if session.flow_id:
        console.print(f"[dim]flow {_safe(session.flow_id)} {_safe(session.flow_name)} {_safe(session.link)}[/]")
    _next("all of it", "summary", session)
    if session.can_roll_back:
        _next("roll it back", "rollback", session)
    if session.can_go_on:
        before = "after fixing the cause" if session.status == "error" else "continue"
        _next(before, "resume --token-budget NUMBER" if session.lacks_budget else "resume", session)


def show_rollback(preview: RollbackPreview) -> None:
    """What rolling back would change, flow by flow."""
    if not preview.flows:
        console.print("There is nothing to roll back.")
    for flow in preview.flows:
        console.print(f"\n[bold]{_safe(flow.name)}[/] [dim]{_safe(flow.flow_id)}[/]")
        if flow.conflict:
            happened = "deleted" if flow.deleted else "changed"
            console.print(f"[yellow]Somebody else {happened} it meanwhile.[/]")
            _difference(flow.theirs)
            _choice("Keep theirs", flow.outcome_keeping, flow.changes_keeping)
        _choice("Take mine" if flow.conflict else "Rolling back", flow.outcome, flow.changes)


def _choice(title: str, outcome: str, changes: Sequence[str]) -> None:
    words = {
        "restored": "the flow is restored",
        "removed": "the flow is removed",
        "unchanged": "the flow stays as it is",
    }
    console.print(f"{title}: {words[outcome]}.")
    _difference(changes)


def rolled_back(preview: RollbackPreview, choice: str | None) -> str:
    """Return the outcome of a rollback, in a sentence."""
    if preview.conflict and choice == "keep_theirs":
        return "Rolled back without losing changes by others."
    gone = all(flow.outcome == "removed" or (flow.deleted and flow.outcome == "unchanged") for flow in preview.flows)
    left = "that the session made is gone" if gone else "is as it was before the session"
    return f"Rolled back: the flow {left}."


def _next(why: str, command: str, session: SessionResponse) -> None:
    console.print(f"[dim]{why}: headgate codev {command} {session.thread_id}[/]", soft_wrap=True)


def show_session(session: SessionResponse) -> None:
    """Show the current state of a session."""
    console.print(f"[bold]{_safe(session.requirement)}[/]")
    where = f"{session.domain} {session.instance_id}".strip()
    console.print(
        f"[dim]{session.thread_id} · {_safe(where)} · {session.phase} · {session.status.replace('_', ' ')}[/]"
    )
    writes = session.state.get("writes") or []
    for write in writes:
        console.print(f"  {write['number']}. {printable(str(write['summary']))} ({write['state']})", markup=False)
    if session.interrupt is not None:
        show_interrupt(session.interrupt, session.hint)
        show_how_to_answer(session)
    else:
        conclude(session)


def _questions(data: Mapping[str, Any]) -> None:
    for number, question in enumerate(_list(data.get("questions")), start=1):
        console.print(f"  {number}. {printable(str(question))}", markup=False)


def _credentials(data: Mapping[str, Any]) -> None:
    for credential in _list(data.get("missing")):
        label, kind = str(credential.get("label") or credential.get("type")), str(credential.get("type"))
        console.print(f"  {_safe(label)} [dim]{_safe(kind)}[/] {_safe(str(credential.get('where') or ''))}")


def _plan(data: Mapping[str, Any]) -> None:
    conflict = data.get("conflict")
    if conflict:
        console.print(f"[yellow]{_safe(str(conflict.get('message')))}[/]")
        _difference(_list(conflict.get("lines")))
    _verdict("Why again", data.get("verdict"))
    _document("The plan", str(data.get("plan") or ""))
    cases = _list(data.get("cases"))
    if cases:
        tests = [TestCase.model_validate(case) for case in cases]
        rows = [(_safe(test.name), _safe(given(test)), _safe(expected(test.expect))) for test in tests]
        trials = int(data.get("test_trials") or 1)
        console.print(table(("test", "is given", "the answer"), rows))
        if trials > 1:
            console.print(f"[dim]each runs {trials} times and must pass every time[/]")


def _result(data: Mapping[str, Any]) -> None:
    if data.get("summary"):
        _document("The result", str(data["summary"]))
    _verdict("Left open", data.get("verdict"))
    _difference(_list(data.get("diff")))
    trials = _list(data.get("trials"))
    if trials:
        rows = [
            (
                _safe(str(trial.get("case"))),
                trial.get("trial"),
                "[green]passed[/]" if trial.get("passed") else f"[red]{_safe(_clipped(missed(trial)))}[/]",
                _safe(_clipped(trial.get("answer"))),
                f"{float(trial.get('duration_ms') or 0):.0f} ms",
            )
            for trial in trials
        ]
        console.print(table(("test", "trial", "", "answer", "time"), rows))
    if data.get("link"):
        console.print(f"[dim]{_safe(str(data['link']))}[/]")


def _verdict(title: str, verdict: Mapping[str, Any] | None) -> None:
    if verdict:
        words = f"({_safe(str(verdict.get('category')))}): {_safe(str(verdict.get('reason')))}"
        console.print(f"[yellow]{title}[/] {words}")


def _difference(lines: Sequence[Any]) -> None:
    if lines:
        shown = "\n".join(printable(str(line)) for line in lines[:_MOST_LINES])
        console.print(Syntax(shown, "diff", background_color="default", word_wrap=True))
        if len(lines) > _MOST_LINES:
            console.print(f"[dim]and {len(lines) - _MOST_LINES} more lines[/]")


def _document(title: str, text: str) -> None:
    """Return Markdown: rendered for a terminal, as source for files and programs."""
    if console.is_terminal:
        console.print(Panel(Markdown(printable(text)), title=title))
    else:
        console.print(f"{title}\n\n{printable(text)}\n", markup=False)


def _list(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _clipped(value: object) -> str:
    text = " ".join(str(value or "").split())
    return text if len(text) <= 80 else f"{text[:79]}…"


def _safe(text: str) -> str:
    return escape(printable(text))
