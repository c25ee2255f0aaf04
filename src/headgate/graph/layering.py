"""Layered drawing of a graph: columns, order within columns, and heights.

Longest-path layers, barycentre sweeps keeping the order with the fewest crossings, then heights by least squares
under the minimum distances. Linear in items and edges up to the sorting; no I/O, no randomness.
"""

from bisect import bisect_right, insort
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

SWEEPS = 6
PASSES = 5
LONGEST_BENT_EDGE = 6
"""Edges over more columns than this are drawn straight instead of getting a position in each column."""
MOST_BENDS = 2000
BEND_HEIGHT = 24.0


@dataclass(slots=True)
class Item:
    """An item of a column: its extent above and below the point where edges meet it."""

    above: float
    below: float
    before: list[int] = field(default_factory=list)
    after: list[int] = field(default_factory=list)
    column: int = 0


@dataclass(slots=True)
class Sheet:
    """Items and edges to be drawn from left to right. Edges may form cycles; one edge of each is then ignored."""

    gap: float
    """Minimum space between two items of a column."""
    items: list[Item] = field(default_factory=list)

    def add(self, above: float, below: float) -> int:
        """Add an item; returns its number."""
        self.items.append(Item(above, below))
        return len(self.items) - 1

    def connect(self, source: int, target: int) -> None:
        """Add an edge. Edges of an item to itself are ignored."""
        if source != target:
            self.items[source].after.append(target)
            self.items[target].before.append(source)

    def draw(self) -> list[tuple[int, float]]:
        """Return column and height of every added item, in order."""
        count = len(self.items)
        self._break_cycles()
        self._columns()
        self._bend_long_edges()
        columns = self._ordered()
        heights = self._heights(columns)
        return [(self.items[number].column, heights[number]) for number in range(count)]

    def _break_cycles(self) -> None:
        """Remove the edges that lead back to an item on the current path."""
        state = [0] * len(self.items)
        for start in range(len(self.items)):
            stack = [(start, 0)]
            while stack:
                number, tried = stack.pop()
                item = self.items[number]
                state[number] = 1
                while tried < len(item.after):
                    following = item.after[tried]
                    if state[following] == 1:
                        item.after.pop(tried)
                        self.items[following].before.remove(number)
                        continue
                    tried += 1
                    if state[following] == 0:
                        stack += [(number, tried), (following, 0)]
                        break
                else:
                    state[number] = 2

    def _columns(self) -> None:
        """Return columns: each item right of its predecessors; first items as far right as their successors allow."""
        waiting = [len(item.before) for item in self.items]
        ready = [number for number, count in enumerate(waiting) if count == 0]
        first = list(ready)
        for number in ready:
            for following in self.items[number].after:
                successors = self.items[following]
                successors.column = max(successors.column, self.items[number].column + 1)
                waiting[following] -= 1
                if waiting[following] == 0:
                    ready.append(following)
        for number in first:
            item = self.items[number]
            if item.after:
                item.column = min(self.items[following].column for following in item.after) - 1

    def _bend_long_edges(self) -> None:
        """Give long edges a position in each column they cross, so that nothing is drawn on top of them."""
        left = MOST_BENDS
        for number in range(len(self.items)):
            for following in list(self.items[number].after):
                span = self.items[following].column - self.items[number].column
                if not 1 < span <= LONGEST_BENT_EDGE or span - 1 > left:
                    continue
                left -= span - 1
                self.items[number].after.remove(following)
                self.items[following].before.remove(number)
                last = number
                for column in range(self.items[number].column + 1, self.items[following].column):
                    bend = self.add(BEND_HEIGHT / 2, BEND_HEIGHT / 2)
                    self.items[bend].column = column
                    self.connect(last, bend)
                    last = bend
                self.connect(last, following)

    def _ordered(self) -> list[list[int]]:
        """Return items by column, ordered for few crossings."""
        width = max((item.column for item in self.items), default=-1) + 1
        columns: list[list[int]] = [[] for _ in range(width)]
        for number, item in enumerate(self.items):
            columns[item.column].append(number)
        best, fewest = [list(column) for column in columns], self._crossings(columns)
        for sweep in range(SWEEPS):
            if fewest == 0:
                break
            self._sweep(columns, forward=sweep % 2 == 0)
            crossings = self._crossings(columns)
            if crossings < fewest:
                best, fewest = [list(column) for column in columns], crossings
        return best

    def _sweep(self, columns: list[list[int]], *, forward: bool) -> None:
        positions = [0.0] * len(self.items)
        for column in columns:
            _note_places(positions, column)
        for column in columns if forward else reversed(columns):
            middle = {
                number: _mean(
                    [positions[neighbour] for neighbour in self._neighbours(number, forward=forward)], positions[number]
                )
                for number in column
            }
            column.sort(key=middle.__getitem__)
            _note_places(positions, column)

    def _neighbours(self, number: int, *, forward: bool) -> list[int]:
        return self.items[number].before if forward else self.items[number].after

    def _crossings(self, columns: Sequence[Sequence[int]]) -> int:
        """Return the number of crossings between neighbouring columns."""
        total = 0
        for column, following in pairwise(columns):
            rank = {number: position for position, number in enumerate(following)}
            met: list[int] = []
            for number in column:
                ends = sorted(rank[successor] for successor in self.items[number].after if successor in rank)
                total += sum(len(met) - bisect_right(met, end) for end in ends)
                for end in ends:
                    insort(met, end)
        return total

    def _heights(self, columns: Sequence[Sequence[int]]) -> list[float]:
        """Height of each item's edge point, the highest item's top at zero."""
        heights = [0.0] * len(self.items)
        for column in columns:
            _assign(heights, column, self._spread(column, lambda _: 0.0))
        for turn in range(PASSES):
            forward = turn % 2 == 0
            for column in columns if forward else reversed(columns):

                def wish(number: int, forward: bool = forward) -> float:  # noqa: FBT001
                    neighbours = [heights[neighbour] for neighbour in self._neighbours(number, forward=forward)]
                    return _mean(neighbours, heights[number])

                _assign(heights, column, self._spread(column, wish))
        top = min((heights[number] - item.above for number, item in enumerate(self.items)), default=0.0)
        return [height - top for height in heights]

    def _spread(self, column: Sequence[int], wish: Callable[[int], float]) -> list[float]:
        """Return the heights nearest to the desired ones that keep the column's order and distances (least squares)."""
        offsets: list[float] = []
        offset = 0.0
        for position, number in enumerate(column):
            if position:
                offset += self.items[column[position - 1]].below + self.gap + self.items[number].above
            offsets.append(offset)
        groups: list[tuple[float, int]] = []
        for number, distance in zip(column, offsets, strict=True):
            total, size = wish(number) - distance, 1
            while groups and groups[-1][0] / groups[-1][1] >= total / size:
                earlier = groups.pop()
                total, size = total + earlier[0], size + earlier[1]
            groups.append((total, size))
        base = [total / size for total, size in groups for _ in range(size)]
        return [start + distance for start, distance in zip(base, offsets, strict=True)]


def _note_places(positions: list[float], column: Sequence[int]) -> None:
    for position, number in enumerate(column):
        positions[number] = (position + 0.5) / len(column)


def _assign(heights: list[float], column: Sequence[int], new_heights: Sequence[float]) -> None:
    for number, height in zip(column, new_heights, strict=True):
        heights[number] = height


def _mean(values: Sequence[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise
