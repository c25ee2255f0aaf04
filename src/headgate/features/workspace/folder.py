"""Directories held open. What is below one is reached from its descriptor, one name at a time, and never by a link.

A path is not checked first and opened later: each name is opened as what it is at that moment (`O_NOFOLLOW`), so that
whoever swaps a name for a link meanwhile changes what is refused, and never where a read or a write ends up.
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
    """One name in a folder: a regular file or a folder."""

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
        """A folder in this one, which is no link. Raises `OSError`."""
        if create:
            with suppress(FileExistsError):
                os.mkdir(name, 0o700, dir_fd=self.descriptor)
        try:
            return Folder(os.open(name, _FOLDER, dir_fd=self.descriptor))
        except NotADirectoryError:  # some systems say so of a link too
            _require_no_link(os.stat(name, dir_fd=self.descriptor, follow_symlinks=False))
            raise

    def below(self, parts: Sequence[str], *, create: bool = False) -> "Folder":
        """The folder at the end of a path; the caller closes it. Raises `OSError`."""
        found = Folder(os.dup(self.descriptor))
        for name in parts:
            with found:
                found = found.child(name, create=create)
        return found

    def read(self, name: str, most: int) -> bytes:
        """The content of a regular file.

        Raises:
            NotATextFile: It is a folder, a device or a pipe, which is not opened.
            WorkspaceFileTooLarge: It is larger than `most`.
            OSError: It cannot be read; `ELOOP` for a link, and for a file that has a second name somewhere.
        """
        _require_own_file(os.stat(name, dir_fd=self.descriptor, follow_symlinks=False), name)
        with os.fdopen(os.open(name, _READ, dir_fd=self.descriptor), "rb") as file:
            found = os.fstat(file.fileno())
            _require_own_file(found, name)
            if found.st_size > most:
                raise WorkspaceFileTooLarge(found.st_size, most)
            content = file.read(found.st_size + 1)  # no more: room for what is asked for is made before it is read
            if len(content) > found.st_size:  # it grew meanwhile
                content += file.read(most - found.st_size)
        if len(content) > most:
            raise WorkspaceFileTooLarge(len(content), most)
        return content

    def replace(self, name: str, content: bytes, staging: "Folder") -> None:
        """Give a file this content: the old one or the new one is there at any moment, and never a part of it.

        Args:
            name: The file in this folder.
            content: All of it.
            staging: Where it is written before it gets its name; on the same file system.

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
        """Bytes of a file that is to be replaced; None when there is none. Raises `NotATextFile`, `OSError`."""
        try:
            found = os.stat(name, dir_fd=self.descriptor, follow_symlinks=False)
        except FileNotFoundError:
            return None
        _require_own_file(found, name)
        return found.st_size

    def entry(self, name: str) -> Entry:
        """A regular file. Raises `NotATextFile`, `OSError`."""
        found = os.stat(name, dir_fd=self.descriptor, follow_symlinks=False)
        _require_own_file(found, name)
        return Entry(name, is_folder=False, size=found.st_size, modified=found.st_mtime)

    def file_size(self, name: str) -> int | None:
        """Bytes of a regular file; None for anything else. Raises `OSError`, `ELOOP` for a link."""
        found = os.stat(name, dir_fd=self.descriptor, follow_symlinks=False)
        _require_no_link(found)
        return found.st_size if stat.S_ISREG(found.st_mode) else None

    def entries(self) -> Iterator[Entry]:
        """Files and folders in this one, by name; links and special files are left out. Raises `OSError`."""
        with os.scandir(self.descriptor) as found:
            listed = sorted(found, key=lambda entry: entry.name)
        for entry in listed:
            with suppress(FileNotFoundError):  # removed meanwhile
                about = os.stat(entry.name, dir_fd=self.descriptor, follow_symlinks=False)
                if stat.S_ISREG(about.st_mode) or stat.S_ISDIR(about.st_mode):
                    yield Entry(entry.name, stat.S_ISDIR(about.st_mode), about.st_size, about.st_mtime)


@contextmanager
def told(path: str, what: str = "File") -> Iterator[None]:
    """Tell what the system refused in a workspace's own words.

    Args:
        path: The path as it was asked for.
        what: `File` or `Folder`.
    """
    try:
        yield
    except FileNotFoundError:
        raise WorkspaceFileNotFound(path, what) from None
    except IsADirectoryError:
        raise NotATextFile(f"Path is a folder: {path}", remedy="Name a file in it.") from None
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise PathEscapes(path) from None
        if error.errno == errno.ENOTDIR:
            raise NotATextFile(f"Path goes through a link or a file, which is no folder: {path}") from None
        if error.errno in _FULL:
            raise WorkspaceFull("There is no space left on the server's disk; nothing was kept.") from error
        raise WorkspaceUnavailable(
            f"{path or 'The workspace'} cannot be used: {error.strerror}.", remedy="Ask whoever runs this server."
        ) from error


def _require_no_link(found: os.stat_result) -> None:
    if stat.S_ISLNK(found.st_mode):
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))


def _require_own_file(found: os.stat_result, name: str) -> None:
    _require_no_link(found)
    if stat.S_ISDIR(found.st_mode):
        raise NotATextFile(f"Path is a folder: {name}", remedy="Name a file in it.")
    if not stat.S_ISREG(found.st_mode):
        raise NotATextFile(f"Refusing a special file: {name}")
    if found.st_nlink > 1:  # its other name may be outside
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
