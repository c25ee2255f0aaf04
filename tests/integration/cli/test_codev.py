"""`headgate codev` on a flow of our own, with a model that speaks OpenAI's protocol."""

import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from headgate.entrypoints.cli import codev_answers
from headgate.entrypoints.cli.app import run
from headgate.entrypoints.cli.codev_watch import SessionWatch
from headgate.entrypoints.cli.output import console
from headgate.foundation.errors import Invalid
from tests.integration.cli.test_commands import HEADGATE, data_folder
from tests.support.cli import answered
from tests.support.codev_play import Wire, at_the_wire
from tests.support.codev_script import calls, case, iterate, plan_of, scripted
from tests.support.own_place import GREETING

__all__ = ["data_folder"]
MODEL = ("--model", "openai/gpt-5-mini")
PLAN = plan_of(case("greets", "Hello Ada", text="Ada"), text="# A greeting\n\nSay hello.")
BUILD = calls("build_flow", spec=GREETING)
QUIET = "--skip-questions"


@pytest.fixture
def wire(data_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Wire]:
    with at_the_wire(scripted(plan=PLAN, patch=[BUILD, "It is written."])) as found:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
        monkeypatch.setenv("OPENAI_BASE_URL", found.server.base_url)
        yield found


def says(wire: Wire, **lines: Any) -> None:
    wire.script.script.update(scripted(**lines).script)


def started(capsys: pytest.CaptureFixture[str], *more: str, code: int = 8) -> dict[str, Any]:
    found: dict[str, Any] = answered(capsys, "codev", "start", "Greet people", *MODEL, *more, code=code)
    return found


class TestSession:
    def test_goes_from_words_to_a_pattern(self, wire: Wire, capsys: pytest.CaptureFixture[str]) -> None:
        begun = started(capsys, QUIET)
        assert begun["interrupt"]["type"] == "plan_approval"
        one = begun["thread_id"]
        tested = answered(capsys, "codev", "resume", one, "--approve", code=8)
        assert tested["interrupt"]["type"] == "result_review"
        assert [trial["passed"] for trial in tested["interrupt"]["data"]["trials"]] == [True]
        done = answered(capsys, "codev", "resume", one, "--accept", "--save-tests")
        assert done["status"] == "completed"
        assert [flow["name"] for flow in answered(capsys, "flows", "list")] == ["Greeting"]
        patterns = answered(capsys, "codev", "patterns", "greets", "people")
        assert [pattern["session_id"] for pattern in patterns] == [one]
        assert [session["thread_id"] for session in answered(capsys, "codev", "list")] == [one]
        assert answered(capsys, "codev", "show", one)["state"]["writes"][0]["state"] == "done"
        assert "Greet people" in answered(capsys, "codev", "summary", one)["summary"]

    @pytest.mark.parametrize("wish", ["", "  \n"])
    def test_is_not_begun_for_nothing(self, wire: Wire, capsys: pytest.CaptureFixture[str], wish: str) -> None:
        assert run(["codev", "start", wish, *MODEL]) == 3
        assert "The description is missing." in capsys.readouterr().err
        assert wire.server.asked == []

    def test_is_listed_and_answered_in_a_narrow_terminal(
        self, wire: Wire, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        one = started(capsys, QUIET)["thread_id"]
        monkeypatch.setattr(console, "_width", 40)
        monkeypatch.setattr(console, "soft_wrap", False)
        assert run(["codev", "list"]) == 0
        shown = capsys.readouterr().out
        assert f"{one}\n" in shown.replace(" ", "")
        assert "wanted Greet people" in shown
        assert run(["codev", "show", one]) == 0
        assert f"headgate codev resume {one} --approve\n" in capsys.readouterr().out, "a command is copied in one piece"

    def test_tells_people_what_happens(self, wire: Wire, capsys: pytest.CaptureFixture[str]) -> None:
        assert run(["codev", "start", "Greet people", *MODEL, QUIET]) == 8
        shown = capsys.readouterr().out
        assert "Planning" in shown
        assert "Say hello." in shown
        assert "greets" in shown
        one = answered(capsys, "codev", "list")[0]["thread_id"]
        assert f"headgate codev resume {one} --approve" in shown
        assert "# A greeting\n\nSay hello." in shown, "a plan that is to be edited is there as it was written"
        assert "contains 'Hello Ada'" in shown
        assert run(["codev", "resume", one, "--approve"]) == 8
        shown = capsys.readouterr().out
        for words in ("Building", "wrote 1: made 'Greeting' with 3 nodes", "Testing", "✓ test greets", "every trial"):
            assert words in shown
        assert "+" in shown
        assert run(["codev", "resume", one, "--accept"]) == 0
        shown = capsys.readouterr().out
        assert "The session is done." in shown
        assert f"headgate codev rollback {one}" in shown

    def test_is_taken_back(self, wire: Wire, capsys: pytest.CaptureFixture[str]) -> None:
        one = started(capsys, QUIET)["thread_id"]
        answered(capsys, "codev", "resume", one, "--approve", code=8)
        capsys.readouterr()
        assert run(["codev", "rollback", one]) == 0
        assert "the flow that the session made is gone" in capsys.readouterr().out
        assert answered(capsys, "flows", "list") == []
        assert (
            "There is nothing to roll back: this session wrote nothing, or was already rolled back"
            in answered(capsys, "codev", "rollback", one, code=6)["detail"]
        )

    def test_is_exported_as_evidence_that_the_command_verifies(
        self, wire: Wire, capsys: pytest.CaptureFixture[str], tmp_path: Path
    ) -> None:
        one = started(capsys, QUIET)["thread_id"]
        file = tmp_path / "session.json"
        assert answered(capsys, "codev", "evidence", one, "--output", str(file))["path"] == str(file)
        verdict = answered(capsys, "evidence", "verify", str(file))
        assert (verdict["verified"], verdict["kind"], verdict["run_id"]) == (True, "session", one)
        assert run(["evidence", "verify", str(file)]) == 0
        assert f"Session {one} (pending_interrupt)" in capsys.readouterr().out
        file.write_bytes(file.read_bytes().replace(b"Say hello", b"Say hallo"))
        assert answered(capsys, "evidence", "verify", str(file), code=1)["verified"] is False

    def test_is_told_where_its_tests_fail(self, wire: Wire, capsys: pytest.CaptureFixture[str]) -> None:
        says(wire, plan=plan_of(case("greets", "Goodbye")), patch=[BUILD, "Written."], converge=iterate("LOGIC"))
        one = started(capsys, QUIET, "--max-iterations", "1")["thread_id"]
        assert run(["codev", "resume", one, "--approve"]) == 1
        shown = capsys.readouterr().out
        assert "✗ test greets" in shown
        assert "does not contain 'Goodbye'" in shown
        assert "The session is stopped." in shown

    def test_is_told_what_is_left_open_and_may_accept_it(self, wire: Wire, capsys: pytest.CaptureFixture[str]) -> None:
        says(wire, plan=PLAN, patch=[BUILD, "Written."], converge=iterate("INCOMPLETE", "No farewell."))
        one = started(capsys, QUIET, "--max-iterations", "1")["thread_id"]
        assert run(["codev", "resume", one, "--approve"]) == 8
        assert "Left open (INCOMPLETE): No farewell." in capsys.readouterr().out
        assert answered(capsys, "codev", "resume", one, "--accept")["status"] == "completed"
        assert "No farewell." in answered(capsys, "codev", "summary", one)["summary"]

    def test_is_stopped_and_forgotten(self, wire: Wire, capsys: pytest.CaptureFixture[str]) -> None:
        one = started(capsys, QUIET)["thread_id"]
        assert answered(capsys, "codev", "stop", one)["status"] == "stopped"
        answered(capsys, "codev", "delete", one)
        assert run(["codev", "show", one]) == 4

    def test_prints_nothing_that_commands_the_terminal(self, wire: Wire, capsys: pytest.CaptureFixture[str]) -> None:
        evil = "\x1b]52;c;ZXZpbA==\x07 [red]x[/red]"
        says(wire, plan=plan_of(case(f"greets {evil}", "Hello"), text=f"# Plan {evil}"), patch=[BUILD, "Written."])
        assert run(["codev", "start", f"Greet {evil}", *MODEL, QUIET]) == 8
        one = answered(capsys, "codev", "list")[0]["thread_id"]
        for command in (["show", one], ["resume", one, "--approve"], ["list"], ["summary", one]):
            run(["codev", *command])
        shown = capsys.readouterr().out
        assert "\x1b" not in shown
        assert "\x07" not in shown


class TestAnswers:
    def test_that_do_not_fit_change_nothing(self, wire: Wire, capsys: pytest.CaptureFixture[str]) -> None:
        one = started(capsys, QUIET)["thread_id"]
        assert run(["codev", "resume", one, "--accept"]) == 6
        assert "--approve" in capsys.readouterr().err
        assert answered(capsys, "codev", "show", one)["interrupt"]["type"] == "plan_approval"

    @pytest.mark.parametrize(
        "options",
        [
            ("--approve", "--reject"),
            ("--accept", "--feedback", "Louder"),
            ("--yes-repairs",),
            ("--save-tests", "--approve"),
            ("--feedback", " "),
        ],
    )
    def test_that_contradict_themselves_or_say_nothing_are_refused(
        self, capsys: pytest.CaptureFixture[str], options: tuple[str, ...]
    ) -> None:
        assert answered(capsys, "codev", "resume", "any", *options, code=3)["remedy"]

    def test_to_nothing_that_was_asked_are_refused(self, wire: Wire, capsys: pytest.CaptureFixture[str]) -> None:
        one = started(capsys, QUIET)["thread_id"]
        answered(capsys, "codev", "stop", one)
        found = answered(capsys, "codev", "resume", one, "--approve", code=6)
        assert "it is stopped" in found["detail"]
        assert f"headgate codev resume {one}" in found["remedy"]

    def test_to_questions_reach_the_model(self, wire: Wire, capsys: pytest.CaptureFixture[str]) -> None:
        says(wire, clarify="SCORE: 8\nQUESTIONS:\n1. In which language?", plan=PLAN)
        begun = started(capsys)
        assert begun["interrupt"]["data"]["questions"] == ["In which language?"]
        answered(capsys, "codev", "resume", begun["thread_id"], "--answer", "In Klingon", code=8)
        assert "In Klingon" in wire.asked("discover")[0].text

    def test_with_feedback_bring_another_plan(self, wire: Wire, capsys: pytest.CaptureFixture[str]) -> None:
        one = started(capsys, QUIET)["thread_id"]
        again = answered(capsys, "codev", "resume", one, "--feedback", "Louder, please", code=8)
        assert again["interrupt"]["type"] == "plan_approval"
        assert "Louder, please" in wire.asked("plan")[-1].text

    def test_can_be_a_plan_of_ones_own(self, wire: Wire, capsys: pytest.CaptureFixture[str]) -> None:
        one = started(capsys, QUIET)["thread_id"]
        Path("plan.md").write_text("# My own plan")
        answered(capsys, "codev", "resume", one, "--plan", "plan.md", code=8)
        assert "My own plan" in wire.asked("patch")[0].text

    def test_can_reject(self, wire: Wire, capsys: pytest.CaptureFixture[str]) -> None:
        one = started(capsys, QUIET)["thread_id"]
        assert answered(capsys, "codev", "resume", one, "--reject", code=1)["status"] == "stopped"


class TestTerminal:
    """Somebody is there who can be asked."""

    @pytest.fixture(autouse=True)
    def person(self, monkeypatch: pytest.MonkeyPatch) -> list[str]:
        typed: list[str] = []

        def read(*_args: Any, **_options: Any) -> str:
            if not typed:
                raise EOFError
            return typed.pop(0)

        monkeypatch.setattr(SessionWatch, "_answerable", True)
        monkeypatch.setattr(console, "input", read)
        return typed

    def test_is_asked_in_place(self, wire: Wire, capsys: pytest.CaptureFixture[str], person: list[str]) -> None:
        says(
            wire,
            clarify="SCORE: 8\nQUESTIONS:\n1. In which language?",
            plan=PLAN,
            patch=[BUILD, "Written."],
        )
        person += ["English", "f", "Shorter", "a", "t"]
        assert run(["codev", "start", "Greet people", *MODEL]) == 0
        assert person == []
        assert "English" in wire.asked("discover")[0].text
        assert "Shorter" in wire.asked("plan")[-1].text
        assert "The session is done." in capsys.readouterr().out

    def test_edits_the_plan(
        self,
        wire: Wire,
        capsys: pytest.CaptureFixture[str],
        person: list[str],
        monkeypatch: pytest.MonkeyPatch,
        tmp_path: Path,
    ) -> None:
        editor = tmp_path / "editor"
        editor.write_text('#!/bin/sh\nprintf "\\nAnd wave." >> "$1"\n')
        editor.chmod(0o755)
        monkeypatch.setenv("VISUAL", str(editor))
        person += ["e", "l"]
        assert run(["codev", "start", "Greet people", *MODEL, QUIET]) == 8
        assert "And wave." in wire.asked("patch")[0].text

    def test_is_left_waiting_at_the_end_of_input(self, wire: Wire, capsys: pytest.CaptureFixture[str]) -> None:
        assert run(["codev", "start", "Greet people", *MODEL, QUIET]) == 8
        assert "--approve" in capsys.readouterr().out

    def test_is_asked_again_when_an_answer_will_not_do(
        self,
        wire: Wire,
        capsys: pytest.CaptureFixture[str],
        person: list[str],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.delenv("VISUAL", raising=False)
        monkeypatch.delenv("EDITOR", raising=False)
        person += ["e", "f", "  ", "a", "l"]
        assert run(["codev", "start", "Greet people", *MODEL, QUIET]) == 8
        shown = capsys.readouterr().out
        assert "No editor is configured." in shown
        assert "No changes were requested." in shown
        assert "Every test passed." in shown
        assert len(wire.asked("plan")) == 1

    def test_is_told_when_the_editor_is_missing(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("VISUAL", raising=False)
        monkeypatch.setenv("EDITOR", "/nowhere/editor")
        with pytest.raises(Invalid, match="cannot be started"):
            codev_answers.edited("x")


class TestInterruption:
    def test_leaves_a_session_that_can_be_gone_on_with(self, wire: Wire, capsys: pytest.CaptureFixture[str]) -> None:
        inner, asked, ended = wire.server.sort, threading.Event(), threading.Event()
        assert inner is not None

        def wait(request: Any) -> Any:
            asked.set()
            ended.wait(60)
            return inner(request)

        wire.server.sort = wait
        command = [str(HEADGATE), "codev", "start", "Greet people", *MODEL, QUIET]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            assert asked.wait(100)
            time.sleep(1)  # the command has nothing to do but to wait for the model
            process.send_signal(signal.SIGINT)
            shown, beside = process.communicate(timeout=30)
            ended.set()
        assert process.returncode == 130
        assert "Stopped following the session." in shown
        assert "Stopped." not in beside  # one thing happened, and it is told once
        assert "Traceback" not in beside
        wire.server.sort = inner
        one = answered(capsys, "codev", "list")[0]["thread_id"]
        assert one in shown
        assert answered(capsys, "codev", "resume", one, code=8)["interrupt"]["type"] == "plan_approval"
