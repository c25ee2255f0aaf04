"""Restores a backup: verified and prepared next to the installation first, then moved into its place at once."""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from sqlalchemy import text

from headgate.entrypoints.backups import sqlite
from headgate.entrypoints.backups.archive import PIECE_BYTES, ArchiveReader, Header, Member
from headgate.entrypoints.backups.content import MAIN, Progress, known_keys
from headgate.entrypoints.backups.errors import BackupInvalid, RestoreRefused
from headgate.entrypoints.backups.log import SIGNED_OUT, record_restore
from headgate.entrypoints.backups.moves import Staged, move_into_place, stage, staging
from headgate.entrypoints.backups.places import LOCK, Place, is_ours, place_of, places_of, sqlite_file
from headgate.entrypoints.backups.restore_postgres import refuse_database, restore_rows, rows_of
from headgate.features.access.principal import Actor
from headgate.foundation.database import Database
from headgate.foundation.database.migrate import HEAD, known_revisions, upgrade
from headgate.foundation.errors import NotFound
from headgate.foundation.pending_restore import finish
from headgate.foundation.private_files import data_folder, private_folder
from headgate.foundation.settings import Settings

if sys.platform != "win32":
    import fcntl


@dataclass(frozen=True, slots=True)
class Request:
    """A restore request."""

    file: Path
    passphrase: str | None
    """The passphrase of an encrypted backup."""
    replace: bool
    """Whether what is there now may be replaced. It is kept aside."""
    progress: Progress
    actor: Actor
    """The user who restores, for the audit log."""


@dataclass(frozen=True, slots=True)
class Verified:
    """A backup that is complete and unchanged."""

    header: Header
    sealed: bool
    files: int
    content_bytes: int


@dataclass(slots=True)
class Restored:
    """A finished restore."""

    header: Header
    schema: str
    """The revision of the database after the restore."""
    files: int
    aside: list[str]
    """Folders, and the schema of PostgreSQL, with what was replaced."""
    missing_keys: dict[str, list[str]]
    """Purpose to ids of keys that the installation had and that cannot be read here."""


def verify_backup(file: Path, passphrase: str | None, progress: Progress) -> Verified:
    """Read a backup to its end. Raises `BackupInvalid`, `PassphraseWrong`, `NotFound`."""
    with opened(file) as content, ArchiveReader(content, passphrase) as archive:
        progress.total = os.fstat(content.fileno()).st_size
        before = 0
        for _ in archive.members():
            progress.add(content.tell() - before)
            before = content.tell()
        refuse_newer(archive.header)
        return Verified(archive.header, passphrase is not None, archive.files, archive.size)


def refuse_newer(header: Header) -> None:
    """Raise `BackupInvalid` for a schema that this version does not know."""
    if header.schema not in known_revisions():
        raise BackupInvalid(
            f"The backup was made by a newer Headgate: {header.product_version!a}, schema {header.schema!a}.",
            remedy="Restore it with that version.",
        )


async def restore_backup(settings: Settings, request: Request) -> Restored:
    """Restore a backup into the data folder and the database of the settings.

    Nothing of the installation changes before the backup was verified, unpacked, checked and migrated.

    Raises:
        RestoreRefused: There is an installation already, or it is in use.
        BackupInvalid, PassphraseWrong: The backup is damaged, of a newer version, or of the other database.
        Unavailable: The disk is full.
    """
    verified = verify_backup(request.file, request.passphrase, request.progress)
    with alone(data_folder(settings.data_dir)):
        finish(settings.data_dir)
        return await _restore(settings, request, verified)


async def _restore(settings: Settings, request: Request, verified: Verified) -> Restored:
    places = _replaced(settings, verified.header)
    _refuse(settings, verified.header, places, replace=request.replace)
    if verified.header.database == "postgresql":
        await refuse_database(settings, replace=request.replace)
    staged = stage(places)
    with staging(settings.data_dir, {part.folder for part in staged}, verified.content_bytes):
        with opened(request.file) as content, ArchiveReader(content, request.passphrase) as archive:
            for member in archive.members():
                _unpack(member, staged)
                request.progress.add(member.size)
            if archive.header != verified.header:
                raise BackupInvalid("The backup changed while it was read.")
        if verified.header.database == "postgresql":
            aside = await restore_rows(settings, request.actor, verified.header, staged)
        else:
            aside = await _restore_sqlite(settings, request, verified.header, staged)
    here = known_keys(settings)
    missing = {
        purpose: [key for key in ids if key not in here.get(purpose, [])]
        for purpose, ids in verified.header.key_ids.items()
    }
    missing = {purpose: ids for purpose, ids in missing.items() if ids}
    return Restored(verified.header, HEAD, verified.files, aside, missing)


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Keep other restores out of a data folder. Raises `RestoreRefused` while one runs."""
    with os.fdopen(os.open(folder / LOCK, os.O_CREAT | os.O_WRONLY, 0o600), "wb") as lock:
        if sys.platform != "win32":
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                raise RestoreRefused(f"Another restore into {folder} is running.") from error
        yield


@contextmanager
def opened(file: Path) -> Iterator[IO[bytes]]:
    """Open a backup. Raises `NotFound`."""
    try:
        content = file.open("rb")
    except (FileNotFoundError, IsADirectoryError) as error:
        raise NotFound(f"There is no backup at {file}.") from error
    with content:
        yield content


def _replaced(settings: Settings, header: Header) -> list[Place]:
    """The places that the backup replaces. Without keys in it, those of this machine stay."""
    places = [
        place
        for place in places_of(settings)
        if (header.keys or not place.is_key) and (header.files == "local" or place.member != "files")
    ]
    return places if header.database == "sqlite" else [*places, rows_of(settings)]


def _refuse(settings: Settings, header: Header, places: Sequence[Place], *, replace: bool) -> None:
    here = "postgresql" if sqlite_file(settings) is None else "sqlite"
    if header.database != here:
        raise RestoreRefused(
            f"The backup is of a {header.database} database, and HEADGATE_DATABASE__URL is one of {here}.",
            remedy="Restore into a database of the same kind.",
        )
    if header.files != settings.storage.kind:
        raise RestoreRefused(
            f"The files of the backup are in storage of kind {header.files}, and here it is {settings.storage.kind}.",
            remedy="Set HEADGATE_STORAGE__KIND to that of the installation that was backed up.",
        )
    present = [place for place in places if place.present]
    if present and not replace:
        raise RestoreRefused(
            f"There is an installation already: {present[0].path}.",
            remedy="Restore into an empty folder (HEADGATE_DATA_DIR), or add --replace: what is there is kept aside.",
        )
    for place in present:
        if place.is_database:
            sqlite.refuse_in_use(place.path)


def _unpack(member: Member, staged: Sequence[Staged]) -> None:
    place = place_of([part.place for part in staged], member.name)
    if place is None:
        if member.name.startswith("keys/"):
            raise BackupInvalid(f"The backup contains a key and says that it has none: {member.name!a}.")
        raise BackupInvalid(f"The backup contains a file that does not belong to one: {member.name!a}.")
    root = next(part.path for part in staged if part.place is place)
    inner = member.name.removeprefix(place.member).removeprefix("/")
    if is_ours(inner.partition("/")[0]):
        raise BackupInvalid(f"The backup contains a file that does not belong to one: {member.name!a}.")
    path = root / inner if inner else root
    if not path.parent.is_dir():
        private_folder(path.parent)
    try:
        descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0), 0o600)
    except FileExistsError as error:
        raise BackupInvalid(f"The backup contains a file twice: {member.name!a}.") from error
    with os.fdopen(descriptor, "wb") as file:
        while piece := member.content.read(PIECE_BYTES):
            file.write(piece)
        file.flush()
        os.fsync(file.fileno())


async def _restore_sqlite(settings: Settings, request: Request, header: Header, staged: Sequence[Staged]) -> list[str]:
    """Check the prepared database, upgrade it and sign everybody out; then move everything into place."""
    paths = {part.place.member: part.path for part in staged}
    main = paths[MAIN]
    if not main.is_file():
        raise BackupInvalid("The backup contains no database.")
    for part in staged:
        if part.place.is_database and part.path.exists():
            sqlite.check(part.path)
    if sqlite.schema_of(main) != header.schema:
        raise BackupInvalid("The backup is damaged: its database has another schema than it says.")
    copied = settings.database.model_copy(update={"url": f"sqlite+aiosqlite:///{main}"})
    database = Database(settings.model_copy(update={"data_dir": main.parent, "database": copied}))
    try:
        await upgrade(database)
        async with database.writing() as session:
            for table in SIGNED_OUT:
                await session.execute(text(f"DELETE FROM {table}"))  # noqa: S608 - a constant
            await record_restore(session, header, request.actor)
    finally:
        await database.close()
    sqlite.fold(main)
    for part in staged:
        if part.place.is_database and part.place.present:
            sqlite.refuse_in_use(part.place.path)
    return move_into_place(settings.data_dir, staged)
