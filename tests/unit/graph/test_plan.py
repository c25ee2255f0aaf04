import time

import pytest
from hypothesis import given

from headgate.graph.issues import FlowInvalid, IssueCode
from headgate.graph.model import Flow, InputSource, OutputType, StepPolicy
from headgate.graph.plan import compile_plan
from tests.unit.graph.palette import PALETTE
from tests.unit.graph.strategies import SOME, graphs
from tests.unit.graph.test_wiring import AGENT
from tests.unit.graph.wires import chain, edge, flow, node

DIAMOND = flow(
    node("page", "URL"),
    node("a", "CombineText"),
    node("b", "CombineText"),
    node("join", "CombineText"),
    edges="page.text -> b.parts\npage.text -> a.parts\nb.text -> join.parts\na.text -> join.parts",
)


class TestCompilePlan:
    def test_orders_steps_and_links_them_by_id(self) -> None:
        plan = compile_plan(DIAMOND, PALETTE)
        assert [(step.id, step.order, step.alias) for step in plan.steps] == [
            ("page", 1, "step_1"),
            ("a", 2, "step_2"),
            ("b", 3, "step_3"),
            ("join", 4, "step_4"),
        ]
        assert plan.step("page").children == ("a", "b")
        assert plan.step("join").parents == ("a", "b")
        assert [step.id for step in plan.roots] == ["page"]
        assert [step.id for step in plan.leaves] == ["join"]

    def test_keeps_edges_in_the_flows_order(self) -> None:
        join = compile_plan(DIAMOND, PALETTE).step("join")
        assert join.into("parts") == (edge("b.text -> join.parts"), edge("a.text -> join.parts"))

    def test_makes_no_step_of_configuration_and_notes(self) -> None:
        plan = compile_plan(AGENT, PALETTE)
        assert [step.id for step in plan.steps] == ["chat", "boss", "out"]
        assert [(one.edge.input, one.node.id) for one in plan.step("boss").attachments] == [
            ("model", "llm"),
            ("tools", "calc"),
        ]

    def test_attaches_what_is_attached_to_an_attachment(self) -> None:
        made = flow(
            node("boss", "Agent"),
            node("llm", "LanguageModel"),
            node("map", "Map"),
            node("out", "ChatOutput"),
            edges="llm.model -> boss.model\nboss.response -> out.input",
        )
        nested = made.model_copy(
            update={
                "nodes": (*made.nodes, node("calc", "Calculator")),
                "edges": (*made.edges, edge("calc.tool -> map.each")),
            }
        )
        (attachment,) = compile_plan(nested, PALETTE).step("map").attachments
        assert attachment.node.id == "calc"
        assert attachment.template.type == "Calculator"
        chained = compile_plan(
            flow(
                node("llm", "LanguageModel"),
                node("tool", "StructuredOutput"),
                node("m", "Map"),
                edges="llm.model -> tool.model\ntool.tool -> m.each",
            ),
            with_tool("StructuredOutput"),
        )
        (outer,) = chained.step("m").attachments
        assert [inner.node.id for inner in outer.attachments] == ["llm"]

    @pytest.mark.parametrize(
        ("prompt", "expected"),
        [
            ("nothing", ("text",)),
            ("{{page.title}}", ("text", "title")),
            ("{{step_1.links.0}}", ("text", "links")),
            ("{{page.nonsense}}", ("text",)),
        ],
    )
    def test_produces_outputs_that_are_connected_or_referred_to(self, prompt: str, expected: tuple[str, ...]) -> None:
        made = flow(node("page", "URL"), node("brief", "AIStep", prompt=prompt), edges="page.text -> brief.input")
        assert compile_plan(made, PALETTE).step("page").outputs == expected

    def test_produces_the_main_output_when_nobody_takes_any(self) -> None:
        assert compile_plan(flow(node("page", "URL")), PALETTE).step("page").outputs == ("text",)

    def test_produces_the_main_output_for_a_reader_of_all_previous_steps(self) -> None:
        made = flow(
            node("page", "URL"),
            node("a", "SelectData"),
            node("b", "AIStep", StepPolicy(input_source=InputSource.ALL_PREVIOUS_STEPS)),
            edges="page.links -> a.data\na.text -> b.input",
        )
        plan = compile_plan(made, PALETTE)
        assert plan.step("page").outputs == ("text", "links")
        assert plan.step("a").outputs == ("data", "text")

    def test_produces_the_main_output_that_a_policy_shapes(self) -> None:
        made = flow(
            node("page", "URL", StepPolicy(output_type=OutputType.JSON)),
            node("a", "SelectData"),
            edges="page.links -> a.data",
        )
        assert compile_plan(made, PALETTE).step("page").outputs == ("text", "links")

    def test_gives_a_step_whose_output_becomes_a_document_an_output_for_it(self) -> None:
        made = flow(node("page", "URL", StepPolicy(output_type=OutputType.PDF)))
        step = compile_plan(made, PALETTE).step("page")
        assert step.outputs == ("text", "document")
        assert step.main_output == "text"

    def test_does_not_count_a_reference_in_code(self) -> None:
        made = flow(node("page", "URL"), node("py", "Python", source="{{page.title}}"), edges="page.text -> py.inputs")
        assert compile_plan(made, PALETTE).step("page").outputs == ("text",)

    @pytest.mark.parametrize(
        ("broken", "code"),
        [
            (flow(node("a", "Nope")), IssueCode.UNKNOWN_TYPE),
            (flow(node("a", "URL"), edges="a.text -> b.x"), IssueCode.UNKNOWN_NODE),
            (flow(node("a", "URL"), node("b", "URL"), edges="a.nope -> b.url"), IssueCode.UNKNOWN_OUTPUT),
            (flow(node("a", "URL"), node("a", "URL")), IssueCode.DUPLICATE_NODE),
            (
                flow(node("a", "URL"), node("b", "URL"), edges="a.text -> b.url\nb.text -> a.url"),
                IssueCode.CYCLE,
            ),
        ],
    )
    def test_refuses_a_graph_that_does_not_hold_together(self, broken: Flow, code: IssueCode) -> None:
        with pytest.raises(FlowInvalid) as caught:
            compile_plan(broken, PALETTE)
        assert code in {issue.code for issue in caught.value.issues}

    def test_compiles_a_draft_with_missing_values(self) -> None:
        assert len(compile_plan(flow(node("a", "AIStep")), PALETTE).steps) == 1

    @SOME
    @given(graphs())
    def test_is_the_same_every_time_and_whole(self, made: Flow) -> None:
        plan = compile_plan(made, PALETTE)
        assert plan == compile_plan(made, PALETTE)
        for step in plan.steps:
            assert all(step.id in plan.step(parent).children for parent in step.parents)
            assert all(plan.step(parent).order < step.order for parent in step.parents)
            assert {one.source for one in step.inbound} == set(step.parents)


class TestPlan:
    def test_knows_what_comes_before_and_after(self) -> None:
        plan = compile_plan(DIAMOND, PALETTE)
        assert plan.ancestors("join") == ["page", "a", "b"]
        assert plan.descendants("page") == ["a", "b", "join"]
        assert plan.descendants("join") == []

    def test_takes_a_chain_of_a_thousand_quickly(self) -> None:
        started = time.process_time()
        plan = compile_plan(chain(1000), PALETTE)
        assert len(plan.ancestors("n999")) == 999
        assert time.process_time() - started < 2


class _WithTool:
    """The palette with a tool output on one more type."""

    def __init__(self, type_: str) -> None:
        found = PALETTE.templates[type_]
        fields = tuple(one.model_copy(update={"tool_mode": one.name == "input"}) for one in found.fields)
        self.changed = found.model_copy(update={"fields": fields})

    def types(self) -> list[str]:
        return list(PALETTE.types())

    def template(self, type_, params=None):  # type: ignore[no-untyped-def]
        return self.changed if type_ == self.changed.type else PALETTE.template(type_, params)

    def code(self, type_: str) -> str | None:
        return None


def with_tool(type_: str) -> _WithTool:
    return _WithTool(type_)
