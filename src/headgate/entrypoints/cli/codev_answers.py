"""Answers to a session's questions: from options of the command, or from the user at the terminal."""

import os
import shlex
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import SecretStr
from rich.markup import escape
from rich.prompt import Confirm, Prompt

from headgate.agents.codev.schemas import (
    Clarification,
    CredentialsDone,
    InterruptPayload,
    PlanAnswer,
    ResumeAnswer,
    ReviewAnswer,
    SessionResponse,
)
from headgate.agents.codev.sessions.service import Sessions
from headgate.entrypoints.cli.codev_pages import HOW_TO_ANSWER
from headgate.entrypoints.cli.output import console
from headgate.entrypoints.cli.printable import printable
from headgate.entrypoints.cli.session import acting
from headgate.foundation.checked import checked
from headgate.foundation.errors import Conflict, HeadgateError, Invalid


class AnswerDoesNotFit(Conflict):
    """The answer does not match what the session waits for."""

    code = "codev_answer_does_not_fit"
    title = "Answer does not fit"


@dataclass(frozen=True, slots=True)
class Given:
    """The options of a command."""

    approve: bool = False
    answer: str | None = None
    feedback: str | None = None
    plan: Path | None = None
    accept: bool = False
    save_tests: bool = False
    reject: bool = False
    skip_credentials: bool = False
    credentials_made: bool = False
    yes_repairs: bool = False

    @property
    def chosen_options(self) -> tuple[str, ...]:
        """Return the given answer options; `--yes-repairs` and `--save-tests` only modify them."""
        options = {
            "--approve": self.approve or self.plan is not None,
            "--answer": self.answer is not None,
            "--feedback": self.feedback is not None,
            "--accept": self.accept,
            "--reject": self.reject,
            "--credentials-made": self.credentials_made,
            "--skip-credentials": self.skip_credentials,
        }
        return tuple(name for name, given in options.items() if given)

    def check(self) -> None:
        """Raise `Invalid` unless they are one answer, or none."""
        if len(self.chosen_options) > 1:
            raise Invalid(f"{', '.join(self.chosen_options)} are several answers.", remedy="Use only one of them.")
        if self.yes_repairs and "--approve" not in self.chosen_options:
            raise Invalid("--yes-repairs requires an approved plan.", remedy="Use it with --approve or --plan.")
        if self.save_tests and not self.accept:
            raise Invalid("--save-tests requires an accepted result.", remedy="Use it with --accept.")
        if self.feedback is not None and not self.feedback.strip():
            raise Invalid("--feedback is empty.", remedy="Describe the changes that you want.")

    def to_session(self, session: SessionResponse) -> ResumeAnswer:
        """Return the answer to a session's question. Raises `AnswerDoesNotFit`."""
        if session.interrupt is None:
            state = session.status.replace("_", " ")
            remedy = f"See the outcome: headgate codev show {session.thread_id}"
            if session.status == "in_progress" or session.can_go_on:
                remedy = f"Continue it first: headgate codev resume {session.thread_id}"
            raise AnswerDoesNotFit(f"The session is not waiting for an answer: it is {state}.", remedy=remedy)
        return self.to(session.interrupt)

    def to(self, interrupt: InterruptPayload) -> ResumeAnswer:
        """Return the answer to an interrupt. Raises `AnswerDoesNotFit`."""
        answer = {
            "clarification": self._to_questions,
            "credential_check": self._to_credentials,
            "plan_approval": self._to_plan,
            "result_review": self._to_result,
        }[interrupt.type]()
        if answer is None:
            fitting = ", ".join(HOW_TO_ANSWER[interrupt.type])
            raise AnswerDoesNotFit(f"The session asks: {interrupt.prompt}", remedy=f"Answer with one of: {fitting}.")
        return answer

    def _to_questions(self) -> ResumeAnswer | None:
        if self.answer is None:
            return None
        return checked(Clarification, type="clarification", text=self.answer)

    def _to_credentials(self) -> ResumeAnswer | None:
        if not (self.skip_credentials or self.credentials_made):
            return None
        return CredentialsDone(type="credential_check", skip=self.skip_credentials)

    def _to_plan(self) -> ResumeAnswer | None:
        repairs = True if self.yes_repairs else None
        if self.approve or self.plan is not None:
            edited = _read(self.plan) if self.plan is not None else None
            return checked(PlanAnswer, type="plan_approval", approved=True, plan=edited, repairs_approved=repairs)
        if self.feedback is not None:
            return checked(PlanAnswer, type="plan_approval", approved=False, feedback=self.feedback)
        return PlanAnswer(type="plan_approval", approved=False, stop=True) if self.reject else None

    def _to_result(self) -> ResumeAnswer | None:
        if self.accept:
            return ReviewAnswer(type="result_review", accepted=True, save_tests=self.save_tests)
        if self.feedback is not None:
            return checked(ReviewAnswer, type="result_review", accepted=False, feedback=self.feedback)
        return ReviewAnswer(type="result_review", accepted=False, stop=True) if self.reject else None


async def ask(sessions: Sessions, session_id: str, interrupt: InterruptPayload) -> ResumeAnswer | None:
    """Ask the user at the terminal, and repeat after an invalid answer.

    None when they leave the session waiting, by Ctrl+C or its end of input too.
    """
    while True:
        try:
            with _stoppable():
                if interrupt.type == "credential_check":
                    return await _ask_for_credentials(sessions, session_id, interrupt.data)
                return _ASKED[interrupt.type](interrupt.data)
        except (KeyboardInterrupt, EOFError):
            console.print()
            return None
        except Invalid as error:
            _print_error(error)


@contextmanager
def _stoppable() -> Iterator[None]:
    """Let Ctrl+C end a question immediately; the event loop's own handler would wait for the answer."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _ask_questions(data: Mapping[str, Any]) -> ResumeAnswer:
    lines = []
    questions = data.get("questions")
    for number, question in enumerate(questions if isinstance(questions, list) else [], 1):
        reply = Prompt.ask(f"Your answer to {number} (Enter: skip)", default="", show_default=False, console=console)
        if reply.strip():
            lines += [str(question), reply]
    return checked(Clarification, type="clarification", text="\n".join(lines))


async def _ask_for_credentials(sessions: Sessions, session_id: str, data: Mapping[str, Any]) -> CredentialsDone | None:
    missing = data.get("missing")
    for credential in missing if isinstance(missing, list) else []:
        label = escape(printable(str(credential.get("label") or credential.get("type"))))
        if credential.get("fields") and Confirm.ask(f"Make '{label}' here?", default=True, console=console):
            await _make(sessions, session_id, credential)
    session = await sessions.get(acting(), session_id)
    if session.interrupt is not None and not session.interrupt.data.get("missing"):
        console.print("All credentials are set.")
        return CredentialsDone(type="credential_check")
    words = "Continue: credentials added (y), without them (s), leave the session waiting (l)"
    if data.get("of") == "model":
        words = "Try again (y), end the session (s), leave it waiting (l)"
    chosen = Prompt.ask(words, choices=["y", "s", "l"], default="y", console=console)
    return None if chosen == "l" else CredentialsDone(type="credential_check", skip=chosen == "s")


async def _make(sessions: Sessions, session_id: str, needed: Mapping[str, Any]) -> None:
    """Ask for the values of a credential; secret ones are not echoed, and are sent only to the platform."""
    values: dict[str, SecretStr] = {}
    for field in needed["fields"]:
        label = escape(printable(str(field.get("label") or field["name"])))
        more = " (Enter: none)" if field.get("optional") else ""
        hidden = bool(field.get("secret", True))
        value = Prompt.ask(f"  {label}{more}", password=hidden, default="", show_default=False, console=console)
        if value:
            values[str(field["name"])] = SecretStr(value)
    if not values:
        return
    try:
        await sessions.add_credential(acting(), session_id, str(needed["type"]), "", values)
    except HeadgateError as error:
        _print_error(error)
    else:
        console.print("  Made.")


def _ask_about_plan(data: Mapping[str, Any]) -> ResumeAnswer | None:
    words = "Approve (a), edit (e), request changes (f), stop (s), leave it waiting (l)"
    chosen = Prompt.ask(words, choices=["a", "e", "f", "s", "l"], console=console)
    if chosen == "f":
        return checked(PlanAnswer, type="plan_approval", approved=False, feedback=_otherwise())
    if chosen == "e":
        plan = edited(str(data.get("plan") or ""))
        return checked(PlanAnswer, type="plan_approval", approved=True, plan=plan)
    if chosen == "s":
        return PlanAnswer(type="plan_approval", approved=False, stop=True)
    return PlanAnswer(type="plan_approval", approved=True) if chosen == "a" else None


def _ask_about_result(_data: Mapping[str, Any]) -> ResumeAnswer | None:
    words = "Accept (a), accept and save the tests (t), request changes (f), stop (s), leave it waiting (l)"
    chosen = Prompt.ask(words, choices=["a", "t", "f", "s", "l"], console=console)
    if chosen == "f":
        return checked(ReviewAnswer, type="result_review", accepted=False, feedback=_otherwise())
    if chosen == "s":
        return ReviewAnswer(type="result_review", accepted=False, stop=True)
    return None if chosen == "l" else ReviewAnswer(type="result_review", accepted=True, save_tests=chosen == "t")


def _otherwise() -> str:
    """Ask for changes to the plan. Raises `Invalid` for an empty answer: each new plan costs."""
    reply = Prompt.ask("Requested changes", default="", show_default=False, console=console).strip()
    if not reply:
        raise Invalid("No changes were requested.", remedy="Describe the changes that you want.")
    return reply


def _print_error(error: HeadgateError) -> None:
    console.print(f"  {printable(error.detail)} {printable(error.remedy)}", markup=False)


_ASKED: Mapping[str, Callable[[Mapping[str, Any]], ResumeAnswer | None]] = {
    "clarification": _ask_questions,
    "plan_approval": _ask_about_plan,
    "result_review": _ask_about_result,
}


def edited(text: str) -> str:
    """Return the text from the user's editor. Raises `Invalid` without one, or when it fails."""
    command = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if not command:
        raise Invalid(
            "No editor is configured.", remedy="Set EDITOR, or pass the plan with: headgate codev resume --plan."
        )
    with tempfile.TemporaryDirectory(prefix="headgate-plan-") as folder:
        path = Path(folder) / "plan.md"
        path.write_text(text, encoding="utf-8")
        try:
            done = subprocess.run([*shlex.split(command), str(path)], check=False)  # noqa: S603 - the person's editor
        except (OSError, ValueError) as error:
            raise Invalid(
                f"The editor '{command}' cannot be started.", remedy="Set EDITOR to another editor."
            ) from error
        if done.returncode:
            raise Invalid("The editor exited with an error; nothing was sent.", remedy="Try again.")
        return _read(path)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise Invalid(f"{path} is not text.", remedy="Save it as UTF-8.") from error
