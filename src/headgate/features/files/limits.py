"""What files needs to know of limits: how many bytes an organisation, a space or a visitor may still store."""

from dataclasses import dataclass
from typing import Protocol

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.files.errors import NoRoomForFile


@dataclass(frozen=True, slots=True)
class Whose:
    """Who stores a file."""

    tenant_id: str
    space_id: str | None = None
    visitor: str | None = None
    """Digest of the network address of a visitor of a public page."""


@dataclass(frozen=True, slots=True)
class Left:
    """What is left of the limit that is nearest."""

    size_bytes: int
    """Negative when more is stored than the limit allows."""
    refusal: NoRoomForFile


class StorageLimits(Protocol):
    """Limits of stored bytes."""

    async def left(self, session: AsyncSession, whose: Whose, *, lock: bool) -> Left | None:
        """What is left; None: no limit.

        With `lock` the session's transaction holds the tenant until it ends, so that what is read stays true: call it
        after the file's record was added, and let the transaction fail when less than nothing is left.
        """
        ...
