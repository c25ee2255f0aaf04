from hypothesis import given

from headgate.graph.model import Flow
from headgate.graph.ports import PortType
from headgate.graph.wiring import attachment_counts, by_attachment, find_cycle, wire
from tests.unit.graph.palette import PALETTE
from tests.unit.graph.strategies import SOME, flows, graphs
from tests.unit.graph.wires import flow, node

AGENT = flow(
    node("chat", "ChatInput"),
    node("llm", "LanguageModel"),
    node("calc", "Calculator"),
    node("boss", "Agent"),
    node("out", "ChatOutput"),
    node("memo", "Note"),
    edges="""
    chat.message -> boss.input
    llm.model -> boss.model
    calc.tool -> boss.tools
    boss.response -> out.input
    """,
)


class TestWire:
    def test_tells_steps_from_configuration_and_notes(self) -> None:
        wiring = wire(AGENT, PALETTE)
        assert wiring.steps == ("chat", "boss", "out")
        assert wiring.configuration == {"llm", "calc"}
        assert wiring.notes == {"memo"}

    def test_guesses_the_same_from_reserved_names_without_a_catalog(self) -> None:
        assert wire(AGENT).steps == wire(AGENT, PALETTE).steps

    def test_makes_a_model_that_also_answers_a_step(self) -> None:
        made = AGENT.model_copy(update={"edges": (*AGENT.edges, *flow(edges="llm.text -> out.input").edges)})
        assert "llm" in wire(made, PALETTE).steps

    def test_gives_any_component_with_a_tool_field_a_tool_output(self) -> None:
        wiring = wire(AGENT, PALETTE)
        assert [one.type for one in wiring.attachments("boss")] == [PortType.MODEL, PortType.TOOL]

    def test_numbers_aliases_in_running_order_with_ties_in_node_order(self) -> None:
        made = flow(node("b", "TextInput"), node("z", "CombineText"), node("a", "TextInput"), edges="a.text -> z.parts")
        assert wire(made, PALETTE).aliases == {"step_1": "b", "step_2": "a", "step_3": "z"}

    @SOME
    @given(flows())
    def test_never_fails(self, any_flow: Flow) -> None:
        wire(any_flow, PALETTE)

    @SOME
    @given(graphs())
    def test_orders_every_step_behind_its_parents(self, made: Flow) -> None:
        wiring = wire(made, PALETTE)
        place = {step: number for number, step in enumerate(wiring.order)}
        assert set(place) == set(wiring.steps)
        assert all(place[parent] < place[step] for step in place for parent in wiring.parents[step])

    @SOME
    @given(graphs(cyclic=True))
    def test_leaves_steps_on_a_cycle_out_exactly_when_there_is_one(self, made: Flow) -> None:
        wiring = wire(made, PALETTE)
        children = {key: [one.edge.target for one in wires] for key, wires in wiring.leaving.items()}
        assert bool(find_cycle(wiring.nodes, children)) == (len(wiring.order) < len(wiring.steps))


class TestFindCycle:
    def test_walks_the_cycle(self) -> None:
        assert find_cycle("abcd", {"a": "b", "b": "c", "c": "bd", "d": ""}) == ["b", "c"]

    def test_takes_a_long_path_without_recursion(self) -> None:
        names = [str(number) for number in range(5000)]
        children = {name: [following] for name, following in zip(names, names[1:] + names[:1], strict=True)}
        assert len(find_cycle(names, children)) == 5000


class TestAttachments:
    def test_are_counted_through_chains(self) -> None:
        made = flow(
            node("llm", "LanguageModel"),
            node("helper", "Agent"),
            node("tool", "Agent"),
            node("boss", "Agent"),
            edges="llm.model -> helper.model\nllm.model -> boss.model\nhelper.tool -> boss.tools",
        )
        wiring = wire(made)
        assert by_attachment(wiring).index("helper") > by_attachment(wiring).index("llm")
        assert attachment_counts(wiring)["boss"] == 3
