from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from headgate.graph.classification import ModelRef, Scheme, classify, model_ref
from headgate.graph.issues import IssueCode
from headgate.graph.model import Flow, FlowSettings, Node, StepPolicy
from tests.unit.graph.palette import PALETTE
from tests.unit.graph.strategies import SOME, flows, graphs
from tests.unit.graph.wires import edge

SCHEME = Scheme(("K0 public", "K1 internal", "K2 confidential", "K3 secret"))
LEVELS = {"openai": 1, "house": 2, "local": 3, "open": 0}


def class_of(ref: ModelRef) -> int:
    return 0 if ref.own_address else LEVELS.get(ref.provider, 0)


def node(node_id: str, type_: str, params: dict[str, JsonValue] | None = None, **members: Any) -> Node:
    return Node(id=node_id, type=type_, params=params or {}, **members)


def flow(*nodes: Node, edges: str = "") -> Flow:
    return Flow(nodes=nodes, edges=tuple(edge(one.strip()) for one in edges.split(";") if one))


def policy(**members: object) -> StepPolicy:
    return StepPolicy.model_validate(members)


def ai(node_id: str, provider: str, **members: object) -> Node:
    return node(node_id, "AIStep", {"prompt": "Do.", "model": f"{provider}/m"}, policy=policy(**members))


def outputs(made: Flow, scheme: Scheme = SCHEME) -> Mapping[str, int]:
    return {step: found.output for step, found in classify(made, PALETTE, scheme, class_of).steps.items()}


def problems(made: Flow, scheme: Scheme = SCHEME) -> list[str]:
    return [f"{one} {one.remedy}" for one in classify(made, PALETTE, scheme, class_of).issues]


def of_input(made: Flow, level: int) -> Flow:
    return made.model_copy(update={"settings": FlowSettings(input_classification=level)})


LINE = flow(
    node("ask", "TextInput"),
    ai("brief", "house"),
    ai("tell", "openai"),
    edges="ask.text -> brief.input; brief.output -> tell.input",
)


class TestClassify:
    def test_follows_the_rule_of_the_seed_along_a_line(self) -> None:
        assert outputs(LINE) == {"ask": 0, "brief": 2, "tell": 2}
        assert problems(LINE) == [
            (
                "node 'tell' (AIStep) calls openai/m, which is cleared for K1 internal, but 'brief' brings K2"
                " confidential. Choose a model cleared for K2 confidential or higher, or set "
                "output_classification_override of 'brief' when its output is less sensitive."
            )
        ]

    def test_an_override_speaks_for_the_step_and_zero_is_one(self) -> None:
        made = flow(
            node("ask", "TextInput"),
            ai("brief", "house", output_classification_override=0),
            ai("tell", "open"),
            edges="ask.text -> brief.input; brief.output -> tell.input",
        )
        assert outputs(made) == {"ask": 0, "brief": 0, "tell": 0}
        assert problems(made) == []

    def test_steps_without_a_model_carry_what_reached_them(self) -> None:
        made = flow(
            ai("a", "house"), ai("b", "openai"), node("j", "CombineText"), node("o", "ChatOutput"),
            edges="a.output -> j.parts; b.output -> j.parts; j.text -> o.input",
        )  # fmt: skip
        assert outputs(made) == {"a": 2, "b": 1, "j": 2, "o": 2}

    def test_what_a_run_is_started_with_has_a_class(self) -> None:
        made = of_input(LINE, 3)
        assert outputs(made)["ask"] == 3
        assert problems(made)[0].startswith(
            "node 'brief' (AIStep) calls house/m, which is cleared for K2 confidential, but 'ask' brings K3 secret."
        )

    @pytest.mark.parametrize("how", ["policy", "reference", "binding", "attached"])
    def test_the_input_arrives_by_every_way(self, how: str) -> None:
        made = {
            "policy": flow(ai("s", "openai", input_source="flow_input")),
            "reference": flow(node("s", "AIStep", {"prompt": "On {{flow_input.text}}", "model": "openai/m"})),
            "binding": flow(ai("s", "openai", input_bindings={"input": "{{flow_input.text}}"})),
            "attached": flow(
                ai("a", "open"), node("s", "Agent", {"input": "x"}),
                node("m", "LanguageModel", {"model": "openai/m", "system": "{{flow_input.text}}"}),
                edges="m.model -> s.model; a.output -> s.input",
            ),
        }[how]  # fmt: skip
        assert classify(of_input(made, 2), PALETTE, SCHEME, class_of).steps["s"].incoming == 2
        assert len(problems(of_input(made, 2))) == 1

    @pytest.mark.parametrize("how", ["reference", "alias", "all", "url"])
    def test_earlier_steps_are_read_without_an_edge_too(self, how: str) -> None:
        ways: dict[str, dict[str, object]] = {
            "reference": {"input_bindings": {"input": "{{first.output}}"}},
            "alias": {"input_bindings": {"input": "{{step_1.output}}"}},
            "all": {"input_source": "all_previous_steps"},
            "url": {"input_source": "http_get", "input_config": {"url": "https://x.org/{{first.output}}"}},
        }
        members = ways[how]
        made = flow(
            ai("first", "house"), ai("between", "local", output_classification_override=0),
            ai("s", "openai", **members),
            edges="first.output -> between.input; between.output -> s.input",
        )  # fmt: skip
        assert classify(made, PALETTE, SCHEME, class_of).steps["s"].incoming == 2
        assert problems(made)

    def test_a_step_has_the_models_of_all_that_hangs_on_it(self) -> None:
        made = flow(
            ai("a", "house"), node("s", "Agent"), node("m", "LanguageModel", {"model": "openai/m"}),
            edges="a.output -> s.input; m.model -> s.model",
        )  # fmt: skip
        assert "calls openai/m" in problems(made)[0]

    def test_a_model_that_is_not_known_yet_is_not_refused_but_what_it_gives_is_the_highest(self) -> None:
        made = flow(
            ai("a", "house"), node("s", "AIStep", {"prompt": "x", "model": "{{a.output}}"}), ai("t", "house"),
            edges="a.output -> s.input; s.output -> t.input",
        )  # fmt: skip
        found = classify(made, PALETTE, SCHEME, class_of)
        assert found.steps["s"].unknown_model
        assert found.steps["s"].output == 3
        assert [issue.node for issue in found.issues] == ["t"]

    def test_a_chat_remembers_what_it_answered(self) -> None:
        made = flow(
            node("h", "MessageHistory"), ai("s", "openai"), ai("t", "house"), node("ask", "ChatInput"),
            edges="h.text -> s.input; ask.text -> t.input",
        )  # fmt: skip
        assert outputs(made)["h"] == 2
        assert "'h' brings K2 confidential" in problems(made)[0]

    def test_an_override_of_an_approval_holds_for_what_was_approved(self) -> None:
        review = node("review", "Approval", policy=policy(output_classification_override=1))
        made = of_input(
            flow(
                node("ask", "TextInput"),
                review,
                node("sent", "WebhookOut"),
                node("refused", "WebhookOut"),
                node("late", "CombineText", {"title": "{{review.timeout}}"}),
                node("any", "CombineText", {"title": "{{review.output}}"}),
                node("yes", "CombineText", {"title": "{{review.approve}}"}),
                edges="ask.text -> review.value; review.approve -> sent.payload; review.reject -> refused.payload",
            ),
            3,
        )
        steps = classify(made, PALETTE, SCHEME, class_of).steps
        assert {step: steps[step].incoming for step in ("sent", "refused", "late", "any", "yes")} == {
            "sent": 1,
            "refused": 3,
            "late": 3,
            "any": 3,
            "yes": 1,
        }
        assert problems(made) == [
            (
                "node 'refused' (WebhookOut) sends its input out, and 'review' brings K3 secret; at most K1 internal "
                "may be sent out. Take refused out, or use what 'review' outputs when it is approved."
            )
        ]

    def test_a_disabled_step_that_passes_its_input_through_lowers_nothing(self) -> None:
        made = flow(ai("a", "house"), node("b", "Wait"), edges="a.output -> b.value")
        for disabled, override, expected in (("no", 0, 0), ("pass_through", 0, 2), ("pass_through", 3, 3)):
            rules = policy(disabled=disabled, output_classification_override=override)
            nodes = (made.nodes[0], made.nodes[1].model_copy(update={"policy": rules}))
            assert outputs(made.model_copy(update={"nodes": nodes}))["b"] == expected

    def test_an_override_beyond_the_highest_class_is_said(self) -> None:
        made = of_input(flow(ai("s", "local", output_classification_override=4)), 4)
        assert [text.split(".")[0] for text in problems(made)][:2] == [
            "input_classification is 4, but the highest classification is 3",
            "node 's' (AIStep) sets classification 4, but the highest classification is 3",
        ]

    def test_every_issue_has_its_code(self) -> None:
        assert {one.code for one in classify(of_input(LINE, 3), PALETTE, SCHEME, class_of).issues} == {
            IssueCode.CLASSIFICATION
        }


class TestOutside:
    def test_a_step_posts_no_more_than_may_leave(self) -> None:
        posting = {"output_mode": "http_post", "output_config": {"url": "https://x.org"}}
        assert (
            "posts K2 confidential to a URL; at most K1 internal may be sent out."
            in problems(flow(ai("s", "house", **posting)))[0]
        )
        assert problems(flow(ai("s", "openai", **posting))) == []
        assert problems(flow(ai("s", "house", **posting, output_classification_override=1))) == []

    @pytest.mark.parametrize(("type_", "input_"), [("WebhookOut", "payload"), ("HTTPRequest", "body"), ("URL", "url")])
    def test_a_component_that_sends_gets_no_more_than_may_leave(self, type_: str, input_: str) -> None:
        made = flow(ai("a", "house"), node("w", type_), edges=f"a.output -> w.{input_}")
        assert problems(made) == [
            (
                f"node 'w' ({type_}) sends its input out, and 'a' brings K2 confidential; at most K1 internal "
                "may be sent out. Take w out, or set output_classification_override of 'a' when its output is"
                " less sensitive."
            )
        ]
        assert problems(made, Scheme(SCHEME.names, external_max=2)) == []

    def test_a_tool_that_sends_counts_for_the_agent(self) -> None:
        made = flow(
            ai("a", "house"), node("s", "Agent", {"model": "local/m"}), node("w", "HTTPRequest"),
            edges="a.output -> s.input; w.tool -> s.tools",
        )  # fmt: skip
        assert "node 's' (Agent) may send data through node 'w' (HTTPRequest), and 'a' brings K2" in problems(made)[0]

    def test_a_request_for_the_input_says_nothing_in_its_address_body_or_headers(self) -> None:
        for member in ("url", "body", "headers"):
            config: dict[str, object] = {"url": "https://x.org"}
            config[member] = {"x": "{{a.output}}"} if member == "headers" else "https://x.org/{{a.output}}"
            made = flow(
                ai("a", "house"),
                node("s", "CombineText", policy=policy(input_source="http_post", input_config=config)),
                edges="a.output -> s.parts",
            )  # fmt: skip
            assert f"'input_config.{member}" in problems(made)[0]
            assert "sends {{a.output}} out" in problems(made)[0]

    def test_a_request_that_is_set_and_not_made_is_let_be(self) -> None:
        made = flow(
            ai("a", "house"), node("s", "CombineText", policy=policy(input_config={"url": "https://x/{{a.output}}"})),
            edges="a.output -> s.parts",
        )  # fmt: skip
        assert problems(made) == []


class TestModelRef:
    @pytest.mark.parametrize(
        ("value", "expected"),
        [
            ("OpenAI/gpt", ModelRef("openai", "gpt")),
            ({"provider": "ollama", "name": "x", "params": {"base_url": "http://x"}}, ModelRef("ollama", "x", True)),
            ({"provider": "ollama", "name": "x", "params": {"temperature": 1}}, ModelRef("ollama", "x")),
            ("gpt", None),
            ("{{a.output}}", None),
            ({"provider": "{{a.b}}", "name": "x"}, None),
            (None, None),
            ([1], None),
        ],
    )
    def test_reads_a_value(self, value: object, expected: ModelRef | None) -> None:
        assert model_ref(value) == expected  # type: ignore[arg-type]

    def test_an_address_of_the_flows_own_is_not_the_server_that_was_classed(self) -> None:
        made = flow(
            ai("a", "house"),
            node(
                "s", "AIStep", {"prompt": "x", "model": {"provider": "local", "name": "m", "params": {"base_url": "u"}}}
            ),
            edges="a.output -> s.input",
        )
        assert "calls local/m, which is cleared for K0 public" in problems(made)[0]


levels = st.integers(0, 3)


@st.composite
def classed(draw: st.DrawFn) -> Flow:
    """Any graph, its models and overrides drawn, with a posting step here and there."""
    made = draw(graphs(max_nodes=8))
    nodes = []
    for one in made.nodes:
        params = dict(one.params)
        if one.type in {"LanguageModel", "Agent"} and draw(st.booleans()):
            params["model"] = draw(st.sampled_from(["openai/m", "house/m", "local/m", "open/m", "{{x.y}}"]))
        rules = policy(
            output_classification_override=draw(st.none() | levels),
            input_source=draw(st.sampled_from(["previous_step", "flow_input", "all_previous_steps"])),
        )
        nodes.append(one.model_copy(update={"params": params, "policy": rules}))
    return made.model_copy(update={"nodes": tuple(nodes)})


class TestMonotonicity:
    @SOME
    @given(classed(), levels, levels)
    def test_raising_the_input_never_lowers_an_output(self, made: Flow, low: int, more: int) -> None:
        before, after = outputs(of_input(made, low)), outputs(of_input(made, min(3, low + more)))
        assert all(after[step] >= before[step] for step in before)

    @SOME
    @given(classed(), st.sampled_from(sorted(LEVELS)))
    def test_raising_a_model_never_lowers_an_output(self, made: Flow, provider: str) -> None:
        before = outputs(made)

        def raised(ref: ModelRef) -> int:
            return 3 if ref.provider == provider else class_of(ref)

        after = classify(made, PALETTE, SCHEME, raised).steps
        assert all(after[step].output >= before[step] for step in before)

    @SOME
    @given(classed(), st.data())
    def test_raising_an_override_never_lowers_an_output(self, made: Flow, data: st.DataObject) -> None:
        before = outputs(made)
        if not made.nodes:
            return
        chosen = data.draw(st.sampled_from(made.nodes))
        override = chosen.policy.output_classification_override
        if override is None:
            return
        higher = chosen.policy.model_copy(update={"output_classification_override": min(3, override + 1)})
        nodes = tuple(one.model_copy(update={"policy": higher}) if one is chosen else one for one in made.nodes)
        after = outputs(made.model_copy(update={"nodes": nodes}))
        assert all(after[step] >= before[step] for step in before)

    @SOME
    @given(classed(), levels)
    def test_a_flow_without_issues_asks_no_model_above_its_class(self, made: Flow, level: int) -> None:
        found = classify(of_input(made, level), PALETTE, SCHEME, class_of)
        below = [s for s in found.steps.values() for ref in s.models if class_of(ref) < s.incoming]
        assert bool(below) == any(issue.field == "model" for issue in found.issues)

    @SOME
    @given(flows(), levels)
    def test_any_draft_can_be_classified(self, made: Flow, level: int) -> None:
        classify(of_input(made, level), PALETTE, SCHEME, class_of)
