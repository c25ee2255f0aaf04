"""Extracting a selection into a flow, and inlining it again, gives an equivalent flow."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.components import BUILTINS
from headgate.features.catalog.registry import Registry
from headgate.graph.crossing import named_by_id
from headgate.graph.extract import Extraction, extract
from headgate.graph.inline import inline
from headgate.graph.issues import FlowInvalid
from headgate.graph.model import Edge, Flow, FormField, Node, Position
from headgate.graph.ports import accepts
from headgate.graph.spec import read_spec
from headgate.graph.template import Template
from headgate.graph.validate import check_draft, check_runnable
from tests.unit.graph.strategies import SOME
from tests.unit.graph.wires import edge

CATALOG = Registry(BUILTINS)


def extracted(flow: Flow, *ids: str, name: str = "Part") -> Extraction:
    return extract(flow, ids, CATALOG, name=name, reference="Part")


def read(text: str) -> Flow:
    return read_spec(text, CATALOG)


CHAIN = read("""
name: Letters
nodes:
  ask: ChatInput
  tidy: Regex
    pattern: " +"
    mode: replace
    replacement: " "
  greet: PromptTemplate
    template: "Dear {{flow_input.who}}: {body}"
  out: ChatOutput
edges:
  ask.text -> tidy.text
  tidy.text -> greet.body
  greet.text -> out.input
form:
  who: text
    label: Who?
""")


STATEFUL = read("""
name: Stateful
nodes:
  ask: ChatInput
  last: ReadState
    name: last
  tidy: CombineText
  keep: WriteState
    name: last
  out: ChatOutput
edges:
  ask.text -> tidy.parts
  last.text -> tidy.parts
  tidy.text -> keep.value
  tidy.text -> out.input
""")


class TestExtract:
    def test_a_middle_becomes_one_step_with_typed_ports(self) -> None:
        result = extracted(CHAIN, "tidy", "greet")
        call = result.flow.node(result.node_id)
        assert call is not None
        assert call.params["inputs"] == {"ask": "Text"}
        assert call.params["answers"] == {"who": "{{flow_input.who}}"}
        assert [one.id for one in result.flow.edges] == ["ask.text -> part.ask", "part.text -> out.input"]
        assert [(question.id, question.type) for question in result.extracted.form] == [
            ("ask", "text"),
            ("who", "text"),
        ]
        assert check_runnable(result.extracted, CATALOG) == []
        assert check_draft(result.flow, CATALOG) == []

    def test_steps_that_read_the_run_stay(self) -> None:
        assert extracted(CHAIN, "ask", "tidy", "greet").left == ("ask",)

    def test_steps_that_show_the_result_stay(self) -> None:
        result = extracted(CHAIN, "greet", "out")
        assert result.left == ("out",)
        assert [one.id for one in result.flow.edges] == [
            "ask.text -> tidy.text",
            "tidy.text -> part.tidy_text",
            "part.text -> out.input",
        ]

    def test_an_end_that_is_text_keeps_the_result_of_the_flow(self) -> None:
        without = CHAIN.model_copy(update={"nodes": CHAIN.nodes[:-1], "edges": CHAIN.edges[:-1]})
        result = extracted(without, "tidy", "greet")
        assert [one.id for one in result.flow.edges] == ["ask.text -> part.ask"]
        assert result.extracted.nodes[-1].id == "greet"

    def test_several_outputs_are_gathered_and_numbers_of_steps_become_ids(self) -> None:
        flow = read("""
name: Numbers
nodes:
  ask: ChatInput
  parse: ParseJSON
  rows: TableQuery
    sql: SELECT * FROM data
  out: CombineText
    parts: ["{{step_2.data.0.name}}", "{{rows.output}}"]
edges:
  ask.text -> parse.text
  parse.data -> rows.table
""")
        result = extracted(flow, "parse", "rows")
        call, out = result.flow.node("part"), result.flow.node("out")
        assert call is not None
        assert out is not None
        assert call.params["outputs"] == {"parse": "Data", "rows": "Table"}
        assert out.params["parts"] == ["{{part.parse.0.name}}", "{{part.rows}}"]
        assert result.extracted.nodes[-1].params["data"] == {"parse": "{{parse.data}}", "rows": "{{rows.table}}"}

    def test_a_shared_model_is_copied_and_own_code_and_secrets_move(self) -> None:
        flow = Flow(
            nodes=(
                Node(id="llm", type="LanguageModel", params={"model": "openai/gpt-5-mini"}),
                Node(id="ask", type="ChatInput"),
                Node(id="a", type="AIStep", params={"prompt": "Sum up."}),
                Node(id="b", type="AIStep", params={"prompt": "Translate."}),
                Node(id="send", type="WebhookOut", params={"url": "https://example.org", "secret": "$HOOK"}),
            ),
            edges=tuple(
                edge(text)
                for text in (
                    "llm.model -> a.model",
                    "llm.model -> b.model",
                    "ask.text -> a.input",
                    "a.output -> b.input",
                    "b.output -> send.payload",
                )
            ),
        )
        result = extracted(flow, "b", "send")
        assert result.flow.node("llm") == result.extracted.node("llm") == flow.node("llm")
        assert result.extracted.node("send") == flow.node("send")
        assert inline(result.flow, result.node_id, result.extracted, CATALOG).flow.node("llm_2") is None

    @pytest.mark.parametrize(
        ("ids", "reason"),
        [
            (("tidy", "greet", "more"), "there is no node"),
            (("ask", "out"), "no step that can become a flow"),
        ],
    )
    def test_refuses_with_the_reason(self, ids: tuple[str, ...], reason: str) -> None:
        with pytest.raises(FlowInvalid, match=reason):
            extracted(CHAIN, *ids)

    def test_refuses_a_gap(self) -> None:
        longer = read("""
name: Gap
nodes:
  ask: ChatInput
  a: CombineText
  b: CombineText
  c: CombineText
edges:
  ask.text -> a.parts
  a.text -> b.parts
  b.text -> c.parts
""")
        with pytest.raises(FlowInvalid, match="step 'b' is between selected steps"):
            extracted(longer, "a", "c")

    @pytest.mark.parametrize("ids", [("last",), ("tidy", "keep")])
    def test_refuses_steps_with_state_which_is_that_of_their_flow(self, ids: tuple[str, ...]) -> None:
        with pytest.raises(FlowInvalid, match=f"step '{ids[-1]}' uses the state of this flow"):
            extracted(STATEFUL, *ids)

    def test_refuses_a_branch_that_steps_outside_use(self) -> None:
        flow = read("""
name: Branch
nodes:
  ask: ChatInput
  big: If
    operator: contains
    compare: x
  yes: PromptTemplate
    template: "{value} yes"
  no: PromptTemplate
    template: "{value} no"
  merge: Merge
edges:
  ask.text -> big.value
  big.true -> yes.value
  big.false -> no.value
  yes.text -> merge.values
  no.text -> merge.values
""")
        with pytest.raises(FlowInvalid, match="may skip the output"):
            extracted(flow, "big", "yes", "no")
        result = extracted(flow, "big", "yes", "no", "merge")
        assert check_runnable(result.extracted, CATALOG) == []
        with pytest.raises(FlowInvalid, match="may skip the output"):
            extracted(flow, "yes", "merge")

    @pytest.mark.parametrize(
        "reader", ['PromptTemplate\n    template: "{{big.true}} yes"', "SelectData\n    expression: a"]
    )
    def test_refuses_what_a_run_may_skip_because_of_its_references(self, reader: str) -> None:
        wired = reader.startswith("Select")
        flow = read(f"""
name: Branch
nodes:
  ask: ChatInput
  big: If
    operator: contains
    compare: x
  yes: {reader}
    {'data: "{{big.true}}"' if wired else "label: Yes"}
  merge: Merge
edges:
  ask.text -> big.value
  yes.text -> merge.values
""")
        with pytest.raises(FlowInvalid, match="may skip the output"):
            extracted(flow, "big", "yes")
        assert check_runnable(extracted(flow, "big", "yes", "merge").extracted, CATALOG) == []


PORTS: dict[str, tuple[str, dict[str, str]]] = {
    "CombineText": ("parts", {}),
    "SelectData": ("data", {"expression": "@"}),
    "PromptTemplate": ("body", {}),
    "TableQuery": ("table", {"sql": "SELECT 1"}),
    "Regex": ("text", {"pattern": "a"}),
    "ParseJSON": ("text", {}),
    "AIStep": ("input", {"prompt": "Go."}),
}
"""Type of a step to its main input and the values that it needs."""


def template_of(node: Node) -> Template:
    template = CATALOG.template(node.type, node.params)
    assert template is not None
    return template


@st.composite
def sound_flows(draw: st.DrawFn) -> Flow:
    """Flows of typed steps with edges, references by id and by number, a form, and a model of several steps."""
    llm, ask = Node(id="llm", type="LanguageModel", params={"model": "o/m"}), Node(id="ask", type="ChatInput")
    steps, edges = [ask], []
    for number in range(draw(st.integers(2, 8))):
        kind, node_id = draw(st.sampled_from(list(PORTS))), f"s{number}"
        values = [(node.id, output.name, output.type) for node in steps for output in template_of(node).outputs]
        named = [*((root, name) for root, name, _ in values), ("flow_input", "who"), ("step_1", "text")]
        words = " ".join(f"{{{{{root}.{name}}}}}" for root, name in draw(st.lists(st.sampled_from(named), max_size=2)))
        port, params = PORTS[kind]
        if kind == "PromptTemplate":
            params = {"template": f"{{body}} {words}"}
        elif kind == "AIStep":
            params = {"prompt": f"Go {words}"}
        node = Node(id=node_id, type=kind, params=params)
        taken = next(field for field in template_of(node).fields if field.name == port)
        fitting = [(root, name) for root, name, type_ in values if accepts(type_, taken.types)]
        most = 3 if taken.many else 1
        for root, name in draw(st.lists(st.sampled_from(fitting), min_size=1, max_size=most, unique=True)):
            edges.append(Edge(source=root, output=name, target=node_id, input=port))
        if kind == "AIStep":
            edges.append(edge(f"llm.model -> {node_id}.model"))
        steps.append(node)
    return Flow(name="Any", nodes=(llm, *steps), edges=tuple(edges), form=(FormField(id="who"),))


class TestInline:
    def test_refuses_a_flow_with_state_which_this_flow_does_not_have(self) -> None:
        caller = read("name: Caller\nnodes:\n  call: RunFlow\n    flow: Counter\n")
        counter = read("name: Counter\nnodes:\n  count: WriteState\n    name: count\n    operation: increment\n")
        with pytest.raises(FlowInvalid, match="its step 'count' uses the state of that flow"):
            inline(caller, "call", counter, CATALOG)


class TestRoundTrip:
    @SOME
    @given(sound_flows(), st.data())
    def test_inlined_again_the_flow_is_equivalent(self, flow: Flow, data: st.DataObject) -> None:
        assert check_draft(flow, CATALOG) == []
        ids = [node.id for node in flow.nodes[2:]]
        first = data.draw(st.integers(0, len(ids) - 1))
        chosen = ids[first : data.draw(st.integers(first + 1, len(ids)))]
        result = None
        with suppress(FlowInvalid):
            result = extracted(flow, *chosen)
        if result is None:
            return
        assert check_draft(result.flow, CATALOG) == []
        assert check_draft(result.extracted, CATALOG) == []
        again = inline(result.flow, result.node_id, result.extracted, CATALOG).flow
        assert _parts(again) == _parts(named_by_id(flow, CATALOG))


def _parts(flow: Flow) -> tuple[object, ...]:
    """Everything but the order and the positions of nodes."""
    nodes = {node.id: node.model_copy(update={"position": Position()}) for node in flow.nodes}
    return nodes, set(flow.edges), len(flow.edges), flow.form, flow.settings, flow.name
