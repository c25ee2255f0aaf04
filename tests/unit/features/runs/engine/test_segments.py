from collections.abc import Iterator

from hypothesis import given
from hypothesis import strategies as st

from headgate.features.catalog.registry import Registry
from headgate.features.runs.engine.distributed.segments import (
    Parallel,
    Segment,
    Series,
    Shape,
    arrange,
    leading,
    members,
    split,
    stretch,
)
from headgate.graph.plan import Plan, compile_plan
from tests.support.engine import COMPONENTS, make_chain, make_flow
from tests.unit.graph.palette import PALETTE
from tests.unit.graph.strategies import SOME, graphs

REGISTRY = Registry(COMPONENTS)


def joined(nodes: str, *edges: str) -> Plan:
    """A plan of `Join` steps: node names in one word each, edges as `a>b`."""
    wires = [f"{edge[: edge.index('>')]}.text -> {edge[edge.index('>') + 1 :]}.parts" for edge in edges]
    return compile_plan(make_flow(dict.fromkeys(nodes.split(), "Join"), wires), REGISTRY)


def shaped(plan: Plan, lanes: int = 8, longest: int = 50, settled: frozenset[str] = frozenset()) -> Shape:
    return arrange(plan, split(plan, longest, settled), lanes)


def drawn(shape: Shape) -> str:
    """A shape as text: steps of a segment joined, a series with spaces, side by side in brackets."""
    if isinstance(shape, Segment):
        return "".join(shape.steps)
    if isinstance(shape, Series):
        return " ".join(drawn(part) for part in shape.parts)
    return "[" + ", ".join(drawn(part) for part in shape.parts) + "]"


def width(shape: Shape) -> int:
    if isinstance(shape, Segment):
        return 1
    widths = [width(part) for part in shape.parts]
    return max(widths) if isinstance(shape, Series) else sum(widths)


def promises(shape: Shape, before: frozenset[str] = frozenset()) -> Iterator[tuple[Segment, frozenset[str]]]:
    """Each segment with the steps that are surely over when its message comes."""
    if isinstance(shape, Segment):
        yield shape, before
    elif isinstance(shape, Parallel):
        for part in shape.parts:
            yield from promises(part, before)
    else:
        for part in shape.parts:
            yield from promises(part, before)
            before |= {step for segment in members(part) for step in segment.steps}


class TestStretch:
    def test_ends_where_the_flow_branches_or_joins(self) -> None:
        plan = joined("a b c d e", "a>b", "b>c", "b>d", "c>e", "d>e")
        assert stretch(plan, "a", 50) == ("a", "b")
        assert stretch(plan, "c", 50) == ("c",)

    def test_is_no_longer_than_one_task_may_take(self) -> None:
        plan = compile_plan(make_chain(7), REGISTRY)
        assert [segment.steps for segment in split(plan, 3)] == [("s1", "s2", "s3"), ("s4", "s5", "s6"), ("s7",)]


class TestArrange:
    def test_a_chain_is_one_task(self) -> None:
        assert shaped(compile_plan(make_chain(10), REGISTRY)) == Segment(tuple(f"s{n}" for n in range(1, 11)))

    def test_a_diamond_is_a_chord_between_two_tasks(self) -> None:
        assert drawn(shaped(joined("a b c d", "a>b", "a>c", "b>d", "c>d"))) == "a [b, c] d"

    def test_branches_within_branches_stay_within_them(self) -> None:
        plan = joined("a b c d e f g", "a>b", "a>c", "c>d", "c>e", "d>f", "e>f", "b>g", "f>g")
        assert drawn(shaped(plan)) == "a [b, c [d, e] f] g"

    def test_flows_that_never_meet_run_side_by_side(self) -> None:
        assert drawn(shaped(joined("a b c d", "a>b", "c>d"))) == "[ab, cd]"

    def test_a_graph_that_is_not_series_parallel_runs_in_layers(self) -> None:
        assert drawn(shaped(joined("a b c d", "a>c", "a>d", "b>d"))) == "[a, b] [c, d]"

    def test_what_is_settled_is_left_out(self) -> None:
        plan = joined("a b c d", "a>b", "a>c", "b>d", "c>d")
        assert drawn(shaped(plan, settled=frozenset("ab"))) == "c d"

    def test_no_more_runs_at_once_than_there_are_lanes(self) -> None:
        plan = joined("a b c d e z", *(f"{name}>z" for name in "abcde"))
        assert drawn(shaped(plan, lanes=2)) == "[a c e, b d] z"
        assert drawn(shaped(plan, lanes=1)) == "a b c d e z"

    @SOME
    @given(graphs(), st.integers(1, 6), st.integers(1, 4), st.randoms(use_true_random=False))
    def test_holds_each_step_once_and_none_before_those_it_needs(self, flow, lanes, longest, random) -> None:  # type: ignore[no-untyped-def]
        plan = compile_plan(flow, PALETTE)
        settled: set[str] = set()
        for step in plan.steps:
            if settled.issuperset(step.parents) and random.random() < 0.3:
                settled.add(step.id)
        left = split(plan, longest, settled)
        if not left:
            return
        shape = arrange(plan, left, lanes)
        assert sorted(step for one in members(shape) for step in one.steps) == sorted(
            step.id for step in plan.steps if step.id not in settled
        )
        assert width(shape) <= lanes
        for segment, over in promises(shape):
            known = over | settled
            assert known.issuperset(plan.step(segment.head).parents)
            for before, after in zip(segment.steps, segment.steps[1:], strict=False):
                assert plan.step(after).parents == (before,)
        assert {one.head for one in leading(shape)} <= {
            one.head for one in left if settled.issuperset(plan.step(one.head).parents)
        }
