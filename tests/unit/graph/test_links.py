from dataclasses import replace

import pytest

from headgate.components import BUILTINS
from headgate.features.catalog.registry import Registry
from headgate.graph.diff import diff_flows
from headgate.graph.links import (
    SharedAssistant,
    StepDefaults,
    effective,
    empty_models,
    link,
    link_issues,
    linked_names,
    unlink,
)
from headgate.graph.model import Edge, Flow, Node, StepPolicy

CATALOG = Registry(BUILTINS)
LENA = SharedAssistant(instructions="You are Lena.", model="openai/gpt-5-mini", temperature=0.2)
GIVEN = StepDefaults({"Lena": LENA})
DEFAULT = StepDefaults(model="ollama/qwen3")


def flow(**params: str) -> Flow:
    return Flow(nodes=(Node(id="ask", type="AIStep", params={"assistant": "Lena", **params}),))


class TestLinkedNames:
    def test_are_those_of_components_with_the_field(self) -> None:
        other = Node(id="note", type="TextInput", params={"assistant": "Lena"})
        assert linked_names(Flow(nodes=(*flow().nodes, other)), CATALOG) == {"ask": "Lena"}


class TestLink:
    def test_gives_only_what_the_component_has_fields_for(self) -> None:
        linked = link(flow(), CATALOG, GIVEN).nodes[0].linked
        assert linked == {"model": "openai/gpt-5-mini", "temperature": 0.2, "system": "You are Lena."}
        agent = Flow(nodes=(Node(id="a", type="Agent", params={"assistant": "Lena"}),))
        assert "instructions" in link(agent, CATALOG, GIVEN).nodes[0].linked

    def test_leaves_params_alone_and_is_undone_by_unlink(self) -> None:
        before = flow(system="Mine.")
        linked = link(before, CATALOG, GIVEN)
        assert linked.nodes[0].params == before.nodes[0].params
        assert unlink(linked) == before

    def test_shows_in_a_diff(self) -> None:
        old = link(flow(), CATALOG, GIVEN)
        new = link(flow(), CATALOG, StepDefaults({"Lena": replace(LENA, instructions="New.")}))
        assert any("linked.system" in line for line in diff_flows(old, new).lines())


class TestEffective:
    def test_puts_the_steps_own_values_first(self) -> None:
        found = effective(link(flow(system="Mine."), CATALOG, GIVEN)).nodes[0]
        assert (found.params["system"], found.params["model"], found.linked) == ("Mine.", "openai/gpt-5-mini", {})

    def test_fills_what_the_step_leaves_empty(self) -> None:
        found = effective(link(flow(system=""), CATALOG, GIVEN)).nodes[0]
        assert found.params["system"] == "You are Lena."


class TestTheDefaultModel:
    @pytest.mark.parametrize("type_", ["AIStep", "Agent", "LanguageModel", "StructuredOutput"])
    @pytest.mark.parametrize("params", [{}, {"model": ""}, {"model": None}])
    def test_fills_an_empty_model(self, type_: str, params: dict[str, None]) -> None:
        draft = Flow(nodes=(Node(id="ask", type=type_, params=params),))
        assert effective(link(draft, CATALOG, DEFAULT)).nodes[0].params["model"] == "ollama/qwen3"

    def test_gives_nothing_to_a_step_with_a_model_nor_where_there_is_none(self) -> None:
        named = Flow(nodes=(Node(id="ask", type="AIStep", params={"model": {"provider": "openai", "name": "x"}}),))
        assert link(named, CATALOG, DEFAULT) is named
        empty = Flow(nodes=(Node(id="ask", type="AIStep"),))
        assert link(empty, CATALOG, StepDefaults()) is empty

    def test_leaves_a_connected_and_a_bound_model_alone(self) -> None:
        chosen = Node(id="chosen", type="LanguageModel", params={"model": "openai/gpt-5-mini"})
        bound = Node(id="bound", type="AIStep", policy=StepPolicy(input_bindings={"model": "{{flow_input.text}}"}))
        edge = Edge(source="chosen", output="model", target="ask", input="model")
        draft = Flow(nodes=(chosen, Node(id="ask", type="AIStep"), bound), edges=(edge,))
        assert empty_models(draft, CATALOG) == []
        assert link(draft, CATALOG, DEFAULT) is draft

    def test_is_none_of_a_model_that_is_no_chat_model(self) -> None:
        draft = Flow(nodes=(Node(id="words", type="Transcribe"),))
        assert link(draft, CATALOG, DEFAULT) is draft

    def test_comes_after_the_model_of_a_shared_assistant(self) -> None:
        both = StepDefaults({"Lena": LENA}, "ollama/qwen3")
        assert effective(link(flow(), CATALOG, both)).nodes[0].params["model"] == "openai/gpt-5-mini"
        silent = StepDefaults({"Lena": SharedAssistant(instructions="Be brief.")}, "ollama/qwen3")
        params = effective(link(flow(), CATALOG, silent)).nodes[0].params
        assert (params["model"], params["system"]) == ("ollama/qwen3", "Be brief.")


class TestLinkIssues:
    def test_name_what_is_missing_and_what_is_near(self) -> None:
        (issue,) = link_issues(flow(), CATALOG, {"Lenas": LENA})
        assert issue.node == "ask"
        assert "'Lena'" in issue.message
        assert "Lenas" in issue.message
