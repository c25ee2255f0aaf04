"""`headgate backup` and `headgate restore`, as a terminal gives them, on a real data folder."""

import sqlite3
import stat
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from headgate.entrypoints.backups import moves
from headgate.entrypoints.backups.log import SIGNED_OUT
from headgate.entrypoints.backups.places import OMITTED, places_of
from headgate.entrypoints.cli.app import run
from headgate.entrypoints.cli.exit_codes import CONFLICT, INVALID, NOT_FOUND, UNAVAILABLE
from headgate.foundation.settings import Settings
from tests.integration.backups.conftest import Ask, store_secret, use

KEPT = ("workspace", "skills", "files", "keys")


def contents(folder: Path) -> dict[str, bytes]:
    """Every regular file of the folders that a backup keeps, and the keys."""
    files = [path for name in KEPT for path in (folder / name).rglob("*") if path.is_file() and not path.is_symlink()]
    files += [*folder.glob("*.key")]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


def rows(database: Path, query: str) -> list[Any]:
    with closing(sqlite3.connect(database)) as connection:
        return connection.execute(query).fetchall()


class TestBackup:
    def test_is_restored_with_everything(
        self, installation: Path, ask: Ask, passphrase_file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        runs = ask("runs", "list")
        backup = ask("backup", "create", "--passphrase-file", passphrase_file)
        assert (backup["sealed"], backup["keys"], backup["lost_contents"]) == (True, True, 0)
        other = use(monkeypatch, tmp_path / "other" / "data")
        restored = ask("restore", backup["path"], "--passphrase-file", passphrase_file)
        assert (restored["missing_keys"], restored["aside"]) == ({}, [])
        assert contents(other) == contents(installation)
        assert ask("runs", "list") == runs
        ask("runs", "evidence", runs[0]["id"], "--output", str(tmp_path / "after.zip"))
        for archive in ("before.zip", "after.zip"):
            assert run(["evidence", "verify", str(tmp_path / archive)]) == 0
        assert run(["audit", "verify"]) == 0
        assert "backup.restored" in [entry["action"] for entry in ask("audit", "list")]
        made = [path for path in (other, *other.rglob("*")) if "workers" not in path.parts]
        assert [path for path in made if stat.S_IMODE(path.stat().st_mode) & 0o077] == []

    def test_without_a_passphrase_holds_no_keys_and_the_restore_names_them(
        self, installation: Path, ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        backup = ask("backup", "create")
        assert (backup["sealed"], backup["keys"]) == (False, False)
        for key in installation.glob("*.key"):
            assert key.read_bytes() not in Path(backup["path"]).read_bytes()
        other = use(monkeypatch, tmp_path / "other")
        missing = ask("restore", backup["path"])["missing_keys"]
        assert {purpose: len(ids) for purpose, ids in missing.items()} == {"secrets": 1, "evidence": 1}
        for key in installation.glob("*.key"):
            (other / key.name).write_bytes(key.read_bytes())
        assert run(["evidence", "verify", str(tmp_path / "before.zip")]) == 0
        assert ask("variables", "list")[0]["name"] == "A_KEY"

    def test_contains_keys_of_the_environment_when_it_is_asked_for(
        self, tmp_path: Path, ask: Ask, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        use(monkeypatch, tmp_path / "data")
        key = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="
        monkeypatch.setenv("HEADGATE_SECRET_KEY", key)
        store_secret(monkeypatch)
        backup = ask("backup", "create", "--with-keys")
        monkeypatch.delenv("HEADGATE_SECRET_KEY")
        other = use(monkeypatch, tmp_path / "other")
        assert ask("restore", backup["path"])["missing_keys"] == {}
        assert (other / "secret.key").read_text() == key

    def test_is_verified_and_changes_nothing(self, installation: Path, ask: Ask, passphrase_file: str) -> None:
        backup = ask("backup", "create", "--passphrase-file", passphrase_file)
        before = contents(installation)
        verified = ask("backup", "verify", backup["path"], "--passphrase-file", passphrase_file)
        assert (verified["id"], verified["files"]) == (backup["id"], backup["files"])
        assert contents(installation) == before
        assert ask("backup", "verify", "nowhere", code=NOT_FOUND)["code"] == "not_found"

    def test_of_nothing_is_refused(self, tmp_path: Path, ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
        use(monkeypatch, tmp_path / "none")
        ask("backup", "create", "--output", str(tmp_path / "x"), code=NOT_FOUND)
        assert not (tmp_path / "x").exists()

    def test_replaces_no_file(self, installation: Path, ask: Ask, tmp_path: Path) -> None:
        (tmp_path / "mine").write_text("mine")
        ask("backup", "create", "--output", str(tmp_path / "mine"), code=CONFLICT)
        assert (tmp_path / "mine").read_text() == "mine"
        assert installation.exists()

    def test_needs_a_long_passphrase(self, installation: Path, ask: Ask, tmp_path: Path) -> None:
        (tmp_path / "short").write_text("short")
        ask("backup", "create", "--passphrase-file", str(tmp_path / "short"), code=INVALID)
        assert not (installation / "backups").exists()

    def test_is_recorded_and_listed_and_the_oldest_are_pruned(self, installation: Path, ask: Ask) -> None:
        backup = ask("backup", "create")
        assert ask("audit", "list")[0]["action"] == "backup.created"
        folder = installation / "backups"
        for day in range(10, 20):
            (folder / f"headgate-202501{day}T000000000000Z.hgbackup").write_bytes(b"old")
        (folder / "mine.hgbackup").write_bytes(b"another name")
        assert ask("backup", "list")[0]["path"] == backup["path"]
        assert len(ask("backup", "prune", "--keep", "2")) == 9
        left = sorted(path.name for path in folder.iterdir())
        assert left == ["headgate-20250119T000000000000Z.hgbackup", Path(backup["path"]).name, "mine.hgbackup"]

    def test_counts_contents_that_were_missing_before(
        self, installation: Path, ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "big.txt").write_text("x" * 2_000_000)
        made = ask("run", "echo.flow", "--text", "y" * 2_000_000)
        assert made["status"] == "completed"
        stored = [path for path in (installation / "files").rglob("*") if path.is_file()]
        assert stored, "a long text is stored as a file"
        stored[0].unlink()
        backup = ask("backup", "create")
        assert backup["lost_contents"] == 1
        use(monkeypatch, tmp_path / "other")
        ask("restore", backup["path"])


class TestRestore:
    def test_refuses_an_installation_unless_it_is_replaced_and_kept(
        self, installation: Path, ask: Ask, passphrase_file: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        backup = ask("backup", "create", "--passphrase-file", passphrase_file)
        at_backup = contents(installation)
        store_secret(monkeypatch, "changed later")
        (installation / "skills" / "later.md").write_text("later")
        before, later = contents(installation), rows(installation / "headgate.db", "SELECT * FROM variables")
        words = ("restore", backup["path"], "--passphrase-file", passphrase_file)
        assert "already" in ask(*words, code=CONFLICT)["detail"]
        assert contents(installation) == before
        aside = Path(ask(*words, "--replace")["aside"][0])
        assert contents(installation) == at_backup
        assert contents(aside) == before
        assert rows(aside / "headgate.db", "SELECT * FROM variables") == later
        assert rows(installation / "headgate.db", "SELECT * FROM variables") != later
        assert Path(backup["path"]).exists(), "backups stay where they are"

    def test_without_keys_keeps_those_that_are_there(self, installation: Path, ask: Ask) -> None:
        backup = ask("backup", "create")
        keys = {path: path.read_bytes() for path in installation.glob("*.key")}
        assert ask("restore", backup["path"], "--replace")["missing_keys"] == {}
        assert {path: path.read_bytes() for path in installation.glob("*.key")} == keys

    def test_refuses_a_database_in_use(self, installation: Path, ask: Ask) -> None:
        backup = ask("backup", "create")
        with closing(sqlite3.connect(installation / "headgate.db")) as connection:
            connection.execute("SELECT count(*) FROM tenants").fetchone()
            assert "in use" in ask("restore", backup["path"], "--replace", code=CONFLICT)["detail"]
        ask("restore", backup["path"], "--replace")

    def test_signs_everybody_out(self, installation: Path, ask: Ask) -> None:
        with closing(sqlite3.connect(installation / "headgate.db")) as connection:
            user, tenant = connection.execute("SELECT id, tenant_id FROM users").fetchone()
            connection.execute(
                "INSERT INTO one_time_links (id, tenant_id, user_id, token_hash, created_at, expires_at)"
                " VALUES ('l', ?, ?, 'h', 1, 9000000000000000)",
                (tenant, user),
            )
            connection.commit()
        backup = ask("backup", "create")
        ask("restore", backup["path"], "--replace")
        for table in SIGNED_OUT:
            assert rows(installation / "headgate.db", f"SELECT count(*) FROM {table}") == [(0,)]

    @pytest.mark.usefixtures("installation")
    def test_refuses_a_newer_schema_and_a_database_of_another_schema(
        self, ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, installation: Path
    ) -> None:
        with closing(sqlite3.connect(installation / "headgate.db")) as connection:
            connection.execute("UPDATE alembic_version SET version_num = '9999'")
            connection.commit()
        monkeypatch.setattr("headgate.entrypoints.backups.log.HEAD", "none: nothing is recorded")
        backup = ask("backup", "create", "--output", str(tmp_path / "newer"))
        use(monkeypatch, tmp_path / "other")
        for words in (("restore", backup["path"]), ("backup", "verify", backup["path"])):
            assert "newer Headgate" in ask(*words, code=INVALID)["detail"]
        assert not (tmp_path / "other" / "headgate.db").exists()

    def test_refuses_a_wrong_passphrase_and_a_damaged_file_and_changes_nothing(
        self, installation: Path, ask: Ask, passphrase_file: str, tmp_path: Path
    ) -> None:
        backup = ask("backup", "create", "--passphrase-file", passphrase_file)
        before = contents(installation)
        (tmp_path / "wrong").write_text("another passphrase")
        words = ("restore", backup["path"], "--replace", "--passphrase-file")
        assert ask(*words, str(tmp_path / "wrong"), code=INVALID)["code"] == "passphrase_wrong"
        content = bytearray(Path(backup["path"]).read_bytes())
        content[len(content) // 2] ^= 1
        Path(backup["path"]).write_bytes(content)
        assert ask(*words, passphrase_file, code=INVALID)["status"] == 422
        assert contents(installation) == before
        assert not [*installation.glob("before-restore-*")]

    def test_refuses_what_does_not_fit(
        self, installation: Path, ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        backup = ask("backup", "create")
        monkeypatch.setattr(moves, "SPARE_BYTES", 10**15)
        other = use(monkeypatch, tmp_path / "other")
        assert "free" in ask("restore", backup["path"], code=UNAVAILABLE)["detail"]
        assert {path.name for path in other.iterdir()} == {"restore.lock"}
        assert installation.exists()

    def test_puts_back_folders_that_are_elsewhere(
        self, tmp_path: Path, ask: Ask, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        use(monkeypatch, tmp_path / "data")
        settings = {
            "HEADGATE_DATABASE__URL": f"sqlite+aiosqlite:///{tmp_path}/elsewhere/mine.db",
            "HEADGATE_WORKSPACE__BASE_DIR": str(tmp_path / "spaces"),
            "HEADGATE_KEYS_DIR": str(tmp_path / "ring"),
        }
        for name, value in settings.items():
            monkeypatch.setenv(name, value)
        (tmp_path / "elsewhere").mkdir()
        (tmp_path / "note.md").write_text("a note")
        store_secret(monkeypatch)
        ask("workspace", "write", "a.md", str(tmp_path / "note.md"))
        ask("keyring", "rotate", "evidence")
        places = {place.member: place.path for place in places_of(Settings()) if place.present}
        before = {path: path.read_bytes() for folder in ("spaces", "ring") for path in _files(tmp_path / folder)}
        assert before
        backup = ask("backup", "create", "--with-keys", "--output", str(tmp_path / "b"))
        for folder in ("spaces", "ring"):
            for path in _files(tmp_path / folder):
                path.unlink()
        aside = ask("restore", backup["path"], "--replace")["aside"]
        assert {
            path: path.read_bytes() for folder in ("spaces", "ring") for path in _files(tmp_path / folder)
        } == before
        assert {place.member: place.path for place in places_of(Settings()) if place.present} == places
        assert {str(Path(path).parent) for path in aside} == {
            str(tmp_path),
            str(tmp_path / "data"),
            str(tmp_path / "elsewhere"),
        }


def _files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


class TestPlaces:
    def test_are_all_that_an_installation_has(self, installation: Path, ask: Ask) -> None:
        ask("codev", "list")
        known = {place.path.name for place in places_of(Settings())} | OMITTED | {"headgate.db-wal", "headgate.db-shm"}
        assert {path.name for path in installation.iterdir()} - known == set()
