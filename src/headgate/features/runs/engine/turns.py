"""Turns of runs at the database: a run that is alone is not slowed down by the many runs of somebody else.

Runs in progress share one event loop and one queue of writes, so with 31 runs of a tenant next to one run of another,
that one would get a thirty-second of both. Therefore, while runs of others are moving, a tenant has at most as many
transitions in flight as the others have moving runs; the same holds between the spaces of a tenant and the users of a
space. Where the runs of one user move alone nothing is limited, and a run that is at a long step does not count.
"""

import asyncio
import sys
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from headgate.foundation.fair_places import FairPlaces, Share
from headgate.foundation.fair_queue import Path

MOVING_SECONDS = 0.05
"""A run counts as moving for this long after it came for a turn."""


class Turns:
    """Turns of the runs of one process. Lives on one event loop."""

    def __init__(self) -> None:
        self._moving: OrderedDict[str, tuple[float, Share]] = OrderedDict()
        """Moving runs by id, with the time of their last turn; longest ago first."""
        self._counts: Counter[Path] = Counter()
        self._last: dict[Share, str] = {}
        """Of users none of whose runs is in progress: the last one, while it still counts."""
        self._only: Share | None = None
        """Whose runs move alone: these are not counted."""
        self._places = FairPlaces(sys.maxsize, most=self._most)

    def alone(self, share: Share) -> bool:
        """Whether nobody else's runs are moving: then the next transition needs no turn."""
        return share is self._only or share == self._only

    @asynccontextmanager
    async def turn(self, run_id: str, share: Share) -> AsyncIterator[None]:
        """One transition of a run."""
        if self.alone(share):
            yield
            return
        self._moves(run_id, share)
        async with self._places.held(share):
            yield

    def over(self, run_id: str) -> None:
        """The run is over. The last one of a user counts until another of theirs begins, or its time is up."""
        if run_id not in self._moving:
            return
        _, share = self._moving[run_id]
        if self._counts[share] > 1:
            self._remove(run_id)
        else:
            self._last[share] = run_id

    def _moves(self, run_id: str, share: Share) -> None:
        now = asyncio.get_running_loop().time()
        last = self._last.pop(share, run_id)
        if run_id not in self._moving:
            self._count(share, 1)
        if last != run_id:
            self._remove(last)
        self._moving[run_id] = now, share
        self._moving.move_to_end(run_id)
        while now - next(iter(self._moving.values()))[0] > MOVING_SECONDS:
            self._remove(next(iter(self._moving)))
        alone = self._counts[()] == self._counts[share] and not self._places.waiting
        self._only = share if alone else None

    def _remove(self, run_id: str) -> None:
        _, share = self._moving.pop(run_id)
        self._count(share, -1)
        if self._last.get(share) == run_id:
            del self._last[share]

    def _count(self, share: Share, by: int) -> None:
        for depth in range(len(share) + 1):
            path = tuple(share[:depth])
            self._counts[path] += by
            if not self._counts[path]:
                del self._counts[path]

    def _most(self, path: Path) -> int | None:
        """Most transitions in flight of a tenant, a space or a user."""
        others = self._counts[path[:-1]] - self._counts[path]
        return others if others > 0 else None
