"""`headgate events` with a real installation."""

import pytest

from headgate.entrypoints.cli.app import run
from tests.integration.cli.test_commands import data_folder
from tests.support.cli import answered

__all__ = ["data_folder"]


def test_lists_sent_events_and_only_those_that_are_kept(capsys: pytest.CaptureFixture[str]) -> None:
    kept = answered(capsys, "events", "send", "paid", "--correlation", "order 7", "--data", '{"sum": 3}')
    over = answered(capsys, "events", "send", "paid", "--correlation", "order 8", "--keep-hours", "0")
    assert (kept["status"], over["status"]) == ("kept", "expired")
    every = answered(capsys, "events", "list")
    assert [event["id"] for event in every] == [over["id"], kept["id"]]
    assert [event["id"] for event in answered(capsys, "events", "list", "--kept")] == [kept["id"]]
    assert answered(capsys, "events", "list", "--kept", "--name", "other") == []
    assert run(["events", "list", "--kept"]) == 0
    shown = capsys.readouterr().out
    assert "order 7" in shown
    assert "order 8" not in shown
