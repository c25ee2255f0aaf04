from itertools import combinations

import pytest
from hypothesis import given

from headgate.graph.geometry import Box, bounds, boxes
from headgate.graph.layering import Sheet
from headgate.graph.layout import arrange, keep_arranged
from headgate.graph.model import Flow, Node, Position
from tests.unit.graph.palette import PALETTE
from tests.unit.graph.strategies import SOME, flows, graphs
from tests.unit.graph.test_plan import DIAMOND
from tests.unit.graph.test_wiring import AGENT
from tests.unit.graph.wires import chain, flow, node


def placed(made: Flow) -> dict[str, Box]:
    arranged = arrange(made, PALETTE)
    return dict(zip((one.id for one in arranged.nodes), boxes(arranged, PALETTE), strict=True))


def middle(box: Box) -> float:
    return box.y + box.height / 2


class TestArrange:
    @pytest.mark.parametrize("catalog", [PALETTE, None])
    @SOME
    @given(made=graphs(cyclic=True))
    def test_overlaps_nothing(self, catalog: object, made: Flow) -> None:
        known = PALETTE if catalog else None
        every = list(boxes(arrange(made, known), known))
        assert not any(a.overlaps(b) for a, b in combinations(every, 2))

    @SOME
    @given(flows())
    def test_changes_nothing_but_positions(self, made: Flow) -> None:
        arranged = arrange(made)
        assert [one.model_dump(exclude={"position"}) for one in arranged.nodes] == [
            one.model_dump(exclude={"position"}) for one in made.nodes
        ]
        assert arranged.model_copy(update={"nodes": made.nodes}) == made

    @SOME
    @given(graphs())
    def test_gives_the_same_again(self, made: Flow) -> None:
        once = arrange(made, PALETTE)
        assert arrange(once, PALETTE) == once

    @SOME
    @given(graphs())
    def test_puts_every_step_right_of_what_feeds_it(self, made: Flow) -> None:
        where = placed(made)
        for one in made.edges:
            if one.output == "text":
                assert where[one.source].right < where[one.target].x

    @SOME
    @given(graphs())
    def test_begins_at_the_origin(self, made: Flow) -> None:
        around = bounds(arrange(made, PALETTE), PALETTE)
        assert around is None or (around.x, around.y) == (0, 0)

    def test_draws_a_chain_in_one_line(self) -> None:
        where = placed(chain(5))
        assert len({middle(box) for box in where.values()}) == 1

    def test_centres_a_diamond(self) -> None:
        where = placed(DIAMOND)
        assert middle(where["page"]) == middle(where["join"]) == (middle(where["a"]) + middle(where["b"])) / 2
        assert where["a"].x == where["b"].x

    def test_puts_configuration_below_and_left_of_its_step(self) -> None:
        where = placed(AGENT)
        for key in ("llm", "calc"):
            assert where[key].y > where["boss"].bottom
            assert where[key].x < where["boss"].x
            assert where[key].x > where["chat"].right

    def test_leads_an_edge_around_what_stands_between(self) -> None:
        made = flow(
            node("a", "TextInput"),
            node("b", "CombineText"),
            node("c", "CombineText"),
            edges="a.text -> b.parts\nb.text -> c.parts\na.text -> c.parts",
        )
        where = placed(made)
        assert middle(where["b"]) != middle(where["a"])

    def test_puts_first_steps_beside_what_they_feed(self) -> None:
        made = flow(
            *chain(4).nodes,
            node("late", "TextInput"),
            edges="n0.text -> n1.parts\nn1.text -> n2.parts\nn2.text -> n3.parts\nlate.text -> n3.parts",
        )
        where = placed(made)
        assert where["late"].x == where["n2"].x

    def test_stacks_parts_and_sets_loose_nodes_and_notes_in_rows(self) -> None:
        made = flow(
            *chain(2).nodes,
            node("x", "TextInput"),
            node("y", "CombineText"),
            node("memo", "Note"),
            node("lone", "CurrentDate"),
            edges="n0.text -> n1.parts\nx.text -> y.parts",
        )
        where = placed(made)
        assert where["x"].y > where["n0"].bottom
        assert where["memo"].y == where["lone"].y > where["x"].bottom

    def test_places_nodes_that_share_an_id(self) -> None:
        made = Flow(nodes=(node("a", "URL"), node("a", "URL"), node("a", "URL")))
        every = list(boxes(arrange(made, PALETTE), PALETTE))
        assert not any(a.overlaps(b) for a, b in combinations(every, 2))

    def test_keeps_groups_around_what_stands_in_them(self) -> None:
        made = flow(
            *chain(3).nodes,
            node("frame", "Group", width=4000, height=4000),
            node("empty", "Group", width=200, height=200),
            edges="n0.text -> n1.parts\nn1.text -> n2.parts",
        )
        apart = [
            one.model_copy(update={"position": Position(x={"n2": 9000, "empty": 15000}.get(one.id, 0))})
            for one in made.nodes
        ]
        where = placed(made.model_copy(update={"nodes": tuple(apart)}))
        frame = where["frame"]
        for key in ("n0", "n1"):
            assert frame.x < where[key].x < where[key].right < frame.right
            assert frame.y < where[key].y < where[key].bottom < frame.bottom
        assert where["n2"].x > frame.right
        assert not any(where["empty"].overlaps(where[key]) for key in ("n0", "n1", "n2", "frame"))

    def test_lays_out_nothing(self) -> None:
        assert arrange(Flow()) == Flow()


class TestSheet:
    def test_uncrosses_what_can_be_uncrossed(self) -> None:
        sheet = Sheet(10)
        left = [sheet.add(5, 5) for _ in range(6)]
        right = [sheet.add(5, 5) for _ in range(6)]
        for number, item in enumerate(left):
            sheet.connect(item, right[5 - number])
        drawn = sheet.draw()
        heights = [drawn[item][1] for item in left]
        assert [drawn[right[5 - number]][1] for number in range(6)] == heights


class TestKeepArranged:
    def test_arranges_an_arranged_flow_anew_when_a_node_comes_between(self) -> None:
        ends = [node("a", "TextInput"), node("b", "CombineText")]
        before = arrange(flow(*ends, edges="a.text -> b.parts"), PALETTE)
        grown = flow(*ends, node("c", "CombineText"), edges="a.text -> c.parts\nc.text -> b.parts")
        after = grown.model_copy(update={"nodes": tuple(_at(one, before) for one in grown.nodes)})
        kept = {one.id: one.position.x for one in keep_arranged(before, after, PALETTE).nodes}
        assert kept["a"] < kept["c"] < kept["b"]

    def test_leaves_nodes_where_somebody_put_them(self) -> None:
        made = arrange(chain(2), PALETTE)
        moved = made.model_copy(
            update={"nodes": (made.nodes[0], made.nodes[1].model_copy(update={"position": Position(x=900, y=70)}))}
        )
        after = moved.model_copy(update={"edges": ()})
        assert keep_arranged(moved, after, PALETTE) is after

    def test_leaves_a_flow_whose_nodes_and_edges_are_the_same(self) -> None:
        made = chain(2)
        after = made.model_copy(update={"name": "Another"})
        assert keep_arranged(arrange(made, PALETTE), after, PALETTE) is after

    @SOME
    @given(flows())
    def test_takes_every_arranged_flow_for_one(self, made: Flow) -> None:
        arranged = arrange(made)
        without = arranged.model_copy(update={"edges": (), "nodes": arranged.nodes[1:]})
        assert keep_arranged(arranged, without) == arrange(without)


def _at(one: Node, flow: Flow) -> Node:
    """A node where the flow has it; one that the flow has not at the right of everything."""
    there = {other.id: other.position for other in flow.nodes}
    return one.model_copy(update={"position": there.get(one.id, Position(x=5000, y=0))})
