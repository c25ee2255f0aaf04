"""Lanes: runs of different tenants and users wait in separate queues, which workers serve in turn.

Redis lists are first in, first out, so the 2,000 runs of one tenant in a single list would be executed before the one
of another. There is a fixed number of lanes, so that a worker can wait for all of them in one command; a hash of the
tenant chooses the group of lanes, a hash of space and user the lane in it. Two users share a lane by chance only.
In a lane, runs that have not begun wait in three queues by priority, which take turns by weight (start-time fair
queueing): of ten starts six are of high, three of normal and one of low priority, so that no run waits for ever.
"""

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Final

from headgate.foundation.fair_places import Share

SHARES: Final = {"high": 6.0, "first": 3.0, "low": 1.0}
"""Starts of each priority, while runs of all of them wait in a lane."""
GROUPS: Final = 8
LANES_PER_GROUP: Final = 8


@dataclass(frozen=True, slots=True)
class Lanes:
    """Assigns runs to lanes.

    The runs of a tenant of weight 3 are spread over three groups, and those of a user or space of weight 3 over three
    lanes of each, so that they have three turns where others have one. Workers need to know no weights.

    Args:
        weights: Weight of tenants, spaces and users by id; 1 of others. Whole numbers from 1 to 8 can be had, the
            nearest is.
    """

    weights: Mapping[str, float] = field(default_factory=dict)

    def of(self, share: Share, run_id: str) -> str:
        """Return the lane of a run, for example `3-0`: the same at every dispatch of the run."""
        groups = _turns(self._weight(share.tenant), GROUPS)
        lanes = _turns(self._weight(share.space) * self._weight(share.user), LANES_PER_GROUP)
        lane, group = divmod(_hash(run_id) % (groups * lanes), groups)
        return f"{(_hash(share.tenant) + group) % GROUPS}-{(_hash(repr(tuple(share))) + lane) % LANES_PER_GROUP}"

    def _weight(self, name: str) -> float:
        return self.weights.get(name, 1.0) if name else 1.0


def _turns(weight: float, limit: int) -> int:
    return max(1, min(limit, round(weight)))


def all_lanes() -> list[str]:
    """Return all lanes."""
    return [f"{group}-{number}" for group in range(GROUPS) for number in range(LANES_PER_GROUP)]


class LaneCycle:
    """The order in which a worker serves its queues, in Kombu's interface (`queue_order_strategy`).

    Queues without a lane come first. The group that was served last goes to the end, and so does a lane within
    its group. In a lane the queues of priorities come last, by their turns; others keep their given order.
    """

    def __init__(self, it: Iterable[str] | None = None) -> None:
        self._first: list[str] = []
        self._groups: OrderedDict[str, OrderedDict[str, list[str]]] = OrderedDict()
        self._next: dict[str, float] = {}
        """Virtual time at which the next turn of a queue begins."""
        self.update(it or ())

    def update(self, it: Iterable[str]) -> None:
        """Replace the queues."""
        names = list(it)
        self._first = [name for name in names if _place(name) is None]
        previous, self._groups = self._groups, OrderedDict()
        for name in sorted(names, key=lambda name: _rank(previous, name)):
            if group_and_lane := _place(name):
                group, lane = group_and_lane
                self._groups.setdefault(group, OrderedDict()).setdefault(lane, []).append(name)

    def consume(self, n: int) -> list[str]:
        """Return the next `n` queues to check, in this order."""
        lanes = [names for lanes in self._groups.values() for names in lanes.values()]
        return [*self._first, *(name for names in lanes for name in sorted(names, key=self._turn))][:n]

    def rotate(self, last_used: str) -> str:
        """Move this queue back after a message came from it."""
        if group_and_lane := _place(last_used):
            group, lane = group_and_lane
            if group in self._groups and lane in self._groups[group]:
                self._groups.move_to_end(group)
                self._groups[group].move_to_end(lane)
                self._charge(last_used, self._groups[group][lane])
        return last_used

    def _charge(self, queue: str, names: Iterable[str]) -> None:
        """Count a turn of a queue of a lane; those of the lane that came before it were empty, and have saved none."""
        share, start = SHARES.get(_kind(queue)), self._next.get(queue, 0.0)
        if share is None:
            return
        for name in names:
            if _kind(name) in SHARES and self._turn(name) < self._turn(queue):
                self._next[name] = max(start, self._next.get(name, 0.0))
        self._next[queue] = start + 1.0 / share

    def _turn(self, queue: str) -> tuple[float, float]:
        share = SHARES.get(_kind(queue))
        return (-1.0, 0.0) if share is None else (self._next.get(queue, 0.0) + 1.0 / share, -share)


def _hash(text: str) -> int:
    """Return a hash that is the same in every process, unlike Python's own."""
    return int.from_bytes(blake2b(text.encode(errors="surrogatepass"), digest_size=8).digest())


def _kind(queue: str) -> str:
    return queue.rpartition(".")[0].rpartition(".")[2]


def _place(queue: str) -> tuple[str, str] | None:
    """Return group and lane of a queue; None without a lane."""
    group, dash, lane = queue.rpartition(".")[2].partition("-")
    return (group, lane) if dash and group.isdigit() and lane.isdigit() else None


def _rank(groups: OrderedDict[str, OrderedDict[str, list[str]]], queue: str) -> tuple[int, int]:
    """Return a queue's current position, so that new queues do not change the order."""
    lane = _place(queue)
    if lane is None or lane[0] not in groups:
        return len(groups), 0
    lanes = groups[lane[0]]
    return list(groups).index(lane[0]), list(lanes).index(lane[1]) if lane[1] in lanes else len(lanes)
