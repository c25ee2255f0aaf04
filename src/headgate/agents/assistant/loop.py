"""The one agent loop: LangChain's `create_agent` over the toolkit, with the `Turn` as its typed runtime context.

Imports LangChain; only `service.load_loop` imports this module, when the first request comes.
"""

from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

from langchain.agents import create_agent
from langchain.tools import ToolRuntime
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage
from langchain_core.tools import BaseTool, StructuredTool

from headgate.agents.assistant.canvas import with_canvas
from headgate.agents.assistant.events import Step, token
from headgate.agents.assistant.offline.conclusion import DECLINED
from headgate.agents.assistant.turn import Turn
from headgate.toolkit import ToolDefinition, tools_for

PROMPT = (Path(__file__).parent / "prompt.md").read_text(encoding="utf-8")
_STAGES: dict[str, Step] = {
    "search_components": "searching_components",
    "describe_component": "searching_components",
    "build_flow": "building_flow",
    "run_flow": "running_flow",
}
_READING = frozenset({"get_field_value", "describe_flow_io"})


async def run_loop(model: BaseChatModel, turn: Turn, history: Sequence[BaseMessage] = ()) -> str:
    """Let the model work until it answers. Returns its last words.

    Tokens, stages and actions go out through `turn.emit` while it works. Raises `BudgetSpent`; a provider's own errors
    pass through for the caller to explain.
    """
    offered = [tool for tool in tools_for(turn.bench) if turn.only is None or tool.name in turn.only]
    tools = [_as_langchain(tool) for tool in offered]
    agent = create_agent(model, tools, system_prompt=PROMPT, context_schema=Turn)
    opening: Any = {"messages": [*history, HumanMessage(turn.preface + with_canvas(turn.request, turn.bench.flow))]}
    answer = ""
    stream: AsyncIterator[Any] = agent.astream(
        opening,
        context=turn,
        stream_mode=["messages", "updates"],
        config={"recursion_limit": 2 * turn.budget.tool_calls + 10},
    )
    async for mode, part in stream:
        if mode == "messages":
            _forward(part[0], turn)
        else:
            answer = _read_update(part, turn) or answer
    return answer


def _forward(message: BaseMessage, turn: Turn) -> None:
    """Send a piece of the model's text on; tool answers are not for people."""
    if isinstance(message, AIMessageChunk) and message.text:
        turn.emit(token(message.text))


def _read_update(update: dict[str, Any], turn: Turn) -> str:
    """Count what a model call used; return its text when it called no tool."""
    answer = ""
    for state in update.values():
        for message in (state or {}).get("messages", []):
            if isinstance(message, AIMessage):
                usage = message.usage_metadata
                if usage is not None:
                    turn.spend_tokens(usage["input_tokens"], usage["output_tokens"])
                answer = "" if message.tool_calls else message.text
                turn.declined = bool(message.response_metadata.get(DECLINED))
    return answer


def _as_langchain(tool: ToolDefinition) -> BaseTool:
    async def call(runtime: ToolRuntime[Turn], **arguments: Any) -> str:  # noqa: ANN401 - checked by the tool itself
        turn = runtime.context
        turn.spend_tool_call()
        if tool.name not in _READING:
            turn.stage(_STAGES.get(tool.name, "editing_flow"))
        answer = await tool.call_json(turn.bench, arguments)
        if tool.name == "build_flow":
            turn.stage("flow_built" if answer.startswith('{"ok":true') else "flow_build_failed")
        return answer

    # The schema as JSON, not as a class: the class would refuse the runtime that LangChain adds to the arguments.
    return StructuredTool.from_function(
        coroutine=call,
        name=tool.name,
        description=tool.description,
        args_schema=tool.arguments.model_json_schema(),
        handle_tool_error=False,
    )
