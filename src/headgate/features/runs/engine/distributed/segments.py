"""A plan as linear stretches, and what may run beside what. Pure.

A segment is a maximal stretch of steps that follow one another with no branch between them: one message, one task. It
depends on the plan alone, so that whoever holds a plan agrees on what the message that names its head stands for.

The order of segments is a tree of `Series` and `Parallel`. Where the graph is series-parallel the tree says exactly
what it says; elsewhere it waits for more than it must (whole layers). Both are right, because whether a step may begin
is decided by its counter in the database and never by the order of messages.
"""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from headgate.graph.plan import Plan


@dataclass(frozen=True, slots=True)
class Segment:
    """Steps that are carried out one after the other by one task."""

    steps: tuple[str, ...]

    @property
    def head(self) -> str:
        """The first step; it names the segment."""
        return self.steps[0]


@dataclass(frozen=True, slots=True)
class Series:
    """Parts one after the other: at least two."""

    parts: "tuple[Shape, ...]"


@dataclass(frozen=True, slots=True)
class Parallel:
    """Parts side by side: at least two."""

    parts: "tuple[Shape, ...]"


Shape = Segment | Series | Parallel


def stretch(plan: Plan, head: str, longest: int) -> tuple[str, ...]:
    """The steps from `head` on that follow one another with no branch between them; at most so many."""
    steps = [head]
    while len(steps) < longest:
        children = plan.step(steps[-1]).children
        if len(children) != 1 or len(plan.step(children[0]).parents) != 1:
            break
        steps.append(children[0])
    return tuple(steps)


def split(plan: Plan, longest: int, settled: Container[str] = ()) -> tuple[Segment, ...]:
    """The segments of what is left of a plan, in running order.

    Args:
        plan: The plan.
        longest: Most steps in a segment.
        settled: Steps that are done or skipped: they are in no segment.
    """
    taken: set[str] = set()
    found = []
    for step in plan.steps:
        if step.id in taken or step.id in settled:
            continue
        steps = tuple(one for one in stretch(plan, step.id, longest) if one not in settled)
        taken.update(steps)
        found.append(Segment(steps))
    return tuple(found)


def arrange(plan: Plan, segments: Sequence[Segment], lanes: int) -> Shape:
    """What of these segments, at least one, may run beside what; never more than `lanes` at once."""
    return _Order(plan, segments).arrange(list(range(len(segments))), max(lanes, 1))


def leading(shape: Shape) -> Iterator[Segment]:
    """The segments that wait for no other."""
    if isinstance(shape, Segment):
        yield shape
    elif isinstance(shape, Series):
        yield from leading(shape.parts[0])
    else:
        for part in shape.parts:
            yield from leading(part)


def members(shape: Shape) -> Iterator[Segment]:
    """Every segment, each after those that it waits for."""
    if isinstance(shape, Segment):
        yield shape
        return
    for part in shape.parts:
        yield from members(part)


class _Order:
    """The graph of segments: numbers in running order, and as bits which others each one needs."""

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
        """The shape of some of the segments."""
        if len(numbers) == 1:
            return self._segments[numbers[0]]
        if lanes == 1:
            return _series(self._segments[number] for number in numbers)
        apart = self._components(numbers)
        if len(apart) > 1:
            return self._beside(apart, lanes)
        return _series(self.arrange(part, lanes) for part in self._cut(numbers) or self._layers(numbers))

    def _beside(self, groups: list[list[int]], lanes: int) -> Shape:
        """Groups that need nothing of one another, on as many lanes as there are."""
        if len(groups) <= lanes:
            spare, extra = divmod(lanes, len(groups))
            return Parallel(tuple(self.arrange(group, spare + (at < extra)) for at, group in enumerate(groups)))
        return Parallel(
            tuple(_series(self.arrange(group, 1) for group in groups[lane::lanes]) for lane in range(lanes))
        )

    def _components(self, numbers: list[int]) -> list[list[int]]:
        """The parts of the graph that no edge joins, in order of their first segment."""
        root = {number: number for number in numbers}

        def find(number: int) -> int:
            while root[number] != number:
                root[number] = number = root[root[number]]
            return number

        for number in numbers:
            for parent in self._parents[number]:
                if parent in root:
                    one, other = sorted((find(parent), find(number)))
                    root[other] = one
        found: dict[int, list[int]] = {}
        for number in numbers:
            found.setdefault(find(number), []).append(number)
        return list(found.values())

    def _cut(self, numbers: list[int]) -> list[list[int]]:
        """The graph cut wherever all that comes after needs all that came before; empty where it cannot be cut."""
        inside = sum(1 << number for number in numbers)
        rising = sorted(numbers, key=lambda number: ((self._needs[number] & inside).bit_count(), number))
        common = [inside] * (len(rising) + 1)
        for at in range(len(rising) - 1, -1, -1):
            common[at] = common[at + 1] & self._needs[rising[at]]
        parts: list[list[int]] = [[]]
        before = 0
        for at, number in enumerate(rising):
            if before and before & ~common[at] == 0:
                parts.append([])
            parts[-1].append(number)
            before |= 1 << number
        return [sorted(part) for part in parts] if len(parts) > 1 else []

    def _layers(self, numbers: list[int]) -> list[list[int]]:
        """Each segment as early as it can be, in layers that follow one another."""
        depth: dict[int, int] = {}
        for number in numbers:
            depth[number] = 1 + max((depth[one] for one in self._parents[number] if one in depth), default=-1)
        return [[one for one in numbers if depth[one] == layer] for layer in range(max(depth.values()) + 1)]


def _parents(plan: Plan, segments: Sequence[Segment]) -> Mapping[int, list[int]]:
    """For each segment those with a parent of its head; the others were settled before."""
    place = {step: number for number, segment in enumerate(segments) for step in segment.steps}
    return {
        number: sorted({place[parent] for parent in plan.step(segment.head).parents if parent in place})
        for number, segment in enumerate(segments)
    }


def _series(parts: Iterable[Shape]) -> Shape:
    """Parts one after the other, without a series inside a series."""
    flat: list[Shape] = []
    for part in parts:
        flat.extend(part.parts if isinstance(part, Series) else (part,))
    return flat[0] if len(flat) == 1 else Series(tuple(flat))
