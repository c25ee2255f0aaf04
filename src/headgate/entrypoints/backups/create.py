"""Makes a backup of an installation that may be running."""

import os
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO

from headgate import __version__
from headgate.entrypoints.backups.archive import ArchiveReader, ArchiveWriter, Header
from headgate.entrypoints.backups.content import (
    Progress,
    Work,
    add_database,
    add_folders,
    add_keys,
    add_snapshot,
    folder_size,
    is_included,
    known_keys,
    source_of,
)
from headgate.entrypoints.backups.errors import BackupFailed
from headgate.entrypoints.backups.places import places_of, sqlite_file
from headgate.foundation.errors import Conflict
from headgate.foundation.ids import new_id
from headgate.foundation.pending_restore import sync_folder
from headgate.foundation.private_files import private_folder
from headgate.foundation.settings import Settings

if sys.platform != "win32":
    import fcntl

SUFFIX = ".hgbackup"
_PART = ".headgate-backup-"
_STALE_SECONDS = 86_400


@dataclass(frozen=True, slots=True)
class Backup:
    """A finished backup."""

    path: Path
    header: Header
    sealed: bool
    files: int
    content_bytes: int
    archive_bytes: int
    lost_contents: int
    """Stored files whose content was missing in the installation when the backup was made."""


def create_backup(
    settings: Settings, target: Path, *, passphrase: str | None, with_keys: bool, progress: Progress
) -> Backup:
    """Write a backup to a file that does not exist, and read it again to verify it.

    The archive gets its name when it is complete and on the disk; a backup that was interrupted leaves nothing under
    that name, and its remains are removed by the next one.

    Args:
        settings: The installation.
        target: The file.
        passphrase: Encrypts the archive; None: it is not encrypted.
        with_keys: Whether the installation's keys are included.
        progress: Where the progress is reported.

    Raises:
        Conflict: The file exists.
        NotFound: There is no database.
        Unavailable: The database cannot be read, or the disk is full.
    """
    if target.exists():
        raise Conflict(f"{target} exists.", remedy="Choose another file, or remove it.")
    try:
        return _create(settings, target, progress, passphrase=passphrase, with_keys=with_keys)
    except OSError as error:
        raise BackupFailed(
            f"The backup cannot be written to {target.parent}: {error.strerror or error}.",
            remedy="Free some space, or choose another folder. Nothing was left behind.",
        ) from error


def _create(settings: Settings, target: Path, progress: Progress, *, passphrase: str | None, with_keys: bool) -> Backup:
    private_parent(target.parent)
    _remove_stale(target.parent)
    with _workbench(target.parent) as part:
        with part.open("w+b") as file:
            if sys.platform != "win32":
                fcntl.flock(file, fcntl.LOCK_EX)
            lost = _write(settings, file, part.parent, progress, passphrase=passphrase, with_keys=with_keys)
            file.flush()
            os.fsync(file.fileno())
            file.seek(0)
            header, files, size = _verified(file, passphrase)
            if target.exists():
                raise Conflict(f"{target} exists.", remedy="Choose another file, or remove it.")
            archive_bytes = os.fstat(file.fileno()).st_size
            part.replace(target)
        sync_folder(target.parent)
    return Backup(target, header, passphrase is not None, files, size, archive_bytes, lost)


def new_name() -> str:
    """A file name for a backup made now."""
    return f"headgate-{datetime.now(UTC):%Y%m%dT%H%M%S%f}Z{SUFFIX}"


def private_parent(folder: Path) -> None:
    """Create a folder for backups, closed to other users, where there is none. Raises `OSError`."""
    if not folder.exists():
        private_folder(folder)


@contextmanager
def _workbench(folder: Path) -> Iterator[Path]:
    """A hidden folder for the unfinished archive and the snapshot; removed at the end."""
    bench = folder / f"{_PART}{new_id()}"
    bench.mkdir(mode=0o700)
    try:
        part = bench / "archive"
        os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        yield part
    finally:
        shutil.rmtree(bench, ignore_errors=True)


def _remove_stale(folder: Path) -> None:
    """Remove leftovers of killed backups: the lock on their archive is free."""
    for bench in folder.glob(f"{_PART}*"):
        with suppress(OSError):
            if _is_abandoned(bench):
                shutil.rmtree(bench)


def _is_abandoned(bench: Path) -> bool:
    archive = bench / "archive"
    if sys.platform == "win32" or not archive.exists():
        return time.time() - bench.stat().st_mtime > _STALE_SECONDS
    with archive.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
    # One that was only just made is locked in a moment.
    return time.time() - bench.stat().st_mtime > 1


def _write(
    settings: Settings, file: IO[bytes], bench: Path, progress: Progress, *, passphrase: str | None, with_keys: bool
) -> int:
    """Write the archive. Returns how many stored files have no content in the installation itself."""
    source = source_of(settings, progress)
    places = places_of(settings)
    included = [place for place in places if is_included(settings, place)]
    progress.total = source.size + sum(folder_size(place.path) for place in included if place.is_folder)
    with ArchiveWriter(file, _header(settings, source.schema, with_keys=with_keys), passphrase, bench) as archive:
        work = Work(settings, archive, bench, progress)
        lost = add_database(work, source, add_folders(work, included))
        for place in included:
            if place.is_database and place.present:
                add_snapshot(work, place)
        if with_keys:  # last: a key is made before the database names it
            add_keys(work, places)
    return lost


def _header(settings: Settings, schema: str, *, with_keys: bool) -> Header:
    return Header(
        id=new_id(),
        created_at=datetime.now(UTC).isoformat(timespec="seconds"),
        product_version=__version__,
        schema=schema,
        database="postgresql" if sqlite_file(settings) is None else "sqlite",
        files=settings.storage.kind,
        keys=with_keys,
        key_ids=known_keys(settings),
    )


def _verified(file: IO[bytes], passphrase: str | None) -> tuple[Header, int, int]:
    """Verify the archive as written to disk."""
    with ArchiveReader(file, passphrase) as archive:
        for _ in archive.members():
            pass
        return archive.header, archive.files, archive.size
