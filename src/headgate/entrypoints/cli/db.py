"""`headgate db`."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Annotated, TypeVar

import typer

from headgate.entrypoints.backups.create import create_backup, new_name
from headgate.entrypoints.backups.passphrase import read_passphrase
from headgate.entrypoints.backups.stored import backup_folder
from headgate.entrypoints.cli.backup import shown_progress
from headgate.entrypoints.cli.output import JsonFlag, console, errors, print_json, print_result
from headgate.foundation.database import Database
from headgate.foundation.database.migrate import HEAD, current, require_known, upgrade
from headgate.foundation.settings import Settings

T = TypeVar("T")
app = typer.Typer(add_completion=False, no_args_is_help=True, help="Database schema.")


@app.command("upgrade")
def upgrade_(
    no_backup: Annotated[bool, typer.Option("--no-backup", help="Do not back up the database first.")] = False,
    json: JsonFlag = False,
) -> None:
    """Upgrade the database to the newest schema, after a backup. The server upgrades at startup, without a backup.

    The backup goes to the folder of backups, encrypted if HEADGATE_BACKUP__PASSPHRASE_FILE is set.
    """
    settings = Settings()
    before = asyncio.run(_with_database(settings, current))
    require_known(before)
    backup = None
    if before not in {None, HEAD} and not no_backup:
        backup = _back_up(settings)
    before, after = asyncio.run(_with_database(settings, upgrade))
    if json:
        print_json({"before": before, "after": after, "backup": backup})
    elif before == after:
        console.print(f"The schema is up to date ({after}).")
    else:
        console.print(f"Upgraded from {before or 'nothing'} to {after}.")


async def _with_database(settings: Settings, work: Callable[[Database], Awaitable[T]]) -> T:
    database = Database(settings)
    try:
        return await work(database)
    finally:
        await database.close()


def _back_up(settings: Settings) -> str:
    """Back up the installation before its schema changes. Returns the file."""
    passphrase = read_passphrase(settings, None)
    target = backup_folder(settings) / new_name()
    with shown_progress("Backing up") as progress:
        backup = create_backup(
            settings, target, passphrase=passphrase, with_keys=passphrase is not None, progress=progress
        )
    errors.print(
        f"Backed up to {backup.path}. Restore it with this version or an older one: headgate restore", markup=False
    )
    return str(backup.path)


@app.command("status")
def status(json: JsonFlag = False) -> None:
    """Show the schema version of the database."""
    version = asyncio.run(_with_database(Settings(), current))
    print_result({"current": version, "newest": HEAD}, f"{version or 'empty'} (newest: {HEAD})", json=json)
