"""`headgate backup`."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import BarColumn, DownloadColumn, TextColumn
from rich.progress import Progress as Bar

from headgate.entrypoints.backups.archive import Header
from headgate.entrypoints.backups.content import Progress
from headgate.entrypoints.backups.create import Backup, create_backup, new_name
from headgate.entrypoints.backups.log import record_backup
from headgate.entrypoints.backups.passphrase import read_passphrase
from headgate.entrypoints.backups.restore import verify_backup
from headgate.entrypoints.backups.stored import backup_folder, list_backups, prune_backups
from headgate.entrypoints.cli.output import JsonFlag, console, errors, print_json, print_result, print_rows
from headgate.entrypoints.cli.session import operator
from headgate.foundation.settings import Settings

app = typer.Typer(add_completion=False, no_args_is_help=True, help="Back up this installation.")
PassphraseFile = Annotated[
    Path | None,
    typer.Option("--passphrase-file", help="File with the passphrase; - for standard input. Default: the setting."),
]
Folder = Annotated[Path | None, typer.Option("--folder", help="Folder of backups. Default: the setting.")]


@app.command()
def create(
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Output file. Default: a new file in the folder of backups.")
    ] = None,
    passphrase_file: PassphraseFile = None,
    with_keys: Annotated[
        bool, typer.Option("--with-keys", help="Include the keys although the backup is not encrypted.")
    ] = False,
    json: JsonFlag = False,
) -> None:
    """Back up database, files, workspaces and, when encrypted, keys. The server may be running.

    The backup is verified before it gets its name.
    """
    settings = Settings()
    passphrase = read_passphrase(settings, passphrase_file)
    target = output or backup_folder(settings) / new_name()
    with shown_progress("Backing up") as progress:
        backup = create_backup(
            settings, target, passphrase=passphrase, with_keys=with_keys or passphrase is not None, progress=progress
        )
    record_backup(settings, backup, operator())
    if json:
        print_json(_backup_json(backup))
        return
    console.print(f"Backed up to {backup.path}: {backup.files} files, {_size(backup.archive_bytes)}.", markup=False)
    if not backup.header.keys:
        console.print(
            "The keys are not in it: without them, secrets in it cannot be decrypted. Encrypt the backup with"
            " --passphrase-file, or keep a copy of the keys elsewhere.",
            markup=False,
        )
    elif not backup.sealed:
        console.print("It contains the keys and is not encrypted: anyone who has the file can read everything.")
    if backup.lost_contents:
        console.print(f"{backup.lost_contents} stored files have no content: it was missing before the backup.")


@app.command()
def verify(
    file: Annotated[Path, typer.Argument(help="Backup to verify.")],
    passphrase_file: PassphraseFile = None,
    json: JsonFlag = False,
) -> None:
    """Read a backup to its end and compare checksums. Nothing is changed."""
    passphrase = read_passphrase(Settings(), passphrase_file, backup=file)
    with shown_progress("Verifying") as progress:
        verified = verify_backup(file, passphrase, progress)
    if json:
        print_json(asdict(verified.header) | {"sealed": verified.sealed, "files": verified.files})
        return
    console.print(f"The backup is complete: {verified.files} files, {_size(verified.content_bytes)}.", markup=False)
    console.print(describe(verified.header), markup=False)


@app.command(name="list")
def list_(folder: Folder = None, json: JsonFlag = False) -> None:
    """List the backups in the folder of backups, newest first."""
    backups = list_backups(folder or backup_folder(Settings()))
    print_rows(
        [asdict(backup) for backup in backups],
        ("backup", "made", "size", "encrypted"),
        [
            (backup.path.name, backup.created_at, _size(backup.archive_bytes), "yes" if backup.sealed else "no")
            for backup in backups
        ],
        json=json,
    )


@app.command()
def prune(
    keep: Annotated[int | None, typer.Option("--keep", help="Backups to keep. Default: the setting.", min=1)] = None,
    folder: Folder = None,
    json: JsonFlag = False,
) -> None:
    """Delete all but the newest backups in the folder of backups. Other files in it stay."""
    settings = Settings()
    deleted = prune_backups(folder or backup_folder(settings), keep=keep or settings.backup.keep)
    print_result([asdict(backup) for backup in deleted], f"Deleted {len(deleted)} backup(s).", json=json, markup=False)


def describe(header: Header) -> str:
    """Describe a backup in one line."""
    keys = "with keys" if header.keys else "without keys"
    return f"Made {header.created_at} by Headgate {header.product_version}, schema {header.schema}, {keys}."


@contextmanager
def shown_progress(label: str) -> Iterator[Progress]:
    """A progress bar on standard error, where that is a terminal."""
    with Bar(
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        console=errors,
        transient=True,
        disable=not errors.is_terminal,
    ) as bar:
        task = bar.add_task(label, total=None)
        yield Progress(lambda done, total: bar.update(task, completed=done, total=total))


def _backup_json(backup: Backup) -> dict[str, Any]:
    return asdict(backup.header) | {
        "path": str(backup.path),
        "sealed": backup.sealed,
        "files": backup.files,
        "content_bytes": backup.content_bytes,
        "archive_bytes": backup.archive_bytes,
        "lost_contents": backup.lost_contents,
    }


def _size(count: int) -> str:
    return f"{count / 1e6:,.1f} MB"
