"""Port of file content storage."""

import hashlib
from collections.abc import AsyncIterable, AsyncIterator
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from headgate.features.files.errors import FileTooLarge


@dataclass(frozen=True, slots=True)
class StoredContent:
    """Size and hash of a stored content, computed while it was written."""

    size_bytes: int
    sha256: str
    data_key_id: str | None = None
    """The data key of the content; None when it is not encrypted."""


@dataclass(frozen=True, slots=True)
class StoredItem:
    """A content in the storage."""

    tenant_id: str
    file_id: str
    stored_at: datetime


class Storage(Protocol):
    """Stores contents by tenant and file id. Stored contents are immutable."""

    async def put(
        self, tenant_id: str, file_id: str, content: AsyncIterable[bytes], *, max_bytes: int
    ) -> StoredContent:
        """Store a content atomically.

        Raises `FileTooLarge` as soon as it exceeds `max_bytes`, `StorageFull`, `StorageFailed`.
        """

    async def get(
        self, tenant_id: str, file_id: str, *, sha256: str | None, data_key_id: str | None = None
    ) -> AsyncIterator[bytes]:
        """Yield the content in chunks of up to a mebibyte, after verifying it.

        Without a hash it is not verified: content read by `SealedStorage` is authenticated. It decrypts content of
        `data_key_id`; other storages return bytes as stored. Raises `FileDamaged` when it is missing or changed, before
        the first chunk; `ContentDestroyed` when its data key was destroyed.
        """

    def contents(self) -> AsyncIterator[StoredItem]:
        """Yield every content, of all tenants, unordered; names that are not ids are skipped."""

    async def delete(self, tenant_id: str, file_id: str) -> None:
        """Delete a content; no effect when it does not exist."""


class Counted:
    """Counts, hashes and limits a content while it is read. Raises `FileTooLarge`."""

    def __init__(self, content: AsyncIterable[bytes], max_bytes: int) -> None:
        self._content = content
        self._max_bytes = max_bytes
        self.size = 0
        self.digest = hashlib.sha256()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._content:
            self.size += len(chunk)
            if self.size > self._max_bytes:
                raise FileTooLarge(f"The file is larger than {self._max_bytes} bytes.", limit=self._max_bytes)
            self.digest.update(chunk)
            yield chunk
