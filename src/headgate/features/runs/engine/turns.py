"""Fair scheduling of database transitions: many runs of one user do not slow down a single run of another.

Runs in progress share one event loop and one queue of writes, so with 31 runs of one tenant and one run of another,
that one would get a thirty-second of both. Therefore, while runs of others are moving, a tenant has at most as many
transitions in flight as the others have moving runs; the same holds between the spaces of a tenant and the users of a
space. If only one user's runs are moving, nothing is limited. A run in a long step does not count as moving.
"""

import asyncio
import sys
from collections import Counter, OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from headgate.foundation.fair_places import FairPlaces, Share
from headgate.foundation.fair_queue import Path

MOVING_SECONDS = 0.05
"""How long a run counts as moving after its last request for a turn."""


class Turns:
    """Turns of the runs of one process. Lives on one event loop."""

    def __init__(self) -> None:
        self._moving: OrderedDict[str, tuple[float, Share]] = OrderedDict()
        """Moving runs by id, with the time of their last turn; longest ago first."""
        self._counts: Counter[Path] = Counter()
        self._last: dict[Share, str] = {}
        """Users without a run in progress: their last run, while it still counts."""
        self._only: Share | None = None
        """The only user with moving runs, if there is one: these are not counted."""
        self._places = FairPlaces(sys.maxsize, limit_of=self._most)

    def alone(self, share: Share) -> bool:
        """Whether no other user's runs are moving: then the next transition needs no turn."""
        return share is self._only or share == self._only

    @asynccontextmanager
    async def turn(self, run_id: str, share: Share) -> AsyncIterator[None]:
        """Hold a turn for one transition of a run."""
        if self.alone(share):
            yield
            return
        self._moves(run_id, share)
        async with self._places.held(share):
            yield

    def over(self, run_id: str) -> None:
        """End a run. A user's last one counts until another of theirs starts, or its time is up."""
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
        """Return the most transitions in flight of a tenant, a space or a user."""
        other_runs = self._counts[path[:-1]] - self._counts[path]
        return other_runs if other_runs > 0 else None
