"""Backup and restore of an installation whose database is PostgreSQL."""

import os
import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from headgate.entrypoints.backups.places import STAGING
from headgate.entrypoints.cli.app import run
from headgate.entrypoints.cli.exit_codes import CONFLICT
from headgate.foundation.pending_restore import JOURNAL
from tests.integration.backups.conftest import FLOW, Ask, store_secret, use
from tests.integration.backups.test_commands import contents
from tests.integration.backups.test_kills import killed
from tests.support.databases import Postgres

pytestmark = [pytest.mark.postgres, pytest.mark.timeout(400)]
NewDatabase = Callable[[], str]
END = 110
"""Changes at the end of a restore, among them the moves, and the removal of the unpacked rows."""
GUARDED = "UPDATE audit_events SET payload = ''"


@pytest.fixture
def new_database(postgres: Postgres, monkeypatch: pytest.MonkeyPatch) -> Iterator[NewDatabase]:
    """Has commands use a new, empty database; returns its URL."""
    made: list[str] = []

    def create() -> str:
        name = f"backups_{os.getpid()}_{random.randrange(10**9)}"
        postgres.sql(f"CREATE DATABASE {name}")
        made.append(name)
        monkeypatch.setenv("HEADGATE_DATABASE__URL", postgres.url(name))
        return postgres.url(name)

    yield create
    for name in made:
        postgres.sql(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture
def cluster(new_database: NewDatabase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ask: Ask) -> str:
    """An installation on PostgreSQL; the URL of its database."""
    url = new_database()
    monkeypatch.chdir(tmp_path)
    use(monkeypatch, tmp_path / "data")
    store_secret(monkeypatch)
    (tmp_path / "echo.flow").write_text(FLOW)
    made = ask("run", "echo.flow", "--text", "hello \\ \t\n räksmörgås \u0001 NULL \\N")
    ask("runs", "evidence", made["run_id"], "--output", str(tmp_path / "before.zip"))
    (tmp_path / "note.md").write_text("# A note\n")
    ask("workspace", "write", "notes/one.md", str(tmp_path / "note.md"))
    assert ask("run", "echo.flow", "--text", "y" * 2_000_000)["status"] == "completed"
    return url


def rows(url: str, *omitted: str) -> dict[str, list[Any]]:
    """Every row of every table of an installation."""
    with psycopg.connect(url.replace("+psycopg", "")) as connection:
        found = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall()
        names = sorted({name for (name,) in found} - set(omitted))
        return {name: sorted(map(repr, connection.execute(f'SELECT * FROM "{name}"').fetchall())) for name in names}


CHANGED = (
    "audit_events",
    "audit_heads",
    "scheduled_jobs",
    "user_sessions",
    "one_time_links",
    "key_readers",
    "processes",
)
"""Tables that a restore, or a command after it, writes to."""


class TestPostgres:
    def test_is_restored_with_everything_into_an_empty_database(
        self, cluster: str, new_database: NewDatabase, ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        before, files = rows(cluster), contents(tmp_path / "data")
        runs = ask("runs", "list")
        backup = ask("backup", "create", "--with-keys")
        assert (backup["database"], backup["lost_contents"]) == ("postgresql", 0)
        url = new_database()
        other = use(monkeypatch, tmp_path / "other")
        assert ask("restore", backup["path"])["missing_keys"] == {}
        after = rows(url)
        assert {name: after[name] for name in after if name not in CHANGED} == {
            name: before[name] for name in before if name not in CHANGED
        }
        assert len(after["audit_events"]) > len(before["audit_events"])
        assert contents(other) == files
        assert ask("runs", "list") == runs
        ask("runs", "evidence", runs[-1]["id"], "--output", str(tmp_path / "after.zip"))
        for archive in ("before.zip", "after.zip"):
            assert run(["evidence", "verify", str(tmp_path / archive)]) == 0
        assert run(["audit", "verify"]) == 0
        with psycopg.connect(url.replace("+psycopg", "")) as connection:
            with pytest.raises(psycopg.Error):
                connection.execute(GUARDED)
            connection.rollback()
            with pytest.raises(psycopg.errors.ForeignKeyViolation):
                connection.execute("UPDATE spaces SET tenant_id = 'none'")

    def test_refuses_an_installation_unless_it_is_replaced_and_kept(
        self, cluster: str, ask: Ask, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        backup = ask("backup", "create", "--with-keys")
        store_secret(monkeypatch, "changed later")
        later = rows(cluster)
        assert "already" in ask("restore", backup["path"], code=CONFLICT)["detail"]
        assert rows(cluster) == later
        restored = ask("restore", backup["path"], "--replace")
        assert rows(cluster)["variables"] != later["variables"]
        schema = next(name for name in restored["aside"] if name.startswith("schema ")).removeprefix("schema ")
        with psycopg.connect(cluster.replace("+psycopg", "")) as connection:
            kept = connection.execute(f'SELECT * FROM "{schema}".variables').fetchall()
        assert sorted(map(repr, kept)) == later["variables"]
        ask("restore", backup["path"], "--replace")

    def test_refuses_a_database_in_use_and_one_of_another_kind(
        self, cluster: str, ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        backup = ask("backup", "create")
        with psycopg.connect(cluster.replace("+psycopg", "")):
            assert "in use" in ask("restore", backup["path"], "--replace", code=CONFLICT)["detail"]
        monkeypatch.delenv("HEADGATE_DATABASE__URL")
        use(monkeypatch, tmp_path / "other")
        assert "postgresql" in ask("restore", backup["path"], code=CONFLICT)["detail"]

    def test_killed_leaves_the_old_installation_or_the_new_one(
        self, cluster: str, ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        data = tmp_path / "data"
        backup = ask("backup", "create", "--with-keys", "--output", str(tmp_path / "b"))
        new = contents(data), rows(cluster, *CHANGED)
        words = ("restore", backup["path"], "--replace")
        count = killed(tmp_path, *words)
        seen = set()
        assert count > END
        for point in sorted({*random.sample(range(1, count - END), 4), *range(count - END, count + 1, 12)}):
            store_secret(monkeypatch, f"changed before {point}")
            (tmp_path / "note.md").write_text(str(point))
            ask("workspace", "write", "notes/later.md", str(tmp_path / "note.md"))
            old = contents(data), rows(cluster, *CHANGED)
            for left in data.glob(f"{STAGING}*"):  # removing it would be changes, too
                shutil.rmtree(left)
            killed(tmp_path, *words, at=point)
            interrupted = (data / JOURNAL).exists()
            ask("variables", "list")
            after = contents(data), rows(cluster, *CHANGED)
            assert after in (old, new), f"killed before change {point} of {count}"
            assert not (data / JOURNAL).exists()
            seen.add((after == new, interrupted))
        assert {True, False} <= {is_new for is_new, _ in seen}
        assert (True, True) in seen, "never killed between commit and moves"
