"""Tools called with whatever a model may write: an answer, never an exception, and the flow stays sound."""

from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from headgate.components import BUILTINS
from headgate.features.access.principal import LOCAL
from headgate.features.catalog.own.overlay import Overlay
from headgate.features.catalog.registry import Registry
from headgate.features.catalog.search import component_index
from headgate.graph.spec import parse_spec
from headgate.graph.validate import check_draft
from headgate.toolkit.registry import TOOLS
from headgate.toolkit.tool import ToolDefinition
from headgate.toolkit.workbench import Workbench

REGISTRY = Registry(BUILTINS)
OVERLAY = Overlay(REGISTRY, component_index(REGISTRY))
FLOW = parse_spec(
    "nodes:\n  ask: ChatInput\n  brief: AIStep\n    prompt: x\n    model: openai/gpt-4o\n  out: ChatOutput\n"
    "edges:\n  ask.text -> brief.input\n  brief.output -> out.input\n"
)
WORDS = st.sampled_from(
    ["ask", "brief", "out", "text", "input", "output", "tool", "model", "prompt", "tools", "AIStep", "Agent", "Switch"]
)
TEXTS = WORDS | st.text(max_size=40) | st.sampled_from(["", "\x00", "{{", "{{ask.text}}", "[{", "a: b\nc: d", "\ud800"])
VALUES: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.just(10**30) | st.floats() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)


@st.composite
def arguments(draw: st.DrawFn, tool: ToolDefinition) -> dict[str, Any]:
    """Some of the tool's arguments, of its own type where that is text, and now and then one too many."""
    found: dict[str, Any] = {}
    for name, schema in tool.schema.get("properties", {}).items():
        if draw(st.integers(0, 9)):
            found[name] = draw(_likely(schema) | VALUES if draw(st.integers(0, 4)) == 0 else _likely(schema))
    if not draw(st.integers(0, 19)):
        found["extra"] = draw(VALUES)
    return found


def _likely(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    if schema.get("type") == "string":
        return TEXTS
    if schema.get("type") == "object":
        return st.dictionaries(WORDS, VALUES, max_size=3)
    return VALUES


class TestTools:
    @pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
    @given(data=st.data())
    @settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    async def test_answer_whatever_they_are_called_with(self, tool: ToolDefinition, data: st.DataObject) -> None:
        bench = Workbench(principal=LOCAL, space_id=LOCAL.space_id, flow=FLOW, registry=OVERLAY)
        answer = await tool.call(bench, data.draw(arguments(tool)))
        if "error" in answer:
            assert answer["error"]
            assert bench.flow == FLOW
        orjson.dumps(answer)
        assert check_draft(bench.flow, OVERLAY) == []
