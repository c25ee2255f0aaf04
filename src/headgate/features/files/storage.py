"""The port to where file contents are kept."""

from collections.abc import AsyncIterable, AsyncIterator
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True, slots=True)
class StoredContent:
    """What was stored, as counted and hashed while it was written."""

    size_bytes: int
    sha256: str


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

    async def get(self, tenant_id: str, file_id: str, *, sha256: str) -> AsyncIterator[bytes]:
        """The content in pieces of up to a mebibyte, after it was found to be what was stored.

        Raises `FileDamaged` when it is gone or changed, before the first piece.
        """
        ...

    def contents(self) -> AsyncIterator[StoredItem]:
        """Every content, of all tenants, in no order; what has no id as its name is left out."""
        ...

    async def delete(self, tenant_id: str, file_id: str) -> None:
        """Remove a content; nothing happens when there is none."""
        ...
