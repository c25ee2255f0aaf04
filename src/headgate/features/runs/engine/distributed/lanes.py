"""Lanes: runs of different tenants and users wait in queues of their own, which workers take from in turn.

Redis lists are first in, first out, so the 2,000 runs of one tenant in a single list would be executed before the one
of another. There is a fixed number of lanes, so that a worker can wait for all of them in one command; a hash of the
tenant chooses the group of lanes, a hash of space and user the lane in it. Two users share a lane by chance only.
"""

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Final

from headgate.foundation.fair_places import Share

GROUPS: Final = 8
LANES_PER_GROUP: Final = 8


@dataclass(frozen=True, slots=True)
class Lanes:
    """Chooses the lane of a run.

    The runs of a tenant of weight 3 are spread over three groups, and those of a user or space of weight 3 over three
    lanes of each, so that they have three turns where others have one. Workers need to know no weights.

    Args:
        weights: Weight of tenants, spaces and users by id; 1 of others. Whole numbers from 1 to 8 can be had, the
            nearest is.
    """

    weights: Mapping[str, float] = field(default_factory=dict)

    def of(self, share: Share, run_id: str) -> str:
        """The lane of a run, for example `3-0`: the same whenever the run is sent."""
        groups = _turns(self._weight(share.tenant), GROUPS)
        lanes = _turns(self._weight(share.space) * self._weight(share.user), LANES_PER_GROUP)
        lane, group = divmod(_hash(run_id) % (groups * lanes), groups)
        return f"{(_hash(share.tenant) + group) % GROUPS}-{(_hash(repr(tuple(share))) + lane) % LANES_PER_GROUP}"

    def _weight(self, name: str) -> float:
        return self.weights.get(name, 1.0) if name else 1.0


def _turns(weight: float, most: int) -> int:
    return max(1, min(most, round(weight)))


def all_lanes() -> list[str]:
    """Every lane there is."""
    return [f"{group}-{number}" for group in range(GROUPS) for number in range(LANES_PER_GROUP)]


class LaneCycle:
    """The order in which a worker takes from its queues, as Kombu asks for it (`queue_order_strategy`).

    Queues without a lane come first. The group that was served last is behind the others, and likewise a lane within
    its group. Queues of one lane keep the order in which they were given.
    """

    def __init__(self, it: Iterable[str] | None = None) -> None:
        self._first: list[str] = []
        self._groups: OrderedDict[str, OrderedDict[str, list[str]]] = OrderedDict()
        self.update(it or ())

    def update(self, it: Iterable[str]) -> None:
        """Take from these queues from now on."""
        names = list(it)
        self._first = [name for name in names if _place(name) is None]
        before, self._groups = self._groups, OrderedDict()
        for name in sorted(names, key=lambda name: _rank(before, name)):
            if place := _place(name):
                group, lane = place
                self._groups.setdefault(group, OrderedDict()).setdefault(lane, []).append(name)

    def consume(self, n: int) -> list[str]:
        """The next `n` queues to look at, in this order."""
        queues = [name for lanes in self._groups.values() for names in lanes.values() for name in names]
        return [*self._first, *queues][:n]

    def rotate(self, last_used: str) -> str:
        """A message came from this queue: others are served before it is again."""
        if place := _place(last_used):
            group, lane = place
            if group in self._groups and lane in self._groups[group]:
                self._groups.move_to_end(group)
                self._groups[group].move_to_end(lane)
        return last_used


def _hash(text: str) -> int:
    """The same in every process, which Python's own is not."""
    return int.from_bytes(blake2b(text.encode(errors="surrogatepass"), digest_size=8).digest())


def _place(queue: str) -> tuple[str, str] | None:
    """Group and lane of a queue; None of one without a lane."""
    group, dash, lane = queue.rpartition(".")[2].partition("-")
    return (group, lane) if dash and group.isdigit() and lane.isdigit() else None


def _rank(groups: OrderedDict[str, OrderedDict[str, list[str]]], queue: str) -> tuple[int, int]:
    """Where a queue stands already, so that new queues do not change whose turn it is."""
    place = _place(queue)
    if place is None or place[0] not in groups:
        return len(groups), 0
    lanes = groups[place[0]]
    return list(groups).index(place[0]), list(lanes).index(place[1]) if place[1] in lanes else len(lanes)
