"""The command line as the guide uses it: flow files, files for form fields, faults with their lines."""

import json
from pathlib import Path
from typing import Any

import pytest

from headgate.components.document import example
from headgate.entrypoints.cli.app import run
from tests.integration.pages.conftest import flow_of


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, with a data folder of its own and a table to upload."""
    monkeypatch.setenv("HEADGATE_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text("name,city\nAnn,Lund\n", encoding="utf-8")
    return tmp_path


def answered(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> Any:
    """The JSON that a command answers with."""
    assert run([*arguments, "--json"]) == code
    return json.loads(capsys.readouterr().out)


class TestRun:
    def test_takes_a_file_for_a_form_field(self, capsys: pytest.CaptureFixture[str], folder: Path) -> None:
        (folder / "report.flow").write_text(example("FileInput"), encoding="utf-8")
        outcome = answered(capsys, "run", "report.flow", "--form", "report=@people.csv")
        assert "| Ann | Lund |" in outcome["outputs"]["out"]

    def test_leaves_an_answer_alone_that_is_no_file(self, capsys: pytest.CaptureFixture[str], folder: Path) -> None:
        (folder / "letter.flow").write_text(flow_of("start/guide.md", "Welcome letter"), encoding="utf-8")
        outcome = answered(capsys, "run", "letter.flow", "--form", "name=@ann", "--form", "city=Lund")
        assert outcome["outputs"]["out"] == "Dear @ann, welcome to Lund!"

    def test_says_that_a_flow_file_is_not_there(self, capsys: pytest.CaptureFixture[str]) -> None:
        problem = answered(capsys, "run", "missing.flow", code=3)
        assert problem["detail"] == "missing.flow cannot be read: No such file or directory."

    def test_says_that_a_flow_file_is_not_text(self, capsys: pytest.CaptureFixture[str], folder: Path) -> None:
        (folder / "odd.flow").write_bytes(b"\xff\xfe\x00")
        assert "not UTF-8" in answered(capsys, "run", "odd.flow", code=3)["detail"]


class TestValidate:
    def test_gives_the_line_of_what_is_missing(self, capsys: pytest.CaptureFixture[str], folder: Path) -> None:
        text = flow_of("start/guide.md", "Brief").replace("    prompt: Summarise in one sentence.\n", "")
        (folder / "brief.flow").write_text(text, encoding="utf-8")
        issue = answered(capsys, "validate", "brief.flow", code=3)["issues"][0]
        assert (issue["code"], issue["line"]) == ("missing_value", 4)

    def test_shows_no_empty_line_below_a_fault_without_a_remedy(
        self, capsys: pytest.CaptureFixture[str], folder: Path
    ) -> None:
        (folder / "quote.flow").write_text('nodes:\n  a: TextInput\n    text: "half\n', encoding="utf-8")
        assert run(["validate", "quote.flow"]) == 3
        assert all(line.strip() for line in capsys.readouterr().out.splitlines())
