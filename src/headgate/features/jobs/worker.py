"""Who a worker is, and whether another one still lives.

Each worker holds a lock on a file of its own for as long as it lives. The kernel lets go of the lock when the process
ends, however it ends, so a new process on the same data folder sees at once that the old one is gone. A worker that
cannot be seen from here is judged by its leases alone.
"""

import os
import socket
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import IO

from headgate.foundation.ids import new_id
from headgate.foundation.private_files import private_folder

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

_FORGOTTEN_AFTER_SECONDS = 86_400


class Worker:
    """This process, as the rows of steps name it.

    Args:
        folder: Where the lock files are; shared by the workers of one installation.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file: IO[bytes] | None = None
        self.id = f"{socket.gethostname()[:24]}:{os.getpid()}:{new_id()[-12:]}"

    def open(self) -> None:
        """Take the lock; forget workers that ended long ago."""
        private_folder(self._folder)
        self._file = self._path(self.id).open("wb")
        _lock(self._file)
        for path in self._folder.glob("*.lock"):
            with suppress(OSError):  # another process forgets the same one
                if time.time() - path.stat().st_mtime > _FORGOTTEN_AFTER_SECONDS and _is_free(path):
                    path.unlink()

    def close(self) -> None:
        """Let go of the lock: what is still in this worker's name may be taken over."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def is_gone(self, worker_id: str) -> bool:
        """Whether another worker surely ended. False when it lives, or cannot be seen from here."""
        if worker_id == self.id:
            return False
        path = self._path(worker_id)
        return path.exists() and _is_free(path)

    def sees_alive(self, worker_id: str) -> bool:
        """Whether another worker surely lives. False when it ended, or cannot be seen from here."""
        if worker_id == self.id:
            return False
        path = self._path(worker_id)
        return path.exists() and not _is_free(path)

    def _path(self, worker_id: str) -> Path:
        name = "".join(char if char.isalnum() or char in "-." else "_" for char in worker_id)
        return self._folder / f"{name}.lock"


def _is_free(path: Path) -> bool:
    try:
        with path.open("r+b") as file:
            _lock(file)
    except OSError:
        return False
    return True


def _lock(file: IO[bytes]) -> None:
    """Lock or raise `OSError` at once. Closing the file unlocks."""
    if sys.platform == "win32":
        with suppress(ValueError):
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
    else:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
