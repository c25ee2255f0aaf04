"""The operator's desk in the command line: items, views, the list of runs and its export."""

import csv
import json
from pathlib import Path

import pytest

from headgate.entrypoints.cli.app import run
from headgate.entrypoints.cli.exit_codes import FAILED, INVALID, NOT_FOUND, OK, PARTLY
from tests.integration.cli.test_commands import data_folder
from tests.support.cli import answered

__all__ = ["data_folder"]
FAILING = """name: Failing
nodes:
  ask: TextInput
    text: no json
  read: ParseJSON
  out: ChatOutput
edges:
  ask.text -> read.text
  read.data -> out.input
"""


class TestDesk:
    def test_groups_failures_and_changes_them_together(
        self, data_folder: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        Path("failing.flow").write_text(FAILING)
        flow = answered(capsys, "import", "failing.flow")
        answered(capsys, "flows", "publish", flow["id"])
        runs = [answered(capsys, "run", flow["id"], code=FAILED)["run_id"] for _ in range(2)]
        [item] = answered(capsys, "attention", "list", "--kind", "failed_runs", "--flow", "Failing")["items"]
        assert (item["count"], item["step_id"]) == (2, "read")
        answered(
            capsys, "views", "save", "attention", "Old", "--filter", "kind=failed_runs", "--filter", "older_hours=5"
        )
        assert answered(capsys, "attention", "list", "--view", "Old")["items"] == []
        assert len(answered(capsys, "attention", "list", "--view", "Old", "--older", "0")["items"]) == 1
        assert run(["attention", "list", "--kind", "nothing"]) == INVALID
        assert run(["attention", "list", "--view", "nothing"]) == NOT_FOUND
        refused = answered(capsys, "attention", "cancel", item["key"], code=PARTLY)
        assert refused["items"][0]["problem"]["code"] == "attention_action_invalid"
        again = answered(capsys, "attention", "rerun", item["key"])
        assert [one["id"] for one in again["items"]] == runs[::-1]
        assert run(["attention", "rerun", item["key"]]) in {NOT_FOUND, OK}

    def test_dismisses_mutes_and_shows_again(self, data_folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        Path("failing.flow").write_text(FAILING)
        flow = answered(capsys, "import", "failing.flow")
        answered(capsys, "flows", "publish", flow["id"])
        answered(capsys, "run", flow["id"], code=FAILED)
        [item] = answered(capsys, "attention", "list")["items"]
        answered(capsys, "attention", "dismiss", item["key"], "--until", "2100-01-01")
        assert answered(capsys, "attention", "list")["items"] == []
        [muted] = answered(capsys, "attention", "list", "--dismissed")["items"]
        assert muted["muted_until"].startswith(("2099-12-31", "2100-01-01"))
        answered(capsys, "attention", "dismiss", item["key"], "--undo")
        assert len(answered(capsys, "attention", "list")["items"]) == 1


class TestRuns:
    def test_are_listed_by_the_filters_of_the_page_and_exported(
        self, data_folder: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        Path("failing.flow").write_text(FAILING)
        flow = answered(capsys, "import", "failing.flow")
        answered(capsys, "flows", "tag", flow["id"], "--add", "billing")
        run_id = answered(capsys, "run", flow["id"], code=FAILED)["run_id"]
        [listed] = answered(capsys, "runs", "list", "--tag", "billing", "--status", "failed", "--since", "2020-01-01")
        assert (listed["id"], listed["details"]["tags"]) == (run_id, ["billing"])
        assert answered(capsys, "runs", "list", "--tag", "other") == []
        assert answered(capsys, "runs", "list", "--search", "nowhere to be found") == []
        answered(
            capsys, "views", "save", "runs", "Bad", "--filter", "status=failed", "--column", "id", "--column", "flow"
        )
        assert run(["runs", "export", "--view", "Bad", "-o", "runs.csv"]) == OK
        assert list(csv.reader(Path("runs.csv").read_text().splitlines())) == [["id", "flow"], [run_id, "Failing"]]
        assert run(["runs", "export", "-o", "runs.jsonl", "--column", "status"]) == OK
        assert [json.loads(line) for line in Path("runs.jsonl").read_text().splitlines()] == [{"status": "failed"}]
        assert run(["runs", "export", "--column", "secret"]) == INVALID
        [view] = answered(capsys, "views", "list", "runs")
        answered(capsys, "views", "delete", view["id"])
        assert answered(capsys, "views", "list", "runs") == []
