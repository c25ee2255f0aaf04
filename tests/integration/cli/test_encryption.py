"""`headgate encryption`, called as a terminal calls it, on a real data folder."""

from pathlib import Path

import pytest

from headgate.entrypoints.cli.app import run
from headgate.entrypoints.cli.exit_codes import CONFLICT
from tests.support.cli import answered


@pytest.fixture(autouse=True)
def data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HEADGATE_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "data"


def doctor(capsys: pytest.CaptureFixture[str]) -> str:
    """What `headgate doctor` says of encryption."""
    capsys.readouterr()
    run(["doctor"])
    lines = capsys.readouterr().out.splitlines()
    return " ".join(line for line in lines if "encryption at rest" in line)


class TestEncryption:
    def test_is_turned_on_shown_turned_off_and_destroyed(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert answered(capsys, "encryption", "status") == {"encrypted": False, "since": None, "destroyed_at": None}
        assert "stored unencrypted" in doctor(capsys)
        enabled = answered(capsys, "encryption", "enable")
        assert enabled["encrypted"]
        assert answered(capsys, "encryption", "enable") == enabled
        assert answered(capsys, "encryption", "status") == enabled
        assert "are encrypted since 20" in doctor(capsys)
        assert not answered(capsys, "encryption", "disable")["encrypted"]
        assert answered(capsys, "encryption", "destroy", "--yes") == {"destroyed": 1}
        assert answered(capsys, "encryption", "status")["destroyed_at"]
        assert run(["encryption", "destroy", "--yes"]) == CONFLICT

    def test_is_not_destroyed_without_a_yes(
        self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        answered(capsys, "encryption", "enable")
        monkeypatch.setattr("typer.confirm", lambda _: False)
        assert run(["encryption", "destroy"]) != 0
        assert answered(capsys, "encryption", "status")["encrypted"]

    def test_of_the_setting_is_shown_and_cannot_be_turned_off(
        self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("HEADGATE_STORAGE__ENCRYPT", "true")
        assert answered(capsys, "encryption", "status") == {"encrypted": True, "since": None, "destroyed_at": None}
        assert "are encrypted" in doctor(capsys)
        assert run(["encryption", "disable"]) == CONFLICT
