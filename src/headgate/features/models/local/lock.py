"""A lock file, so that two processes do not write the same thing. The system releases it when its holder dies."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from headgate.foundation.errors import Unavailable

if sys.platform == "win32":
    import msvcrt

    def _take(file: IO[bytes]) -> None:
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _take(file: IO[bytes]) -> None:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextmanager
def exclusive(path: Path, *, what: str) -> Iterator[None]:
    """Hold the lock of that file during the block. Raises `Unavailable` when another process holds it."""
    with path.open("ab") as file:
        try:
            _take(file)
        except OSError as error:
            raise Unavailable(f"Another {what} is running.", remedy="Wait until it finishes, or stop it.") from error
        yield
