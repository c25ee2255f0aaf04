"""Backups of PostgreSQL: every table with COPY, in one snapshot; restored in one transaction.

Not `pg_dump`: it is often not installed next to Headgate or older than the server, its archive cannot be checked
without a server, and a restore of it is not one transaction with the upgrade. COPY in text format is read by every
version. The tables themselves are made by the migrations, so the archive holds rows only.
"""

import json
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from sqlalchemy import Connection, inspect, text
from sqlalchemy.ext.asyncio import AsyncConnection

from headgate.agents.codev.sessions.checkpoints import SCHEMA as SESSIONS
from headgate.entrypoints.backups.archive import PIECE_BYTES, ArchiveWriter, Header
from headgate.entrypoints.backups.errors import BackupFailed, BackupInvalid
from headgate.foundation.database import Database, database_errors, explain
from headgate.foundation.database.migrate import HEAD, migrate
from headgate.foundation.errors import NotFound
from headgate.foundation.lazy import lazy_module
from headgate.foundation.settings import Settings

if TYPE_CHECKING:
    import psycopg
else:
    psycopg = lazy_module("psycopg")

FOLDER = "postgresql"
PUBLIC = "public"
_VERSIONS = "alembic_version"
_TABLES = (
    "SELECT n.nspname, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
    " WHERE c.relkind = 'r' AND n.nspname = ANY(%s) ORDER BY 1, 2"
)
_COLUMNS = (
    "SELECT attname FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped"
    " AND attgenerated = '' ORDER BY attnum"
)
_OTHERS = text(
    "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    " AND backend_type = 'client backend'"
)
_FUNCTIONS = text(
    "SELECT DISTINCT t.tgfoid::regprocedure::text FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid"
    " JOIN pg_namespace n ON n.oid = c.relnamespace JOIN pg_proc p ON p.oid = t.tgfoid"
    " WHERE NOT t.tgisinternal AND n.nspname = 'public' AND c.relname = ANY(:names)"
    " AND p.pronamespace = n.oid"
)
_FOREIGN_KEYS = text(
    "SELECT c.relname, k.conname FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid"
    " JOIN pg_namespace n ON n.oid = c.relnamespace"
    " WHERE k.contype = 'f' AND NOT k.condeferrable AND n.nspname = 'public'"
)


@dataclass(frozen=True, slots=True)
class PostgresSnapshot:
    """A transaction that sees the database at one moment."""

    connection: Any
    bench: Path

    def stored_files(self) -> Iterable[tuple[str, str]]:
        """File id and tenant id of every stored file."""
        with self.connection.cursor("stored_files") as cursor:
            cursor.execute("SELECT id, tenant_id FROM files ORDER BY id")
            yield from cursor

    def write(self, archive: ArchiveWriter) -> None:
        """Put every table into an archive: a line with its columns, then its rows as COPY writes them."""
        tables = self.connection.execute(_TABLES, ([PUBLIC, SESSIONS],)).fetchall()
        for schema, table in tables:
            if table == _VERSIONS:
                continue
            rows = self.bench / "rows"
            with rows.open("w+b") as file:
                self._copy(f'"{schema}"."{table}"', file)
                size = file.tell()
                file.seek(0)
                archive.add(f"{FOLDER}/{schema}/{table}", file, size)
            rows.unlink()

    def _copy(self, table: str, file: IO[bytes]) -> None:
        names = [name for (name,) in self.connection.execute(_COLUMNS, (table,)).fetchall()]
        file.write(json.dumps(names).encode() + b"\n")
        with self.connection.cursor() as cursor, cursor.copy(f"COPY {table} ({_listed(names)}) TO STDOUT") as rows:
            for piece in rows:
                file.write(piece)


@dataclass(frozen=True, slots=True)
class PostgresSource:
    """A PostgreSQL database in use."""

    address: str
    schema: str
    size: int

    @contextmanager
    def snapshot(self, bench: Path) -> Iterator[PostgresSnapshot]:
        """Begin a transaction that sees one moment. Writers are not blocked."""
        with postgres_errors(), psycopg.connect(self.address) as connection:
            connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
            connection.read_only = True
            yield PostgresSnapshot(connection, bench)


def postgres_source(settings: Settings) -> PostgresSource:
    """The database of the settings. Raises `NotFound` when it is empty."""
    url = Database(settings).url.set(drivername="postgresql")
    address = url.render_as_string(hide_password=False)
    with postgres_errors(), psycopg.connect(address) as connection:
        table = connection.execute("SELECT to_regclass('public.alembic_version')").fetchone()
        row = None
        if table is not None and table[0] is not None:
            row = connection.execute("SELECT version_num FROM alembic_version").fetchone()
        if row is None:
            raise NotFound("The database is empty.", remedy="Check HEADGATE_DATABASE__URL.")
        size = connection.execute("SELECT pg_database_size(current_database())").fetchone()
    return PostgresSource(address, str(row[0]), 0 if size is None else int(size[0]))


@contextmanager
def postgres_errors() -> Iterator[None]:
    """Turn what the driver raises into `Unavailable`."""
    try:
        yield
    except psycopg.Error as error:
        raise explain(error) or BackupFailed(f"The database cannot be read: {error}.") from error


async def count_others(connection: AsyncConnection) -> int:
    """How many others are connected to the database."""
    return int((await connection.execute(_OTHERS)).scalar_one())


async def is_used(connection: AsyncConnection) -> bool:
    """Whether there is an installation in the database."""
    result = await connection.execute(text("SELECT to_regclass('public.alembic_version')"))
    return result.scalar_one() is not None


async def load(connection: AsyncConnection, folder: Path, header: Header, aside: str) -> None:
    """Replace the content of a database, in the transaction of the connection.

    What is there is moved into the schema `aside`, which exists afterwards in any case. The tables are made as the
    backup's version had them, filled, and migrated to this version.

    Args:
        connection: A connection that nobody else uses.
        folder: The unpacked rows: `SCHEMA/TABLE`.
        header: What the backup says of itself.
        aside: The name of a schema that does not exist.
    """
    with database_errors():
        await connection.execute(text(f'CREATE SCHEMA "{aside}"'))
        await _move_aside(connection, aside)
        await connection.run_sync(migrate, header.schema)
        tables = await connection.run_sync(_tables)
        names = _names(folder / PUBLIC)
        if set(names) != tables - {_VERSIONS}:
            raise BackupInvalid("The backup is damaged: its tables are not those of its schema.")
        await _fill(connection, folder / PUBLIC, names)
        if (folder / SESSIONS).is_dir():
            await _fill_sessions(connection, folder / SESSIONS, aside)
        if header.schema != HEAD:
            await connection.run_sync(migrate)


async def _move_aside(connection: AsyncConnection, aside: str) -> None:
    names = sorted(await connection.run_sync(_tables)) if await is_used(connection) else []
    functions = (await connection.execute(_FUNCTIONS, {"names": names})).scalars().all()
    for name in names:
        await connection.execute(text(f'ALTER TABLE public."{name}" SET SCHEMA "{aside}"'))
    for function in functions:
        await connection.execute(text(f'ALTER FUNCTION {function} SET SCHEMA "{aside}"'))


def _tables(connection: Connection) -> set[str]:
    return set(inspect(connection).get_table_names(schema=PUBLIC))


async def _fill(connection: AsyncConnection, folder: Path, names: Sequence[str]) -> None:
    """Rows come in any order: foreign keys are checked at the end, and triggers that refuse changes are off."""
    keys = [(table, key) for table, key in await connection.execute(_FOREIGN_KEYS)]
    for table, key in keys:
        await connection.execute(
            text(f'ALTER TABLE public."{table}" ALTER CONSTRAINT "{key}" DEFERRABLE INITIALLY DEFERRED')
        )
    for name in names:
        await connection.execute(text(f'ALTER TABLE public."{name}" DISABLE TRIGGER USER'))
    listed = ", ".join(f'public."{name}"' for name in names)
    await connection.execute(text(f"TRUNCATE {listed}"))
    for name in names:
        await _copy_in(connection, f'public."{name}"', folder / name)
    await connection.execute(text("SET CONSTRAINTS ALL IMMEDIATE"))
    for name in names:
        await connection.execute(text(f'ALTER TABLE public."{name}" ENABLE TRIGGER USER'))
    for table, key in keys:
        await connection.execute(text(f'ALTER TABLE public."{table}" ALTER CONSTRAINT "{key}" NOT DEFERRABLE'))


async def _fill_sessions(connection: AsyncConnection, folder: Path, aside: str) -> None:
    """Checkpoints of development sessions. Their tables are made by their own library, before the transaction."""
    for name in _names(folder):
        table = f'{SESSIONS}."{name}"'
        await connection.execute(text(f'CREATE TABLE "{aside}"."{SESSIONS}_{name}" AS TABLE {table}'))
        await connection.execute(text(f"DELETE FROM {table}"))  # noqa: S608 - a table that is there
        await _copy_in(connection, table, folder / name)


async def _copy_in(connection: AsyncConnection, table: str, path: Path) -> None:
    raw = await connection.get_raw_connection()
    driver: Any = raw.driver_connection
    with path.open("rb") as file:
        names = json.loads(file.readline())
        async with driver.cursor() as cursor:
            known = [name for (name,) in await (await cursor.execute(_COLUMNS, (table,))).fetchall()]
            if sorted(names) != sorted(known):
                raise BackupInvalid(f"The backup is damaged: {table} has other columns than its schema.")
            async with cursor.copy(f"COPY {table} ({_listed(names)}) FROM STDIN") as rows:
                async for piece in _pieces(file):
                    await rows.write(piece)


async def _pieces(file: IO[bytes]) -> AsyncIterator[bytes]:
    while piece := file.read(PIECE_BYTES):
        yield piece


def _names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)
