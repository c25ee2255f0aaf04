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

    def test_of_a_file_that_is_older_than_they_are_replace_nothing(
        self, capsys: pytest.CaptureFixture[str], folder: Path
    ) -> None:
        answered(capsys, "import", "echo.flow")
        (folder / "tests.json").write_text(json.dumps([HELLO]))
        answered(capsys, "tests", "set", "Echo", "tests.json")
        (folder / "mine.json").write_text(json.dumps(answered(capsys, "tests", "list", "Echo")))
        (folder / "theirs.json").write_text(json.dumps([WRONG]))
        now = answered(capsys, "tests", "set", "Echo", "theirs.json", "--add")
        stale = answered(capsys, "tests", "set", "Echo", "mine.json", code=6)
        assert (stale["code"], stale["revision"]) == ("stale_tests", now["revision"])
        assert "--force" in stale["remedy"]
        assert len(answered(capsys, "tests", "list", "Echo")["cases"]) == 2
        assert answered(capsys, "tests", "set", "Echo", "mine.json", "--add")["tests"] == 2
        assert answered(capsys, "tests", "set", "Echo", "mine.json", "--force")["tests"] == 1

    def test_have_results_that_are_listed_and_shown(self, capsys: pytest.CaptureFixture[str], folder: Path) -> None:
        answered(capsys, "import", "echo.flow")
        assert answered(capsys, "tests", "results", "Echo") == []
        assert answered(capsys, "tests", "show", "Echo", code=4)["code"] == "test_result_not_found"
        (folder / "tests.json").write_text(json.dumps([HELLO, WRONG]))
        answered(capsys, "tests", "set", "Echo", "tests.json")
        made = [answered(capsys, "tests", "run", "Echo", "--trials", str(trials), code=1) for trials in (1, 2)]
        listed = answered(capsys, "tests", "results", "Echo")
        assert [(one["id"], one["done"], one["failures"]) for one in listed] == [
            (made[1]["id"], 4, 2),
            (made[0]["id"], 2, 1),
        ]
        assert len(answered(capsys, "tests", "results", "Echo", "--limit", "1")) == 1
        assert answered(capsys, "tests", "show", "Echo", made[0]["id"]) == made[0]
        assert answered(capsys, "tests", "show", "Echo") == made[1]
        assert answered(capsys, "tests", "show", "Echo", "of-nothing", code=4)["code"] == "test_result_not_found"
        assert run(["tests", "results", "Echo"]) == 0
        shown = capsys.readouterr().out
        assert made[0]["id"] in shown
        assert "1 of 2" in shown
        assert run(["tests", "show", "Echo", made[0]["id"]]) == 0
        shown = capsys.readouterr().out
        assert "the answer contains 'hej'" in shown
        assert all(line["run_id"] in shown for line in made[0]["lines"])

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
            ('{"name": "a"}', "tests.json does not contain a list of tests"),
            ('[{"text": "no name"}]', "0.name"),
            ('[{"name": "a", "expect": {"matches": "("}}]', "expect.matches"),
            ('[{"name": "a"}, {"name": "a"}]', "Two tests are named 'a'"),
        ],
    )
    def test_that_are_wrong_are_refused(
        self, capsys: pytest.CaptureFixture[str], folder: Path, content: str, told: str
    ) -> None:
        answered(capsys, "import", "echo.flow")
        (folder / "tests.json").write_text(content)
        assert told in answered(capsys, "tests", "set", "Echo", "tests.json", code=3)["detail"]
        assert answered(capsys, "tests", "run", "Echo", code=3)["code"] == "no_tests"
