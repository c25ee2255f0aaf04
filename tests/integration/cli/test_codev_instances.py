"""`headgate codev instances`: Flowise servers of a tenant, and their keys."""

import io

import pytest

from headgate.entrypoints.cli.app import run
from tests.integration.cli.test_commands import data_folder
from tests.support.cli import answered

__all__ = ["data_folder"]


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr("sys.stdin", io.StringIO("key-of-a-test\n"))
    return "key-of-a-test"


class TestInstances:
    def test_are_added_listed_and_removed_and_keys_are_never_shown(
        self, capsys: pytest.CaptureFixture[str], key: str
    ) -> None:
        made = answered(capsys, "codev", "instances", "add", "staging", "https://flowise.example.org")
        assert made["has_key"] is True
        assert run(["codev", "instances", "list"]) == 0
        shown = capsys.readouterr().out
        assert "staging" in shown
        assert key not in f"{shown} {made}"
        assert "Configured: staging." in answered(capsys, "codev", "instances", "remove", "stage", code=4)["remedy"]
        assert answered(capsys, "codev", "instances", "remove", "staging")["removed"] is True
        assert answered(capsys, "codev", "instances", "list") == []
        assert answered(capsys, "variables", "list") == []

    def test_that_are_none_are_told(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert run(["codev", "instances", "test", "nowhere"]) != 0
        assert "nowhere" in capsys.readouterr().err

    def test_of_a_private_network_are_not_reached(self, capsys: pytest.CaptureFixture[str]) -> None:
        answered(capsys, "codev", "instances", "add", "inside", "http://127.0.0.1:9")
        assert run(["codev", "instances", "test", "inside"]) == 5
        assert "127.0.0.1" in capsys.readouterr().err
