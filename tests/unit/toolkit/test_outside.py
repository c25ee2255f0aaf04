"""Content from outside in a request: which tools bring it, and which calls it may not decide."""

import pytest

from headgate.components import BUILTINS
from headgate.features.catalog.own.overlay import Overlay
from headgate.features.catalog.registry import Registry
from headgate.features.catalog.search import WordIndex
from headgate.features.runs.errors import OutsideContentRefused
from headgate.graph.model import Flow
from headgate.graph.spec import parse_spec
from headgate.toolkit.outgoing import changed_steps
from headgate.toolkit.outside import INSIDE, OWN, OutsideGate
from headgate.toolkit.registry import TOOLS

REGISTRY = Registry(BUILTINS)
CATALOG = Overlay(REGISTRY, WordIndex({}), ())
NAMES = {tool.name for tool in TOOLS}
SENDS = parse_spec(
    "name: Sends\nnodes:\n  text: TextInput\n  hook: HTTPRequest\n    url: https://api.example.org/in\n"
    "  boss: Agent\n  tidy: CombineText\n  out: ChatOutput\nedges:\n  text.text -> boss.input\n"
    "  hook.tool -> boss.tools\n  boss.response -> tidy.parts\n  tidy.text -> out.input\n"
)


def changed(node_id: str, **params: str) -> Flow:
    nodes = [
        node.model_copy(update={"params": {**node.params, **params}}) if node.id == node_id else node
        for node in SENDS.nodes
    ]
    return SENDS.model_copy(update={"nodes": tuple(nodes)})


class TestTools:
    def test_that_are_listed_exist(self) -> None:
        assert set() == INSIDE - NAMES
        assert set() == OWN - NAMES

    def test_that_are_in_no_list_bring_content_from_outside(self) -> None:
        gate = OutsideGate()
        assert gate.brought("made_tomorrow", {}, {"ok": True}, CATALOG, Flow()) == ("more:",)
        unknown = [name for name in NAMES if gate.brought(name, {}, {"ok": True}, CATALOG, Flow()) == ("more:",)]
        assert unknown == []

    def test_that_are_in_no_list_are_refused_after_it(self) -> None:
        gate = OutsideGate()
        gate.require("made_tomorrow", reads=False, flow=Flow(), registry=CATALOG)
        gate.add(("web:example.org",), Flow())
        with pytest.raises(OutsideContentRefused, match=r"'made_tomorrow' was not called.*'example\.org'"):
            gate.require("made_tomorrow", reads=False, flow=Flow(), registry=CATALOG)
        gate.require("made_tomorrow", reads=True, flow=Flow(), registry=CATALOG)

    @pytest.mark.parametrize("name", ["extract_flow", "set_schedule", "set_trigger"])
    def test_that_store_something_else_are_refused_after_it(self, name: str) -> None:
        gate = OutsideGate()
        assert gate.brought(name, {}, {"ok": True}, CATALOG, Flow()) == ()
        gate.add(("web:example.org",), Flow())
        with pytest.raises(OutsideContentRefused, match=f"'{name}' was not called"):
            gate.require(name, reads=False, flow=Flow(), registry=CATALOG)

    @pytest.mark.parametrize("name", sorted(INSIDE))
    def test_that_change_only_the_draft_are_not_refused(self, name: str) -> None:
        gate = OutsideGate()
        gate.add(("web:example.org",), Flow())
        gate.require(name, reads=False, flow=SENDS, registry=CATALOG)
        assert gate.refused == []


class TestSteps:
    def test_that_reach_outside_and_those_before_them_decide(self) -> None:
        assert changed_steps(Flow(), SENDS, CATALOG) == ["text", "hook", "boss"]

    @pytest.mark.parametrize("node_id", ["text", "hook", "boss"])
    def test_that_decide_and_changed_are_named(self, node_id: str) -> None:
        assert changed_steps(SENDS, changed(node_id, x="y"), CATALOG) == [node_id]

    def test_after_them_may_change(self) -> None:
        assert changed_steps(SENDS, changed("tidy", x="y"), CATALOG) == []

    def test_with_another_source_are_other_steps(self) -> None:
        edges = tuple(edge for edge in SENDS.edges if edge.source != "text")
        assert changed_steps(SENDS, SENDS.model_copy(update={"edges": edges}), CATALOG) == ["boss"]

    def test_of_a_flow_that_reaches_nothing_do_not_count(self) -> None:
        quiet = parse_spec(
            "name: Quiet\nnodes:\n  text: TextInput\n  out: ChatOutput\nedges:\n  text.text -> out.input\n"
        )
        assert changed_steps(Flow(), quiet, CATALOG) == []

    def test_that_send_by_their_policy_decide(self) -> None:
        spec = "name: D\nnodes:\n  text: TextInput\n    policy:\n      output_mode: http_post\n      output_config:\n"
        flow = parse_spec(f"{spec}        url: https://api.example.org\n")
        assert changed_steps(Flow(), flow, CATALOG) == ["text"]


class TestInput:
    def test_in_the_users_own_words_carries_no_marks(self) -> None:
        gate = OutsideGate("Run it with https://example.org/shop")
        gate.add(("web:a",), Flow())
        assert gate.of_input("https://example.org/shop", {}) == ()
        assert gate.of_input("https://example.org/other", {}) == ("web:a",)
        assert gate.of_input("", {"to": "mallory"}) == ("web:a",)
