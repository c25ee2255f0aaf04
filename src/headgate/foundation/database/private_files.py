"""The data folder and the database file, closed to other users of the machine: they hold prompts and answers."""

import os
import stat
from contextlib import suppress
from pathlib import Path

from headgate.foundation.errors import Unavailable

_SUFFIXES = ("", "-wal", "-shm", "-journal")
"""Suffixes of the files of a database. SQLite creates them with the mode of the database file, whatever the umask."""


def make_private(folder: Path, database: Path) -> None:
    """Make the data folder (0700) and the database file (0600), or tighten them. Raises `Unavailable` for the folder.

    Files of another user keep their mode: only their owner can change it.
    """
    _make_folder(folder, database)
    with suppress(OSError):  # it exists, or cannot be created: connecting reports why
        # Only to create it: closing an open database file would release the locks that this process holds on it.
        os.close(os.open(database, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    for suffix in _SUFFIXES:
        _tighten(Path(f"{database}{suffix}"), 0o600)


def _make_folder(folder: Path, database: Path) -> None:
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        is_ours = (database.parent == folder and database.exists()) or not any(folder.iterdir())
    except OSError as error:
        raise Unavailable(
            f"The data folder {folder} cannot be created: {error.strerror}.",
            remedy="Set HEADGATE_DATA_DIR to a folder that you can write to.",
        ) from error
    if is_ours:
        _tighten(folder, 0o700)


def _tighten(path: Path, most: int) -> None:
    """Remove permissions beyond `most`. A shared folder (sticky bit) is unchanged."""
    with suppress(OSError):
        mode = stat.S_IMODE(path.stat().st_mode)
        if mode & ~most and not mode & stat.S_ISVTX:
            path.chmod(mode & most)
