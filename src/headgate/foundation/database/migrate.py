"""Upgrades the database to the newest schema. Concurrent processes wait for each other."""

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection, inspect, text

from headgate.foundation.database import snapshot
from headgate.foundation.database.connect import Database, database_errors
from headgate.foundation.errors import Unavailable
from headgate.foundation.pending_restore import settling

if TYPE_CHECKING:  # imported when there is something to migrate
    from alembic.config import Config

HEAD = "0092"
"""The newest revision; a test compares it with the newest file in `migrations/versions`."""
_SCHEMA_EXISTS = text("SELECT EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = :name)")
_LOCK = 7_411_001
_FOLDER = Path(__file__).parents[1] / "migrations"


async def upgrade(database: Database) -> tuple[str | None, str]:
    """Migrate to `HEAD` in one transaction. Returns the revision before and after."""
    if database.dialect == "postgresql":
        await settle(database)
    with database_errors():
        async with database.engine.connect() as reader:
            old_revision = await reader.run_sync(_current)
        if old_revision == HEAD:
            return old_revision, HEAD
        writer = database.engine.execution_options(headgate_writes=True)
        async with writer.begin() as connection:
            if database.dialect == "postgresql":
                await connection.execute(text(f"SELECT pg_advisory_xact_lock({_LOCK})"))
            await connection.run_sync(migrate)
    return old_revision, HEAD


async def settle(database: Database) -> None:
    """Complete or discard the files of an interrupted restore, depending on whether the database was restored."""
    with settling(database.data_dir) as pending:
        if pending is None:
            return
        with database_errors():
            async with database.engine.connect() as connection:
                result = await connection.execute(_SCHEMA_EXISTS, {"name": pending.marker})
        if result.scalar_one():
            pending.complete()
        else:
            pending.discard()


async def current(database: Database) -> str | None:
    """Return the current revision of the database; None when it is empty."""
    with database_errors():
        async with database.engine.connect() as connection:
            return await connection.run_sync(_current)


def known_revisions() -> frozenset[str]:
    """Every revision that this version can migrate from, and its own."""
    return frozenset(path.name[:4] for path in (_FOLDER / "versions").glob("[0-9]*.py"))


def config(connection: Connection | None = None) -> "Config":
    """Return Alembic's configuration. Alembic is imported only here: most starts have nothing to migrate."""
    from alembic.config import Config  # noqa: PLC0415 - a tenth of the start-up time

    alembic_config = Config()
    alembic_config.set_main_option("script_location", str(_FOLDER))
    alembic_config.attributes["connection"] = connection
    return alembic_config


def _current(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    revision: str | None = connection.execute(text("SELECT version_num FROM alembic_version")).scalar_one_or_none()
    return revision


def migrate(connection: Connection, revision: str = HEAD) -> None:
    """Migrate in the transaction of a connection. Raises `Unavailable` for the database of a newer version.

    A new SQLite database begins with the schema of the snapshot, and needs only newer migrations.
    """
    require_known(_current(connection))
    if revision == HEAD and connection.dialect.name == "sqlite" and not inspect(connection).get_table_names():
        snapshot.create(connection)
        if _current(connection) == HEAD:
            return
    import_module("alembic.command").upgrade(config(connection), revision)


def require_known(revision: str | None) -> None:
    """Raise `Unavailable` for a revision of a newer version."""
    if revision is not None and revision not in known_revisions():
        raise Unavailable(
            f"The database was created by a newer version of Headgate (schema {revision}, this version "
            f"supports {HEAD}).",
            remedy="Start the newer version, or restore the backup made before the upgrade.",
        )
