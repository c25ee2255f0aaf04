"""Brings the database to the newest schema. Two processes that start at once take turns."""

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection, inspect, text

from headgate.foundation.database.connect import Database, database_errors
from headgate.foundation.errors import Unavailable

if TYPE_CHECKING:  # imported when there is something to migrate
    from alembic.config import Config

HEAD = "0033"
"""The newest revision; a test holds it to the newest file in `migrations/versions`."""
_LOCK = 7_411_001
_FOLDER = Path(__file__).parents[1] / "migrations"


async def upgrade(database: Database) -> tuple[str | None, str]:
    """Migrate to `HEAD` in one transaction. Returns the revision before and after."""
    with database_errors():
        async with database.engine.connect() as reader:
            before = await reader.run_sync(_current)
        if before == HEAD:
            return before, HEAD
        writer = database.engine.execution_options(headgate_writes=True)
        async with writer.begin() as connection:
            if database.dialect == "postgresql":
                await connection.execute(text(f"SELECT pg_advisory_xact_lock({_LOCK})"))
            await connection.run_sync(_upgrade)
    return before, HEAD


async def current(database: Database) -> str | None:
    """The revision the database is at; None when it is empty."""
    with database_errors():
        async with database.engine.connect() as connection:
            return await connection.run_sync(_current)


def config(connection: Connection | None = None) -> "Config":
    """Alembic's configuration, without a file. Alembic is imported here only: most starts have nothing to migrate."""
    from alembic.config import Config  # noqa: PLC0415 - a tenth of the start-up time

    found = Config()
    found.set_main_option("script_location", str(_FOLDER))
    found.attributes["connection"] = connection
    return found


def _current(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    found: str | None = connection.execute(text("SELECT version_num FROM alembic_version")).scalar_one_or_none()
    return found


def _upgrade(connection: Connection) -> None:
    found = _current(connection)
    known = {path.name[:4] for path in (_FOLDER / "versions").glob("[0-9]*.py")}
    if found is not None and found not in known:
        raise Unavailable(
            f"The database was made by a newer Headgate (schema {found}, this one knows {HEAD}).",
            remedy="Start the newer Headgate again, or restore the backup made before the upgrade.",
        )
    prepared = config(connection)
    import_module("alembic.command").upgrade(prepared, HEAD)
