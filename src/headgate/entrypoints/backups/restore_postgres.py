"""The part of a restore that is a transaction of PostgreSQL."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from headgate.agents.codev.sessions.checkpoints import SCHEMA as SESSIONS
from headgate.agents.codev.sessions.checkpoints import Checkpoints
from headgate.entrypoints.backups import postgres
from headgate.entrypoints.backups.archive import Header
from headgate.entrypoints.backups.errors import BackupInvalid, RestoreRefused
from headgate.entrypoints.backups.log import SIGNED_OUT, record_restore
from headgate.entrypoints.backups.moves import Staged, new_stamp, plan_moves
from headgate.entrypoints.backups.places import Place
from headgate.features.access.principal import Actor
from headgate.foundation.database import Database, database_errors
from headgate.foundation.database.migrate import settle
from headgate.foundation.pending_restore import settling
from headgate.foundation.settings import Settings

_ATTEMPTS, _PAUSE_SECONDS = 20, 0.1


def rows_of(settings: Settings) -> Place:
    """Where rows are unpacked; nothing is ever moved there."""
    return Place(postgres.FOLDER, settings.data_dir / postgres.FOLDER, is_folder=True)


async def refuse_database(settings: Settings, *, replace: bool) -> None:
    """Raise `RestoreRefused` when the database is in use, or has an installation that may not be replaced."""
    database = Database(settings)
    try:
        await settle(database)
        with database_errors():
            async with database.engine.connect() as connection:
                await _alone(connection)
                if not replace and await postgres.is_used(connection):
                    raise RestoreRefused(
                        "There is an installation in the database already.",
                        remedy="Restore into an empty database, or add --replace: what is there is kept in a schema.",
                    )
    finally:
        await database.close()


async def restore_rows(settings: Settings, actor: Actor, header: Header, staged: Sequence[Staged]) -> list[str]:
    """Replace the database in one transaction, and the files when it is committed.

    A process that ends before the commit changed nothing. After it, whatever opens the installation next sees the
    schema with what was replaced, and makes the moves. Returns where that is kept.
    """
    rows = next(part for part in staged if part.place.member == postgres.FOLDER)
    if not (rows.path / postgres.PUBLIC).is_dir():
        raise BackupInvalid("The backup contains no database.")
    stamp = new_stamp()
    aside = stamp.replace("-", "_").lower()
    database = Database(settings)
    try:
        if (rows.path / SESSIONS).is_dir():
            await _make_tables_of_sessions(settings, database)
        with database_errors():
            async with database.engine.connect() as connection:
                await _alone(connection)
                await postgres.load(connection, rows.path, header, aside)
                for table in SIGNED_OUT:
                    await connection.execute(text(f"DELETE FROM {table}"))  # noqa: S608 - a constant
                moved = [part for part in staged if part is not rows]
                folders = plan_moves(settings.data_dir, moved, stamp, marker=aside)
                await _commit(connection, settings.data_dir)
        async with database.writing() as session:
            await record_restore(session, header, actor)
    finally:
        await database.close()
    return [*folders, f"schema {aside}"]


async def _commit(connection: AsyncConnection, folder: Path) -> None:
    with settling(folder) as pending:
        if pending is None:
            raise RestoreRefused("Another process discarded the restore.", remedy="Try again.")
        await connection.commit()  # if this fails, the next start sees whether it was committed
        pending.complete()


async def _alone(connection: AsyncConnection) -> None:
    """Wait a moment for connections that are closing. Raises `RestoreRefused`."""
    for _ in range(_ATTEMPTS):
        if not await postgres.count_others(connection):
            return
        await asyncio.sleep(_PAUSE_SECONDS)
    raise RestoreRefused(
        f"The database is in use by {await postgres.count_others(connection)} other connection(s).",
        remedy="Stop the server, the workers and other programs first.",
    )


async def _make_tables_of_sessions(settings: Settings, database: Database) -> None:
    checkpoints = Checkpoints(settings, database)
    try:
        await checkpoints.saver()
    finally:
        await checkpoints.close()
