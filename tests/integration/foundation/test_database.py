import asyncio
import os
import sqlite3
import stat
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import pytest
from sqlalchemy import String, Table, func, select, text
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Mapped, mapped_column

from headgate.features.access.principal import DEFAULT_TENANT_ID
from headgate.features.accounts.tables import Space, Tenant
from headgate.features.secrets.tables import Variable
from headgate.foundation.database import Database, Json, Row, Timestamp, now
from headgate.foundation.database.migrate import upgrade
from headgate.foundation.errors import Invalid, Unavailable
from headgate.foundation.ids import new_id
from headgate.foundation.settings import DatabaseSettings, Settings
from tests.support.patience import PATIENCE_SECONDS

pytestmark = pytest.mark.both_databases


def space(name: str, *, tenant_id: str = DEFAULT_TENANT_ID) -> Space:
    return Space(id=new_id(), tenant_id=tenant_id, name=name, owner_user_id=None, created_at=now())


async def names(database: Database) -> set[str]:
    async with database.reading() as session:
        return set((await session.execute(select(Space.name))).scalars()) - {"Personal"}


@asynccontextmanager
async def sqlite_file(folder: Path, settings: DatabaseSettings) -> AsyncIterator[Database]:
    database = Database(Settings(data_dir=folder, database=settings))
    await upgrade(database)
    yield database
    await database.close()


@pytest.fixture
async def sqlite(tmp_path: Path) -> AsyncIterator[Database]:
    """A migrated SQLite file that waits a tenth of a second for a lock."""
    async with sqlite_file(tmp_path, DatabaseSettings(busy_timeout_seconds=0.1)) as found:
        yield found


def mode(path: Path) -> int:
    """The permissions of a file or folder."""
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def open_umask() -> Iterator[None]:
    """New files are for everybody, unless who makes them says otherwise."""
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.mark.usefixtures("open_umask")
class TestModes:
    async def test_of_a_new_database_let_nobody_else_read(self, tmp_path: Path) -> None:
        folder = tmp_path / "data"
        async with sqlite_file(folder, DatabaseSettings()) as database, database.writing() as session:
            session.add(space("secret"))
            await session.flush()
            assert {path.name: mode(path) for path in folder.iterdir()} == {
                "headgate.db": 0o600,
                "headgate.db-wal": 0o600,
                "headgate.db-shm": 0o600,
            }
            assert mode(folder) == 0o700

    async def test_that_are_too_wide_are_tightened(self, tmp_path: Path) -> None:
        folder = tmp_path / "data"
        async with sqlite_file(folder, DatabaseSettings()):
            for path in (folder, *folder.iterdir()):
                path.chmod(0o777)
            async with sqlite_file(folder, DatabaseSettings()):
                assert {mode(path) for path in folder.iterdir()} == {0o600}
                assert mode(folder) == 0o700

    @pytest.mark.parametrize("bits", [0o777, 0o1777])
    async def test_of_a_folder_of_others_are_left(self, tmp_path: Path, bits: int) -> None:
        folder = tmp_path / "shared"
        folder.mkdir()
        if bits == 0o777:
            (folder / "theirs.txt").write_text("x")
        folder.chmod(bits)
        async with sqlite_file(folder, DatabaseSettings()):
            assert mode(folder) == bits
            assert mode(folder / "headgate.db") == 0o600


async def driver_threads_end() -> None:
    """Wait for the threads of connections that failed: the driver does not, and they would outlive the loop."""
    for thread in threading.enumerate():
        if "_connection_worker_thread" in thread.name:
            await asyncio.to_thread(thread.join, 5)
            assert not thread.is_alive()


class TestDatabase:
    async def test_commits_when_the_block_ends(self, database: Database) -> None:
        async with database.writing() as session:
            session.add(space("kept"))
        assert await names(database) == {"kept"}

    async def test_undoes_everything_on_an_error(self, database: Database) -> None:
        async def fail() -> None:
            async with database.writing() as session:
                session.add(space("lost"))
                await session.flush()
                raise RuntimeError

        with pytest.raises(RuntimeError):
            await fail()
        assert await names(database) == set()

    async def test_reads_beside_an_open_writer_what_was_committed(self, database: Database) -> None:
        async with database.writing() as session:
            session.add(space("not yet"))
            await session.flush()
            assert await asyncio.wait_for(names(database), 2) == set()

    async def test_writers_take_turns(self, database: Database) -> None:
        async def add(number: int) -> None:
            async with database.writing() as session:
                before = (await session.execute(select(func.count()).select_from(Space))).scalar_one()
                session.add(space(f"{number} after {before}"))

        await asyncio.gather(*(add(number) for number in range(8)))
        assert len(await names(database)) == 8

    async def test_answers_a_ping(self, database: Database) -> None:
        await database.ping()

    async def test_enforces_foreign_keys(self, database: Database) -> None:
        with pytest.raises(IntegrityError):
            async with database.writing() as session:
                session.add(space("nobody's", tenant_id=new_id()))

    async def test_removes_what_belonged_to_a_tenant_with_it(self, database: Database) -> None:
        tenant = Tenant(id=new_id(), name="Leaving", created_at=now())
        async with database.writing() as session:
            session.add(tenant)
            await session.flush()
            session.add(space("theirs", tenant_id=tenant.id))
        async with database.writing() as session:
            await session.delete(await session.get_one(Tenant, tenant.id))
        assert await names(database) == set()


class _Sample(Row):
    """A table of this module's own, gone with its connection."""

    __tablename__ = "samples_of_test_database"
    __table_args__ = ({"prefixes": ["TEMPORARY"]},)

    id: Mapped[str] = mapped_column(String(36), primary_key=True)
    value: Mapped[Any] = mapped_column(Json, nullable=True)
    at: Mapped[datetime | None] = mapped_column(Timestamp)


_SAMPLES = cast("Table", _Sample.__table__)
_Sample.metadata.remove(_SAMPLES)  # the schema checks of other tests must not see it


class TestColumns:
    @pytest.mark.parametrize(
        "value", [None, {}, [], "", "å\u2028\U0001f600", 0, -1, 2**53, 1.5, True, {"a": [None, {"b": "c"}]}]
    )
    async def test_give_back_json_and_moments_as_they_were(self, database: Database, value: object) -> None:
        at = datetime(2024, 2, 29, 12, 30, 59, 123456, tzinfo=UTC)
        async with database.writing() as session:
            connection = await session.connection()
            await connection.run_sync(_SAMPLES.create)
            session.add(_Sample(id="1", value=value, at=at))
            await session.flush()
            session.expire_all()
            found = await session.get_one(_Sample, "1")
            assert (found.value, found.at) == (value, at)
            is_null = await session.execute(text("SELECT value IS NULL FROM samples_of_test_database"))
            assert bool(is_null.scalar_one()) is (value is None)


class TestSqlite:
    async def test_sets_every_connection_up(self, sqlite: Database) -> None:
        async with sqlite.reading() as session:
            found = {
                pragma: (await session.execute(text(f"PRAGMA {pragma}"))).scalar_one()
                for pragma in ("foreign_keys", "journal_mode", "synchronous", "busy_timeout", "temp_store")
            }
        assert found == {
            "foreign_keys": 1,
            "journal_mode": "wal",
            "synchronous": 1,
            "busy_timeout": 100,
            "temp_store": 2,
        }

    async def test_can_be_set_to_survive_a_power_cut(self, tmp_path: Path) -> None:
        full = DatabaseSettings(synchronous="FULL")
        async with sqlite_file(tmp_path, full) as database, database.reading() as session:
            assert (await session.execute(text("PRAGMA synchronous"))).scalar_one() == 2

    async def test_says_that_another_process_holds_the_lock(self, sqlite: Database) -> None:
        with closing(sqlite3.connect(str(sqlite.url.database), isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            with pytest.raises(Unavailable, match="locked"):
                async with sqlite.writing() as session:
                    session.add(space("waiting"))
            assert await names(sqlite) == set()
            other.execute("ROLLBACK")
        async with sqlite.writing() as session:
            session.add(space("after all"))
        assert await names(sqlite) == {"after all"}

    async def test_says_that_the_disk_is_full_and_changes_nothing(self, sqlite: Database) -> None:
        async with sqlite.writing() as session:
            pages = (await session.execute(text("PRAGMA page_count"))).scalar_one()

        async def fill() -> None:
            async with sqlite.writing() as session:
                await session.execute(text(f"PRAGMA max_page_count={pages + 4}"))
                session.add(space("first"))
                await session.flush()
                session.add(
                    Variable(tenant_id=DEFAULT_TENANT_ID, name="BIG", token=b"hg1." + bytes(1_000_000), secret=False)
                )

        with pytest.raises(Unavailable, match="full"):
            await fill()
        assert await names(sqlite) == set()

    async def test_says_that_the_file_is_read_only(self, sqlite: Database) -> None:
        async def write() -> None:
            async with sqlite.writing() as session:
                await session.execute(text("PRAGMA query_only=ON"))
                session.add(space("never"))

        with pytest.raises(Unavailable, match="read-only"):
            await write()

    async def test_says_that_the_file_cannot_be_opened(self, tmp_path: Path) -> None:
        (tmp_path / "headgate.db").mkdir()
        database = Database(Settings(data_dir=tmp_path))
        with pytest.raises(Unavailable, match="cannot be opened"):
            await database.ping()
        await database.close()
        await driver_threads_end()

    async def test_says_that_the_file_is_no_database(self, tmp_path: Path) -> None:
        (tmp_path / "headgate.db").write_bytes(b"not a database, but long enough to be read as one " * 100)
        database = Database(Settings(data_dir=tmp_path))
        with pytest.raises(Unavailable, match="not a database"):
            await database.ping()
        await database.close()
        await driver_threads_end()


class TestUrls:
    async def test_says_that_a_server_cannot_be_reached(self, tmp_path: Path) -> None:
        url = "postgresql+psycopg://anna:hunter22@127.0.0.1:1/headgate?connect_timeout=2"
        database = Database(Settings(data_dir=tmp_path, database=DatabaseSettings(url=url)))
        with pytest.raises(Unavailable, match="cannot be reached") as caught:
            await database.ping()
        assert "hunter22" not in str(caught.value)
        await database.close()

    @pytest.mark.parametrize("url", ["mysql://anna:hunter22@h/d", "postgresql://anna:hunter22@h/d", "hunter22 ://"])
    def test_refuses_other_databases_without_showing_the_password(self, tmp_path: Path, url: str) -> None:
        with pytest.raises(Invalid) as caught:
            Database(Settings(data_dir=tmp_path, database=DatabaseSettings(url=url)))
        assert "hunter22" not in str(caught.value)


class TestConnections:
    @pytest.fixture
    async def small(self, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Database]:
        """A database with two connections, for which nobody waits long."""
        one = settings.database.model_copy(update={"pool_size": 1})
        found = Database(settings.model_copy(update={"database": one}))
        monkeypatch.setattr(found.engine.pool, "_timeout", 0.2)
        yield found
        await found.close()

    async def test_say_how_long_somebody_waits_and_that_they_are_in_use(self, small: Database) -> None:
        async with small.reading() as one, small.reading() as other:
            for session in (one, other):
                await session.execute(text("SELECT 1"))
            assert small.wait_seconds == 0
            waiting = asyncio.create_task(small.ping())
            async with asyncio.timeout(PATIENCE_SECONDS):
                while not small.wait_seconds:  # noqa: ASYNC110 - the pool announces nothing
                    await asyncio.sleep(0.01)
            with pytest.raises(Unavailable, match="All database connections are in use"):
                await waiting
        assert small.wait_seconds == 0
        await small.ping()
