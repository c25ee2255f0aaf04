"""Components as tools."""

import pytest

from headgate.sdk import ComponentError
from headgate.sdk.testing import FakeContext
from headgate.sdk.tools import tool_of
from tests.unit.sdk.samples import Sample


class TestToolOf:
    async def test_puts_arguments_over_the_nodes_values(self) -> None:
        tool = tool_of(Sample, {"text": "node", "times": 1}, FakeContext())
        assert tool.name == "sample"
        assert tool.description == "Says a thing several times."
        assert await tool.call({}) == "node"
        assert await tool.call({"text": "agent", "times": 3}) == "agent agent agent"

    def test_requires_only_what_the_node_has_no_value_for(self) -> None:
        assert tool_of(Sample, {}, FakeContext()).parameters["required"] == ["text"]
        assert tool_of(Sample, {"text": "set"}, FakeContext()).parameters["required"] == []

    async def test_refuses_arguments_that_are_not_the_agents_to_give(self) -> None:
        tool = tool_of(Sample, {"text": "a"}, FakeContext(), name="say", description="Say it.")
        with pytest.raises(ComponentError, match="say has no argument 'mode'"):
            await tool.call({"mode": "loud"})
        with pytest.raises(ComponentError, match="did you mean 'times'"):
            await tool.call({"time": 2})

    async def test_names_itself_when_an_argument_is_wrong(self) -> None:
        with pytest.raises(ComponentError, match="sample \\(Sample\\): field 'times'"):
            await tool_of(Sample, {}, FakeContext()).call({"text": "a", "times": 99})
