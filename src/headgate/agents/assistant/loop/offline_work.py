"""Executes the request of a turn without a language model, on the tools that a model would call."""

import asyncio

import orjson

from headgate.agents.assistant.loop.calls import call_tool, last_words, offered_tools, time_limit
from headgate.agents.assistant.offline.builder import OfflineBuilder, pieces_of
from headgate.agents.assistant.offline.understanding import Action
from headgate.agents.assistant.turn.events import token
from headgate.agents.assistant.turn.turn import Turn


async def work_offline(builder: OfflineBuilder, turn: Turn) -> str:
    """Execute the request. Returns the final text; with `turn.stopped`, why it was stopped.

    The builder decides every call when it interprets the request: there is no model call between two tool calls. The
    budget of the turn counts the calls as it counts those of a model.
    """
    words = ""
    async with time_limit(turn):
        words = await _work(builder, turn)
    return last_words(turn, words)


async def _work(builder: OfflineBuilder, turn: Turn) -> str:
    work = await builder.begin(turn.without_secrets(turn.request).strip())
    offered = [tool.name for tool in offered_tools(turn)]
    await _stream_text(turn, work.restatement)  # what will be done is shown before anything is
    while isinstance(step := work.next(), Action):
        answer = await call_tool(turn, offered, step.tool, dict(step.arguments))
        if turn.stopped:
            return ""
        work.take(step, orjson.dumps(answer).decode())
    turn.declined, turn.choices = step.declined, step.choices
    text = step.text
    if not text.startswith(work.restatement):
        text = f"{work.restatement}\n\n{text}"
    await _stream_text(turn, text[len(work.restatement) :])
    return text


async def _stream_text(turn: Turn, text: str) -> None:
    for piece in pieces_of(text):
        turn.emit(token(piece))
        await asyncio.sleep(0)
