"""The port to where file contents are stored."""

import hashlib
from collections.abc import AsyncIterable, AsyncIterator
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from headgate.features.files.errors import FileTooLarge


@dataclass(frozen=True, slots=True)
class StoredContent:
    """What was stored, as counted and hashed while it was written."""

    size_bytes: int
    sha256: str
    data_key_id: str | None = None
    """The data key that encrypted it; None when it is stored as it came."""


@dataclass(frozen=True, slots=True)
class StoredItem:
    """A content that is in the storage."""

    tenant_id: str
    file_id: str
    stored_at: datetime


class Storage(Protocol):
    """Keeps contents by tenant and file id. What is stored once is never changed."""

    async def put(
        self, tenant_id: str, file_id: str, content: AsyncIterable[bytes], *, max_bytes: int
    ) -> StoredContent:
        """Store a content whole, or leave nothing behind.

        Raises `FileTooLarge` as soon as it is over `max_bytes`, `StorageFull`, `StorageFailed`.
        """
        ...

    async def get(
        self, tenant_id: str, file_id: str, *, sha256: str | None, data_key_id: str | None = None
    ) -> AsyncIterator[bytes]:
        """The content in pieces of up to a mebibyte, after it was found to be what was stored.

        Without a hash it is not checked: what `SealedStorage` reads checks itself. It opens what `data_key_id`
        encrypted; other storages return bytes as they are stored. Raises `FileDamaged` when it is gone or changed,
        before the first piece; `ContentDestroyed` when the data key that encrypted it is.
        """
        ...

    def contents(self) -> AsyncIterator[StoredItem]:
        """Every content, of all tenants, in no order; what has no id as its name is left out."""
        ...

    async def delete(self, tenant_id: str, file_id: str) -> None:
        """Remove a content; nothing happens when there is none."""
        ...


class Counted:
    """A content while it is read: counted, hashed and bounded. Raises `FileTooLarge`."""

    def __init__(self, content: AsyncIterable[bytes], max_bytes: int) -> None:
        self._content = content
        self._max_bytes = max_bytes
        self.size = 0
        self.digest = hashlib.sha256()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for piece in self._content:
            self.size += len(piece)
            if self.size > self._max_bytes:
                raise FileTooLarge(f"The file is larger than {self._max_bytes} bytes.", limit=self._max_bytes)
            self.digest.update(piece)
            yield piece
