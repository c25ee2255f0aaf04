"""Data folders of earlier versions, made with the code of their time, upgraded to this version."""

import random
import shutil
import sqlite3
import tarfile
from contextlib import closing
from pathlib import Path

import psycopg
import pytest

from headgate.entrypoints.cli.app import run
from headgate.entrypoints.cli.exit_codes import CONFLICT, OK, UNAVAILABLE
from headgate.foundation.crypto import SecretBox
from headgate.foundation.database.migrate import HEAD
from headgate.foundation.keyring import new_ring
from headgate.foundation.settings import Settings
from tests.data.upgrades.make import FOLDER, SECRET, UNSIGNED, VERSIONS
from tests.integration.backups.conftest import Ask, store_secret, use
from tests.integration.backups.test_kills import killed
from tests.integration.backups.test_postgres import NewDatabase, new_database
from tests.support.forked import fork

__all__ = ["new_database"]
KILLS = 8
Capture = pytest.CaptureFixture[str]


@pytest.fixture(params=VERSIONS)
def earlier(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The data folder of an earlier version."""
    return unpack(request.param, tmp_path, monkeypatch)


@pytest.fixture
def first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The data folder of the first version."""
    return unpack("0001", tmp_path, monkeypatch)


def unpack(schema: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    with tarfile.open(FOLDER / f"{schema}.tar.gz") as archive:
        archive.extractall(folder, filter="data")
    monkeypatch.chdir(folder)
    return use(monkeypatch, folder / "data")


def schema_of(folder: Path) -> str:
    with closing(sqlite3.connect(folder / "headgate.db")) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        (found,) = connection.execute("SELECT version_num FROM alembic_version").fetchone()
    return str(found)


def secret_of(folder: Path) -> str:
    with closing(sqlite3.connect(folder / "headgate.db")) as connection:
        (value,) = connection.execute("SELECT token FROM variables WHERE name = 'A_KEY'").fetchone()
    box = SecretBox(new_ring(Settings()))
    return box.decrypt(value if isinstance(value, bytes) else value.encode()).get_secret_value()


def check(folder: Path, ask: Ask, tmp_path: Path) -> None:
    """Flows run, runs are there, evidence of then and of now verifies, the secret decrypts."""
    assert schema_of(folder) == HEAD
    assert secret_of(folder) == SECRET
    flows, runs = ask("flows", "list"), ask("runs", "list")
    assert {flow["name"] for flow in flows} == {"Echo"}
    assert [one["status"] for one in runs] == ["completed", "completed"]
    if (tmp_path / "evidence.zip").read_bytes().startswith(b"PK"):
        assert run(["evidence", "verify", str(tmp_path / "evidence.zip")]) == OK
    for one in runs:
        (tmp_path / "now.zip").unlink(missing_ok=True)
        ask("runs", "evidence", one["id"], "--output", str(tmp_path / "now.zip"))
        assert run(["evidence", "verify", str(tmp_path / "now.zip")]) == OK
    assert ask("run", flows[0]["id"], "--text", "again")["outputs"] == {"said": "again"}
    assert run(["audit", "verify"]) == OK


@pytest.mark.timeout(300)
class TestEarlierVersions:
    def test_signed_their_evidence_but_for_the_first(self, earlier: Path, tmp_path: Path) -> None:
        signed = (tmp_path / "evidence.zip").read_bytes().startswith(b"PK")
        assert signed == (schema_of(earlier) not in UNSIGNED)

    def test_are_upgraded_after_a_backup_that_can_be_restored(
        self, earlier: Path, ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        schema = schema_of(earlier)
        upgraded = ask("db", "upgrade")
        assert (upgraded["before"], upgraded["after"]) == (schema, HEAD)
        check(earlier, ask, tmp_path)
        backup = ask("backup", "verify", upgraded["backup"])
        assert (backup["schema"], backup["keys"]) == (schema, False)
        assert ask("db", "upgrade")["backup"] is None
        other = use(monkeypatch, tmp_path / "other")
        assert ask("restore", upgraded["backup"])["schema"] == HEAD
        for key in earlier.glob("*.key"):
            shutil.copy(key, other)
        check(other, ask, tmp_path)

    def test_are_upgraded_without_a_backup_when_asked(self, first: Path, ask: Ask) -> None:
        assert ask("db", "upgrade", "--no-backup") == {"before": "0001", "after": HEAD, "backup": None}
        assert not (first / "backups").exists()

    def test_stay_as_they_are_when_the_backup_fails(
        self, first: Path, ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "file").write_text("not a folder")
        monkeypatch.setenv("HEADGATE_BACKUP__FOLDER", str(tmp_path / "file"))
        assert run(["db", "upgrade"]) in {UNAVAILABLE, CONFLICT}
        assert schema_of(first) == "0001"

    def test_killed_in_the_middle_are_as_before_and_upgraded_by_the_next(
        self, first: Path, ask: Ask, tmp_path: Path
    ) -> None:
        shutil.copytree(first, tmp_path / "copy")
        words = ("db", "upgrade", "--no-backup")
        count = killed(tmp_path, *words, statements=True)
        assert count > 200
        for point in sorted(random.sample(range(1, count + 1), KILLS)):
            shutil.rmtree(first)
            shutil.copytree(tmp_path / "copy", first)
            killed(tmp_path, *words, at=point, statements=True)
            assert schema_of(first) in {"0001", HEAD}
        ask(*words)
        check(first, ask, tmp_path)

    def test_upgraded_by_several_at_once_are_upgraded_once(self, first: Path, ask: Ask, tmp_path: Path) -> None:
        environment = {"PATH": "/usr/bin:/bin", "HEADGATE_DATA_DIR": str(first)}
        environment["HEADGATE_DATABASE__BUSY_TIMEOUT_SECONDS"] = "60"
        processes = [fork("headgate", "db", "upgrade", "--json", environment=environment) for _ in range(3)]
        for process in processes:
            process.communicate()
        assert [process.returncode for process in processes] == [OK] * 3
        check(first, ask, tmp_path)


COMMANDS = (
    *(("flows", "list"), ("run", "Echo"), ("runs", "list"), ("variables", "list"), ("ask", "build an echo flow")),
    *(("db", "upgrade"), ("serve", "--port", "0"), ("mcp", "serve")),
)


class TestNewerVersion:
    @pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
    def test_is_refused_by_commands_and_the_server(
        self, words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        folder = use(monkeypatch, tmp_path / "data")
        store_secret(monkeypatch)
        with closing(sqlite3.connect(folder / "headgate.db")) as connection:
            connection.execute("UPDATE alembic_version SET version_num = '9999'")
            connection.commit()
        with (tmp_path / "errors").open("wb") as errors:
            environment = {"PATH": "/usr/bin:/bin", "HEADGATE_DATA_DIR": str(folder)}
            process = fork("headgate", *words, environment=environment, stderr=errors.fileno())
            process.communicate()
        assert process.returncode == UNAVAILABLE
        assert "newer version of Headgate (schema 9999" in (tmp_path / "errors").read_text()
        assert schema_of(folder) == "9999"

    @pytest.mark.postgres
    @pytest.mark.parametrize("words", [("worker",), ("beat",), ("db", "upgrade")], ids=" ".join)
    def test_is_refused_by_workers_and_the_scheduler(
        self,
        words: tuple[str, ...],
        new_database: NewDatabase,
        tmp_path: Path,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        url = new_database()
        monkeypatch.chdir(tmp_path)
        use(monkeypatch, tmp_path / "data")
        assert run(["db", "upgrade"]) == OK
        with psycopg.connect(url.replace("+psycopg", "")) as connection:
            connection.execute("UPDATE alembic_version SET version_num = '9999'")
        capsys.readouterr()
        assert run(list(words)) == UNAVAILABLE
        assert "newer version of Headgate (schema 9999" in capsys.readouterr().err
