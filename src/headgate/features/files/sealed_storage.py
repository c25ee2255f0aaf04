"""Encrypts contents with their tenant's data key before they are stored."""

from collections.abc import AsyncIterable, AsyncIterator
from hashlib import sha256 as new_sha256
from typing import TYPE_CHECKING, Protocol

from headgate.features.files.errors import FileDamaged
from headgate.features.files.storage import Counted, Storage, StoredContent, StoredItem
from headgate.foundation.lazy import lazy_module

if TYPE_CHECKING:
    from headgate.foundation import sealing
    from headgate.foundation.sealing import DataKey
else:
    sealing = lazy_module("headgate.foundation.sealing")


class Keys(Protocol):
    """The data keys of tenants."""

    async def current(self, tenant_id: str) -> "DataKey | None":
        """Return the key for new content of a tenant; None when it is stored unencrypted."""

    async def get(self, tenant_id: str, key_id: str) -> "DataKey":
        """Return a key of a tenant. Raises `ContentDestroyed`."""


class SealedStorage:
    """Stores contents in another storage, encrypted when the tenant has a data key.

    Existing content stays unchanged and readable: the record of each file names its key.
    """

    def __init__(self, inner: Storage, keys: Keys) -> None:
        self.inner = inner
        self._keys = keys

    async def put(
        self, tenant_id: str, file_id: str, content: AsyncIterable[bytes], *, max_bytes: int
    ) -> StoredContent:
        """Store a content atomically. Size and hash are those of the unencrypted content."""
        key = await self._keys.current(tenant_id)
        if key is None:
            return await self.inner.put(tenant_id, file_id, content, max_bytes=max_bytes)
        counted = Counted(content, max_bytes)
        sealed = sealing.sealed_file(key, counted, _place(file_id))
        await self.inner.put(tenant_id, file_id, sealed, max_bytes=sealing.sealed_size(max_bytes))
        return StoredContent(counted.size, counted.digest.hexdigest(), key.id)

    async def get(
        self, tenant_id: str, file_id: str, *, sha256: str | None, data_key_id: str | None = None
    ) -> AsyncIterator[bytes]:
        """Yield the content in chunks, after verifying it."""
        if data_key_id is None:
            return await self.inner.get(tenant_id, file_id, sha256=sha256)
        key = await self._keys.get(tenant_id, data_key_id)
        digest = new_sha256()
        async for chunk in self._opened(key, tenant_id, file_id):
            digest.update(chunk)
        if sha256 is not None and digest.hexdigest() != sha256:
            raise _damaged(file_id)
        return self._opened(key, tenant_id, file_id)

    def contents(self) -> AsyncIterator[StoredItem]:
        """Yield every content, of all tenants."""
        return self.inner.contents()

    async def delete(self, tenant_id: str, file_id: str) -> None:
        """Delete a content; no effect when it does not exist."""
        await self.inner.delete(tenant_id, file_id)

    async def _opened(self, key: "DataKey", tenant_id: str, file_id: str) -> AsyncIterator[bytes]:
        stored = await self.inner.get(tenant_id, file_id, sha256=None)
        try:
            async for chunk in sealing.opened_file(key, stored, _place(file_id)):
                yield chunk
        except sealing.SealBroken as error:
            raise _damaged(file_id) from error


def _damaged(file_id: str) -> FileDamaged:
    return FileDamaged(
        f"The content of file {file_id} differs from what was stored.", remedy="Restore it from a backup."
    )


def _place(file_id: str) -> str:
    """Return the binding of a content in addition to its tenant: another file cannot replace it."""
    return f"files/{file_id}/content"
