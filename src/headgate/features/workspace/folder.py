"""Open directories. Entries are accessed from a descriptor, one name at a time, and never through a link.

A path is not checked first and opened later: each name is opened directly (`O_NOFOLLOW`), so that replacing a name by a
link at the same time changes what is refused, and never the target of a read or a write.
"""

import errno
import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Self

from headgate.features.workspace.errors import (
    NotATextFile,
    PathEscapes,
    WorkspaceFileNotFound,
    WorkspaceFileTooLarge,
    WorkspaceFull,
    WorkspaceUnavailable,
)
from headgate.foundation.ids import new_id

_FOLDER = os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
_READ = os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_READ |= getattr(os, "O_NOCTTY", 0)
_CREATE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0)
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of a folder: a regular file or a folder."""

    name: str
    is_folder: bool
    size: int
    modified: float
    """Seconds since 1970."""


class Folder:
    """An open directory."""

    def __init__(self, descriptor: int) -> None:
        self.descriptor = descriptor

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self.descriptor)

    def child(self, name: str, *, create: bool = False) -> "Folder":
        """Return a folder in this one, which is not a link. Raises `OSError`."""
        if create:
            with suppress(FileExistsError):
                os.mkdir(name, 0o700, dir_fd=self.descriptor)
        try:
            return Folder(os.open(name, _FOLDER, dir_fd=self.descriptor))
        except NotADirectoryError:  # some systems report a link this way
            _require_no_link(os.stat(name, dir_fd=self.descriptor, follow_symlinks=False))
            raise

    def below(self, parts: Sequence[str], *, create: bool = False) -> "Folder":
        """Return the folder at the end of a path; the caller closes it. Raises `OSError`."""
        folder = Folder(os.dup(self.descriptor))
        for name in parts:
            with folder:
                folder = folder.child(name, create=create)
        return folder

    def read(self, name: str, limit: int) -> bytes:
        """Return the content of a regular file.

        Raises:
            NotATextFile: It is a folder, a device or a pipe, which is not opened.
            WorkspaceFileTooLarge: It is larger than `most`.
            OSError: It cannot be read; `ELOOP` for a link, and for a file with a second name.
        """
        _require_own_file(os.stat(name, dir_fd=self.descriptor, follow_symlinks=False), name)
        with os.fdopen(os.open(name, _READ, dir_fd=self.descriptor), "rb") as file:
            status = os.fstat(file.fileno())
            _require_own_file(status, name)
            if status.st_size > limit:
                raise WorkspaceFileTooLarge(status.st_size, limit)
            content = file.read(
                status.st_size + 1
            )  # no more: memory for the requested size is allocated before reading
            if len(content) > status.st_size:  # it grew in the meantime
                content += file.read(limit - status.st_size)
        if len(content) > limit:
            raise WorkspaceFileTooLarge(len(content), limit)
        return content

    def replace(self, name: str, content: bytes, staging: "Folder") -> None:
        """Replace the content of a file atomically.

        Args:
            name: The file in this folder.
            content: The complete content.
            staging: The folder of the temporary file, on the same file system.

        Raises `OSError`; nothing is left behind then.
        """
        part = new_id()
        try:
            with os.fdopen(os.open(part, _CREATE, 0o600, dir_fd=staging.descriptor), "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            os.replace(part, name, src_dir_fd=staging.descriptor, dst_dir_fd=self.descriptor)
        except BaseException:
            with suppress(FileNotFoundError):
                os.unlink(part, dir_fd=staging.descriptor)
            raise

    def remove(self, name: str) -> None:
        """Remove a file. Raises `OSError`."""
        os.unlink(name, dir_fd=self.descriptor)

    def size_of(self, name: str) -> int | None:
        """Return the size of a file to be replaced; None when there is none. Raises `NotATextFile`, `OSError`."""
        try:
            status = os.stat(name, dir_fd=self.descriptor, follow_symlinks=False)
        except FileNotFoundError:
            return None
        _require_own_file(status, name)
        return status.st_size

    def entry(self, name: str) -> Entry:
        """Return a regular file. Raises `NotATextFile`, `OSError`."""
        status = os.stat(name, dir_fd=self.descriptor, follow_symlinks=False)
        _require_own_file(status, name)
        return Entry(name, is_folder=False, size=status.st_size, modified=status.st_mtime)

    def file_size(self, name: str) -> int | None:
        """Return the size of a regular file; None for anything else. Raises `OSError`, `ELOOP` for a link."""
        status = os.stat(name, dir_fd=self.descriptor, follow_symlinks=False)
        _require_no_link(status)
        return status.st_size if stat.S_ISREG(status.st_mode) else None

    def entries(self) -> Iterator[Entry]:
        """Return files and folders in this one, by name; links and special files are skipped. Raises `OSError`."""
        with os.scandir(self.descriptor) as entries:
            ordered = sorted(entries, key=lambda entry: entry.name)
        for entry in ordered:
            with suppress(FileNotFoundError):  # removed in the meantime
                status = os.stat(entry.name, dir_fd=self.descriptor, follow_symlinks=False)
                if stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode):
                    yield Entry(entry.name, stat.S_ISDIR(status.st_mode), status.st_size, status.st_mtime)


@contextmanager
def workspace_errors(path: str, kind: str = "File") -> Iterator[None]:
    """Convert system errors to those of a workspace.

    Args:
        path: The requested path.
        kind: `File` or `Folder`.
    """
    try:
        yield
    except FileNotFoundError:
        raise WorkspaceFileNotFound(path, kind) from None
    except IsADirectoryError:
        raise NotATextFile(f"Path is a folder: {path}", remedy="Give the path of a file in it.") from None
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise PathEscapes(path) from None
        if error.errno == errno.ENOTDIR:
            raise NotATextFile(f"Path leads through a link or a file, not a folder: {path}") from None
        if error.errno in _FULL:
            raise WorkspaceFull("There is no space left on the server's disk; nothing was stored.") from error
        raise WorkspaceUnavailable(
            f"{path or 'The workspace'} cannot be used: {error.strerror}.", remedy="Ask the operator of this server."
        ) from error


def _require_no_link(status: os.stat_result) -> None:
    if stat.S_ISLNK(status.st_mode):
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))


def _require_own_file(status: os.stat_result, name: str) -> None:
    _require_no_link(status)
    if stat.S_ISDIR(status.st_mode):
        raise NotATextFile(f"Path is a folder: {name}", remedy="Give the path of a file in it.")
    if not stat.S_ISREG(status.st_mode):
        raise NotATextFile(f"Refusing a special file: {name}")
    if status.st_nlink > 1:  # its other name may be outside
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
