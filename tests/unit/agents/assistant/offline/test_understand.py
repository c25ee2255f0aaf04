"""From a request to tool calls."""

import subprocess
import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from headgate.agents.assistant.offline.editing.difference import actions_between
from headgate.agents.assistant.offline.intents.catalogue import index_of
from headgate.agents.assistant.offline.understand import understand
from headgate.features.catalog.gallery import Recipe
from headgate.graph.model import Edge, Flow, Node, StepPolicy
from headgate.graph.spec import parse_spec
from headgate.graph.validate import check_runnable
from tests.support.properties import cases
from tests.unit.agents.assistant.offline.corpus import REGISTRY, entries

WORDS = sorted({word for entry in entries("developing") for word in entry["request"].split()})
LONG = (
    "list all the python packages that are installed here with their licences, count them by licence, and if any of"
    " them is GPL say which ones, otherwise say everything is fine, then combine the count table and that finding in a"
    " report and save it as licences.md"
)


class TestUnderstand:
    @cases(60)
    @given(st.one_of(st.text(max_size=200), st.lists(st.sampled_from(WORDS), max_size=25).map(" ".join)))
    def test_takes_any_text_and_builds_only_what_can_run(self, text: str) -> None:
        found = understand(text, REGISTRY, Flow())
        assert found.actions or found.reply
        for action in found.actions:
            if action.tool == "build_flow":
                assert check_runnable(parse_spec(str(action.arguments["spec"])), REGISTRY) == []

    @pytest.mark.parametrize("text", ["build an echo flow", "an echo bot", "repeat my message"])
    def test_takes_the_smallest_flow_by_its_name(self, text: str) -> None:
        found = understand(text, REGISTRY, Flow())
        assert "heard.message -> said.input" in str(found.actions[0].arguments["spec"])

    def test_names_what_it_left_out(self) -> None:
        found = understand("count the words of my text and zorbify them, save the count as n.txt", REGISTRY, Flow())
        assert "zorbify" in " ".join([*found.left_out, found.reply])

    def test_says_that_a_part_needs_a_model_and_builds_nothing(self) -> None:
        found = understand("summarise the uploaded document and save it as s.md", REGISTRY, Flow())
        assert not found.actions
        assert "language model" in found.reply

    def test_uses_the_model_that_is_configured(self) -> None:
        found = understand("summarise the uploaded document and save it as s.md", REGISTRY, Flow(), "openai/x")
        assert found.flow is not None
        assert [node.params["model"] for node in found.flow.nodes if node.type == "AIStep"] == ["openai/x"]

    def test_gives_three_examples_with_a_refusal(self) -> None:
        found = understand("what is the weather like tomorrow", REGISTRY, Flow())
        assert (found.actions, found.reply.count("\n- ")) == ((), 3)

    @pytest.mark.parametrize("recipe", index_of(REGISTRY).near("", 99), ids=lambda recipe: recipe.key)
    def test_builds_what_it_offers_with_a_refusal(self, recipe: Recipe) -> None:
        assert understand(recipe.examples[0], REGISTRY, Flow()).actions

    def test_offers_nothing_that_needs_a_model(self) -> None:
        assert "agent" not in understand("add an agent", REGISTRY, Flow()).reply.partition("can do:")[2]

    def test_tells_what_it_took_as_taken_back(self) -> None:
        found = understand("list the installed packages by size, top 10, sorry, top 20", REGISTRY, Flow())
        assert "LIMIT 20" in str(found.actions[0].arguments["spec"])
        assert any("taken back" in note for note in found.assumed)

    def test_changes_a_flow_with_a_policy_half_done_and_builds_no_other_in_its_place(self) -> None:
        flow = understand("list the installed packages by size and save them as p.csv", REGISTRY, Flow()).flow
        assert flow is not None
        half_done = StepPolicy(output_mode="http_post")
        nodes = tuple(node.model_copy(update={"policy": half_done}) for node in flow.nodes)
        found = understand("save it as all.csv instead", REGISTRY, flow.model_copy(update={"nodes": nodes}))
        assert found.intent == "edit_flow"
        assert [action.tool for action in found.actions] == ["configure_component"]

    def test_is_quick_once_warm(self) -> None:
        understand(LONG, REGISTRY, Flow())
        taken = []
        for _ in range(5):
            start = time.process_time()
            understand(LONG, REGISTRY, Flow())
            taken.append(time.process_time() - start)
        assert min(taken) < 0.03

    def test_is_imported_without_langchain(self) -> None:
        code = (
            "import sys; import headgate.agents.assistant.offline.understand;"
            " sys.exit(any(name.startswith('langchain') for name in sys.modules))"
        )
        assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


class TestActionsBetween:
    def test_are_none_for_the_same_flow(self) -> None:
        flow = Flow(nodes=(Node(id="a", type="TextInput"),))
        assert actions_between(flow, flow) == ()

    def test_take_out_an_edge_before_what_replaces_it(self) -> None:
        text, wait, show = (
            Node(id=id_, type=type_) for id_, type_ in (("a", "TextInput"), ("w", "Wait"), ("b", "ChatOutput"))
        )
        before = Flow(nodes=(text, show), edges=(Edge(source="a", output="text", target="b", input="input"),))
        edges = (
            Edge(source="a", output="text", target="w", input="value"),
            Edge(source="w", output="value", target="b", input="input"),
        )
        after = Flow(nodes=(text, wait, show), edges=edges)
        tools = [action.tool for action in actions_between(before, after)]
        assert tools == ["disconnect_components", "add_component", "connect_components", "connect_components"]

    @pytest.mark.parametrize(("old", "new", "sent"), [({"seconds": 1}, {"seconds": 3}, 3), ({"seconds": 1}, {}, None)])
    def test_send_only_what_changed(self, old: dict[str, int], new: dict[str, int], sent: int | None) -> None:
        before, after = (Flow(nodes=(Node(id="w", type="Wait", params=params),)) for params in (old, new))
        (action,) = actions_between(before, after)
        assert action.arguments == {"node_id": "w", "params": {"seconds": sent}}
