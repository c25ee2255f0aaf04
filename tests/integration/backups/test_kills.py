"""`kill -9` before any change of a file that a backup or a restore makes: nothing is lost, and nothing is half done."""

import os
import random
import signal
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from headgate.entrypoints.backups.places import STAGING
from headgate.foundation.pending_restore import JOURNAL
from tests.integration.backups.conftest import Ask, store_secret
from tests.integration.backups.test_commands import contents
from tests.support.forked import fork

POINTS = 14
LAST = 12
"""Changes at the end of a restore that are all tried: the moves are among them."""


def killed(tmp_path: Path, *words: str, at: int = 0, statements: bool = False) -> int:
    """Run a command and kill it before a change. Returns the number of changes of one that was not killed."""
    environment = {name: value for name, value in os.environ.items() if name == "PATH" or name.startswith("HEADGATE_")}
    environment |= {
        "KILL_COUNT": str(tmp_path / "count"),
        "KILL_AT": str(at),
    }
    environment |= {"KILL_STATEMENTS": "1"} if statements else {}
    process = fork("tests.support.killed_process", *words, environment=environment)
    process.communicate()
    assert process.returncode == (-signal.SIGKILL if at else 0)
    return 0 if at else int((tmp_path / "count").read_text())


def points(count: int, *, last: int = 0) -> list[int]:
    """Some of the changes, and all of the last ones."""
    early = range(1, count - last + 1)
    return sorted({*random.sample(early, min(POINTS, len(early))), *range(max(1, count - last + 1), count + 1)})


def state(folder: Path) -> tuple[dict[str, bytes], list[Any]]:
    """The files of an installation, and rows of its database."""
    with closing(sqlite3.connect(folder / "headgate.db")) as connection:
        rows = connection.execute("SELECT name, token, updated_at FROM variables ORDER BY name").fetchall()
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    return contents(folder), rows


@pytest.mark.timeout(300)
class TestKill:
    def test_of_a_backup_leaves_no_backup_or_a_complete_one(
        self, installation: Path, ask: Ask, passphrase_file: str, tmp_path: Path
    ) -> None:
        before = state(installation)
        words = ("backup", "create", "--passphrase-file", passphrase_file, "--output")
        count = killed(tmp_path, *words, str(tmp_path / "backups" / "first"))
        complete = 0
        for point in points(count):
            target = tmp_path / "backups" / f"at-{point}"
            killed(tmp_path, *words, str(target), at=point)
            if target.exists():
                ask("backup", "verify", str(target), "--passphrase-file", passphrase_file)
                complete += 1
            assert state(installation) == before
        for left in (tmp_path / "backups").glob(".*"):
            os.utime(left, (1, 1))
        ask(*words, str(tmp_path / "backups" / "last"))
        assert not [*(tmp_path / "backups").glob(".*")]
        assert complete < POINTS

    def test_of_a_restore_leaves_the_old_installation_or_the_new_one(
        self, installation: Path, ask: Ask, passphrase_file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        backup = ask("backup", "create", "--passphrase-file", passphrase_file, "--output", str(tmp_path / "b"))
        new = state(installation)
        words = ("restore", backup["path"], "--replace", "--passphrase-file", passphrase_file)
        count = killed(tmp_path, *words)
        seen = set()
        for point in points(count, last=LAST):
            store_secret(monkeypatch, f"changed before {point}")
            (installation / "skills" / "later.md").write_text(str(point))
            old = state(installation)
            killed(tmp_path, *words, at=point)
            interrupted = (installation / JOURNAL).exists()
            ask("variables", "list")  # whatever opens the installation completes the moves
            after = state(installation)
            assert after in (old, new), f"killed before change {point} of {count}"
            assert not interrupted or after == new
            assert not (installation / JOURNAL).exists()
            seen.add((after == new, interrupted))
        assert (False, False) in seen, "never killed before the moves"
        assert (True, True) in seen, "never killed in the middle of the moves"
        ask(*words)
        assert state(installation) == new
        assert not [*installation.glob(f"{STAGING}*")]
