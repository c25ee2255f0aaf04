"""Splits a plan into linear segments, and arranges which of them may run in parallel. Pure.

A segment is a maximal stretch of steps that follow one another without a branch between them: one message, one task. It
depends on the plan alone, so every process that has the plan derives the same segment from the name of its head.

The order of segments is a tree of `Series` and `Parallel`. For a series-parallel graph the tree is exact; otherwise
it waits for more than necessary (complete layers). Both are correct: a counter in the database decides whether a
step may begin, never the order of messages.
"""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from headgate.graph.plan import Plan


@dataclass(frozen=True, slots=True)
class Segment:
    """Steps that one task executes in sequence."""

    steps: tuple[str, ...]

    @property
    def head(self) -> str:
        """The first step; it names the segment."""
        return self.steps[0]


@dataclass(frozen=True, slots=True)
class Series:
    """Parts in sequence: at least two."""

    parts: "tuple[Shape, ...]"


@dataclass(frozen=True, slots=True)
class Parallel:
    """Parts in parallel: at least two."""

    parts: "tuple[Shape, ...]"


Shape = Segment | Series | Parallel


def stretch(plan: Plan, head: str, limit: int) -> tuple[str, ...]:
    """Return the steps from `head` on that follow one another without a branch, up to a maximum."""
    steps = [head]
    while len(steps) < limit:
        children = plan.step(steps[-1]).children
        if len(children) != 1 or len(plan.step(children[0]).parents) != 1:
            break
        steps.append(children[0])
    return tuple(steps)


def split(plan: Plan, limit: int, settled: Container[str] = ()) -> tuple[Segment, ...]:
    """Split the remainder of a plan into segments, in execution order.

    Args:
        plan: The plan.
        limit: Most steps in a segment.
        settled: Steps that are done or skipped: no segment contains them.
    """
    assigned: set[str] = set()
    segments = []
    for step in plan.steps:
        if step.id in assigned or step.id in settled:
            continue
        steps = tuple(step_id for step_id in stretch(plan, step.id, limit) if step_id not in settled)
        assigned.update(steps)
        segments.append(Segment(steps))
    return tuple(segments)


def arrange(plan: Plan, segments: Sequence[Segment], lanes: int) -> Shape:
    """Arrange at least one segment into a shape; never more than `lanes` in parallel."""
    return _Order(plan, segments).arrange(list(range(len(segments))), max(lanes, 1))


def leading(shape: Shape) -> Iterator[Segment]:
    """Return the segments that wait for no other."""
    if isinstance(shape, Segment):
        yield shape
    elif isinstance(shape, Series):
        yield from leading(shape.parts[0])
    else:
        for part in shape.parts:
            yield from leading(part)


def members(shape: Shape) -> Iterator[Segment]:
    """Return every segment, each after those that it waits for."""
    if isinstance(shape, Segment):
        yield shape
        return
    for part in shape.parts:
        yield from members(part)


class _Order:
    """The graph of segments: numbers in execution order, and the dependencies of each as a bit set."""

    def __init__(self, plan: Plan, segments: Sequence[Segment]) -> None:
        self._segments = segments
        self._parents = _parents(plan, segments)
        self._needs: list[int] = []
        for number in range(len(segments)):
            mask = 0
            for parent in self._parents[number]:
                mask |= self._needs[parent] | 1 << parent
            self._needs.append(mask)

    def arrange(self, numbers: list[int], lanes: int) -> Shape:
        """Return the shape of some of the segments."""
        if len(numbers) == 1:
            return self._segments[numbers[0]]
        if lanes == 1:
            return _series(self._segments[number] for number in numbers)
        apart = self._components(numbers)
        if len(apart) > 1:
            return self._parallel(apart, lanes)
        return _series(self.arrange(part, lanes) for part in self._cut(numbers) or self._layers(numbers))

    def _parallel(self, groups: list[list[int]], lanes: int) -> Shape:
        """Return independent groups in parallel, distributed over the available lanes."""
        if len(groups) <= lanes:
            spare, extra = divmod(lanes, len(groups))
            return Parallel(tuple(self.arrange(group, spare + (index < extra)) for index, group in enumerate(groups)))
        return Parallel(
            tuple(_series(self.arrange(group, 1) for group in groups[lane::lanes]) for lane in range(lanes))
        )

    def _components(self, numbers: list[int]) -> list[list[int]]:
        """Return the connected components of the graph, in order of their first segment."""
        root = {number: number for number in numbers}

        def find(number: int) -> int:
            while root[number] != number:
                root[number] = number = root[root[number]]
            return number

        for number in numbers:
            for parent in self._parents[number]:
                if parent in root:
                    low, high = sorted((find(parent), find(number)))
                    root[high] = low
        groups: dict[int, list[int]] = {}
        for number in numbers:
            groups.setdefault(find(number), []).append(number)
        return list(groups.values())

    def _cut(self, numbers: list[int]) -> list[list[int]]:
        """Cut the graph wherever everything after depends on everything before; empty when there is no cut."""
        members = sum(1 << number for number in numbers)
        rising = sorted(numbers, key=lambda number: ((self._needs[number] & members).bit_count(), number))
        common = [members] * (len(rising) + 1)
        for index in range(len(rising) - 1, -1, -1):
            common[index] = common[index + 1] & self._needs[rising[index]]
        parts: list[list[int]] = [[]]
        covered = 0
        for index, number in enumerate(rising):
            if covered and covered & ~common[index] == 0:
                parts.append([])
            parts[-1].append(number)
            covered |= 1 << number
        return [sorted(part) for part in parts] if len(parts) > 1 else []

    def _layers(self, numbers: list[int]) -> list[list[int]]:
        """Place each segment as early as possible, in layers that follow one another."""
        depth: dict[int, int] = {}
        for number in numbers:
            depth[number] = 1 + max((depth[parent] for parent in self._parents[number] if parent in depth), default=-1)
        return [[number for number in numbers if depth[number] == layer] for layer in range(max(depth.values()) + 1)]


def _parents(plan: Plan, segments: Sequence[Segment]) -> Mapping[int, list[int]]:
    """Return for each segment those that contain a parent of its head; the other parents are settled."""
    segment_of = {step: number for number, segment in enumerate(segments) for step in segment.steps}
    return {
        number: sorted({segment_of[parent] for parent in plan.step(segment.head).parents if parent in segment_of})
        for number, segment in enumerate(segments)
    }


def _series(parts: Iterable[Shape]) -> Shape:
    """Return parts in sequence, without nested series."""
    flat: list[Shape] = []
    for part in parts:
        flat.extend(part.parts if isinstance(part, Series) else (part,))
    return flat[0] if len(flat) == 1 else Series(tuple(flat))
