"""`headgate slo` and `headgate triggers statistics`, as a terminal calls them."""

from pathlib import Path

import pytest

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


class TestSlo:
    def test_objectives_are_added_listed_shown_changed_and_removed(self, capsys: pytest.CaptureFixture[str]) -> None:
        options = ("--kind", "latency", "--seconds", "60", "--target", "95", "--window", "7", "--runs", "all")
        made = answered(capsys, "slo", "add", "In time", "--flow", "Talk", *options)
        assert (made["kind"], made["seconds"], made["target"], made["window_days"]) == ("latency", 60, 95, 7)
        [listed] = answered(capsys, "slo", "list", "--flow", "Talk")
        assert (listed["id"], listed["budget_left"], listed["attained"]) == (made["id"], 100, None)
        assert len(answered(capsys, "slo", "show", made["id"])["parts"]) == 28
        assert answered(capsys, "slo", "change", made["id"], "--target", "90")["target"] == 90
        assert run(["slo", "list"]) == 0
        assert "In time" in capsys.readouterr().out
        assert run(["slo", "show", made["id"]]) == 0
        assert "budget left" in capsys.readouterr().out
        assert run(["slo", "remove", made["id"]]) == 0
        assert answered(capsys, "slo", "list") == []


class TestTriggers:
    def test_statistics_and_runs_of_a_trigger(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert run(["flows", "publish", "Talk"]) == 0
        capsys.readouterr()
        made = answered(capsys, "triggers", "add", "Talk", "Yearly", "--cron", "0 0 1 1 *")
        fired = answered(capsys, "triggers", "fire", made["id"])
        [listed] = answered(capsys, "runs", "list", "--trigger", made["id"])
        assert listed["id"] == fired["occurrence"]["run_id"]
        found = answered(capsys, "triggers", "statistics", made["id"], "--days", "1")
        assert (found["days"], found["started"], found["skipped"]) == (1, 1, [])
        assert run(["triggers", "statistics", made["id"]]) == 0
        assert "started" in capsys.readouterr().out
