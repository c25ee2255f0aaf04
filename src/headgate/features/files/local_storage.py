"""File contents on disk: `<root>/<tenant>/<last two characters of the id>/<id>`, readable by the server only."""

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
"""Age of a partial content after which its process is considered dead."""
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


class LocalStorage:
    """Writes to a temporary file and renames it, so that contents are stored atomically."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._swept = False

    async def put(
        self, tenant_id: str, file_id: str, content: AsyncIterable[bytes], *, max_bytes: int
    ) -> StoredContent:
        """Store a content atomically."""
        target = self._path(tenant_id, file_id)
        counted = Counted(content, max_bytes)
        with _storage_errors():
            part = await asyncio.to_thread(self._open_part)
            try:
                async for chunk in counted:
                    await asyncio.to_thread(part.file.write, chunk)
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
        """Yield the content in chunks, after verifying it."""
        path = self._path(tenant_id, file_id)
        with _storage_errors():
            digest = await asyncio.to_thread(_hash, path)
        if sha256 is not None and digest != sha256:
            raise FileDamaged(
                f"The content of file {file_id} differs from what was stored.", remedy="Restore it from a backup."
            )
        return _read(path)

    async def contents(self) -> AsyncIterator[StoredItem]:
        """Yield every content, one folder at a time."""
        with _storage_errors():
            for folder in await asyncio.to_thread(_folders, self._root):
                for item in await asyncio.to_thread(_items, folder):
                    yield item

    async def delete(self, tenant_id: str, file_id: str) -> None:
        """Delete a content; no effect when it does not exist."""
        path = self._path(tenant_id, file_id)
        with _storage_errors():
            await asyncio.to_thread(path.unlink, missing_ok=True)

    def _path(self, tenant_id: str, file_id: str) -> Path:
        """Return the path. Ids come from the database, but only valid ids become paths."""
        if not is_id(tenant_id) or not is_id(file_id):
            raise FileDamaged("Invalid file id.")
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
    """A partially written content."""

    path: Path
    file: BufferedWriter

    def move_to(self, target: Path) -> None:
        """Sync the bytes to disk, then rename the file."""
        self.file.flush()
        os.fsync(self.file.fileno())
        self.file.close()
        private_folder(target.parent)
        self.path.replace(target)

    def discard(self) -> None:
        """Remove the temporary file."""
        with suppress(OSError):  # closing writes remaining bytes, and the disk may be full
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
            raise StorageFull(
                "The disk is full; nothing was stored.", remedy="Free some space and try again."
            ) from error
        raise StorageFailed(
            f"The storage reported an error: {error.strerror or type(error).__name__}.",
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
    items: list[StoredItem] = []
    for path in folder.iterdir():
        with suppress(FileNotFoundError):  # deleted concurrently
            if is_id(path.name):
                modified_at = datetime.fromtimestamp(path.stat().st_mtime, UTC)
                items.append(StoredItem(folder.parent.name, path.name, modified_at))
    return items


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


async def _read(path: Path) -> AsyncIterator[bytes]:
    with _storage_errors():
        file = await asyncio.to_thread(path.open, "rb")
        with file:
            while chunk := await asyncio.to_thread(file.read, PIECE_BYTES):
                yield chunk
