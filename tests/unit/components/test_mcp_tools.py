"""The component that brings a server's tools."""

import pytest
from pydantic import JsonValue

from headgate.components.ai import AIStep
from headgate.components.mcp_tools import McpTools
from headgate.foundation.errors import NotFound
from headgate.graph.ports import PortType
from headgate.sdk import ComponentError, Tool
from headgate.sdk.testing import StepHarness
from tests.support.scripted_model import ScriptedModel, calls, says

MODEL = "openai/gpt-5-mini"


async def add(arguments: dict[str, JsonValue]) -> JsonValue:
    return {"sum": 3}


def tool(name: str) -> Tool:
    return Tool(f"sums__{name}", name, {"type": "object"}, add, server="sums", remote_name=name)


def harness(*names: str) -> StepHarness:
    found = StepHarness()
    found.ctx.mcp_servers["sums"] = [tool(name) for name in names]
    return found


class TestMcpTools:
    def test_has_one_output_of_tools(self) -> None:
        (out,) = McpTools.template().outputs
        assert (out.name, out.type) == ("tools", PortType.TOOL)
        assert McpTools.template().ports == ()

    async def test_gives_every_tool_of_the_server(self) -> None:
        outputs = await harness("add", "sub").run(McpTools, {"server": "sums"})
        assert [one.full_name for one in outputs["tools"]] == ["sums.add", "sums.sub"]

    async def test_gives_only_those_that_are_named(self) -> None:
        outputs = await harness("add", "sub").run(McpTools, {"server": "sums", "tools": ["sub"]})
        assert [one.full_name for one in outputs["tools"]] == ["sums.sub"]

    async def test_names_the_nearest_of_one_that_is_not_there(self) -> None:
        with pytest.raises(ComponentError, match="no enabled tool 'subb'; did you mean 'sub'"):
            await harness("add", "sub").run(McpTools, {"server": "sums", "tools": ["subb"]})

    async def test_says_that_the_server_is_not_registered(self) -> None:
        with pytest.raises(NotFound, match="no MCP server 'others'"):
            await harness().run(McpTools, {"server": "others"})


class TestAIStepWithTools:
    async def test_calls_them_and_then_answers(self) -> None:
        model = ScriptedModel(script=[])
        model.script.extend([calls("sums__add", a=1, b=2), says('{"sum": 3}', tokens=(4, 2))])
        found = StepHarness(chat_model=model)
        values = {"model": MODEL, "prompt": "Add.", "output_type": "json", "tools": [tool("add")]}
        outputs = await found.run(AIStep, values, outputs=["data"])
        assert outputs["data"] == {"sum": 3}
        assert found.ctx.tool_calls == [("sums.add", {"a": 1, "b": 2}, {"sum": 3})]

    async def test_is_asked_once_without(self) -> None:
        model = ScriptedModel(script=[])
        model.script.append(says("Hi"))
        found = StepHarness(chat_model=model)
        await found.run(AIStep, {"model": MODEL, "prompt": "Greet."}, outputs=["output"])
        assert model.tools == []
