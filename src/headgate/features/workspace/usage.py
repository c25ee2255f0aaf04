"""What a workspace holds, and the note of it that spares a write to count a thousand files.

The note stands beside the workspaces, in `.usage`, and is read and written under the workspace's lock, so that every
process goes on from the one before. It is taken away before a file changes and put back after: whoever dies between
leaves none, and the next one counts. What others do to the folder is noticed when the note is old, and always before a
write is refused.
"""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace

import orjson

from headgate.features.workspace.errors import NotATextFile, WorkspaceFileTooLarge
from headgate.features.workspace.folder import Folder

NOTES = ".usage"
GOOD_SECONDS = 600
"""How long a count is gone on from."""
_MOST_BYTES = 200
_DEEPEST = 64


@dataclass(frozen=True, slots=True)
class Usage:
    """What a workspace holds."""

    files: int
    size: int
    """Bytes."""
    counted_at: int
    """Seconds since 1970."""

    def after(self, *, files: int, size: int) -> "Usage":
        """With this much more."""
        return replace(self, files=self.files + files, size=self.size + size)


def counted(folder: Folder) -> Usage:
    """Count all that a folder holds. Raises `OSError`."""
    return Usage(*_count(folder, 0), int(time.time()))


@dataclass(frozen=True, slots=True)
class Note:
    """The note of one workspace's usage; whoever uses it holds the workspace's lock.

    Args:
        base: The folder of all workspaces.
        name: The workspace's folder below it.
    """

    base: Folder
    name: str

    def read(self) -> Usage | None:
        """What was noted; None when nothing was, or too long ago."""
        try:
            with self.base.child(NOTES) as notes:
                found = Usage(*orjson.loads(notes.read(self._file, _MOST_BYTES)))
            good = 0 <= time.time() - found.counted_at < GOOD_SECONDS
        except (OSError, ValueError, TypeError, NotATextFile, WorkspaceFileTooLarge):
            return None
        return found if good else None

    @contextmanager
    def changing(self, after: Usage) -> Iterator[None]:
        """Change files, after which the workspace holds this much; without a note when that goes wrong."""
        self.forget()
        yield
        with suppress(OSError):  # the next write counts
            self._write(after)

    def forget(self) -> None:
        """Take the note away. Raises `OSError`."""
        with suppress(FileNotFoundError), self.base.child(NOTES) as notes:
            notes.remove(self._file)

    def _write(self, usage: Usage) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
        with self.base.child(NOTES, create=True) as notes:
            descriptor = os.open(self._file, flags, 0o600, dir_fd=notes.descriptor)
        with os.fdopen(descriptor, "wb") as file:
            file.write(orjson.dumps([usage.files, usage.size, usage.counted_at]))

    @property
    def _file(self) -> str:
        return self.name.replace("/", "-")


def _count(folder: Folder, depth: int) -> tuple[int, int]:
    files = size = 0
    for entry in folder.entries():
        if entry.is_folder and depth < _DEEPEST:
            with suppress(OSError), folder.child(entry.name) as child:
                inner_files, inner_size = _count(child, depth + 1)
                files, size = files + inner_files, size + inner_size
        elif not entry.is_folder:
            files, size = files + 1, size + entry.size
    return files, size
