"""Limited capacity of this process, shared fairly by tenant, space and user. See `fair_queue`."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from contextvars import ContextVar
from typing import NamedTuple

from headgate.foundation.fair_queue import FairQueue, Path, Ticket

Place = Ticket[asyncio.Future[None]]


class Share(NamedTuple):
    """The tenant, space and user that work is done for."""

    tenant: str
    space: str = ""
    user: str = ""
    """A user, or a visitor of a public page."""


NOBODY = Share("")
_share: ContextVar[Share] = ContextVar("share", default=NOBODY)


def work_for(share: Share) -> None:
    """Attribute the rest of this task to a tenant, space and user."""
    _share.set(share)


def current_share() -> Share:
    """Return the share of the current task; `NOBODY` when none is set."""
    return _share.get()


def share_of(tenant_id: str) -> Share:
    """The share of the current task when it belongs to the tenant; otherwise the share of the tenant as a whole."""
    share = _share.get()
    return share if share.tenant == tenant_id else Share(tenant_id)


class FairPlaces:
    """Slots that tasks wait for. Bound to one event loop.

    Args:
        places: Number of regular slots.
        spare: Number of additional slots for paths below their share; see `FairQueue`.
        limit_of: Maximum slots of a tenant, space or user, by path; None means no limit.
    """

    def __init__(self, places: int, spare: int = 0, *, limit_of: Callable[[Path], int | None] = lambda _: None) -> None:
        self._queue: FairQueue[asyncio.Future[None]] = FairQueue(places, spare, limit_of=limit_of)

    @property
    def waiting(self) -> int:
        """Number of waiting tasks."""
        return len(self._queue)

    @asynccontextmanager
    async def held(self, share: Share, *, seconds: float | None = None) -> AsyncIterator[None]:
        """A slot for the duration of the block. Raises `TimeoutError`, see `take`."""
        place = await self.take(share, seconds)
        try:
            yield
        finally:
            self.release(place)

    async def take(self, share: Share, seconds: float | None = None) -> Place:
        """Wait for a slot. Raises `TimeoutError` when none is assigned within the given number of seconds."""
        ticket = self._queue.add(share, asyncio.get_running_loop().create_future())
        self._admit()
        try:
            async with asyncio.timeout(seconds):
                await ticket.item
        except BaseException:
            if ticket.granted:
                self.release(ticket)
            else:
                self._queue.withdraw(ticket)
            raise
        return ticket

    def release(self, place: Place) -> None:
        """Release a slot."""
        self._queue.release(place)
        self._admit()

    def _admit(self) -> None:
        while (ticket := self._queue.next()) is not None:
            if not ticket.item.done():
                ticket.item.set_result(None)
