"""A backup onto a disk that is full, and a restore: an error, and nothing left behind."""

from pathlib import Path

import pytest

from headgate.entrypoints.backups import moves
from headgate.entrypoints.cli.exit_codes import UNAVAILABLE
from tests.integration.backups.conftest import Ask, use
from tests.integration.backups.test_commands import contents
from tests.support.disks import mounted


class TestFullDisk:
    def test_leaves_no_backup_and_an_unchanged_installation(self, installation: Path, ask: Ask, tmp_path: Path) -> None:
        before = contents(installation)
        with mounted(tmp_path / "small", "512k") as disk:
            problem = ask("backup", "create", "--output", str(disk.path / "b.hgbackup"), code=UNAVAILABLE)
            assert "full" in problem["detail"] or "space" in problem["detail"]
            assert [*disk.path.iterdir()] == []
        assert contents(installation) == before

    def test_leaves_nothing_of_a_restore(
        self, installation: Path, ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        backup = ask("backup", "create", "--with-keys")
        assert installation.exists()
        monkeypatch.setattr(moves, "SPARE_BYTES", -(10**12))  # the check before it is another test's
        with mounted(tmp_path / "small", "512k") as disk:
            use(monkeypatch, disk.path / "data")
            ask("restore", backup["path"], code=UNAVAILABLE)
            assert {path.name for path in (disk.path / "data").iterdir()} <= {"restore.lock"}
