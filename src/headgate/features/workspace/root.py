"""A workspace held open for one operation: where its paths begin, what it may hold, and how a file gets into it."""

import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from headgate.features.workspace.errors import WorkspaceFileTooLarge, WorkspaceFull
from headgate.features.workspace.folder import Folder
from headgate.features.workspace.usage import Note, Usage, counted
from headgate.foundation.settings import Settings

if sys.platform != "win32":
    import fcntl

    def _wait_for(folder: Folder) -> None:
        fcntl.flock(folder.descriptor, fcntl.LOCK_EX)


MAX_FILE_BYTES = 10 * 1024 * 1024
STAGING = ".incoming"
STALE_SECONDS = 86_400
"""Age at which a half-written file is one of a process that died."""


@dataclass(frozen=True, slots=True)
class Root:
    """The open folders of a workspace."""

    base: Folder
    """The folder of all workspaces."""
    whole: Folder
    """This workspace: what quotas count, and what is locked."""
    folder: Folder
    """Where paths begin: the workspace or a folder in it."""
    settings: Settings
    name: str
    """The workspace's folder below that of all workspaces."""

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the workspace's lock, against other processes too, so that what was counted or read stays true."""
        with Folder(os.open(".", os.O_RDONLY | os.O_CLOEXEC, dir_fd=self.whole.descriptor)) as mine:
            _wait_for(mine)
            yield

    def write(self, parts: Sequence[str], content: bytes) -> bool:
        """Give a file this content, with the folders that its path needs; the caller holds the lock.

        Returns:
            Whether it is new.

        Raises:
            WorkspaceFileTooLarge, WorkspaceFull, NotATextFile, OSError: nothing has changed then.
        """
        if len(content) > MAX_FILE_BYTES:
            raise WorkspaceFileTooLarge(len(content), MAX_FILE_BYTES)
        *folders, name = parts
        before = self._size_of(folders, name)
        after = self._with_room(len(content), before)
        with self.folder.below(folders, create=True) as target, self._staging() as staging, self.note.changing(after):
            target.replace(name, content, staging)
        return before is None

    def prune(self, parts: Sequence[str]) -> None:
        """Remove the folders of a path that are empty, from the innermost on."""
        for depth in range(len(parts), 0, -1):
            try:
                with self.folder.below(parts[: depth - 1]) as outer:
                    os.rmdir(parts[depth - 1], dir_fd=outer.descriptor)
            except OSError:  # something is in it, or it is gone
                return

    def usage(self) -> Usage:
        """Count what the whole workspace holds, components included."""
        return counted(self.whole)

    @property
    def note(self) -> Note:
        """What was noted of its usage; for who holds the lock."""
        return Note(self.base, self.name)

    def _size_of(self, folders: Sequence[str], name: str) -> int | None:
        try:
            with self.folder.below(folders) as target:
                return target.size_of(name)
        except FileNotFoundError:
            return None

    def _with_room(self, size: int, before: int | None) -> Usage:
        """What the workspace will hold with a file of this size, in place of one of the size `before`.

        Raises:
            WorkspaceFull: That is more than it may.
        """
        more = {"files": before is None, "size": size - (before or 0)}
        noted = self.note.read()
        if noted is not None and self._refusal(noted, **more) is None:
            return noted.after(**more)
        held = self.usage()
        refusal = self._refusal(held, **more)
        if refusal is not None:
            raise refusal
        return held.after(**more)

    def _refusal(self, held: Usage, *, files: int, size: int) -> WorkspaceFull | None:
        """Why this much more does not fit; None when it does."""
        limits = self.settings.workspace
        if files > 0 and held.files >= limits.max_files:
            return WorkspaceFull(
                f"The workspace is full: it holds {held.files} files, and {limits.max_files} are allowed. Delete some.",
                remedy="Or let the operator raise HEADGATE_WORKSPACE__MAX_FILES.",
            )
        if size > 0 and held.size + size > limits.max_bytes:
            return WorkspaceFull(
                f"The workspace is full: {size} bytes do not fit beside the {held.size} that it holds; "
                f"{limits.max_bytes} are allowed. Delete some files.",
                remedy="Or let the operator raise HEADGATE_WORKSPACE__MAX_BYTES.",
            )
        return None

    @contextmanager
    def _staging(self) -> Iterator[Folder]:
        """Where files are written before they get their name: outside of every workspace."""
        with self.base.child(STAGING, create=True) as staging:
            _remove_stale(staging)
            yield staging


def _remove_stale(staging: Folder) -> None:
    for entry in staging.entries():
        if time.time() - entry.modified > STALE_SECONDS:
            with suppress(FileNotFoundError):
                staging.remove(entry.name)
