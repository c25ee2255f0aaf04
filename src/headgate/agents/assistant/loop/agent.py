"""The agent that every turn runs in: one graph a process, to which a turn brings its model and its tools.

Imports LangChain.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, cast

import orjson
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain.agents.middleware.types import ToolCallRequest
from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, ToolMessage
from langchain_core.outputs import ChatResult
from langchain_core.tools import BaseTool, StructuredTool

from headgate.agents.assistant.loop.calls import MALFORMED, call_tool, offered_tools
from headgate.agents.assistant.turn.turn import Turn
from headgate.toolkit import TOOLS, ToolDefinition, succeeded

PROMPT = (Path(__file__).parent / "prompt.md").read_text(encoding="utf-8")


@dataclass(slots=True)
class Working:
    """A turn at work in the agent: its runtime context, which no model sees."""

    turn: Turn
    model: BaseChatModel
    tools: list[BaseTool]
    """What the model is offered."""
    answer: str = ""
    """Its latest words that came without a tool call."""
    one_by_one: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Tools of one message work one after another, in the order the model called them."""


class _TurnMiddleware(AgentMiddleware[Any, Working, Any]):
    """Puts the turn's model and tools into the shared graph, and carries out its tool calls."""

    async def awrap_model_call(
        self,
        request: ModelRequest[Working],
        handler: Callable[[ModelRequest[Working]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """Ask the turn's model, count what it used; ask nothing more once the turn is stopped."""
        working = request.runtime.context
        turn = working.turn
        if not turn.stopped:
            turn.spend_model_call()
        if turn.stopped:
            return ModelResponse(result=[AIMessage("")])
        response = await handler(request.override(model=working.model, tools=[*working.tools]))
        response.result = [_read(message, working) for message in response.result]
        return response

    async def awrap_tool_call(
        self, request: ToolCallRequest, _: Callable[[ToolCallRequest], Awaitable[Any]]
    ) -> ToolMessage:
        """Carry out a tool call on the turn's workbench; every fault is an answer."""
        working = cast("Working", request.runtime.context)
        call = request.tool_call
        async with working.one_by_one:
            offered_names = [tool.name for tool in working.tools]
            answer = await call_tool(working.turn, offered_names, call["name"], call["args"])
        return ToolMessage(
            orjson.dumps(answer).decode(),
            name=call["name"],
            tool_call_id=call["id"],
            status="success" if succeeded(answer) else "error",
        )


class Unchosen(BaseChatModel):
    """Stands where the graph wants a model; each turn brings its own."""

    @property
    def _llm_type(self) -> str:
        return "headgate-unchosen"

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,  # noqa: ANN401 - LangChain's signature
    ) -> ChatResult:
        raise NotImplementedError("a turn brings its own model")


@lru_cache(maxsize=1)
def agent() -> Any:  # noqa: ANN401 - LangGraph's compiled graph, generic over private types
    """The graph, built with the first turn."""
    return create_agent(
        Unchosen(),
        list(_as_langchain().values()),
        system_prompt=PROMPT,
        middleware=[_TurnMiddleware()],
        context_schema=Working,
    )


def offered(turn: Turn) -> list[BaseTool]:
    """The tools that the turn's model is shown: those its person may use, and of them those the turn is for."""
    known = _as_langchain()
    return [known[tool.name] for tool in offered_tools(turn)]


@lru_cache(maxsize=1)
def _as_langchain() -> dict[str, BaseTool]:
    return {tool.name: _shown(tool) for tool in TOOLS}


def _shown(tool: ToolDefinition) -> BaseTool:
    """A tool as a model sees it. It is carried out by the middleware, never through this."""

    async def call(**_: Any) -> str:  # noqa: ANN401 - LangChain's signature
        raise NotImplementedError("tools are carried out by the turn")

    return StructuredTool.from_function(
        coroutine=call, name=tool.name, description=tool.description, args_schema=tool.schema
    )


def _read(message: BaseMessage, working: Working) -> BaseMessage:
    """Count a model's answer and keep its words; calls whose arguments are no JSON become calls that say so."""
    if not isinstance(message, AIMessage):
        return message
    turn, usage = working.turn, message.usage_metadata
    if usage is not None:
        turn.spend_model_tokens(usage["input_tokens"], usage["output_tokens"])
    found = _mended(message)
    working.answer = "" if found.tool_calls else found.text
    return found


def _mended(message: AIMessage) -> AIMessage:
    broken = [call for call in message.invalid_tool_calls if call.get("id") and call.get("name")]
    if not broken:
        return message
    calls = [
        {"name": call["name"], "args": {MALFORMED: (call.get("args") or "")}, "id": call["id"], "type": "tool_call"}
        for call in broken
    ]
    return message.model_copy(update={"tool_calls": [*message.tool_calls, *calls], "invalid_tool_calls": []})
