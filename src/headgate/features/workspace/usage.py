"""Usage of a workspace, and a cached note of it that avoids counting a thousand files for a write.

The note is stored next to the workspaces, in `.usage`, and is read and written under the workspace's lock, so that
every process continues from the previous one. It is removed before a file changes and restored afterwards: a process
that dies in between leaves none, and the next one counts. External changes to the folder are detected when the note is
old, and always before a write is refused.
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
"""How long a count is reused."""
_MOST_BYTES = 200
_DEEPEST = 64


@dataclass(frozen=True, slots=True)
class Usage:
    """The usage of a workspace."""

    files: int
    size: int
    """Bytes."""
    counted_at: int
    """Seconds since 1970."""

    def after(self, *, files: int, size: int) -> "Usage":
        """Return the usage with this much more."""
        return replace(self, files=self.files + files, size=self.size + size)


def counted(folder: Folder) -> Usage:
    """Return the usage of a folder. Raises `OSError`."""
    return Usage(*_count(folder, 0), int(time.time()))


@dataclass(frozen=True, slots=True)
class Note:
    """The note of one workspace's usage; callers hold the workspace's lock.

    Args:
        base: The folder of all workspaces.
        name: The workspace's folder below it.
    """

    base: Folder
    name: str

    def read(self) -> Usage | None:
        """Return the note; None when it is missing or too old."""
        try:
            with self.base.child(NOTES) as notes:
                usage = Usage(*orjson.loads(notes.read(self._file, _MOST_BYTES)))
            is_current = 0 <= time.time() - usage.counted_at < GOOD_SECONDS
        except (OSError, ValueError, TypeError, NotATextFile, WorkspaceFileTooLarge):
            return None
        return usage if is_current else None

    @contextmanager
    def changing(self, after: Usage) -> Iterator[None]:
        """Change files, resulting in this usage; removes the note on failure."""
        self.forget()
        yield
        with suppress(OSError):  # the next write counts
            self._write(after)

    def forget(self) -> None:
        """Remove the note. Raises `OSError`."""
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
