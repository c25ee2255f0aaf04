"""Checking the code of components from the command line."""

import textwrap
from pathlib import Path

import pytest

from headgate.entrypoints.cli.app import run
from headgate.entrypoints.cli.exit_codes import INTERRUPTED, PARTLY
from headgate.sandbox.report import probe
from tests.support.cli import answered
from tests.support.own_code import REVERSE, REVERSE_SPEC, component

pytestmark = pytest.mark.skipif(bool(probe().missing), reason="own code is refused where it cannot be isolated")


@pytest.fixture(autouse=True)
def data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADGATE_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)


class TestComponents:
    def test_check_says_what_the_code_is_or_what_is_wrong(
        self, capsys: pytest.CaptureFixture[str], tmp_path: Path
    ) -> None:
        (tmp_path / "good.py").write_text(REVERSE)
        (tmp_path / "bad.py").write_text(component("@output()\ndef said(self) -> Text:\n    return nobody"))
        found = answered(capsys, "components", "check", "good.py")
        assert (found["type"], found["manifest"]["imports"]) == ("ReverseText", ["headgate"])
        faults = answered(capsys, "components", "check", "bad.py", code=3)["findings"]
        assert [one["line"] for one in faults] == [9]
        assert run(["components", "check", "good.py"]) == 0
        said = capsys.readouterr().out
        assert "ReverseText" in said
        assert "Hosts: none, no network access" in said
        assert run(["components", "check", "bad.py"]) == 3
        assert "line 9" in capsys.readouterr().out

    def test_register_shows_the_reach_and_saves_only_after_yes(
        self, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "good.py").write_text(REVERSE)
        questions: list[str] = []

        def refuse(question: str) -> bool:
            questions.append(question)
            return False

        monkeypatch.setattr("typer.confirm", refuse)
        assert run(["components", "register", "good.py"]) == INTERRUPTED
        assert "Secrets: none" in capsys.readouterr().out
        assert questions == ["Save ReverseText?"]
        assert answered(capsys, "components", "--own") == []
        assert answered(capsys, "components", "register", "good.py", "--yes")["kept"] is True
        assert [one["type"] for one in answered(capsys, "components", "--own")] == ["ReverseText"]

    def test_search_needs_no_word_of_command(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert answered(capsys, "components", "URL")["type"] == "URL"
        assert answered(capsys, "components", "search", "fetch a page")[0]["type"] == "URL"


class TestFlows:
    def test_check_code_makes_an_imported_flow_ready_to_run(
        self, capsys: pytest.CaptureFixture[str], tmp_path: Path
    ) -> None:
        (tmp_path / "back.flow").write_text(REVERSE_SPEC.format(code=textwrap.indent(REVERSE, " " * 6)))
        flow = answered(capsys, "import", "back.flow", code=PARTLY)
        assert answered(capsys, "run", flow["id"], "--text", "abc", code=3)["code"] == "flow_invalid"
        assert [one["ok"] for one in answered(capsys, "flows", "check-code", "Backwards")["items"]] == [True]
        assert run(["flows", "check-code", "Backwards"]) == 0
        assert "1 already checked" in capsys.readouterr().out
        assert answered(capsys, "flows", "show", "Backwards")["issues"] == []
