"""Runs the agent for a turn.

`await run_loop(model, turn)` lets a model work until it answers and gives its last words. It ends:

- when the model calls no tool;
- when the turn's budget of tool calls, tokens or seconds is spent, or when it goes round in circles: then
  `turn.stopped` is `budget` or `loop` and `turn.stop_note` says it in words; what was done until then is kept;
- with `CancelledError`, wherever it is: the model call and the tool at work are cancelled with it;
- with what the provider failed with, for the caller to explain.

Tokens, stages and actions go out through `turn.emit` while it works. `turn.transcript` holds the messages afterwards,
so that `run_loop(model, turn, turn.transcript, request=...)` goes on where it stopped.

Imports LangChain; loaded when a language model is first asked.
"""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessageChunk, BaseMessage, HumanMessage

from headgate.agents.assistant.loop.agent import Working, agent, offered
from headgate.agents.assistant.loop.calls import last_words, time_limit
from headgate.agents.assistant.loop.canvas import components_block, files_block, with_canvas
from headgate.agents.assistant.turn.events import token
from headgate.agents.assistant.turn.turn import Turn

_MODEL_NODE = "model"


async def run_loop(
    model: BaseChatModel, turn: Turn, history: Sequence[BaseMessage] = (), *, request: str | None = None
) -> str:
    """Let the model work until it answers. Returns its last words; with `turn.stopped`, why it was stopped.

    Args:
        model: Who works.
        turn: The turn.
        history: Messages before the request.
        request: What is asked for; the turn's own request when None.
    """
    asked = turn.request if request is None else request
    registry = turn.bench.registry
    grounds = components_block(registry) + files_block(turn.bench.files)
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
    """Send a piece of the model's words on. Answers of tools, and models inside tools, are not for people."""
    if about.get("langgraph_node") == _MODEL_NODE and isinstance(message, AIMessageChunk) and message.text:
        turn.emit(token(message.text))
