"""The last step of a restore: prepared files take the place of the present ones, completely or not at all.

The moves are written to a journal in the data folder first. A process that ends in the middle leaves the journal, and
the next process that opens the installation finishes the moves. Every move can be repeated: a made one is skipped.
"""

import json
import os
import shutil
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from headgate.foundation.errors import Unavailable

if sys.platform != "win32":
    import fcntl

JOURNAL = "restore.json"
"""File in the data folder that exists while a restore moves files."""
Move = tuple[Path, Path]


def begin(
    folder: Path, aside: Sequence[Move], into: Sequence[Move], staging: Sequence[Path], *, marker: str | None = None
) -> None:
    """Write the journal.

    Args:
        folder: The data folder.
        aside: Present files and folders, and where each is kept.
        into: Prepared files and folders, and the place of each.
        staging: Folders to remove at the end.
        marker: A schema of the PostgreSQL database that exists once its part of the restore was committed. The moves
            are only made then. None: nothing else has to be committed.
    """
    journal = folder / JOURNAL
    part = journal.with_name(f"{JOURNAL}.part")
    document = {
        "aside": [[str(source), str(target)] for source, target in aside],
        "into": [[str(source), str(target)] for source, target in into],
        "staging": [str(path) for path in staging],
        "marker": marker,
    }
    with os.fdopen(os.open(part, os.O_CREAT | os.O_TRUNC | os.O_WRONLY, 0o600), "w") as file:
        json.dump(document, file)
        file.flush()
        os.fsync(file.fileno())
    part.replace(journal)
    sync_folder(folder)


def finish(folder: Path) -> None:
    """Make the moves of an interrupted restore; nothing happens without one. Raises `Unavailable`.

    Those that wait for a commit are left to `settling`.
    """
    with _errors(folder), _locked(folder / JOURNAL) as document:
        if document is not None and document["marker"] is None:
            _complete(folder, document)


@contextmanager
def settling(folder: Path) -> Iterator["Pending | None"]:
    """The moves that wait for a commit, held so that no other process makes them; None where there are none.

    Raises `Unavailable`.
    """
    with _errors(folder), _locked(folder / JOURNAL) as document:
        yield None if document is None or document["marker"] is None else Pending(folder, document)


class Pending:
    """Moves that wait for a commit."""

    def __init__(self, folder: Path, document: dict[str, Any]) -> None:
        self._folder = folder
        self._document = document
        self.marker: str = document["marker"]

    def complete(self) -> None:
        """Make the moves: it was committed."""
        _complete(self._folder, self._document)

    def discard(self) -> None:
        """Forget them: it was not."""
        _complete(self._folder, {"aside": [], "into": [], "staging": self._document["staging"]})


def sync_folder(folder: Path) -> None:
    """Make names in a folder safe from a power cut."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _make(document: dict[str, Any]) -> None:
    folders: set[Path] = set()
    aside = [(Path(source), Path(target)) for source, target in document["aside"]]
    into = [(Path(source), Path(target)) for source, target in document["into"]]
    for source, target in aside:
        # Once it is aside, what is at its place is what was restored.
        if os.path.lexists(source) and not os.path.lexists(target):
            target.parent.mkdir(mode=0o700, exist_ok=True)
            source.rename(target)
            folders |= {source.parent, target.parent}
    for source, target in into:
        if os.path.lexists(source):
            source.rename(target)
            folders |= {target.parent}
    for path in folders:
        sync_folder(path)
    for staging in document["staging"]:
        shutil.rmtree(staging, ignore_errors=True)


def _complete(folder: Path, document: dict[str, Any]) -> None:
    _make(document)
    (folder / JOURNAL).unlink()
    sync_folder(folder)


@contextmanager
def _locked(journal: Path) -> Iterator[dict[str, Any] | None]:
    """The journal, held alone; None when there is none."""
    try:
        file = journal.open("rb")
    except (FileNotFoundError, NotADirectoryError):
        yield None
        return
    with file:
        if sys.platform != "win32":
            fcntl.flock(file, fcntl.LOCK_EX)
        # Another process may have finished while this one waited for the lock.
        yield json.load(file) if journal.exists() else None


@contextmanager
def _errors(folder: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError) as error:
        raise Unavailable(
            f"A restore of {folder} was interrupted and cannot be completed: {error}.",
            remedy=f"Correct the cause and start again. The moves that remain are in {folder / JOURNAL}.",
        ) from error
