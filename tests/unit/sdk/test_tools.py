"""Components as tools."""

import pytest

from headgate.sdk import ComponentError
from headgate.sdk.testing import FakeContext
from headgate.sdk.tools import tool_of
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
