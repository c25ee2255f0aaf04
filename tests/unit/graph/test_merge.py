from hypothesis import given

from headgate.graph.geometry import boxes
from headgate.graph.layout import arrange
from headgate.graph.merge import merge
from headgate.graph.model import Edge, Flow, FormField, Position
from headgate.graph.wiring import wire
from tests.unit.graph.palette import PALETTE
from tests.unit.graph.strategies import SOME, flows, graphs
from tests.unit.graph.wires import edge, flow, node

PAGE = flow(
    node("url", "URL", url="{{flow_input.site}}"),
    node("brief", "AIStep", prompt="{{url.text}} {{step_1.title}} {{brief_2.x}}"),
    edges="url.text -> brief.input",
)


class TestMerge:
    def test_renames_what_is_taken_and_follows_it(self) -> None:
        merged = merge(PAGE, PAGE)
        assert merged.ids == {"url": "url_2", "brief": "brief_2"}
        assert merged.flow.nodes[3].params["prompt"] == "{{url_2.text}} {{url_2.title}} {{brief_2.x}}"
        assert merged.flow.edges[1] == edge("url_2.text -> brief_2.input")

    def test_never_takes_an_id_that_the_other_flow_uses(self) -> None:
        merged = merge(flow(node("url", "URL")), flow(node("url", "URL"), node("url_2", "URL")))
        assert merged.ids == {"url": "url_3", "url_2": "url_2"}

    def test_asks_a_question_once_that_both_ask(self) -> None:
        base = PAGE.model_copy(update={"form": (FormField(id="site", label="Mine"),)})
        merged = merge(base, PAGE.model_copy(update={"form": (FormField(id="site", label="Theirs"),)}))
        assert merged.flow.form == base.form

    def test_renames_a_question_that_asks_for_something_else(self) -> None:
        base = PAGE.model_copy(update={"form": (FormField(id="site", type="file"),)})
        other = flow(
            node("a", "URL", url="{{flow_input.site}}"),
            node("b", "FormInput", only=["site", "x"]),
            node("c", "FileInput", field="site"),
        ).model_copy(update={"form": (FormField(id="site"), FormField(id="x"))})
        merged = merge(base, other)
        assert [field.id for field in merged.flow.form] == ["site", "site_2", "x"]
        assert merged.flow.nodes[2].params["url"] == "{{flow_input.site_2}}"
        assert merged.flow.nodes[3].params["only"] == ["site_2", "x"]
        assert merged.flow.nodes[4].params["field"] == "site_2"

    def test_moves_by_the_offset_given(self) -> None:
        merged = merge(PAGE, PAGE, Position(x=10, y=20))
        assert merged.flow.nodes[2].position == Position(x=10, y=20)

    def test_keeps_aliases_of_the_base(self) -> None:
        page = flow(node("url", "URL"), node("brief", "AIStep", prompt="{{url.text}}"))
        merged = merge(page, PAGE, catalog=PALETTE).flow
        before, after = wire(page, PALETTE).aliases, wire(merged, PALETTE).aliases
        assert after.items() >= before.items()

    @SOME
    @given(flows(), flows())
    def test_collides_nowhere_and_leaves_the_base_alone(self, base: Flow, other: Flow) -> None:
        merged = merge(base, other)
        ids = [one.id for one in merged.flow.nodes]
        assert len(set(ids)) == len(ids)
        assert merged.flow.nodes[: len(base.nodes)] == base.nodes
        assert merged.flow.edges[: len(base.edges)] == base.edges
        assert merged.flow.form[: len(base.form)] == base.form
        assert (merged.flow.name, merged.flow.settings) == (base.name, base.settings)

    @SOME
    @given(flows(), flows())
    def test_keeps_the_structure_of_the_other(self, base: Flow, other: Flow) -> None:
        merged = merge(base, other)
        ids = merged.ids
        assert [one.type for one in merged.flow.nodes[len(base.nodes) :]] == [one.type for one in other.nodes]
        expected = [
            Edge(source=ids[one.source], output=one.output, target=ids.get(one.target, one.target), input=one.input)
            for one in other.edges
            if one.source in ids
        ]
        added = [one for one in merged.flow.edges[len(base.edges) :] if one.source in set(ids.values())]
        assert added[: len(expected)] == expected or not expected

    @SOME
    @given(graphs(), graphs())
    def test_overlaps_nothing(self, base: Flow, other: Flow) -> None:
        merged = merge(arrange(base, PALETTE), arrange(other, PALETTE), catalog=PALETTE).flow
        placed = list(boxes(merged, PALETTE))
        old, new = placed[: len(base.nodes)], placed[len(base.nodes) :]
        assert not any(one.overlaps(other_box) for one in old for other_box in new)

    @SOME
    @given(graphs())
    def test_can_be_done_twice(self, made: Flow) -> None:
        twice = merge(merge(made, made).flow, made).flow
        assert len({one.id for one in twice.nodes}) == 3 * len(made.nodes)
