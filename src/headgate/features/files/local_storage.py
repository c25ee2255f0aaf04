"""Contents on the local disk: `<root>/<tenant>/<last two characters of the id>/<id>`, readable by the server only."""

import asyncio
import errno
import hashlib
import os
import time
from collections.abc import AsyncIterable, AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from io import BufferedWriter
from pathlib import Path

from headgate.features.files.errors import FileDamaged, StorageFailed, StorageFull
from headgate.features.files.storage import Counted, StoredContent, StoredItem
from headgate.foundation.ids import is_id, new_id
from headgate.foundation.private_files import private_folder

PIECE_BYTES = 1024 * 1024
INCOMING = ".incoming"
STALE_SECONDS = 86_400
"""Age at which a half-written content is one of a process that died."""
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


class LocalStorage:
    """Writes beside the target and renames, so that a content is there whole or not at all."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._swept = False

    async def put(
        self, tenant_id: str, file_id: str, content: AsyncIterable[bytes], *, max_bytes: int
    ) -> StoredContent:
        """Store a content whole, or leave nothing behind."""
        target = self._path(tenant_id, file_id)
        counted = Counted(content, max_bytes)
        with _storage_errors():
            part = await asyncio.to_thread(self._open_part)
            try:
                async for piece in counted:
                    await asyncio.to_thread(part.file.write, piece)
                await asyncio.to_thread(part.move_to, target)
            except BaseException:
                part.discard()
                raise
        return StoredContent(size_bytes=counted.size, sha256=counted.digest.hexdigest())

    async def get(
        self,
        tenant_id: str,
        file_id: str,
        *,
        sha256: str | None,
        data_key_id: str | None = None,  # noqa: ARG002
    ) -> AsyncIterator[bytes]:
        """The content in pieces, after it was found to be what was stored."""
        path = self._path(tenant_id, file_id)
        with _storage_errors():
            found = await asyncio.to_thread(_hash, path)
        if sha256 is not None and found != sha256:
            raise FileDamaged(
                f"The content of file {file_id} is not what was stored.", remedy="Restore it from a backup."
            )
        return _read(path)

    async def contents(self) -> AsyncIterator[StoredItem]:
        """Every content, one folder at a time."""
        with _storage_errors():
            for folder in await asyncio.to_thread(_folders, self._root):
                for item in await asyncio.to_thread(_items, folder):
                    yield item

    async def delete(self, tenant_id: str, file_id: str) -> None:
        """Remove a content; nothing happens when there is none."""
        path = self._path(tenant_id, file_id)
        with _storage_errors():
            await asyncio.to_thread(path.unlink, missing_ok=True)

    def _path(self, tenant_id: str, file_id: str) -> Path:
        """Ids come from the database, yet nothing but an id ever becomes a path."""
        if not is_id(tenant_id) or not is_id(file_id):
            raise FileDamaged("The file's id is not one that Headgate gives.")
        return self._root / tenant_id / file_id[-2:] / file_id

    def _open_part(self) -> "_Part":
        folder = self._root / INCOMING
        private_folder(folder)
        if not self._swept:
            _remove_stale(folder)
            self._swept = True
        path = folder / new_id()
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        return _Part(path=path, file=os.fdopen(descriptor, "wb"))


@dataclass(frozen=True, slots=True)
class _Part:
    """A content that is still being written."""

    path: Path
    file: BufferedWriter

    def move_to(self, target: Path) -> None:
        """Make the bytes safe from a power cut, then give them their name."""
        self.file.flush()
        os.fsync(self.file.fileno())
        self.file.close()
        private_folder(target.parent)
        self.path.replace(target)

    def discard(self) -> None:
        """Leave nothing behind."""
        with suppress(OSError):  # closing writes what is left, and the disk may be full
            self.file.close()
        self.path.unlink(missing_ok=True)


@contextmanager
def _storage_errors() -> Iterator[None]:
    try:
        yield
    except FileNotFoundError as error:
        raise FileDamaged("The file's content is missing.", remedy="Restore it from a backup.") from error
    except OSError as error:
        if error.errno in _FULL:
            raise StorageFull("The disk is full; nothing was kept.", remedy="Free some space and try again.") from error
        raise StorageFailed(
            f"The storage refused: {error.strerror or type(error).__name__}.",
            remedy="Check the folder `files` in HEADGATE_DATA_DIR and its permissions.",
        ) from error


def _remove_stale(folder: Path) -> None:
    oldest = time.time() - STALE_SECONDS
    for path in folder.iterdir():
        with suppress(FileNotFoundError):  # another process removed it first
            if path.stat().st_mtime < oldest:
                path.unlink()


def _folders(root: Path) -> list[Path]:
    return [path for tenant in root.glob("*") if is_id(tenant.name) for path in tenant.iterdir() if path.is_dir()]


def _items(folder: Path) -> list[StoredItem]:
    found: list[StoredItem] = []
    for path in folder.iterdir():
        with suppress(FileNotFoundError):  # deleted meanwhile
            if is_id(path.name):
                at = datetime.fromtimestamp(path.stat().st_mtime, UTC)
                found.append(StoredItem(folder.parent.name, path.name, at))
    return found


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


async def _read(path: Path) -> AsyncIterator[bytes]:
    with _storage_errors():
        file = await asyncio.to_thread(path.open, "rb")
        with file:
            while piece := await asyncio.to_thread(file.read, PIECE_BYTES):
                yield piece
