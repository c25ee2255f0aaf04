"""Storage quotas: how many bytes an organisation, a space or a visitor may still store."""

from dataclasses import dataclass
from typing import Protocol

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.files.errors import NoRoomForFile


@dataclass(frozen=True, slots=True)
class FileOwner:
    """The owner of a stored file."""

    tenant_id: str
    space_id: str | None = None
    visitor: str | None = None
    """Digest of the network address of a visitor of a public page."""


@dataclass(frozen=True, slots=True)
class RemainingBytes:
    """The remaining bytes of the nearest limit."""

    size_bytes: int
    """Negative when the limit is exceeded."""
    refusal: NoRoomForFile


class StorageLimits(Protocol):
    """Limits of stored bytes."""

    async def left(self, session: AsyncSession, whose: FileOwner, *, lock: bool) -> RemainingBytes | None:
        """Return the remaining bytes; None: no limit.

        With `lock`, the tenant is locked until the transaction ends, so the result stays valid: call it after adding
        the file's record, and roll back when the result is negative.
        """
