"""LangChain's agent loop on a model that knows no tool calls."""

import json
from collections.abc import Iterator

import pytest
from langchain.agents import create_agent
from langchain_core.messages import HumanMessage

from headgate.features.models.errors import KeyRejected
from headgate.features.models.service import create_chat_model
from headgate.sdk import Model
from tests.integration.features.models.test_providers import ToollessServer
from tests.support.keys import GivenKeys
from tests.support.web import open_web


@pytest.fixture
def server() -> Iterator[ToollessServer]:
    with ToollessServer() as running:
        yield running


def get_weather(city: str) -> str:
    """Current weather for a city."""
    return f"4 degrees in {city}"


class TestAgentLoop:
    MODEL = Model(provider="openai_compatible", name="house-model", params={"tool_shim": True, "max_retries": 0})

    async def test_calls_a_tool_and_answers_with_its_result(self, server: ToollessServer) -> None:
        model = await create_chat_model(
            self.MODEL, GivenKeys(OPENAI_COMPATIBLE_BASE_URL=server.base_url), web=open_web()
        )
        server.script(
            server.tool_call("get_weather", {"city": "Oslo"}), server.tool_call("reply", {"text": "It is cold."})
        )
        agent = create_agent(model, [get_weather], system_prompt="Be brief.")
        result = await agent.ainvoke({"messages": [HumanMessage("Weather in Oslo?")]})
        assert [message.type for message in result["messages"]] == ["human", "ai", "tool", "ai"]
        assert result["messages"][-1].text == "It is cold."
        said = server.asked[1].body["messages"]
        assert [one["role"] for one in said] == ["system", "user", "assistant", "user"]
        assert said[0]["content"].startswith("Be brief.\n\nYou can call these functions:")
        assert json.loads(said[2]["content"]) == {"name": "get_weather", "arguments": {"city": "Oslo"}}
        assert said[3]["content"] == "Result of get_weather: 4 degrees in Oslo"
        assert "tools" not in server.asked[0].body

    async def test_ends_with_headgates_own_error(self, server: ToollessServer) -> None:
        model = await create_chat_model(
            self.MODEL, GivenKeys(OPENAI_COMPATIBLE_BASE_URL=server.base_url), web=open_web()
        )
        server.script(server.wrong_key("No."))
        with pytest.raises(KeyRejected):
            await create_agent(model, [get_weather]).ainvoke({"messages": [HumanMessage("Weather in Oslo?")]})
