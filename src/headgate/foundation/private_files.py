"""Data folder with permissions for its user only: it contains prompts, results and keys."""

import os
import stat
from contextlib import suppress
from itertools import takewhile
from pathlib import Path

from headgate.foundation.errors import Unavailable

UMASK = 0o077
"""Permissions that files and folders created by Headgate never have."""
DATABASE_FILE, KEY_FILE, EVIDENCE_KEY_FILE = "headgate.db", "secret.key", "evidence.key"
KEYS_FOLDER = "keys"
_SUFFIXES = ("", "-wal", "-shm", "-journal")
"""Suffixes of the files of a database. SQLite creates them with the mode of the database file, whatever the umask."""


def private_folder(folder: Path) -> Path:
    """Create a private folder of Headgate (0700); missing parents are created the same way.

    The permissions of an existing folder are repaired. Raises `OSError`.
    """
    _create(folder)
    _tighten(folder, 0o700)
    return folder


def data_folder(folder: Path) -> Path:
    """Create the data folder as 0700, or repair it and the keys in it when Headgate uses it already.

    A folder that contains only other files keeps its mode: it was shared on purpose. Files that Headgate creates in it
    are private. Raises `Unavailable`.
    """
    keys = [folder / name for name in (KEY_FILE, EVIDENCE_KEY_FILE)]
    try:
        _create(folder)
        is_headgate_folder = any(path.exists() for path in (folder / DATABASE_FILE, *keys)) or not any(folder.iterdir())
    except OSError as error:
        raise Unavailable(
            f"The data folder {folder} cannot be created: {error.strerror}.",
            remedy="Set HEADGATE_DATA_DIR to a writable folder.",
        ) from error
    if is_headgate_folder:
        _tighten(folder, 0o700)
    for key in keys:
        _tighten(key, 0o600)
    return folder


def private_database(database: Path) -> None:
    """Create the database file as 0600, or repair it and the files next to it."""
    with suppress(OSError):  # it exists, or cannot be created: connecting reports why
        # Only to create it: closing an open database file would release the locks that this process holds on it.
        os.close(os.open(database, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    for suffix in _SUFFIXES:
        _tighten(Path(f"{database}{suffix}"), 0o600)


def is_private(path: Path) -> bool:
    """Return whether other users of the machine have no permissions on it. Raises `OSError`."""
    return not stat.S_IMODE(path.stat().st_mode) & UMASK


def _create(folder: Path) -> None:
    """Create it with its missing parents. `Path.mkdir` creates parents with the permissions of the umask."""
    missing = takewhile(lambda path: not path.exists(), (folder, *folder.parents))
    for path in reversed([*missing]):
        path.mkdir(mode=0o700, exist_ok=True)


def _tighten(path: Path, allowed: int) -> None:
    """Remove permissions beyond `most`. A shared folder (sticky bit), or what another user owns, is unchanged."""
    with suppress(OSError):
        mode = stat.S_IMODE(path.stat().st_mode)
        if mode & ~allowed and not mode & stat.S_ISVTX:
            path.chmod(mode & allowed)
