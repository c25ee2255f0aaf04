"""`headgate restore`."""

import asyncio
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from headgate.entrypoints.backups.passphrase import read_passphrase
from headgate.entrypoints.backups.restore import Request, restore_backup
from headgate.entrypoints.cli.backup import PassphraseFile, describe, shown_progress
from headgate.entrypoints.cli.output import JsonFlag, console, print_json
from headgate.entrypoints.cli.session import operator
from headgate.foundation.keyring import KeyRing
from headgate.foundation.settings import Settings

app = typer.Typer(add_completion=False)


@app.command()
def restore(
    file: Annotated[Path, typer.Argument(help="Backup to restore.")],
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace what is there. It is kept in a folder before-restore-TIME.")
    ] = False,
    passphrase_file: PassphraseFile = None,
    json: JsonFlag = False,
) -> None:
    """Restore a backup into the data folder and database of the settings. The server must be stopped.

    The backup is verified, unpacked and upgraded to this version before anything is replaced. Sign-in sessions and
    one-time links end. Runs that were in progress continue when the server starts.
    """
    settings = Settings()
    passphrase = read_passphrase(settings, passphrase_file, backup=file)
    with shown_progress("Restoring") as progress:
        request = Request(file, passphrase, replace, progress, operator())
        restored = asyncio.run(restore_backup(settings, request))
    if json:
        more = {"schema": restored.schema, "files": restored.files, "missing_keys": restored.missing_keys}
        print_json(asdict(restored.header) | more | {"aside": restored.aside})
        return
    console.print(f"Restored {restored.files} files. {describe(restored.header)}", markup=False)
    for path in restored.aside:
        console.print(f"What was there is in {path}. Delete it when you no longer need it.", markup=False)
    for purpose, ids in restored.missing_keys.items():
        folder = KeyRing(settings).folder
        console.print(
            f"Keys for {purpose} are missing: {', '.join(ids)}. Copy their files into {settings.data_dir} and"
            f" {folder}, or set the variables that they came from.",
            markup=False,
        )
