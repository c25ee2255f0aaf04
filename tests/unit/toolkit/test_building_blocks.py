"""Flows that wait, ask, repeat, call each other and route, as a model builds them with the tools."""

import json
from typing import Any

import pytest

from headgate.components import BUILTINS
from headgate.features.access.principal import LOCAL
from headgate.features.catalog.own.overlay import Overlay
from headgate.features.catalog.registry import Registry
from headgate.features.catalog.search import component_index
from headgate.graph.model import Flow
from headgate.toolkit.workbench import Workbench
from tests.unit.toolkit.test_tools import call

SPEC = """name: Orders
nodes:
  mail: ChatInput
  topic: Classify
    model: openai/gpt-5-mini
    labels: ["order: wants to buy", "complaint: is not satisfied"]
  pause: Wait
    seconds: 86400
  check: Approval
    question: Answer this?
  rows: ForEach
    flow: Ship an order
    policy:
      retry:
        max_attempts: 3
      on_error: error_edge
  better: Loop
    flow: Improve a text
    until: "score >= `8`"
    most: 5
  other: RunFlow
    flow: Archive
  count: WriteState
    name: orders
    operation: increment
    value: 1
  out: ChatOutput
  failed: ChatOutput
edges:
  mail.text -> topic.value
  topic.order -> pause.value
  pause.value -> rows.items
  rows.text -> out.input
  rows.error -> failed.input
  topic.complaint -> check.value
  check.approve -> better.value
  better.text -> other.text
  other.text -> count.value
"""


@pytest.fixture
def bench() -> Workbench:
    registry = Registry(BUILTINS)
    return Workbench(
        principal=LOCAL,
        space_id=LOCAL.space_id,
        flow=Flow(),
        registry=Overlay(registry, component_index(registry)),
    )


class TestBuildingBlocks:
    @pytest.mark.parametrize(
        ("query", "type_"),
        [
            ("wait a day", "Wait"),
            ("ask a person for approval before sending", "Approval"),
            ("run a flow for each row", "ForEach"),
            ("repeat until a condition holds", "Loop"),
            ("call another flow", "RunFlow"),
            ("route mails by topic", "Classify"),
            ("remember a counter between runs", "WriteState"),
            ("answer questions about the PDFs with citations", "AnswerFromKnowledge"),
            ("search passages of a knowledge base", "Retrieve"),
            ("read what the last run stored", "ReadState"),
        ],
    )
    async def test_are_found_in_the_words_of_users(self, bench: Workbench, query: str, type_: str) -> None:
        assert type_ in json.dumps(await call(bench, "search_components", query=query))

    async def test_are_built_from_one_text(self, bench: Workbench) -> None:
        built: Any = await call(bench, "build_flow", spec=SPEC)
        assert built.get("error") is None, built
        rows = next(node for node in bench.flow.nodes if node.id == "rows")
        assert rows.policy.retry is not None
        assert (rows.policy.retry.max_attempts, rows.policy.on_error) == (3, "error_edge")
        assert len(bench.flow.edges) == 9

    async def test_take_retries_and_an_error_edge_afterwards(self, bench: Workbench) -> None:
        for type_, node_id in (("ChatInput", "mail"), ("URL", "page"), ("ChatOutput", "out"), ("ChatOutput", "sorry")):
            await call(bench, "add_component", component_type=type_, node_id=node_id)
        policy = {"retry": {"max_attempts": 5, "backoff": "exponential"}, "on_error": "error_edge"}
        configured: Any = await call(bench, "configure_component", node_id="page", policy=policy)
        assert configured["ok"], configured
        for edge in (
            ("mail", "text", "page", "url"),
            ("page", "text", "out", "input"),
            ("page", "error", "sorry", "input"),
        ):
            names = dict(zip(("source_id", "source_output", "target_id", "target_input"), edge, strict=True))
            connected: Any = await call(bench, "connect_components", **names)
            assert connected.get("ok"), connected
        page = next(node for node in bench.flow.nodes if node.id == "page")
        assert page.policy.retry is not None
        assert (page.policy.retry.max_attempts, page.policy.on_error) == (5, "error_edge")

    async def test_have_policies_that_the_grammar_explains(self, bench: Workbench) -> None:
        grammar = json.dumps(await call(bench, "read_grammar", topic="policy"))
        assert all(word in grammar for word in ("retry", "max_attempts", "on_error", "error_edge", "default_value"))
