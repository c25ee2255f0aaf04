"""Bounds that a mistake of order would break; what was measured stands far below them."""

import random
import time
from collections.abc import Callable

import pytest

from headgate.graph.canonical import checksum, logic_checksum
from headgate.graph.diff import diff_flows
from headgate.graph.draw import draw
from headgate.graph.edits import add_node, configure, connect, remove_node, rename_node
from headgate.graph.flow_io import classify_io
from headgate.graph.layout import arrange
from headgate.graph.merge import merge
from headgate.graph.model import Flow
from headgate.graph.plan import compile_plan
from headgate.graph.spec import parse_spec, print_spec, read_spec
from headgate.graph.validate import check_draft, check_runnable
from tests.unit.graph.palette import PALETTE
from tests.unit.graph.wires import chain, edge, flow, node


def large() -> Flow:
    """1,000 nodes, 1,500 edges."""
    chosen = random.Random(7)
    pairs = {(number, number + 1) for number in range(999)}
    while len(pairs) < 1500:
        first, second = sorted(chosen.sample(range(1000), 2))
        pairs.add((first, second))
    nodes = [
        node("n0", "TextInput"),
        *(node(f"n{number}", "CombineText", title="{{n0.text}}") for number in range(1, 1000)),
    ]
    return flow(*nodes, edges="\n".join(f"n{a}.text -> n{b}.parts" for a, b in sorted(pairs)))


LARGE = large()
TEXT = print_spec(LARGE)
STAR = flow(
    node("s", "TextInput"),
    *chain(1000).nodes[1:],
    edges="\n".join(f"s.text -> n{number}.parts" for number in range(1, 1000)),
)


@pytest.mark.parametrize(
    "work",
    [
        lambda: check_draft(LARGE, PALETTE),
        lambda: check_runnable(LARGE, PALETTE),
        lambda: compile_plan(LARGE, PALETTE),
        lambda: arrange(LARGE, PALETTE),
        lambda: diff_flows(LARGE, rename_node(LARGE, "n500", "x").flow),
        lambda: print_spec(LARGE),
        lambda: parse_spec(TEXT),
        lambda: read_spec(TEXT, PALETTE),
        lambda: merge(LARGE, LARGE),
        lambda: draw(LARGE),
        lambda: classify_io(LARGE, PALETTE),
        lambda: (checksum(LARGE), logic_checksum(LARGE)),
        lambda: add_node(LARGE, "URL", PALETTE),
        lambda: remove_node(LARGE, "n0"),
        lambda: configure(LARGE, "n5", {"title": "x"}, PALETTE),
        lambda: connect(LARGE, edge("n0.text -> n999.parts"), PALETTE),
        lambda: arrange(Flow(nodes=tuple(node(f"n{number}", "URL") for number in range(1000)))),
        lambda: arrange(STAR),
    ],
)  # fmt: skip
def test_a_thousand_nodes_take_a_moment(work: Callable[[], object]) -> None:
    started = time.process_time()
    work()
    assert time.process_time() - started < 6


def test_twelve_nodes_take_a_millisecond() -> None:
    made = chain(12)
    started = time.process_time()
    for _ in range(50):
        check_runnable(made, PALETTE)
        compile_plan(made, PALETTE)
    assert (time.process_time() - started) / 50 < 0.02
