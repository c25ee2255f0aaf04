"""The data folder and what is in it, closed to other users of the machine: it holds prompts, answers and keys."""

import os
import stat
from contextlib import suppress
from itertools import takewhile
from pathlib import Path

from headgate.foundation.errors import Unavailable

UMASK = 0o077
"""Permissions that no file or folder gets which a process of Headgate creates."""
DATABASE_FILE, KEY_FILE, EVIDENCE_KEY_FILE = "headgate.db", "secret.key", "evidence.key"
KEYS_FOLDER = "keys"
_SUFFIXES = ("", "-wal", "-shm", "-journal")
"""Suffixes of the files of a database. SQLite creates them with the mode of the database file, whatever the umask."""


def private_folder(folder: Path) -> Path:
    """A folder of Headgate's own that only its user may enter (0700); missing parents are created the same.

    One that others may enter is repaired. Raises `OSError`.
    """
    _create(folder)
    _tighten(folder, 0o700)
    return folder


def data_folder(folder: Path) -> Path:
    """The data folder: created as 0700, or repaired, with the keys in it, where Headgate uses it already.

    A folder with files of others only keeps its mode: it was shared on purpose. What Headgate puts into it is private.
    Raises `Unavailable`.
    """
    keys = [folder / name for name in (KEY_FILE, EVIDENCE_KEY_FILE)]
    try:
        _create(folder)
        ours = any(path.exists() for path in (folder / DATABASE_FILE, *keys)) or not any(folder.iterdir())
    except OSError as error:
        raise Unavailable(
            f"The data folder {folder} cannot be created: {error.strerror}.",
            remedy="Set HEADGATE_DATA_DIR to a folder that you can write to.",
        ) from error
    if ours:
        _tighten(folder, 0o700)
    for key in keys:
        _tighten(key, 0o600)
    return folder


def private_database(database: Path) -> None:
    """Create the file of a database as 0600, or repair it with the files next to it."""
    with suppress(OSError):  # it exists, or cannot be created: connecting reports why
        # Only to create it: closing an open database file would release the locks that this process holds on it.
        os.close(os.open(database, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    for suffix in _SUFFIXES:
        _tighten(Path(f"{database}{suffix}"), 0o600)


def is_private(path: Path) -> bool:
    """Whether other users of the machine have no permission on it. Raises `OSError`."""
    return not stat.S_IMODE(path.stat().st_mode) & UMASK


def _create(folder: Path) -> None:
    """Create it with its missing parents. `Path.mkdir` creates parents with the permissions of the umask."""
    missing = takewhile(lambda path: not path.exists(), (folder, *folder.parents))
    for path in reversed([*missing]):
        path.mkdir(mode=0o700, exist_ok=True)


def _tighten(path: Path, most: int) -> None:
    """Remove permissions beyond `most`. A shared folder (sticky bit), or what another user owns, is unchanged."""
    with suppress(OSError):
        mode = stat.S_IMODE(path.stat().st_mode)
        if mode & ~most and not mode & stat.S_ISVTX:
            path.chmod(mode & most)
