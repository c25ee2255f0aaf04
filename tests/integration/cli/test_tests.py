"""`headgate tests`: a flow's tests in a terminal."""

import json
from pathlib import Path

import pytest

from headgate.entrypoints.cli.app import run
from tests.support.cli import answered

FLOW = "name: Echo\nnodes:\n  heard: ChatInput\n  said: ChatOutput\nedges:\n  heard.text -> said.input\n"
HELLO = {"name": "hello", "text": "hej", "expect": {"contains": ["HEJ"]}}
WRONG = {"name": "wrong", "text": "hej", "expect": {"equals": "då", "excludes": ["hej"]}}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HEADGATE_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    Path("echo.flow").write_text(FLOW)
    return tmp_path


class TestTests:
    def test_are_set_listed_and_run_and_open_the_gate(self, capsys: pytest.CaptureFixture[str], folder: Path) -> None:
        Path("echo.flow").write_text(FLOW + "settings:\n  require_tests: true\n  required_trials: 2\n")
        answered(capsys, "import", "echo.flow")
        (folder / "tests.json").write_text(json.dumps([HELLO]))
        assert answered(capsys, "tests", "set", "Echo", "tests.json")["tests"] == 1
        assert answered(capsys, "flows", "publish", "Echo", code=6)["code"] == "tests_required"
        found = answered(capsys, "tests", "run", "Echo")
        assert (found["status"], found["trials"], [line["answer"] for line in found["lines"]]) == (
            "passed",
            2,
            ["hej", "hej"],
        )
        assert answered(capsys, "flows", "publish", "Echo")["release"] == 1
        assert answered(capsys, "tests", "list", "Echo")["standing"]["state"] == "passed"

    def test_that_fail_are_said_and_fail_the_command(self, capsys: pytest.CaptureFixture[str], folder: Path) -> None:
        answered(capsys, "import", "echo.flow")
        (folder / "tests.json").write_text(json.dumps({"cases": [HELLO]}))
        (folder / "more.json").write_text(json.dumps([WRONG]))
        answered(capsys, "tests", "set", "Echo", "tests.json")
        assert answered(capsys, "tests", "set", "Echo", "more.json", "--add")["tests"] == 2
        assert run(["tests", "run", "Echo", "--trials", "2"]) == 1
        shown = capsys.readouterr().out
        assert "2 of 2" in shown
        assert "0 of 2" in shown
        assert "the answer contains 'hej'" in shown
        assert "headgate runs show" in shown
        assert "4 trials, 0 tokens" in shown
        assert run(["tests", "list", "Echo"]) == 0
        shown = capsys.readouterr().out
        assert "does not contain 'hej', is 'då'" in shown
        assert "The draft failed: wrong" in shown

    def test_are_listed_with_all_that_goes_in(self, capsys: pytest.CaptureFixture[str], folder: Path) -> None:
        answered(capsys, "import", "echo.flow")
        (folder / "tests.json").write_text(json.dumps([HELLO | {"form": {"who": "Ada"}}]))
        answered(capsys, "tests", "set", "Echo", "tests.json")
        assert run(["tests", "list", "Echo"]) == 0
        assert "hej who=Ada" in capsys.readouterr().out

    @pytest.mark.parametrize(
        ("content", "told"),
        [
            ("[{", "not JSON"),
            ('{"name": "a"}', "tests.json holds no list of tests"),
            ('[{"text": "no name"}]', "0.name"),
            ('[{"name": "a", "expect": {"matches": "("}}]', "expect.matches"),
            ('[{"name": "a"}, {"name": "a"}]', "Two tests are called 'a'"),
        ],
    )
    def test_that_are_wrong_are_refused(
        self, capsys: pytest.CaptureFixture[str], folder: Path, content: str, told: str
    ) -> None:
        answered(capsys, "import", "echo.flow")
        (folder / "tests.json").write_text(content)
        assert told in answered(capsys, "tests", "set", "Echo", "tests.json", code=3)["detail"]
        assert answered(capsys, "tests", "run", "Echo", code=3)["code"] == "no_tests"
