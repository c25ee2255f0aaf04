"""A reference implies order: what only `{{x.text}}` uses needs no edge and is no orphan."""

import json
from typing import Any

import pytest

from headgate.graph.check_run import orphan_issues, run_issues
from headgate.graph.issues import IssueCode
from headgate.graph.model import Flow, Node
from headgate.graph.plan import compile_plan
from headgate.graph.wiring import wire
from tests.architecture.source import ROOT
from tests.unit.graph.palette import PALETTE
from tests.unit.graph.wires import edge, flow, node

READS = flow(
    node("brief", "CombineText", title="{{page.text}}"),
    node("ask", "TextInput", text="Hello"),
    node("page", "URL", url="https://example.org"),
    edges="ask.text -> brief.parts",
)


CASES = json.loads((ROOT / "tests" / "data" / "implied_order.json").read_text(encoding="utf-8"))
"""The cases that the page's `web/src/lib/wiring/implied.test.ts` reads too."""


class TestCasesOfThePage:
    @pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
    def test_hold_on_the_server(self, case: dict[str, Any]) -> None:
        nodes = [Node.model_validate({"id": key, **node}) for key, node in case["nodes"].items()]
        wiring = wire(Flow(nodes=nodes, edges=[edge(text) for text in case["edges"]]), PALETTE)
        assert list(wiring.order) == case["order"]
        assert {reader: list(sources) for reader, sources in wiring.implied.items()} == case["implied"]
        assert [issue.node for issue in orphan_issues(wiring)] == case["orphans"]


class TestImpliedOrder:
    def test_a_step_that_is_only_referred_to_is_no_orphan_and_runs_first(self) -> None:
        wiring = wire(READS, PALETTE)
        assert list(orphan_issues(wiring)) == []
        assert wiring.order.index("page") < wiring.order.index("brief")
        assert wiring.implied == {"brief": ("page",)}
        assert not [issue for issue in run_issues(wiring) if issue.code is IssueCode.UNRESOLVED_REFERENCE]

    def test_the_plan_waits_for_it_and_brings_nothing_over_an_edge(self) -> None:
        plan = compile_plan(READS, PALETTE)
        assert set(plan.step("brief").parents) == {"ask", "page"}
        assert plan.step("page").children == ("brief",)
        assert [edge.id for edge in plan.step("brief").inbound] == ["ask.text -> brief.parts"]

    def test_edges_that_bring_it_before_already_stay_the_only_links(self) -> None:
        chained = flow(
            node("a", "TextInput", text="1"),
            node("b", "CombineText"),
            node("c", "CombineText", title="{{a.text}}"),
            edges="a.text -> b.parts\nb.text -> c.parts",
        )
        assert wire(chained, PALETTE).parents["c"] == ("b",)
        assert wire(chained, PALETTE).implied == {}

    def test_two_that_refer_to_each_other_make_no_circle(self) -> None:
        mutual = flow(node("a", "CombineText", title="{{b.text}}"), node("b", "CombineText", title="{{a.text}}"))
        wiring = wire(mutual, PALETTE)
        assert wiring.order == ("b", "a")
        faults = [issue for issue in run_issues(wiring) if issue.code is IssueCode.UNRESOLVED_REFERENCE]
        assert [issue.node for issue in faults] == ["b"]

    def test_a_reference_to_a_later_step_is_still_a_fault(self) -> None:
        back = flow(
            node("a", "CombineText", title="{{b.text}}"),
            node("b", "CombineText"),
            edges="a.text -> b.parts",
        )
        wiring = wire(back, PALETTE)
        assert wiring.order == ("a", "b")
        assert [issue.node for issue in run_issues(wiring) if issue.code is IssueCode.UNRESOLVED_REFERENCE] == ["a"]
