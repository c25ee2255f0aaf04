"""Scheduled backups, and what `headgate doctor` and the settings page say about the last one."""

from pathlib import Path

import pytest

from headgate.entrypoints.cli.exit_codes import NOT_FOUND
from tests.integration.backups.conftest import Ask


def finding(ask: Ask) -> list[tuple[bool, str]]:
    """What the doctor says of backups."""
    return [(one["good"], one["detail"]) for one in ask("doctor")["findings"] if one["what"] == "backup"]


class TestScheduled:
    def test_is_made_when_due_recorded_and_pruned(
        self, installation: Path, ask: Ask, passphrase_file: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        assert finding(ask) == []
        ask("maintenance", "run", "backup", code=NOT_FOUND)
        monkeypatch.setenv("HEADGATE_BACKUP__EVERY_HOURS", "24")
        monkeypatch.setenv("HEADGATE_BACKUP__PASSPHRASE_FILE", passphrase_file)
        monkeypatch.setenv("HEADGATE_BACKUP__KEEP", "2")
        assert finding(ask) == [(False, "none was made yet; every 24 hours")]
        folder = installation / "backups"
        folder.mkdir(mode=0o700)
        for day in (10, 11, 12):
            (folder / f"headgate-202501{day}T000000000000Z.hgbackup").write_bytes(b"old")
        ask("maintenance", "run", "backup", "--dry-run")
        assert len(ask("backup", "list")) == 3
        ask("maintenance", "run", "backup")
        kept = ask("backup", "list")
        assert [one["sealed"] for one in kept] == [True, False]
        assert ask("backup", "verify", kept[0]["path"])["keys"]
        ((good, detail),) = finding(ask)
        assert good
        assert detail.startswith("the last one was made 20")
        created = [entry for entry in ask("audit", "list") if entry["action"] == "backup.created"]
        assert [entry["actor"]["kind"] for entry in created] == ["system"]
        ask("maintenance", "run", "backup")
        assert ask("backup", "list") == kept, "the newest is not old enough for another"

    def test_that_fails_is_reported(
        self, installation: Path, ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        assert installation.exists()
        (tmp_path / "file").write_text("not a folder")
        monkeypatch.setenv("HEADGATE_BACKUP__EVERY_HOURS", "1")
        monkeypatch.setenv("HEADGATE_BACKUP__FOLDER", str(tmp_path / "file" / "below"))
        ask("maintenance", "run", "backup", code=5)
        (state,) = [job for job in ask("maintenance", "status") if job["name"] == "backup"]
        assert state["outcome"]["error"] == "backup_failed"
