"""Runs the agent for a turn.

`await run_loop(model, turn)` runs the model until it answers and returns its final text. It ends:

- when the model calls no tool;
- when the turn's budget of tool calls, tokens or seconds is spent, or when it repeats itself: then
  `turn.stopped` is `budget` or `loop` and `turn.stop_note` explains it; results so far are kept;
- with `CancelledError` at any point: the model call and the running tool are cancelled with it;
- with the provider's error, for the caller to explain.

Tokens, stages and actions are emitted with `turn.emit`. `turn.transcript` contains the messages afterwards,
so that `run_loop(model, turn, turn.transcript, request=...)` continues from there.

Imports LangChain; loaded at the first model call.
"""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessageChunk, BaseMessage, HumanMessage

from headgate.agents.assistant.loop.agent import Working, agent, offered
from headgate.agents.assistant.loop.calls import last_words, time_limit
from headgate.agents.assistant.loop.canvas import components_block, files_block, flow_block, with_canvas
from headgate.agents.assistant.turn.events import token
from headgate.agents.assistant.turn.turn import Turn

_MODEL_NODE = "model"


async def run_loop(
    model: BaseChatModel, turn: Turn, history: Sequence[BaseMessage] = (), *, request: str | None = None
) -> str:
    """Run the model until it answers. Returns its final text; with `turn.stopped`, why it was stopped.

    Args:
        model: The model of the turn.
        turn: The turn.
        history: Messages before the request.
        request: The request; the turn's own when None.
    """
    asked = turn.request if request is None else request
    registry = turn.bench.registry
    flow_id = turn.bench.stored.flow_id if turn.bench.stored is not None else None
    grounds = components_block(registry) + files_block(turn.bench.files) + flow_block(flow_id)
    words = turn.preface + grounds + with_canvas(asked, turn.bench.flow, registry)
    opening = [*history, HumanMessage(turn.without_secrets(words))]
    working = Working(turn, model, offered(turn))
    async with time_limit(turn):
        await _stream(working, opening)
    return last_words(turn, working.answer)


async def _stream(working: Working, opening: list[BaseMessage]) -> None:
    stream: AsyncGenerator[Any, None] = agent().astream(
        {"messages": opening},
        context=working,
        stream_mode=["messages", "values"],
        config={"recursion_limit": 4 * working.turn.budget.tool_calls + 20},
    )
    async with aclosing(stream) as parts:
        async for mode, part in parts:
            if mode == "values":
                working.turn.transcript = part["messages"]
            else:
                _forward(part[0], part[1], working.turn)


def _forward(message: BaseMessage, about: dict[str, Any], turn: Turn) -> None:
    """Forward a token of the model. Tool results, and models inside tools, are not shown to users."""
    if about.get("langgraph_node") == _MODEL_NODE and isinstance(message, AIMessageChunk) and message.text:
        turn.emit(token(message.text))
