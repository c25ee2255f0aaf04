"""Places of this process that tasks take in turn, shared fairly by tenant, space and user. See `fair_queue`."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from contextvars import ContextVar
from typing import NamedTuple

from headgate.foundation.fair_queue import FairQueue, Path, Ticket

Place = Ticket[asyncio.Future[None]]


class Share(NamedTuple):
    """For whom work is done."""

    tenant: str
    space: str = ""
    user: str = ""
    """A user, or a visitor of a public page."""


NOBODY = Share("")
_share: ContextVar[Share] = ContextVar("share", default=NOBODY)


def work_for(share: Share) -> None:
    """Do the rest of this task for somebody."""
    _share.set(share)


def current_share() -> Share:
    """For whom this task works; `NOBODY` where that was not said."""
    return _share.get()


def share_of(tenant_id: str) -> Share:
    """For whom this task works, where that is of the tenant; else the tenant as a whole."""
    share = _share.get()
    return share if share.tenant == tenant_id else Share(tenant_id)


class FairPlaces:
    """Places that tasks wait for. Lives on one event loop.

    Args:
        places: How many are shared.
        spare: How many more there are for those below their share; see `FairQueue`.
        most: Most places of a tenant, a space or a user, by path; None: no limit.
    """

    def __init__(self, places: int, spare: int = 0, *, most: Callable[[Path], int | None] = lambda _: None) -> None:
        self._queue: FairQueue[asyncio.Future[None]] = FairQueue(places, spare, most=most)

    @property
    def waiting(self) -> int:
        """How many tasks wait."""
        return len(self._queue)

    @asynccontextmanager
    async def held(self, share: Share, *, seconds: float | None = None) -> AsyncIterator[None]:
        """A place, for as long as the block lasts. Raises `TimeoutError`, see `take`."""
        place = await self.take(share, seconds)
        try:
            yield
        finally:
            self.release(place)

    async def take(self, share: Share, seconds: float | None = None) -> Place:
        """Wait for a place. Raises `TimeoutError` when none is given within so many seconds."""
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
        """Return a place."""
        self._queue.release(place)
        self._admit()

    def _admit(self) -> None:
        while (ticket := self._queue.next()) is not None:
            if not ticket.item.done():
                ticket.item.set_result(None)
