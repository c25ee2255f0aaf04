"""Components as tools."""

import asyncio

import pytest
from pydantic import JsonValue

from headgate.foundation.errors import Cancelled
from headgate.sdk import ComponentError, Tool
from headgate.sdk.testing import FakeContext
from headgate.sdk.tools import call_tool, tool_of
from tests.unit.sdk.samples import Sample


class TestToolOf:
    async def test_runs_with_the_nodes_values_and_the_arguments(self) -> None:
        tool = tool_of(Sample, {"text": "node"}, FakeContext())
        assert tool.name == "sample"
        assert tool.description == "Says a thing several times."
        assert await tool.call({}) == "node node"
        assert await tool.call({"times": 1}) == "node"

    def test_offers_only_what_the_node_does_not_set(self) -> None:
        free = tool_of(Sample, {"text": ""}, FakeContext()).parameters
        assert (list(free["properties"]), free["required"]) == (["text", "times"], ["text"])  # type: ignore[arg-type]
        pinned = tool_of(Sample, {"text": "set"}, FakeContext()).parameters
        assert (list(pinned["properties"]), pinned["required"]) == (["times"], [])  # type: ignore[arg-type]

    async def test_keeps_what_the_node_sets(self) -> None:
        with pytest.raises(ComponentError, match="'text' of the tool sample is set in the flow"):
            await tool_of(Sample, {"text": "set"}, FakeContext()).call({"text": "changed"})

    async def test_refuses_arguments_that_are_not_the_agents_to_give(self) -> None:
        tool = tool_of(Sample, {"text": "a"}, FakeContext(), name="say", description="Say it.")
        with pytest.raises(ComponentError, match="say has no argument 'mode'"):
            await tool.call({"mode": "loud"})
        with pytest.raises(ComponentError, match="did you mean 'times'"):
            await tool.call({"time": 2})

    async def test_names_itself_when_an_argument_is_wrong(self) -> None:
        with pytest.raises(ComponentError, match="sample \\(Sample\\): field 'times'"):
            await tool_of(Sample, {}, FakeContext()).call({"text": "a", "times": 99})


class TestCallTool:
    async def test_keeps_the_call_and_its_result(self) -> None:
        ctx = FakeContext()
        assert await call_tool(ctx, tool_of(Sample, {"text": "a"}, ctx), {"times": 1}) == "a"
        assert ctx.tool_calls == [("sample", {"times": 1}, "a")]

    async def test_keeps_what_went_wrong(self) -> None:
        ctx = FakeContext()
        with pytest.raises(ComponentError):
            await call_tool(ctx, tool_of(Sample, {"text": "a"}, ctx), {"nope": 1})
        (call,) = ctx.tool_calls
        assert "no argument 'nope'" in str(call[2])

    async def test_keeps_that_it_was_stopped(self) -> None:
        async def work(arguments: dict[str, JsonValue]) -> JsonValue:
            raise asyncio.CancelledError

        ctx = FakeContext()
        tool = Tool("s__t", "", {}, work, server="s", remote_name="t")
        with pytest.raises(asyncio.CancelledError):
            await call_tool(ctx, tool, {})
        assert ctx.tool_calls == [("s.t", {}, {"error": "The run was cancelled while the tool was running."})]

    async def test_calls_nothing_in_a_cancelled_run(self) -> None:
        ctx = FakeContext(cancelled=True)
        with pytest.raises(Cancelled):
            await call_tool(ctx, tool_of(Sample, {"text": "a"}, ctx), {})
        assert ctx.tool_calls == []
