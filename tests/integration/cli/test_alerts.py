"""`headgate alerts`, as a terminal calls it."""

from pathlib import Path

import pytest

from headgate.entrypoints.cli import exit_codes
from headgate.entrypoints.cli.app import run
from tests.support.cli import answered

FLOW = "name: Talk\nnodes:\n  heard: ChatInput\n  said: ChatOutput\nedges:\n  heard.message -> said.input\n"


@pytest.fixture(autouse=True)
def flow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A flow named Talk."""
    monkeypatch.setenv("HEADGATE_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "talk.flow").write_text(FLOW)
    answered(capsys, "import", "talk.flow")


class TestAlerts:
    def test_rules_are_added_listed_muted_and_removed(self, capsys: pytest.CaptureFixture[str]) -> None:
        made = answered(capsys, "alerts", "add", "Talk fails", "failure", "--flow", "Talk", "--threshold", "3")
        assert (made["threshold"], made["flow_name"], made["state"]) == (3, "Talk", "ok")
        assert [one["id"] for one in answered(capsys, "alerts", "rules", "--flow", "Talk")] == [made["id"]]
        assert answered(capsys, "alerts", "mute", made["id"], "--until", "2035-01-01T00:00:00")["state"] == "muted"
        assert answered(capsys, "alerts", "mute", made["id"])["state"] == "ok"
        assert answered(capsys, "alerts", "list", "--rule", made["id"]) == []
        assert answered(capsys, "alerts", "notices", "--rule", made["id"]) == []
        assert run(["alerts", "rules"]) == 0
        assert "Talk fails" in capsys.readouterr().out
        assert run(["alerts", "remove", made["id"]]) == 0
        assert answered(capsys, "alerts", "rules") == []

    def test_a_test_notice_that_is_not_delivered_fails_the_command(self, capsys: pytest.CaptureFixture[str]) -> None:
        made = answered(capsys, "alerts", "add", "All", "failure", "--webhook", "http://127.0.0.1:9/hook")
        [outcome] = answered(capsys, "alerts", "test", made["id"], code=exit_codes.FAILED)
        assert (outcome["channel"], outcome["delivered"]) == ("webhook", False)
        assert outcome["message"]
