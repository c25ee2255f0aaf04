"""`headgate connections` and descriptions of APIs, as a terminal calls it."""

from pathlib import Path

import pytest

from headgate.entrypoints.cli.app import run
from tests.integration.features.connections.test_apis import CREATE, LIST, changed_document
from tests.support.api_documents import ISSUES, as_json, as_yaml
from tests.support.cli import answered


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty installation, and two descriptions."""
    monkeypatch.setenv("HEADGATE_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("TRACKER_KEY", "canary-of-the-terminal")
    monkeypatch.setenv("HEADGATE_CONNECTIONS__ENVIRONMENT", '["TRACKER_KEY"]')
    monkeypatch.chdir(tmp_path)
    (tmp_path / "api.yaml").write_bytes(as_yaml(ISSUES))
    (tmp_path / "changed.json").write_bytes(as_json(changed_document()))


class TestDescriptions:
    def test_a_description_makes_a_connection_and_its_changes_are_accepted(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        made = answered(capsys, "connections", "add", "openapi", "api.yaml", "--from", "key=environment:TRACKER_KEY")
        assert (made["kind"], made["operations"]) == ("api_key_header", 2)
        assert made["fields"]["header"] == "X-Tracker-Key"
        assert made["hosts"] == ["https://api.tracker.example"]
        listed = answered(capsys, "connections", "operations", "openapi", "create", "issue")
        assert [one["key"] for one in listed] == [CREATE]
        assert answered(capsys, "connections", "describe", "openapi", "changed.json")["changed"] == [LIST]
        assert run(["connections", "operations", "openapi"]) == 0
        assert "issues*" in capsys.readouterr().out.replace("\n", "")
        assert answered(capsys, "connections", "accept", "openapi") == [LIST]

    def test_a_file_that_is_no_description_makes_no_connection(self, capsys: pytest.CaptureFixture[str]) -> None:
        Path("wrong.json").write_text('{"openapi": "3.1.0", "paths": {}}')
        assert run(["connections", "add", "openapi", "wrong.json"]) != 0
        assert "at 'paths'" in capsys.readouterr().err
        assert answered(capsys, "connections", "list") == []
