"""A storage that is open for one step: lists, reads, writes, copies and deletes files. Every path is relative."""

import asyncio
import posixpath
import socket
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

from headgate.components.sockets import checked_endpoint, closed_after, connected
from headgate.components.storage.paths import is_name
from headgate.foundation.errors import HeadgateError, UpstreamFailed
from headgate.foundation.extras import require_extra
from headgate.foundation.flow_threads import wait_in_flow_thread
from headgate.foundation.glob import Glob
from headgate.foundation.ids import new_id
from headgate.graph.names import clipped
from headgate.sdk import ComponentError, Connection

if TYPE_CHECKING:
    from fsspec.spec import AbstractFileSystem

Result = TypeVar("Result")
MOST_LISTED = 10_000
"""Maximum entries of folders that one listing reads."""
MOST_BYTES = 100_000_000
"""Maximum size of the files that one step reads or writes."""
MOST_RECEIVED = 2 * MOST_BYTES
"""How much the servers of a connection may send to one step, listings included."""
TEMPORARY = ".headgate-"
"""Begins the names of files that are being written; no listing has them."""


class NoSuchFile(ComponentError):
    """A file or folder that does not exist."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A file, or a folder where a listing has folders."""

    path: str
    size: int
    changed: datetime | None
    version: str
    """Changes with the content: the entity tag where the server has one, else time and size."""
    is_folder: bool = False


@dataclass(frozen=True, slots=True)
class Storage:
    """The files of a connection. Blocking work is done in a thread.

    Args:
        files: The file system of the library.
        root: Where its paths begin.
        subject: The component, for errors.
        connection: The name of the connection, for errors.
        changed_at: Reads the time of the last change.
    """

    files: "AbstractFileSystem"
    root: str
    subject: str
    connection: str
    changed_at: Callable[[Mapping[str, Any]], datetime | None]

    async def list_files(self, folder: str, pattern: str) -> list[Entry]:
        """Return the files below a folder whose path in it matches, by path. Raises `ComponentError`."""
        return await self._call(lambda: sorted(self._walk(folder, Glob(_parts(pattern))), key=lambda entry: entry.path))

    async def list_folder(self, folder: str) -> list[Entry]:
        """Return the files and folders in a folder, at most `MOST_LISTED` and one more: folders first, by name."""
        entries = await self._call(lambda: list(islice(self._entries(folder), MOST_LISTED + 1)))
        return sorted(entries, key=lambda entry: (not entry.is_folder, entry.path))

    async def read(self, path: str, most: int = MOST_BYTES) -> bytes:
        """Return the content of a file. Raises `ComponentError` when it has more bytes."""

        def read() -> bytes:
            content = self._read(path, most)
            if len(content) > most:
                raise self._refused(f"'{clipped(path, 80)}' has more than {most} bytes", "Choose smaller files.")
            return content

        return await self._call(read)

    async def write(self, path: str, content: bytes, *, replace: bool) -> None:
        """Write a file with the folders that it needs. Raises `ComponentError` when it exists and is not replaced.

        An existing file with the same content is that of an earlier attempt.
        """

        def write() -> None:
            if not replace and self._holds(path, content):
                return
            self._require_free(path, replace=replace)
            self._make(path, lambda place: self.files.pipe_file(place, content))

        await self._call(write)

    async def copy(self, path: str, target: str, *, replace: bool, delete: bool = False) -> None:
        """Copy a file, and with `delete` remove the original once the copy is complete."""
        if path == target:
            raise self._refused("source and target are the same", "Give another path.")

        def copy() -> None:
            self._require_free(target, replace=replace)
            self._require_file(path)
            with suppress(FileExistsError, NotImplementedError):
                self.files.makedirs(posixpath.dirname(self._place(target)), exist_ok=True)
            self._make(target, lambda place: self.files.cp_file(self._place(path), place))
            if delete:
                self.files.rm_file(self._place(path))

        await self._call(copy)

    async def delete(self, path: str) -> None:
        """Delete a file."""

        def delete() -> None:
            self._require_file(path)
            self.files.rm_file(self._place(path))

        await self._call(delete)

    def _read(self, path: str, most: int) -> bytes:
        """Return the content, or one byte more than the limit."""
        content = bytearray()
        with self.files.open(self._place(path), "rb") as file:
            while len(content) <= most and (piece := file.read(min(1_000_000, most + 1 - len(content)))):
                content += piece
        return bytes(content)

    def _place(self, path: str) -> str:
        return posixpath.join(self.root, path) if path else self.root

    def _make(self, path: str, make: Callable[[str], None]) -> None:
        """Make a file under a temporary name, then rename it: a failure leaves no half file and keeps the old one.

        Object stores need no temporary name: they store an object as a whole.
        """
        place = self._place(path)
        replace_file = getattr(self.files, "replace_file", None)
        if replace_file is None:
            make(place)
            return
        temporary = posixpath.join(posixpath.dirname(place), f"{TEMPORARY}{new_id()}")
        try:
            make(temporary)
            replace_file(temporary, place)
        except BaseException:
            with suppress(Exception):
                self.files.rm_file(temporary)
            raise

    def _holds(self, path: str, content: bytes) -> bool:
        with suppress(FileNotFoundError):
            is_file = self.files.info(self._place(path))["type"] == "file"
            return is_file and self._read(path, len(content)) == content
        return False

    def _require_free(self, path: str, *, replace: bool) -> None:
        with suppress(FileNotFoundError):
            if self.files.info(self._place(path))["type"] == "directory":
                raise self._refused(f"'{clipped(path, 80)}' is a folder", "Give another path.")
            if not replace:
                raise self._refused(f"'{clipped(path, 80)}' exists", "Give another path, or replace it.")

    def _require_file(self, path: str) -> None:
        if self.files.info(self._place(path))["type"] == "directory":
            raise self._refused(f"'{clipped(path, 80)}' is a folder", "Name a file.")

    def _walk(self, folder: str, glob: Glob) -> Iterator[Entry]:
        left, pending = MOST_LISTED, [(folder, glob.start)]
        while pending:
            parent, states = pending.pop()
            for entry in self._entries(parent):
                left -= 1
                if left < 0:
                    raise self._refused(
                        f"the folder has more than {MOST_LISTED:,} entries", "Choose a smaller folder or pattern."
                    )
                after = glob.step(states, posixpath.basename(entry.path))
                if entry.is_folder and after:
                    pending.append((entry.path, after))
                elif not entry.is_folder and glob.accepts(after):
                    yield entry

    def _entries(self, folder: str) -> Iterator[Entry]:
        """Yield what is in a folder. Only the last part of the names is used: the rest is the server's claim."""
        for info in self.files.ls(self._place(folder), detail=True):
            name = posixpath.basename(str(info["name"]).rstrip("/"))
            if not is_name(name) or name.startswith(TEMPORARY) or info["type"] not in {"file", "directory"}:
                continue
            size, changed = int(info.get("size") or 0), self.changed_at(info)
            tag = info.get("e_tag") or info.get("etag")
            version = str(tag or f"{changed.isoformat() if changed else ''}:{size}")[:200]
            yield Entry(posixpath.join(folder, name), size, changed, version, info["type"] == "directory")

    async def _call(self, work: Callable[[], Result]) -> Result:
        def guarded() -> Result:
            with self._failures():
                return work()

        return await wait_in_flow_thread(guarded)

    @contextmanager
    def _failures(self) -> Iterator[None]:
        """Convert the errors of the libraries; their messages name requests and paths."""
        try:
            yield
        except HeadgateError:
            raise
        except FileNotFoundError as error:
            refused = self._refused("there is no such file or folder", "Check the path.")
            raise NoSuchFile(refused.detail, remedy=refused.remedy) from error
        except PermissionError as error:
            raise self._refused(
                "the storage refused access", "Check the user and the rights in the storage."
            ) from error
        except Exception as error:  # each library has its own errors
            raise failed(self.subject, self.connection, error) from error

    def _refused(self, reason: str, remedy: str) -> ComponentError:
        return ComponentError(f"{self.subject}: connection '{self.connection}': {reason}.", remedy=remedy)


@asynccontextmanager
async def opened_storage(connection: Connection, *, seconds: float, subject: str) -> AsyncIterator[Storage]:
    """Open the storage of a connection for a block, at most for some seconds; then its connections are closed.

    Raises `ComponentError`, `ExtraNotInstalled`, `Forbidden`, `UpstreamFailed`.
    """
    require_extra("storage", subject)
    drivers = _drivers()
    async with AsyncExitStack() as stack:
        if connection.kind == "local_folder":
            files, root = drivers.local_files(connection)
        elif connection.kind == "sftp":
            endpoint = await checked_endpoint(connection)
            stream = await wait_in_flow_thread(connected, endpoint, seconds)
            stack.callback(stream.close)
            await stack.enter_async_context(closed_after(stream, seconds, subject=subject))
            files, root = await _signed_in(drivers, connection, stream, seconds, subject)
        else:
            proxy = await stack.enter_async_context(connection.proxy(MOST_RECEIVED))
            open_files = drivers.OBJECT_FILES.get(connection.kind, drivers.webdav_files)
            files, root = open_files(connection, proxy, seconds)
        stack.callback(getattr(files, "close", _nothing))
        await stack.enter_async_context(_within(seconds, subject))
        yield Storage(files, root, subject, connection.name, drivers.changed_at)


async def _signed_in(
    drivers: ModuleType, connection: Connection, stream: socket.socket, seconds: float, subject: str
) -> tuple["AbstractFileSystem", str]:
    try:
        signed_in: tuple[AbstractFileSystem, str] = await wait_in_flow_thread(
            drivers.sftp_files, connection, stream, seconds
        )
    except HeadgateError:
        raise
    except Exception as error:
        raise failed(subject, connection.name, error) from error
    return signed_in


def failed(subject: str, name: str, error: Exception) -> UpstreamFailed:
    """Return the error of a storage that cannot be used, with the reason that the library gives."""
    reason = " ".join(str(error).split()) or type(error).__name__
    return UpstreamFailed(
        f"{subject}: the storage of the connection '{name}' failed: {clipped(reason, 200)}.",
        remedy="Check the address, the keys and the rights of the connection.",
    )


@asynccontextmanager
async def _within(seconds: float, subject: str) -> AsyncIterator[None]:
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError as error:
        raise UpstreamFailed(
            f"{subject}: the storage took longer than {seconds:g} seconds.", remedy="Choose fewer files."
        ) from error


def _nothing() -> None:
    """The file system holds no connection."""


def _parts(pattern: str) -> list[str]:
    return [part for part in pattern.strip("/").split("/") if part not in {"", "."}] or ["*"]


def _drivers() -> ModuleType:
    from headgate.components.storage import drivers  # noqa: PLC0415 - heavy libraries

    return drivers
