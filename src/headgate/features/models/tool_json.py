"""Tool calls as JSON in plain text: the schema a server is held to, and both directions of the conversation.

Pure functions on LangChain messages; used by `tool_shim`. Imports LangChain.
"""

import json
from collections.abc import Sequence
from typing import Any
from uuid import uuid4

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.utils.json_schema import dereference_refs

from headgate.features.models.errors import BrokenModelAnswer

REPLY = "reply"
"""Name of the branch that answers instead of calling a tool."""

_PREAMBLE = (
    "You can call these functions:\n{functions}\n"
    'Output one JSON object {{"name": ..., "arguments": {{...}}}}.'
)  # fmt: skip
_REPLY_LINE = (
    "- reply(text): answer the user in your own words. Use it when no function is needed or when a function result is "
    "already given."
)
_REPLY_REMINDER = (
    " When the user asks for none of the above, for example to explain or to write something, the name is reply."
)
"""Placed last: with it, the 1.5B model answered 6 of 8 plain requests instead of 1, and called 16 of 16 tools."""


def call_schema(functions: Sequence[dict[str, Any]], *, reply: bool = True) -> dict[str, Any]:
    """Return the JSON schema of one call: `anyOf` with a branch a function, and `reply` when allowed."""
    branches = [_branch(function["name"], _parameters(function)) for function in functions]
    if reply:
        text = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
        branches.append(_branch(REPLY, {**text, "additionalProperties": False}))
    return branches[0] if len(branches) == 1 else {"anyOf": branches}


def read_answer(message: BaseMessage, names: set[str]) -> AIMessage:
    """Return a message with tool calls, or with the reply as its content, from the JSON the model wrote.

    Raises `BrokenModelAnswer` when it is not one of the branches: cut short, or a server that ignores the schema.
    """
    text = message.text
    usage = message.usage_metadata if isinstance(message, AIMessage) else None
    members: dict[str, Any] = {
        "id": message.id,
        "usage_metadata": usage,
        "response_metadata": message.response_metadata,
    }
    try:
        answer = json.loads(text)
        name, arguments = answer["name"], answer["arguments"]
    except (ValueError, TypeError, KeyError):
        raise BrokenModelAnswer(
            "The model's answer is not the JSON of a tool call.",
            remedy=(
                "Raise `max_tokens` if the answer was truncated. The server must support `response_format` json_schema."
            ),
            answer=text[:200],
        ) from None
    if name == REPLY and name not in names and isinstance(arguments, dict):
        return AIMessage(content=str(arguments.get("text", "")), **members)
    if name not in names or not isinstance(arguments, dict):
        raise BrokenModelAnswer(
            f"The model called '{str(name)[:60]}', which is not one of its tools.",
            remedy=f"Its tools are: {', '.join(sorted(names))}. Choose a model that supports tool calls.",
        )
    call = {"name": name, "args": arguments, "id": f"call_{uuid4().hex[:24]}", "type": "tool_call"}
    return AIMessage(content="", tool_calls=[call], **members)


def plain_messages(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """The conversation with tool calls and results written as text, in the format the model was instructed to use."""
    names: dict[str | None, str] = {}
    plain: list[BaseMessage] = []
    for message in messages:
        if isinstance(message, AIMessage) and message.tool_calls:
            calls = [{"name": call["name"], "arguments": call["args"]} for call in message.tool_calls]
            names.update({call["id"]: call["name"] for call in message.tool_calls})
            written = "\n".join(json.dumps(call, ensure_ascii=False) for call in calls)
            plain.append(AIMessage(content=f"{message.text}\n{written}".strip()))
        elif isinstance(message, ToolMessage):
            name = names.get(message.tool_call_id) or message.name or "the function"
            plain.append(HumanMessage(content=f"Result of {name}: {message.text}"))
        else:
            plain.append(message)
    return plain


def _branch(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {"name": {"const": name}, "arguments": arguments},
        "required": ["name", "arguments"],
        "additionalProperties": False,
    }


def _parameters(function: dict[str, Any]) -> dict[str, Any]:
    """Return the function's own schema, standing alone: a branch deep inside cannot refer to `$defs` at the root."""
    schema = function.get("parameters") or {"type": "object", "properties": {}}
    resolved: dict[str, Any] = dereference_refs(schema)
    return {name: value for name, value in resolved.items() if name != "$defs"}


def preamble(functions: Sequence[dict[str, Any]], *, reply: bool) -> str:
    """Return the instructions about functions and how to call them."""
    lines = [_line(function) for function in functions]
    if reply:
        lines.append(_REPLY_LINE)
    return _PREAMBLE.format(functions="\n".join(lines)) + (_REPLY_REMINDER if reply else "")


def _line(function: dict[str, Any]) -> str:
    properties = (function.get("parameters") or {}).get("properties", {})
    parameters = [
        f"{name} ({about['description']})" if about.get("description") else name for name, about in properties.items()
    ]
    return f"- {function['name']}({', '.join(parameters)}): {' '.join(function.get('description', '').split())}"


def with_preamble(messages: list[BaseMessage], preamble: str) -> list[BaseMessage]:
    """Return the system message with the functions after the caller's own text: small models follow the end of it."""
    if messages and isinstance(messages[0], SystemMessage):
        return [SystemMessage(content=f"{messages[0].text}\n\n{preamble}"), *messages[1:]]
    return [SystemMessage(content=preamble), *messages]
