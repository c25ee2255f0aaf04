"""Identity of a worker, and detection of other live workers.

Each worker holds a lock on its own file for its lifetime. The kernel releases the lock when the process ends, for any
reason, so a new process on the same data folder immediately detects that the old one has ended. Workers on other
machines are judged by their leases alone.
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
    """This process, as named in job rows.

    Args:
        folder: Folder of lock files; shared by the workers of one installation.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file: IO[bytes] | None = None
        self.id = f"{socket.gethostname()[:24]}:{os.getpid()}:{new_id()[-12:]}"

    def open(self) -> None:
        """Acquire the lock; remove files of workers that ended long ago."""
        private_folder(self._folder)
        self._file = self._path(self.id).open("wb")
        _lock(self._file)
        for path in self._folder.glob("*.lock"):
            with suppress(OSError):  # another process removes the same one
                if time.time() - path.stat().st_mtime > _FORGOTTEN_AFTER_SECONDS and _is_free(path):
                    path.unlink()

    def close(self) -> None:
        """Release the lock: jobs of this worker may be recovered."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def is_gone(self, worker_id: str) -> bool:
        """Return whether another worker has certainly ended. False when it is alive, or on another machine."""
        if worker_id == self.id:
            return False
        path = self._path(worker_id)
        return path.exists() and _is_free(path)

    def sees_alive(self, worker_id: str) -> bool:
        """Return whether another worker is certainly alive. False when it has ended, or is on another machine."""
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
    """Lock immediately or raise `OSError`. Closing the file unlocks."""
    if sys.platform == "win32":
        with suppress(ValueError):
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
    else:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
