"""Loops, events, policies and budgets without a model: what was asked for is in the flow, or refused in words.

Each request is carried out with the tools of the assistant, on a new flow or on the one at hand; what is expected is
compared with the flow afterwards, which must be ready to run, and the report must say what the flow has.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from headgate.agents.assistant.loop.offline_work import work_offline
from headgate.agents.assistant.offline.builder import OfflineBuilder, facts
from headgate.graph.issues import IssueCode
from headgate.graph.model import Flow, StepPolicy
from headgate.graph.spec import parse_spec
from headgate.graph.spec_print import changed_members
from tests.unit.agents.assistant.loop.test_loop import REGISTRY, turn_on

FLOWS = ("Invoice", "Faktura", "Review", "Granska", "Alarm", "Larm", "Handle an order", "Remind")
NEW = Flow()
AT_HAND = parse_spec("""name: A
nodes:
  request: HTTPRequest
    url: https://example.org/a
  summary: AIStep
    prompt: Sum up
    model: openai/gpt-5-mini
  show: ChatOutput
edges:
  request.text -> summary.input
  summary.output -> show.input
""")
LOOPING = parse_spec("""name: B
nodes:
  orders: TextInput
  each: ForEach
    flow: Handle an order
  wait: WaitForEvent
    event: paid
  show: ChatOutput
edges:
  orders.text -> each.items
  each.text -> wait.value
  wait.data -> show.input
""")


REQUESTS = [
    json.loads(line)
    for line in (Path(__file__).parents[4] / "data" / "offline_running.jsonl").read_text("utf-8").splitlines()
]
OPEN = {"new": NEW, "at_hand": AT_HAND, "looping": LOOPING}


async def worked(flow: Flow, request: str, flows: tuple[str, ...] | None = FLOWS) -> tuple[Any, str]:
    """The turn of a request that the tools carried out, and its report."""
    turn, _ = turn_on(flow, request=request)
    builder = OfflineBuilder(REGISTRY, lambda: turn.bench.flow, "openai/gpt-5-mini", flows)
    return turn, await work_offline(builder, turn)


def faults(flow: Flow, expected: Mapping[str, Any]) -> list[str]:
    """What is expected and not there: fields by type, policies by step, an edge, settings, questions of the form."""
    there: dict[str, Any] = {
        "settings": flow.settings.model_dump(mode="json", exclude_none=True),
        "edge": {edge.id for edge in flow.edges},
        "form": {field.id for field in flow.form},
    }
    missing = []
    for name, wanted in expected.items():
        if name in {"edge", "form"}:
            lacking = bool({wanted} - there[name] if name == "edge" else set(wanted) - there[name])
        elif name[0].isupper():
            lacking = not any(_has(node.params, wanted) for node in flow.nodes if node.type == name)
        else:
            node = flow.node(name)
            known = changed_members(node.policy, StepPolicy()) if node is not None else there.get(name, {})
            lacking = any(known.get(key) != value for key, value in wanted.items())
        missing += [name] if lacking else []
    return missing


def _has(params: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    return all(params.get(key) == value for key, value in wanted.items())


class TestRequest:
    @pytest.mark.parametrize("entry", REQUESTS, ids=[entry["request"][:60] for entry in REQUESTS])
    async def test_is_in_the_flow_and_in_the_report_or_refused(self, entry: dict[str, Any]) -> None:
        flow = OPEN[entry["flow"]]
        turn, report = await worked(flow, entry["request"])
        made = turn.bench.flow
        if "refused" in entry:
            assert turn.declined, report
            assert made == flow, "nothing was changed"
            assert entry["refused"] in report
            return
        assert not turn.declined, report
        assert faults(made, entry["expect"]) == [], report
        issues = [issue for issue in turn.bench.check(made).issues if issue.severity == "error"]
        assert [issue for issue in issues if issue.code is not IssueCode.UNRESOLVED_REFERENCE] == []
        language = "sv" if "I flödet nu:" in report else "en"
        added = [line for line in facts(made, REGISTRY, language) if line not in facts(flow, REGISTRY, language)]  # type: ignore[arg-type]
        assert added
        assert [line for line in added if f"- {line}" not in report] == []

    async def test_leaves_everything_else_of_the_flow_as_it_was(self) -> None:
        turn, _ = await worked(AT_HAND, "retry the http step three times")
        for before, after in zip(AT_HAND.nodes, turn.bench.flow.nodes, strict=True):
            assert (before.type, before.params) == (after.type, after.params)
        assert turn.bench.flow.edges == AT_HAND.edges

    async def test_of_a_budget_keeps_the_limits_of_other_kinds(self) -> None:
        turn, _ = await worked(AT_HAND, "limit the flow to 5000 tokens per run")
        again, _ = await worked(turn.bench.flow, "limit the flow to 2 dollars per run")
        budget = again.bench.flow.settings.run_budget
        assert (budget.tokens, budget.usd) == (5000, 2)

    async def test_names_the_flows_only_where_they_are_known(self) -> None:
        turn, report = await worked(NEW, "run the flow Somewhere on my text", None)
        assert turn.bench.flow.node("somewhere").params == {"flow": "Somewhere"}
        _, report = await worked(NEW, "run the flow Somewhere on my text", ())
        assert "no flow is published yet that you may run" in report

    async def test_that_a_tool_did_not_carry_out_is_not_claimed(self) -> None:
        turn, _ = turn_on(AT_HAND, request="retry the http step three times")
        builder = OfflineBuilder(REGISTRY, lambda: AT_HAND, None, FLOWS)  # as if the call had changed nothing
        report = await work_offline(builder, turn)
        assert "This was asked for and is not in the flow:\n\n- Attempts at 'request'" in report
        assert "Changed:" not in report
