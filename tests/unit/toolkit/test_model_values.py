"""Models as agents write them (seed 000 ADR-MCP-042)."""

import json

import pytest
from pydantic import JsonValue

from headgate.components import BUILTINS
from headgate.features.access.principal import LOCAL
from headgate.features.catalog.own.overlay import Overlay
from headgate.features.catalog.registry import Registry
from headgate.features.catalog.search import component_index
from headgate.graph.model import Flow
from headgate.toolkit.model_values import coerce_model
from headgate.toolkit.registry import TOOLS
from headgate.toolkit.workbench import Workbench

BY_NAME = {tool.name: tool for tool in TOOLS}
SPEC = [{"provider": "OpenAI", "name": "gpt-4o"}]
KEPT = "openai/gpt-4o"
FORMS: list[JsonValue] = [
    KEPT,
    "OpenAI/gpt-4o",
    "gpt-4o",
    {"provider": "OpenAI", "name": "gpt-4o"},
    {"provider": "openai", "name": "openai/gpt-4o"},
    {"provider": "OpenAI", "model_name": "gpt-4o"},
    {"provider": "Unknown", "name": "gpt-4o"},
    {"name": "gpt-4o"},
    [{"provider": "OpenAI", "name": "gpt-4o", "icon": "OpenAI"}],
    json.dumps(SPEC),
    json.dumps(SPEC[0]),
    "provider: OpenAI\nname: gpt-4o\n",
    "- provider: OpenAI\n  name: gpt-4o\n",
    "[{provider: OpenAI, name: gpt-4o}]",
    [{"name": json.dumps(SPEC), "provider": "Unknown"}],
    [{"name": json.dumps([{"name": json.dumps(SPEC), "provider": "Unknown"}]), "provider": "Unknown"}],
]
LEFT_ALONE: list[JsonValue] = [
    None,
    "",
    7,
    "no-such-model",
    "{{flow_input.model}}",
    [],
    [KEPT, "anthropic/claude"],
    {"provider": "OpenAI"},
    "[not json",
    "a: b: c\nd",
    {"provider": "nobody", "name": "x"},
]


@pytest.fixture
def bench() -> Workbench:
    registry = Registry(BUILTINS)
    overlay = Overlay(registry, component_index(registry))
    return Workbench(principal=LOCAL, space_id=LOCAL.space_id, flow=Flow(), registry=overlay)


class TestCoerceModel:
    @pytest.mark.parametrize("value", FORMS, ids=str)
    def test_reads_every_form(self, value: JsonValue) -> None:
        assert coerce_model(value) == KEPT

    @pytest.mark.parametrize("value", LEFT_ALONE, ids=str)
    def test_leaves_what_names_no_model(self, value: JsonValue) -> None:
        assert coerce_model(value) == value

    def test_keeps_the_params_of_a_model(self) -> None:
        given: JsonValue = [{"provider": "OpenAI", "name": "gpt-4o", "params": {"temperature": 0.2}}]
        assert coerce_model(given) == {"provider": "openai", "name": "gpt-4o", "params": {"temperature": 0.2}}

    def test_is_stable(self) -> None:
        assert all(coerce_model(coerce_model(value)) == coerce_model(value) for value in FORMS)

    def test_gives_up_on_deep_nesting_and_on_long_text(self) -> None:
        value = KEPT
        for _ in range(8):
            value = json.dumps([{"name": value}])
        assert coerce_model(value) == value
        assert coerce_model("[" * 100_000) == "[" * 100_000

    @pytest.mark.timeout(5)
    def test_expands_no_anchors(self) -> None:
        lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
        lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 12)]
        bomb = "\n".join([*lines, "provider: OpenAI", "name: gpt-4o", "params: {x: *a11}"])
        assert coerce_model(bomb) == bomb


class TestTools:
    @pytest.mark.parametrize("value", FORMS, ids=str)
    async def test_keep_one_form_on_every_way_in(self, bench: Workbench, value: JsonValue) -> None:
        added = await BY_NAME["add_component"].call(
            bench, {"component_type": "AIStep", "node_id": "a", "params": {"model": value}}
        )
        assert added["ok"] is True
        await BY_NAME["add_component"].call(bench, {"component_type": "AIStep", "node_id": "b"})
        done = await BY_NAME["configure_component"].call(bench, {"node_id": "b", "params": {"model": value}})
        assert done.get("set", {"model": KEPT}) == {"model": KEPT}
        assert [node.params["model"] for node in bench.flow.nodes] == [KEPT, KEPT]

    async def test_keep_it_in_a_built_flow_and_in_a_proposal(self, bench: Workbench) -> None:
        spec = f"nodes:\n  a: ChatInput\n  b: AIStep\n    model: {json.dumps(SPEC)}\nedges:\n  a.text -> b.input\n"
        assert (await BY_NAME["build_flow"].call(bench, {"spec": spec}))["ok"] is True
        assert bench.flow.nodes[1].params["model"] == KEPT
        proposed = await BY_NAME["propose_field_edit"].call(
            bench, {"node_id": "b", "field": "model", "new_value": [{"provider": "OpenAI", "name": "gpt-4o-mini"}]}
        )
        assert proposed["ok"] is True
        assert bench.proposals[0]["new_value"] == "openai/gpt-4o-mini"

    async def test_refuse_a_name_that_no_provider_or_several_have(self, bench: Workbench) -> None:
        answer = await BY_NAME["add_component"].call(
            bench, {"component_type": "AIStep", "params": {"model": "no-such-model"}}
        )
        assert answer["ok"] is False
        assert "provider/name" in str(answer["error"])
