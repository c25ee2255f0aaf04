import asyncio
import importlib
import pkgutil
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Connection, Engine, create_engine, inspect, select, text
from sqlalchemy.exc import IntegrityError

import headgate
from headgate.features.access.principal import DEFAULT_SPACE_ID, DEFAULT_TENANT_ID, DEFAULT_USER_ID
from headgate.features.accounts.tables import Space, Tenant, User
from headgate.foundation.database import Database, metadata
from headgate.foundation.database.migrate import HEAD, config, current, known_revisions, migrate, upgrade
from headgate.foundation.database.snapshot import SNAPSHOT, create, written
from headgate.foundation.errors import Unavailable
from headgate.foundation.settings import Settings

pytestmark = pytest.mark.both_databases

for module in pkgutil.walk_packages(headgate.__path__, "headgate."):
    if module.name.rpartition(".")[2] == "tables":  # the metadata holds what was imported
        importlib.import_module(module.name)


@pytest.fixture
async def empty(settings: Settings) -> AsyncIterator[Database]:
    """A database without a single table. PostgreSQL's is used again by other tests, so it is made whole afterwards."""
    database = Database(settings)
    await clear(database)
    yield database
    await clear(database)
    await upgrade(database)
    await database.close()


async def clear(database: Database) -> None:
    if database.dialect == "postgresql":
        async with database.engine.begin() as connection:
            await connection.execute(text("DROP SCHEMA public CASCADE"))
            await connection.execute(text("CREATE SCHEMA public"))
    else:
        await database.close()
        file = Path(str(database.url.database))
        for path in file.parent.glob(f"{file.name}*"):
            path.unlink()


def downgrade(connection: Connection) -> None:
    command.downgrade(config(connection), "base")


def is_mapped(name: str | None) -> bool:
    """Full-text indexes of one database each: the code that maps rows knows nothing of them."""
    return not (name or "").startswith(("knowledge_index", "ix_knowledge_passages_terms"))


def differences(connection: Connection) -> list[object]:
    opts = {
        "compare_type": True,
        "compare_server_default": True,
        "include_object": lambda _thing, name, *_: is_mapped(name),
    }
    context = MigrationContext.configure(connection, opts=opts)
    return list(compare_metadata(context, metadata))


async def tables(database: Database) -> set[str]:
    async with database.engine.connect() as connection:
        names = await connection.run_sync(lambda sync: inspect(sync).get_table_names())
    return {name for name in names if is_mapped(name)}


class TestUpgrade:
    async def test_makes_every_table_once(self, empty: Database) -> None:
        assert await current(empty) is None
        assert await upgrade(empty) == (None, HEAD)
        assert await upgrade(empty) == (HEAD, HEAD)
        assert await current(empty) == HEAD
        assert await tables(empty) == {*metadata.tables, "alembic_version"}

    async def test_makes_the_schema_that_the_code_maps(self, empty: Database) -> None:
        await upgrade(empty)
        async with empty.engine.connect() as connection:
            assert await connection.run_sync(differences) == []

    async def test_makes_the_first_tenant_user_and_space(self, empty: Database) -> None:
        await upgrade(empty)
        async with empty.reading() as session:
            assert (await session.get_one(Tenant, DEFAULT_TENANT_ID)).name == "Default"
            assert (await session.get_one(User, DEFAULT_USER_ID)).tenant_id == DEFAULT_TENANT_ID
            found = (await session.execute(select(Space))).scalars().one()
        assert (found.id, found.owner_user_id) == (DEFAULT_SPACE_ID, DEFAULT_USER_ID)

    @pytest.mark.usefixtures("empty")
    async def test_lets_processes_that_start_at_once_take_turns(self, settings: Settings) -> None:
        starting = [Database(settings) for _ in range(4)]
        found = await asyncio.gather(*(upgrade(database) for database in starting))
        assert {after for _, after in found} == {HEAD}
        assert len(await tables(starting[0])) == len(metadata.tables) + 1
        for database in starting:
            await database.close()

    async def test_goes_back_to_nothing_and_up_again(self, empty: Database) -> None:
        await upgrade(empty)
        writer = empty.engine.execution_options(headgate_writes=True)
        async with writer.begin() as connection:
            await connection.run_sync(downgrade)
        assert await tables(empty) == {"alembic_version"}
        assert await upgrade(empty) == (None, HEAD)

    async def test_refuses_the_database_of_a_newer_headgate(self, empty: Database) -> None:
        await upgrade(empty)
        async with empty.writing() as session:
            await session.execute(text("UPDATE alembic_version SET version_num = '9999'"))
        with pytest.raises(Unavailable, match="The database was created by a newer version of Headgate ") as caught:
            await upgrade(empty)
        assert "9999" in caught.value.detail
        assert await current(empty) == "9999"

    async def test_leaves_nothing_behind_when_it_fails(self, empty: Database, monkeypatch: pytest.MonkeyPatch) -> None:
        def fail(connection: Connection) -> None:
            command.upgrade(config(connection), HEAD)
            raise RuntimeError("the power went out")

        monkeypatch.setattr("headgate.foundation.database.migrate.migrate", fail)
        with pytest.raises(RuntimeError):
            await upgrade(empty)
        monkeypatch.undo()
        assert await tables(empty) == set()


def comparable(schema: str) -> list[str]:
    """The lines of a schema. Constraints of a table that a migration copied are in any order: they come last."""
    lines = [line.strip("\t ,") for line in schema.splitlines()]
    constraints = [line for line in lines if line.startswith("CONSTRAINT")]
    return [line for line in lines if line not in constraints] + sorted(constraints)


class TestSnapshot:
    """What a new SQLite database begins with. `make schema` writes it again."""

    REVISION = text("SELECT version_num FROM alembic_version")

    @pytest.fixture
    def begun(self) -> Iterator[Engine]:
        """A database of the snapshot, before any newer migration."""
        engine = create_engine("sqlite://")
        with engine.begin() as connection:
            create(connection)
        yield engine
        engine.dispose()

    def test_is_what_its_migrations_create(self, begun: Engine) -> None:
        with begun.connect() as connection:
            revision = connection.execute(self.REVISION).scalar_one()
            again = written(connection)
        migrated = create_engine("sqlite://")
        with migrated.begin() as connection:
            command.upgrade(config(connection), revision)
            expected = written(connection)
        migrated.dispose()
        assert comparable(SNAPSHOT.read_text()) == comparable(expected)
        assert comparable(again) == comparable(expected)

    def test_is_recent(self, begun: Engine) -> None:
        with begun.connect() as connection:
            revision = connection.execute(self.REVISION).scalar_one()
        newer = {one for one in known_revisions() if one > revision}
        assert len(newer) <= 20, "new databases run many migrations: run `make schema`"

    def test_newer_migrations_run_after_it(
        self, begun: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with begun.begin() as connection:
            command.downgrade(config(connection), "-2")
            (tmp_path / "older.sql").write_text(written(connection))
        monkeypatch.setattr("headgate.foundation.database.snapshot.SNAPSHOT", tmp_path / "older.sql")
        engine = create_engine("sqlite://")
        with engine.begin() as connection:
            migrate(connection)
            assert connection.execute(self.REVISION).scalar_one() == HEAD
            assert differences(connection) == []
        engine.dispose()

    def test_dates_the_first_rows_now(self, begun: Engine) -> None:
        with begun.connect() as connection:
            created_at = connection.execute(text("SELECT created_at FROM tenants")).scalar_one()
        assert abs(created_at / 1_000_000 - time.time()) < 600


class TestAccounts:
    """Schema 0003 on a database that is in use."""

    async def test_lets_two_spaces_use_a_name_and_keeps_what_is_there(self, empty: Database) -> None:
        writer = empty.engine.execution_options(headgate_writes=True)
        async with writer.begin() as connection:
            await connection.run_sync(lambda sync: command.upgrade(config(sync), "0002"))
        other = DEFAULT_SPACE_ID[:-1] + "9"
        row = "INSERT INTO assistants VALUES (:id, :tenant, :space, 'Lena', '', '', '', NULL, 1, 1)"
        here = {"id": "a", "tenant": DEFAULT_TENANT_ID, "space": DEFAULT_SPACE_ID}
        async with writer.begin() as connection:
            await connection.execute(
                text("INSERT INTO spaces (id, tenant_id, name, created_at) VALUES (:id, :tenant, 'Other', 1)"),
                {"id": other, "tenant": DEFAULT_TENANT_ID},
            )
            await connection.execute(text(row), here)
        await upgrade(empty)
        async with writer.begin() as connection:
            await connection.execute(text(row), here | {"id": "b", "space": other})
        async with empty.engine.connect() as connection:
            found = await connection.execute(text("SELECT id, space_id FROM assistants ORDER BY id"))
            assert [tuple(one) for one in found] == [("a", DEFAULT_SPACE_ID), ("b", other)]
            members = await connection.execute(text("SELECT space_id, user_id, role FROM space_members"))
            assert [tuple(one) for one in members] == [(DEFAULT_SPACE_ID, DEFAULT_USER_ID, "owner")]
        with pytest.raises(IntegrityError):
            async with writer.begin() as connection:
                await connection.execute(text(row), here | {"id": "c"})
