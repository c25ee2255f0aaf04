"""Messages with the model in a phase, as LangChain's dicts, without LangChain; and how others' text is shown to it."""

from collections.abc import Mapping, Sequence
from typing import Any

from headgate.agents.codev.ports import ModelAnswer
from headgate.foundation.log import redact_text
from headgate.foundation.quoting import as_data, clipped_to

Exchange = list[dict[str, Any]]

LONGEST_RESULT = 40_000
"""Characters of one tool's answer that the model is shown."""
_DROPPED = "[This older answer was taken out to save room. Call the tool again if you need it.]"
_LEFT_OUT = {"left_out": "These older arguments were taken out to save room."}
_LONG = 500
"""Characters of arguments that are worth taking out."""


def data(what: str, text: str, most: int = LONGEST_RESULT) -> str:
    """Text of others, clipped, labelled as data and without anything that looks like a key."""
    return as_data(what, redact_text(clipped_to(text, most)))


def user_message(text: str) -> dict[str, Any]:
    """A message to the model."""
    return {"type": "human", "data": {"content": text}}


def model(text: str) -> dict[str, Any]:
    """An earlier message of the model."""
    return {"type": "ai", "data": {"content": text}}


def answered(answer: ModelAnswer) -> dict[str, Any]:
    """The model's answer, to be sent again; `calls` has the tool calls that it requests."""
    if answer.message:
        return {**answer.message, "calls": answer.tool_calls}
    tool_calls = [{"id": call["id"], "name": call["name"], "args": call.get("args", {})} for call in answer.tool_calls]
    return {"type": "ai", "data": {"content": answer.text, "tool_calls": tool_calls}, "calls": answer.tool_calls}


def tool_answer(call: Mapping[str, Any], text: str, *, ok: bool) -> dict[str, Any]:
    """What a tool answered."""
    content_text = data(f"the tool {call['name'] or 'unnamed'}", text)
    content = {"content": content_text, "tool_call_id": call["id"], "name": call["name"] or "unnamed"}
    return {"type": "tool", "data": {**content, "status": "success" if ok else "error"}}


def calls_wanted(exchange: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Every call that the model made in the phase, in their order."""
    return [call for message in exchange for call in message.get("calls", ())]


def calls_waiting(exchange: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the calls of the last message that were not run yet."""
    return list(exchange[-1].get("calls", ())) if exchange else []


def calls_made(exchange: Sequence[Mapping[str, Any]]) -> int:
    """How many tool calls of the phase were answered."""
    return sum(1 for message in exchange if message["type"] == "tool")


def fitted(exchange: Sequence[dict[str, Any]], most: int) -> Exchange:
    """The messages within their length: of too many, the oldest calls and answers of tools lose their text."""
    over = sum(map(_length, exchange)) - most
    fitting: Exchange = []
    for message in exchange:
        shorter = _emptied(message) if over > 0 else message
        over -= _length(message) - _length(shorter)
        fitting.append(shorter)
    return fitting


def settled(exchange: Sequence[dict[str, Any]]) -> Exchange:
    """The messages once a write was made: what led to it is not sent again with every later call.

    Only long answers of tools and long arguments lose their text, and only here: between two writes what is sent begins
    with exactly what was sent before, so that a provider's cache of prompts applies.
    """
    return [_emptied(message) if _length(message) > _LONG else message for message in exchange]


def _length(message: Mapping[str, Any]) -> int:
    """Characters of what is said and, where a model called tools, of what they were called with."""
    called = message["data"].get("tool_calls")
    return len(str(message["data"].get("content", ""))) + (len(str(called)) if called else 0)


def _emptied(message: dict[str, Any]) -> dict[str, Any]:
    """A tool's answer, or calls with long arguments, in few words; all else as it is."""
    message_data = message["data"]
    if message["type"] == "tool" and len(str(message_data.get("content", ""))) > len(_DROPPED):
        return {**message, "data": {**message_data, "content": _DROPPED}}
    if not message.get("calls"):
        return message
    made = message_data.get("tool_calls") or []
    called = [call if len(str(call["args"])) < _LONG else {**call, "args": _LEFT_OUT} for call in made]
    return {**message, "data": {**message_data, "tool_calls": called}}
