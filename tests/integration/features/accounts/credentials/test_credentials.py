"""Looking keys and sessions up while the database is locked, started anew, or gone."""

import asyncio
import sqlite3
from pathlib import Path

import pytest

from headgate.features.accounts.credentials.credential import Kind
from headgate.features.accounts.credentials.opening import credentials_of
from headgate.features.accounts.keys.secret import hash_of
from headgate.foundation.database import Database
from headgate.foundation.errors import Unavailable
from headgate.foundation.settings import DatabaseSettings, Settings
from tests.support.databases import Postgres, SqliteFiles, make_settings
from tests.support.patience import PATIENCE_SECONDS
from tests.support.people import add_key, add_session, add_user


class TestCredentials:
    async def test_find_each_kind_by_its_own_hash(self, database: Database) -> None:
        person = await add_user(database, "ana@example.org")
        key, token = await add_key(database, person), await add_session(database, person)
        credentials = credentials_of(database)
        try:
            for kind, secret, other in ((Kind.KEY, key, Kind.SESSION), (Kind.SESSION, token, Kind.KEY)):
                found = await credentials.find(kind, hash_of(secret))
                assert found is not None
                assert (found.kind, found.user_id, found.person) == (kind, person.id, person.email)
                assert await credentials.find(other, hash_of(secret)) is None
        finally:
            await credentials.close()

    async def test_are_asked_by_many_at_once(self, database: Database) -> None:
        key = hash_of(await add_key(database, await add_user(database, "ana@example.org")))
        credentials = credentials_of(database)
        try:
            found = await asyncio.gather(*(credentials.find(Kind.KEY, key) for _ in range(100)))
            assert len({one.id for one in found if one is not None}) == 1
            assert None not in found
        finally:
            await credentials.close()

    async def test_that_cannot_be_reached_say_so(
        self, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("headgate.features.accounts.credentials.postgres._WAIT_SECONDS", 1.0)
        nowhere = settings.database_url.replace("headgate.db", "nowhere/headgate.db")
        if nowhere.startswith("postgresql"):
            nowhere = "postgresql+psycopg://nobody@127.0.0.1:1/nothing?connect_timeout=1"
        database = Database(make_settings(tmp_path, nowhere))
        credentials = credentials_of(database)
        try:
            with pytest.raises(Unavailable):
                await credentials.find(Kind.KEY, hash_of("x"))
        finally:
            await credentials.close()
            await database.close()


class TestSqlite:
    @pytest.fixture
    def path(self, sqlite_files: SqliteFiles, tmp_path: Path) -> Path:
        return sqlite_files.fresh(tmp_path)

    async def test_waits_beside_the_loop_for_one_who_has_the_whole_file(self, path: Path) -> None:
        database = Database(make_settings(path.parent))
        key = hash_of(await add_key(database, await add_user(database, "ana@example.org")))
        await database.close()
        credentials = credentials_of(database)
        with sqlite3.connect(path, isolation_level=None) as greedy:
            greedy.execute("PRAGMA locking_mode=EXCLUSIVE")
            greedy.execute("BEGIN IMMEDIATE")
            greedy.execute("UPDATE users SET name = name")
            greedy.execute("COMMIT")
            asked = asyncio.create_task(credentials.find(Kind.KEY, key))
            for _ in range(10):
                await asyncio.sleep(0.01)
            assert not asked.done(), "it waits, and the loop goes on"
        greedy.close()
        found = await asyncio.wait_for(asked, PATIENCE_SECONDS)
        assert found is not None
        await credentials.close()

    async def test_says_when_the_wait_is_over(self, path: Path) -> None:
        short = DatabaseSettings(busy_timeout_seconds=0.05)
        database = Database(make_settings(path.parent, database=short))
        credentials = credentials_of(database)
        with sqlite3.connect(path, isolation_level=None) as greedy:
            greedy.execute("PRAGMA locking_mode=EXCLUSIVE")
            greedy.execute("BEGIN IMMEDIATE")
            greedy.execute("UPDATE users SET name = name")
            greedy.execute("COMMIT")
            with pytest.raises(Unavailable, match="locked"):
                await credentials.find(Kind.KEY, hash_of("x"))
        greedy.close()
        assert await credentials.find(Kind.KEY, hash_of("x")) is None
        await credentials.close()
        await database.close()


@pytest.mark.postgres
class TestPostgres:
    async def test_outlives_a_server_that_drops_its_connections(self, postgres: Postgres, tmp_path: Path) -> None:
        with postgres.fresh() as url:
            database = Database(make_settings(tmp_path, url))
            key = hash_of(await add_key(database, await add_user(database, "ana@example.org")))
            credentials = credentials_of(database)
            try:
                assert await credentials.find(Kind.KEY, key) is not None
                postgres.sql(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    f" WHERE datname = '{database.url.database}' AND pid <> pg_backend_pid()"
                )
                assert await credentials.find(Kind.KEY, key) is not None
            finally:
                await credentials.close()
                await database.close()
