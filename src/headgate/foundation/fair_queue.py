"""Fair assignment of limited slots: a weighted queue over a tree, for example tenant, space and user. Pure.

A free slot goes to the waiting child with the fewest slots for its weight; ties are resolved by start-time fair
queueing (Goyal et al., 1996), which also follows the weights when there is a single slot. The same rule applies on
every level; within a leaf the lowest order is first, then first come, first served. Consequences, which the property
tests check:

- Work-conserving: no slot is free while an eligible request waits.
- While others wait, no request above its share is granted; a share is exceeded by less than one slot.
- No request waits indefinitely while slots are released.

Slots that are held for long would still make newcomers wait. So there are spare slots in addition to the regular ones:
while all regular slots are held, a leaf that holds less than its share gets a spare one. A leaf above its share gets no
slot until fewer than the regular number are held again.
"""

import heapq
import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

T = TypeVar("T")
Path = tuple[str, ...]
"""From the top level down; all paths of a queue have the same length."""
_GARBAGE = 64
"""Outdated entries or idle children that are kept before they are removed."""


def _equal(path: Path) -> float:  # noqa: ARG001 - every path has the same weight
    return 1.0


def _unlimited(path: Path) -> int | None:  # noqa: ARG001
    return None


@dataclass(eq=False, slots=True)
class Ticket(Generic[T]):
    """One request for a slot."""

    item: T
    leaf: "_Node[T]"
    granted: bool = False
    order: float = 0.0
    """Its place within its leaf: the lowest first."""


@dataclass(eq=False, slots=True)
class _Node(Generic[T]):
    path: Path
    weight: float = 1.0
    parent: "_Node[T] | None" = None
    children: "dict[str, _Node[T]]" = field(default_factory=dict)
    used: int = 0
    waiting: int = 0
    offered: bool = False
    """Whether it waits and is eligible for a slot: it is in its parent's heap."""
    ready: int = 0
    """Eligible children."""
    active_weight: float = 0.0
    """Weight of the children that hold slots or wait."""
    active: int = 0
    virtual: float = 0.0
    """Virtual time: the start tag of the last child that was served."""
    start: float = 0.0
    finish: float = 0.0
    version: int = 0
    """Identifies the current entry in the heap."""
    heap: "list[tuple[float, float, int, int, _Node[T]]]" = field(default_factory=list)
    tickets: "dict[int, Ticket[T]]" = field(default_factory=dict)
    """Waiting tickets of a leaf."""
    line: "list[tuple[float, int, Ticket[T]]]" = field(default_factory=list)
    """Heap of its tickets by order and arrival, with some that no longer wait."""

    @property
    def idle(self) -> bool:
        """Return whether it neither holds slots nor waits."""
        return not self.used and not self.waiting


def _waits(entry: tuple[float, int, Ticket[T]]) -> bool:
    order, _, ticket = entry
    return order == ticket.order and id(ticket) in ticket.leaf.tickets


class FairQueue(Generic[T]):
    """Slots, their holders and waiting tickets. Every operation takes O(log n) time in the number of siblings.

    Args:
        places: Number of regular slots.
        spare: Number of additional slots for leaves below their share.
        weight: Weight of a tree node by its path, read when it becomes active.
        limit_of: Maximum slots of a tree node, by its path; None means no limit.
    """

    def __init__(
        self,
        places: int,
        spare: int = 0,
        *,
        weight: Callable[[Path], float] = _equal,
        limit_of: Callable[[Path], int | None] = _unlimited,
    ) -> None:
        self._places = places
        self._spare = spare
        self._weight = weight
        self._most = limit_of
        self._root: _Node[T] = _Node(())
        self._order = itertools.count()

    def __len__(self) -> int:
        """Number of waiting tickets."""
        return self._root.waiting

    @property
    def used(self) -> int:
        """Number of slots in use."""
        return self._root.used

    def held(self, path: Path) -> int:
        """Return the number of slots that a tree node holds."""
        node = self._find(path)
        return 0 if node is None else node.used

    def waiting(self, path: Path) -> int:
        """Return the number of tickets that wait at or below a tree node."""
        node = self._find(path)
        return 0 if node is None else node.waiting

    def share(self, path: Path) -> float:
        """Return the regular slots that a tree node is entitled to, by the weights of the active nodes."""
        node = self._find(path)
        return 0.0 if node is None else self._share(node)

    def add(self, path: Path, item: T, order: float = 0.0) -> Ticket[T]:
        """Add a waiting ticket. Call `next` afterwards until it returns None."""
        leaf = self._leaf(path)
        ticket = Ticket(item, leaf, order=order)
        leaf.tickets[id(ticket)] = ticket
        self._line_up(ticket)
        self._count(leaf, waiting=1)
        self._offer(leaf)
        return ticket

    def move(self, ticket: Ticket[T], order: float) -> None:
        """Change the place of a waiting ticket within its leaf."""
        if order != ticket.order and id(ticket) in ticket.leaf.tickets:
            ticket.order = order
            self._line_up(ticket)

    def withdraw(self, ticket: Ticket[T]) -> None:
        """Withdraw a ticket. A granted ticket is released."""
        if ticket.granted:
            raise ValueError("the ticket has a place: release it")
        if ticket.leaf.tickets.pop(id(ticket), None) is not None:
            self._count(ticket.leaf, waiting=-1)
            self._offer(ticket.leaf)

    def next(self) -> Ticket[T] | None:
        """Grant the next ticket a slot; None when no slot is free or no ticket is eligible."""
        leaf = self._choose()
        return None if leaf is None else self._grant(leaf, self._foremost(leaf))

    def take(self, path: Path, item: T) -> Ticket[T] | None:
        """Take a slot immediately; returns None without changes when the path would have to wait."""
        ticket = self.add(path, item)
        leaf = self._choose()
        if leaf is ticket.leaf and len(leaf.tickets) == 1:
            return self._grant(leaf, ticket)
        self.withdraw(ticket)
        return None

    def release(self, ticket: Ticket[T]) -> None:
        """Release a slot. Call `next` afterwards until it returns None."""
        if not ticket.granted:
            raise ValueError("the ticket has no place")
        ticket.granted = False
        self._count(ticket.leaf, used=-1)
        self._offer(ticket.leaf)

    def refresh(self, path: Path) -> None:
        """Read the changed limit of a tree node. Call `next` afterwards until it returns None."""
        node = self._find(path)
        if node is not None and node.parent is not None:
            self._offer(node)

    def _choose(self) -> _Node[T] | None:
        """Return the next leaf to serve, when there is a slot for it."""
        root = self._root
        if root.used >= self._places + self._spare:
            return None
        node = root
        while not node.tickets:
            if not node.ready:
                return None
            node = self._first(node)
        return node if root.used < self._places or node.used < self._share(node) else None

    def _line_up(self, ticket: Ticket[T]) -> None:
        leaf = ticket.leaf
        heapq.heappush(leaf.line, (ticket.order, next(self._order), ticket))
        if len(leaf.line) > 2 * len(leaf.tickets) + _GARBAGE:
            leaf.line = [entry for entry in leaf.line if _waits(entry)]
            heapq.heapify(leaf.line)

    @staticmethod
    def _foremost(leaf: _Node[T]) -> Ticket[T]:
        while not _waits(leaf.line[0]):
            heapq.heappop(leaf.line)
        return leaf.line[0][2]

    @staticmethod
    def _first(node: _Node[T]) -> _Node[T]:
        heap = node.heap
        while heap[0][3] != heap[0][4].version:
            heapq.heappop(heap)
        return heap[0][4]

    def _share(self, node: _Node[T]) -> float:
        share = float(self._places)
        while (parent := node.parent) is not None:
            share *= node.weight / parent.active_weight if parent.active else 1.0
            node = parent
        return share

    def _grant(self, leaf: _Node[T], ticket: Ticket[T]) -> Ticket[T]:
        del leaf.tickets[id(ticket)]
        ticket.granted = True
        node = leaf
        while (parent := node.parent) is not None:
            parent.virtual = max(parent.virtual, node.start)
            node.start = node.finish = node.start + 1.0 / node.weight
            node = parent
        self._count(leaf, used=1, waiting=-1)
        self._offer(leaf)
        return ticket

    def _count(self, leaf: _Node[T], *, used: int = 0, waiting: int = 0) -> None:
        """Update the counts along the path, and which nodes became active or idle."""
        node = leaf
        while (parent := node.parent) is not None:
            was_idle = node.idle
            node.used += used
            node.waiting += waiting
            if was_idle and not node.idle:
                node.weight = self._weight(node.path)
                node.start = max(parent.virtual, node.finish)
                parent.active += 1
                parent.active_weight += node.weight
            elif node.idle and not was_idle:
                parent.active -= 1
                parent.active_weight = parent.active_weight - node.weight if parent.active else 0.0
                self._prune(parent)
            node = parent
        node.used += used
        node.waiting += waiting

    def _offer(self, node: _Node[T]) -> None:
        """Update the nodes of a path in the heaps of their parents."""
        while (parent := node.parent) is not None:
            limit = self._most(node.path)
            offered = bool(node.tickets or node.ready) and (limit is None or node.used < limit)
            parent.ready += offered - node.offered
            node.offered = offered
            node.version += 1
            if offered:
                entry = (node.used / node.weight, node.start, next(self._order), node.version, node)
                heapq.heappush(parent.heap, entry)
            if len(parent.heap) > 2 * parent.ready + _GARBAGE:
                parent.heap = [entry for entry in parent.heap if entry[3] == entry[4].version and entry[4].offered]
                heapq.heapify(parent.heap)
            node = parent

    @staticmethod
    def _prune(parent: _Node[T]) -> None:
        """Remove idle children without credit: all of them when none is active, otherwise those whose turn passed."""
        if not parent.active:
            parent.children.clear()
            parent.heap.clear()
            parent.virtual = 0.0
        elif len(parent.children) > 2 * parent.active + _GARBAGE:
            for child in [child for child in parent.children.values() if child.idle]:
                if child.finish <= parent.virtual:
                    del parent.children[child.path[-1]]

    def _find(self, path: Path) -> _Node[T] | None:
        node: _Node[T] | None = self._root
        for name in path:
            if node is None:
                return None
            node = node.children.get(name)
        return node

    def _leaf(self, path: Path) -> _Node[T]:
        node = self._root
        for depth, name in enumerate(path, 1):
            child = node.children.get(name)
            if child is None:
                child = node.children[name] = _Node(path[:depth], parent=node)
            node = child
        return node
