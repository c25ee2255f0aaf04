"""An open workspace during one operation: its root path, its quota, and how files are written."""

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
"""Age of a partial file after which its process is considered dead."""


@dataclass(frozen=True, slots=True)
class Root:
    """The open folders of a workspace."""

    base: Folder
    """The folder of all workspaces."""
    workspace: Folder
    """This workspace: the scope of quotas and of the lock."""
    folder: Folder
    """The folder where paths begin: the workspace or a folder in it."""
    settings: Settings
    name: str
    """The workspace's folder below that of all workspaces."""

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the workspace's lock, also against other processes, so that counted or read values stay valid."""
        with Folder(os.open(".", os.O_RDONLY | os.O_CLOEXEC, dir_fd=self.workspace.descriptor)) as lock_folder:
            _wait_for(lock_folder)
            yield

    def write(self, parts: Sequence[str], content: bytes) -> bool:
        """Write a file with its missing folders; the caller holds the lock.

        Returns:
            Whether it is new.

        Raises:
            WorkspaceFileTooLarge, WorkspaceFull, NotATextFile, OSError: nothing is changed then.
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
        """Remove the empty folders of a path, innermost first."""
        for depth in range(len(parts), 0, -1):
            try:
                with self.folder.below(parts[: depth - 1]) as outer:
                    os.rmdir(parts[depth - 1], dir_fd=outer.descriptor)
            except OSError:  # not empty, or already removed
                return

    def usage(self) -> Usage:
        """Count the usage of the complete workspace, including components."""
        return counted(self.workspace)

    @property
    def note(self) -> Note:
        """Return the stored usage; the caller holds the lock."""
        return Note(self.base, self.name)

    def _size_of(self, folders: Sequence[str], name: str) -> int | None:
        try:
            with self.folder.below(folders) as target:
                return target.size_of(name)
        except FileNotFoundError:
            return None

    def _with_room(self, size: int, before: int | None) -> Usage:
        """Return the usage after writing a file of this size over one of the size `before`.

        Raises:
            WorkspaceFull: It would exceed the quota.
        """
        more = {"files": before is None, "size": size - (before or 0)}
        noted_usage = self.note.read()
        if noted_usage is not None and self._refusal(noted_usage, **more) is None:
            return noted_usage.after(**more)
        usage = self.usage()
        refusal = self._refusal(usage, **more)
        if refusal is not None:
            raise refusal
        return usage.after(**more)

    def _refusal(self, usage: Usage, *, files: int, size: int) -> WorkspaceFull | None:
        """Return why this much more does not fit; None when it does."""
        limits = self.settings.workspace
        if files > 0 and usage.files >= limits.max_files:
            return WorkspaceFull(
                f"The workspace is full: it has {usage.files} files, and the limit is {limits.max_files}. Delete some.",
                remedy="Or ask the operator to raise HEADGATE_WORKSPACE__MAX_FILES.",
            )
        if size > 0 and usage.size + size > limits.max_bytes:
            return WorkspaceFull(
                f"The workspace is full: {size} bytes do not fit in addition to the {usage.size} bytes in "
                f"use; the limit is {limits.max_bytes}. Delete some files.",
                remedy="Or ask the operator to raise HEADGATE_WORKSPACE__MAX_BYTES.",
            )
        return None

    @contextmanager
    def _staging(self) -> Iterator[Folder]:
        """Return the folder of temporary files, outside of every workspace."""
        with self.base.child(STAGING, create=True) as staging:
            _remove_stale(staging)
            yield staging


def _remove_stale(staging: Folder) -> None:
    for entry in staging.entries():
        if time.time() - entry.modified > STALE_SECONDS:
            with suppress(FileNotFoundError):
                staging.remove(entry.name)
