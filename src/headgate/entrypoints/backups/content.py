"""Archives an installation's data while the installation runs.

Contents of files never change, and exist before their row is committed. So they are archived first, then the database
at one moment, then the contents that its rows name and that came meanwhile: no row is without its content. A content
that was deleted meanwhile is in an archive only as an orphan, which the sweep removes after a restore.
"""

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import IO, Protocol, cast

from headgate.entrypoints.backups import sqlite
from headgate.entrypoints.backups.archive import PIECE_BYTES, ArchiveWriter
from headgate.entrypoints.backups.errors import BackupFailed
from headgate.entrypoints.backups.places import Place, is_ours, sqlite_file
from headgate.entrypoints.backups.postgres import postgres_source
from headgate.foundation.errors import NotFound
from headgate.foundation.ids import is_id
from headgate.foundation.keyring import KeyRing, Purpose
from headgate.foundation.private_files import DATABASE_FILE, EVIDENCE_KEY_FILE, KEY_FILE
from headgate.foundation.settings import Settings

MAIN = f"databases/{DATABASE_FILE}"
ATTEMPTS = 5
"""Snapshots of the database until no row names a content that was deleted meanwhile."""
_CHANGES = 20
"""Attempts at a file that changes while it is read."""
_IN_MEMORY = 8 * 1024 * 1024


@dataclass(slots=True)
class Progress:
    """How far a backup or a restore is, in bytes."""

    show: Callable[[int, int], None]
    """Called with the bytes done, and the bytes in total as far as they are known."""
    done: int = 0
    total: int = 0

    def add(self, count: int) -> None:
        """So many more bytes are done."""
        self.done += count
        self.show(self.done, max(self.total, self.done))


@dataclass(frozen=True, slots=True)
class Work:
    """A backup that is being made."""

    settings: Settings
    archive: ArchiveWriter
    bench: Path
    """Folder for temporary files."""
    progress: Progress


class Snapshot(Protocol):
    """The database at one moment."""

    def stored_files(self) -> Iterable[tuple[str, str]]:
        """File id and tenant id of every stored file."""

    def write(self, archive: ArchiveWriter) -> None:
        """Put the database into an archive."""


class Source(Protocol):
    """The database of an installation."""

    @property
    def schema(self) -> str:
        """Its revision."""

    @property
    def size(self) -> int:
        """Return its approximate size in bytes."""

    def snapshot(self, bench: Path) -> AbstractContextManager[Snapshot]:
        """Take a snapshot. Temporary files may be put into `bench`."""


@dataclass(frozen=True, slots=True)
class SqliteSnapshot:
    """A copy of a SQLite database."""

    path: Path

    def stored_files(self) -> Iterable[tuple[str, str]]:
        """File id and tenant id of every stored file."""
        return sqlite.stored_files(self.path)

    def write(self, archive: ArchiveWriter) -> None:
        """Put the copy into an archive."""
        with self.path.open("rb") as file:
            archive.add(MAIN, file, self.path.stat().st_size)


@dataclass(frozen=True, slots=True)
class SqliteSource:
    """A SQLite database in use."""

    path: Path
    schema: str
    patience: float
    progress: Progress

    @property
    def size(self) -> int:
        """Bytes of the file, without its log."""
        return self.path.stat().st_size

    @contextmanager
    def snapshot(self, bench: Path) -> Iterator[SqliteSnapshot]:
        """Copy it."""
        copy = bench / DATABASE_FILE
        sqlite.snapshot(self.path, copy, self.progress.add, patience=self.patience)
        sqlite.check(copy)
        yield SqliteSnapshot(copy)
        copy.unlink()


def source_of(settings: Settings, progress: Progress) -> Source:
    """Return the database of an installation. Raises `NotFound` when there is none yet."""
    path = sqlite_file(settings)
    if path is None:
        return postgres_source(settings)
    if (settings.data_dir / "services" / "postgres").exists():
        raise NotFound(
            "The data of `headgate up --embedded-services` is in PostgreSQL, and no database is set.",
            remedy="Set HEADGATE_DATABASE__URL to the address of that database.",
        )
    schema = sqlite.schema_of(path) if path.exists() else None
    if schema is None:
        raise NotFound(f"There is no database at {path}.", remedy="Check HEADGATE_DATA_DIR and HEADGATE_DATABASE__URL.")
    return SqliteSource(path, schema, settings.database.busy_timeout_seconds, progress)


def is_included(settings: Settings, place: Place) -> bool:
    """Whether a place is in a backup apart from the database and the keys: contents in a bucket stay there."""
    return not place.is_key and place.member != MAIN and (place.member != "files" or settings.storage.kind == "local")


def folder_size(folder: Path) -> int:
    """Bytes of the files in a folder."""
    return sum(path.stat(follow_symlinks=False).st_size for path, _ in _walk(folder))


def add_folders(work: Work, places: Sequence[Place]) -> set[bytes]:
    """Archive the files of every folder. Returns the ids of the contents among them."""
    added: set[bytes] = set()
    for place in places:
        for path, name in _walk(place.path) if place.is_folder else ():
            if place.member != "files":
                size = _add_changing(work.archive, path, f"{place.member}/{name}")
            elif is_id(path.name):
                size = _add_content(work.archive, path, f"files/{name}")
                added.add(_short(path.name))
            else:
                continue
            work.progress.add(size or 0)
    return added


def add_database(work: Work, source: Source, added: set[bytes]) -> int:
    """Archive the database, and the contents that it names and that are not archived yet.

    A content that is gone was deleted after the snapshot, so another one is taken; one that is still named then was
    missing before. Returns how many of those there are.
    """
    missing: set[str] = set()
    for _ in range(ATTEMPTS):
        with source.snapshot(work.bench) as snapshot:
            gone = set(_add_missing(work, snapshot, added))
            if gone <= missing:
                snapshot.write(work.archive)
                return len(gone)
            missing = gone
    raise BackupFailed(
        "Files are deleted faster than they can be backed up.", remedy="Try again when no retention job runs."
    )


def add_snapshot(work: Work, place: Place) -> None:
    """Archive another SQLite database."""
    copy = work.bench / "other.db"
    sqlite.snapshot(place.path, copy, work.progress.add, patience=work.settings.database.busy_timeout_seconds)
    with copy.open("rb") as file:
        work.archive.add(place.member, file, copy.stat().st_size)
    copy.unlink()


def add_keys(work: Work, places: Sequence[Place]) -> None:
    """Archive the installation's keys: those in files, and as files those of the environment."""
    given = {KEY_FILE: work.settings.secret_key, EVIDENCE_KEY_FILE: work.settings.evidence_key}
    for place in places:
        if not place.is_key:
            continue
        if place.is_folder:
            for path, name in _walk(place.path):
                if path.suffix == ".key":
                    _add_changing(work.archive, path, f"{place.member}/{name}")
        elif (key := given[place.path.name]) is not None:
            content = key.get_secret_value().encode()
            with SpooledTemporaryFile(_IN_MEMORY) as file:
                file.write(content)
                file.seek(0)
                work.archive.add(place.member, cast("IO[bytes]", file), len(content))
        elif place.present:
            _add_changing(work.archive, place.path, place.member)


def known_keys(settings: Settings) -> dict[str, list[str]]:
    """Purpose to the ids of the keys that can be read here."""
    ring = KeyRing(settings)
    return {purpose.value: [key.id for key in ring.every(purpose)] for purpose in Purpose}


def _add_missing(work: Work, snapshot: Snapshot, added: set[bytes]) -> Iterator[str]:
    """Archive contents that a snapshot names. Yields the ids of those that are gone."""
    if work.settings.storage.kind != "local":
        return
    root = work.settings.data_dir / "files"
    for file_id, tenant_id in snapshot.stored_files():
        if _short(file_id) in added:
            continue
        name = f"{tenant_id}/{file_id[-2:]}/{file_id}"
        size = _add_content(work.archive, root / name, f"files/{name}")
        if size is None:
            yield file_id
            continue
        added.add(_short(file_id))
        work.progress.add(size)


def _add_content(archive: ArchiveWriter, path: Path, name: str) -> int | None:
    """Archive a file that never changes. Returns its size; None when it is gone."""
    try:
        file = path.open("rb")
    except FileNotFoundError:
        return None
    with file:
        size = os.fstat(file.fileno()).st_size
        archive.add(name, file, size)
    return size


def _add_changing(archive: ArchiveWriter, path: Path, name: str) -> int | None:
    """Archive a file that others may write to, as it is at one moment. Returns its size; None when it is gone."""
    for _ in range(_CHANGES):
        with SpooledTemporaryFile(_IN_MEMORY) as copy:
            try:
                size = _copied(path, cast("IO[bytes]", copy))
            except FileNotFoundError:
                return None
            if size is not None:
                copy.seek(0)
                archive.add(name, cast("IO[bytes]", copy), size)
                return size
    raise BackupFailed(f"{path} changes all the time.", remedy="Try again when nobody writes to it.")


def _copied(path: Path, copy: IO[bytes]) -> int | None:
    """Copy a file. Returns its size; None when it changed during the copy."""
    with path.open("rb") as file:
        before = os.fstat(file.fileno())
        size = 0
        while piece := file.read(PIECE_BYTES):
            size += copy.write(piece)
        after = os.fstat(file.fileno())
    same = (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns) and size == after.st_size
    return size if same else None


def _walk(folder: Path, name: str = "") -> Iterator[tuple[Path, str]]:
    """Every regular file below a folder, with its path from there. Links are not followed."""
    entries: list[os.DirEntry[str]] = []
    with suppress(FileNotFoundError, NotADirectoryError), os.scandir(folder) as listing:
        entries = sorted((entry for entry in listing if name or not is_ours(entry.name)), key=lambda entry: entry.name)
    for entry in entries:
        with suppress(FileNotFoundError):
            mode = entry.stat(follow_symlinks=False).st_mode
            if stat.S_ISDIR(mode):
                yield from _walk(Path(entry.path), f"{name}{entry.name}/")
            elif stat.S_ISREG(mode):
                yield Path(entry.path), f"{name}{entry.name}"


def _short(file_id: str) -> bytes:
    """An id in 16 bytes."""
    return bytes.fromhex(file_id.replace("-", ""))
