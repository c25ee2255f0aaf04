"""The agent that every turn runs in: one graph a process, to which a turn brings its model and its tools.

Imports LangChain.
"""

from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, cast, get_args

import orjson
from langchain.agents import create_agent
from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain.agents.middleware.types import ToolCallRequest
from langchain_core.callbacks import CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolCall, ToolMessage
from langchain_core.outputs import ChatResult
from langchain_core.tools import BaseTool, StructuredTool

from headgate.agents.assistant.loop.calls import answer_of, offered_tools
from headgate.agents.assistant.loop.order import CallOrder
from headgate.agents.assistant.turn.turn import Turn
from headgate.foundation.log import get_logger
from headgate.sdk.answers import MOST_CORRECTIONS, Fault, fault_of, placeholder
from headgate.sdk.outside import for_model
from headgate.toolkit.registry import GROUPS, IN_GROUP, TOOLS
from headgate.toolkit.tool import ToolDefinition, succeeded

log = get_logger(__name__)
CORRECT_INTENT = "correct_intent"
MORE_TOOLS = "more_tools"
Doing = Literal["build_flow", "component_then_flow", "run_flow", "manage_files"]
"""Intents that a request which was taken for a question may have after all."""
PROMPT = (Path(__file__).parent / "prompt.md").read_text(encoding="utf-8")


@dataclass(slots=True)
class Working:
    """Runtime context of a turn in the agent, which no model sees."""

    turn: Turn
    model: BaseChatModel
    tools: list[BaseTool]
    """Tools shown to the model."""
    groups: set[str] = field(default_factory=set)
    """Groups of tools that it asked for."""
    answer: str = ""
    """Its latest text without a tool call."""
    order: CallOrder = field(default_factory=CallOrder)


class _TurnMiddleware(AgentMiddleware[Any, Working, Any]):
    """Inserts the turn's model and tools into the shared graph, and executes its tool calls."""

    async def awrap_model_call(
        self,
        request: ModelRequest[Working],
        handler: Callable[[ModelRequest[Working]], Awaitable[ModelResponse[Any]]],
    ) -> ModelResponse[Any]:
        """Call the turn's model until its answer is usable, unless the turn is stopped."""
        working = request.runtime.context
        turn, result, fault = working.turn, list[BaseMessage](), None
        names = _callable(working)
        for attempt in range(MOST_CORRECTIONS + 1):
            if not turn.stopped:
                turn.spend_model_call()
            if turn.stopped:
                return ModelResponse(result=[*result, AIMessage("")])
            response = await handler(request.override(model=working.model, tools=[*working.tools]))
            answer = cast("AIMessage", response.result[-1])
            fault = fault_of(answer, names)
            _count(answer, fault, working)
            if fault is None:
                working.order.expect(answer)
                return ModelResponse(result=[*result, answer])
            log.warning("assistant.answer.unusable", fault=fault.kind, attempt=attempt + 1, model=turn.model_name)
            sent_back: list[Any] = [AIMessage(placeholder(answer)), HumanMessage(fault.correction)]
            result += sent_back
            request = request.override(messages=[*request.messages, *sent_back])
        turn.stop("answer", _unusable(turn, fault))
        return ModelResponse(result=[*result, AIMessage("")])

    async def awrap_tool_call(
        self, request: ToolCallRequest, _: Callable[[ToolCallRequest], Awaitable[Any]]
    ) -> ToolMessage:
        """Execute a tool call on the turn's workbench; errors are returned as results."""
        working = cast("Working", request.runtime.context)
        call = request.tool_call
        async with working.order.turn_of(call):
            if call["name"] == CORRECT_INTENT and working.turn.intent == "question":
                return _corrected(working, call)
            if call["name"] == MORE_TOOLS:
                return _opened(working, call)
            answer, marks = await answer_of(working.turn, _callable(working), call["name"], call["args"])
        return ToolMessage(
            for_model(orjson.dumps(answer).decode(), marks),
            name=call["name"],
            tool_call_id=call["id"],
            status="success" if succeeded(answer) else "error",
        )


class Unchosen(BaseChatModel):
    """Placeholder where the graph requires a model; each turn provides its own."""

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
        [*_as_langchain().values(), _correcting(), _more()],
        system_prompt=PROMPT,
        middleware=[_TurnMiddleware()],
        context_schema=Working,
    )


def offered(turn: Turn, groups: Collection[str] = ()) -> list[BaseTool]:
    """Return the tools shown to the turn's model: those its user may use, limited to the turn's purpose.

    A tool of a group is shown once the model asked for the group.
    """
    known, names = _as_langchain(), [tool.name for tool in offered_tools(turn)]
    opened = {name for group in groups for name in GROUPS[group]}
    tools = [known[name] for name in names if name not in IN_GROUP or name in opened]
    if not opened.issuperset(IN_GROUP.intersection(names)):
        tools.append(_more())
    return [*tools, _correcting()] if turn.intent == "question" else tools


def _callable(working: Working) -> list[str]:
    """Names of the tools that the model may call: those shown, and those of groups that it did not ask for."""
    shown = [tool.name for tool in working.tools]
    return [*shown, *(tool.name for tool in offered_tools(working.turn) if tool.name not in shown)]


@lru_cache(maxsize=1)
def _as_langchain() -> dict[str, BaseTool]:
    return {tool.name: _shown(tool) for tool in TOOLS}


def _corrected(working: Working, call: ToolCall) -> ToolMessage:
    """Change the intent to the one that the model determined: from then on every tool is offered."""
    turn, intent = working.turn, str(call["args"].get("intent", ""))
    if intent not in get_args(Doing):
        answer = f"There is no intent '{intent[:50]}'. Intents: {', '.join(get_args(Doing))}."
        return ToolMessage(answer, name=CORRECT_INTENT, tool_call_id=call["id"], status="error")
    log.info("assistant.intent.corrected", intent=intent)
    turn.intent, turn.only = intent, None
    working.tools = offered(turn, working.groups)
    return ToolMessage("Every tool is offered now.", name=CORRECT_INTENT, tool_call_id=call["id"])


def _opened(working: Working, call: ToolCall) -> ToolMessage:
    """Show the tools of a group to the model from its next call on."""
    group = str(call["args"].get("group", ""))
    if group not in GROUPS:
        answer = f"There is no group '{group[:50]}'. Groups: {', '.join(GROUPS)}."
        return ToolMessage(answer, name=MORE_TOOLS, tool_call_id=call["id"], status="error")
    working.groups.add(group)
    working.tools = offered(working.turn, working.groups)
    may_use = {tool.name for tool in working.tools}
    names = [name for name in GROUPS[group] if name in may_use]
    answer = f"Offered now: {', '.join(names)}." if names else "The user may use no tool of this group."
    return ToolMessage(answer, name=MORE_TOOLS, tool_call_id=call["id"])


async def _run_by_the_turn(**_: Any) -> str:  # noqa: ANN401 - LangChain's signature
    """Placeholder of a tool's function: the middleware executes the tools."""
    raise NotImplementedError


@lru_cache(maxsize=1)
def _correcting() -> BaseTool:
    schema = {
        "type": "object",
        "properties": {"intent": {"type": "string", "enum": list(get_args(Doing))}},
        "required": ["intent"],
    }
    return StructuredTool(
        name=CORRECT_INTENT,
        description="The request was taken for a question. Call this first when it asks to build, change, run or write"
        " something after all: then every tool is offered.",
        args_schema=schema,
        coroutine=_run_by_the_turn,
    )


@lru_cache(maxsize=1)
def _more() -> BaseTool:
    schema = {
        "type": "object",
        "properties": {"group": {"type": "string", "enum": list(GROUPS)}},
        "required": ["group"],
    }
    listed = "; ".join(f"{group}: {', '.join(names)}" for group, names in GROUPS.items())
    return StructuredTool(
        name=MORE_TOOLS,
        description=f"Offer the tools of a group. {listed}.",
        args_schema=schema,
        coroutine=_run_by_the_turn,
    )


def _shown(tool: ToolDefinition) -> BaseTool:
    """Return a tool for a model. The middleware executes it, never this object."""
    return StructuredTool.from_function(
        coroutine=_run_by_the_turn, name=tool.name, description=tool.description, args_schema=tool.schema
    )


def _count(answer: AIMessage, fault: Fault | None, working: Working) -> None:
    """Count an answer of the model, and keep its text when it calls no tool."""
    usage = answer.usage_metadata
    if usage is not None:
        working.turn.spend_model_tokens(usage["input_tokens"], usage["output_tokens"])
    is_words = not answer.tool_calls and (fault is None or fault.kind == "cut")
    working.answer = answer.text if is_words else ""


def _unusable(turn: Turn, fault: Fault | None) -> str:
    """Return why the turn ends: no answer of the model was usable."""
    asked = f"It was called {MOST_CORRECTIONS + 1} times."
    detail, remedy = (fault.detail, fault.remedy) if fault is not None else ("returned no usable answer", "")
    return f"The turn was stopped: {turn.model_name or 'the model'} {detail}. {asked} {remedy}".strip()
