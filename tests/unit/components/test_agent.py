"""The agent, on a scripted model and on a server speaking OpenAI's protocol."""

from typing import Any

import pytest
from langchain_core.language_models import GenericFakeChatModel
from pydantic import JsonValue

from headgate.components.agent import Agent
from headgate.components.calculator import Calculator
from headgate.components.tool_loop import with_own_names
from headgate.foundation.errors import Cancelled, Unavailable, UpstreamFailed
from headgate.sdk import ComponentError, Tool
from headgate.sdk.testing import StepHarness
from headgate.sdk.tools import tool_of
from tests.support.openai_server import OpenAIServer
from tests.support.scripted_model import ScriptedModel, calls, says
from tests.unit.components.test_ai import MODEL, over_the_wire


def harness_of(*script: Any) -> tuple[StepHarness, ScriptedModel]:
    model = ScriptedModel(script=[])
    model.script.extend(script)
    return StepHarness(chat_model=model), model


def calculator(harness: StepHarness) -> Tool:
    return tool_of(Calculator, {}, harness.ctx)


class TestAgent:
    async def test_answers_without_tools(self) -> None:
        harness, model = harness_of(says("Hello", tokens=(4, 2)))
        outputs = await harness.run(Agent, {"model": MODEL, "input": "Hi", "instructions": "Be brief."})
        assert outputs["response"].strip() == "Hello"
        assert outputs["calls"] == []
        assert [message.text for message in model.asked[0]] == ["Be brief.", "Hi"]
        assert harness.ctx.usage == [("openai/gpt-5-mini", 4, 2)]
        assert "".join(harness.ctx.tokens).strip() == "Hello"

    async def test_calls_a_tool_and_answers(self) -> None:
        harness, model = harness_of(calls("calculator", expression="6*7"), says("It is 42"))
        outputs = await harness.run(Agent, {"model": MODEL, "input": "6*7?", "tools": [calculator(harness)]})
        assert outputs["response"].strip() == "It is 42"
        assert outputs["calls"] == [{"name": "calculator", "arguments": {"expression": "6*7"}, "result": 42}]
        assert harness.ctx.tool_calls == [("calculator", {"expression": "6*7"}, 42)]
        assert model.asked[1][-1].text == "42"
        assert len(harness.ctx.usage) == 2
        assert "42" not in harness.ctx.tokens

    async def test_tells_the_model_what_a_tool_refused(self) -> None:
        harness, model = harness_of(calls("calculator", expression="1/0"), says("I cannot"))
        outputs = await harness.run(Agent, {"model": MODEL, "input": "1/0?", "tools": [calculator(harness)]})
        assert outputs["response"].strip() == "I cannot"
        assert "divides by zero" in model.asked[1][-1].text
        assert "divides by zero" in outputs["calls"][0]["error"]

    async def test_tells_the_model_that_there_is_no_such_tool(self) -> None:
        harness, model = harness_of(calls("search", query="x"), says("Sorry"))
        outputs = await harness.run(Agent, {"model": MODEL, "input": "x", "tools": [calculator(harness)]})
        assert outputs["response"].strip() == "Sorry"
        assert "search" in model.asked[1][-1].text

    async def test_stops_after_its_steps(self) -> None:
        harness, model = harness_of(*[calls("calculator", expression="1+1")] * 10)
        with pytest.raises(ComponentError, match="no answer after 3 steps; it last called calculator") as caught:
            await harness.run(Agent, {"model": MODEL, "input": "x", "tools": [calculator(harness)], "max_steps": 3})
        assert len(model.asked) == 3
        assert "max_steps" in caught.value.remedy

    async def test_may_answer_in_its_last_step(self) -> None:
        harness, _ = harness_of(calls("calculator", expression="1+1"), says("2"))
        values = {"model": MODEL, "input": "x", "tools": [calculator(harness)], "max_steps": 2}
        assert (await harness.run(Agent, values))["response"].strip() == "2"

    async def test_ends_when_a_tool_finds_the_run_cancelled(self) -> None:
        harness, _ = harness_of(calls("calculator", expression="1+1"), says("2"))
        harness.ctx.cancelled = True
        with pytest.raises(Cancelled):
            await harness.run(Agent, {"model": MODEL, "input": "x", "tools": [calculator(harness)]})

    async def test_keeps_two_tools_of_one_name_apart(self) -> None:
        harness, model = harness_of(calls("calculator_2", expression="2+2"), says("4"))
        tools = [calculator(harness), calculator(harness)]
        outputs = await harness.run(Agent, {"model": MODEL, "input": "x", "tools": tools})
        assert [tool.name for tool in model.tools] == ["calculator", "calculator_2"]
        assert outputs["calls"][0]["name"] == "calculator_2"

    async def test_says_that_the_model_takes_no_tools(self) -> None:
        harness = StepHarness(chat_model=GenericFakeChatModel(messages=iter(["x"])))
        with pytest.raises(ComponentError, match="does not support tool calls"):
            await harness.run(Agent, {"model": MODEL, "input": "x", "tools": [calculator(harness)]})

    async def test_lets_the_models_errors_through(self) -> None:
        harness, _ = harness_of(Unavailable("busy"))
        with pytest.raises(Unavailable, match="busy"):
            await harness.run(Agent, {"model": MODEL, "input": "x"})
        harness, _ = harness_of(RuntimeError("boom"))
        with pytest.raises(UpstreamFailed, match="openai/gpt-5-mini failed: boom"):
            await harness.run(Agent, {"model": MODEL, "input": "x"})

    async def test_cuts_a_result_without_end(self) -> None:
        async def long(_arguments: dict[str, JsonValue]) -> JsonValue:
            return "x" * 200_000

        harness, model = harness_of(calls("long"), says("ok"))
        tool = Tool(name="long", description="Long.", parameters={"type": "object", "properties": {}}, call=long)
        await harness.run(Agent, {"model": MODEL, "input": "x", "tools": [tool]})
        assert len(model.asked[1][-1].text) < 51_000

    async def test_works_over_the_wire(self) -> None:
        with OpenAIServer() as server:
            server.script(server.tool_call("calculator", {"expression": "6*7"}), server.text("It is 42."))
            harness = StepHarness(chat_model=over_the_wire(server))
            outputs = await harness.run(Agent, {"model": MODEL, "input": "6*7?", "tools": [calculator(harness)]})
            assert outputs["response"] == "It is 42."
            assert harness.ctx.tokens == ["It ", "is ", "42."]
            assert harness.ctx.usage == [("openai/gpt-5-mini", 9, 5), ("openai/gpt-5-mini", 7, 3)]
            first, second = server.asked
            (offered,) = first.body["tools"]
            assert offered["function"]["name"] == "calculator"
            assert offered["function"]["parameters"]["required"] == ["expression"]
            assert second.body["messages"][-1]["content"] == "42"


class TestWithOwnNames:
    def test_numbers_the_second(self) -> None:
        harness = StepHarness()
        assert [tool.name for tool in with_own_names([calculator(harness)] * 3)] == [
            "calculator", "calculator_2", "calculator_3",
        ]  # fmt: skip
