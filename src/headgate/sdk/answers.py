"""Checks whether a model's output is complete and usable. Pure; imports no model library.

`fault_of` detects unusable outputs: cut off at the model's output limit, empty, with a tool call whose arguments are
not JSON, or with a tool call written as text. The caller sends `Fault.correction` back to the model and retries, at
most `MOST_CORRECTIONS` times.
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

RESTARTED = "headgate_restarted"
"""Member of a piece's `response_metadata`: the pieces before it are void, another model starts the answer again."""
MOST_CORRECTIONS = 2
"""Maximum retries of a request because its output was unusable."""
LONGEST_READ = 100_000
"""Number of characters that are searched for a tool call written as text."""
_REASONS = ("finish_reason", "stop_reason", "done_reason", "stopReason", "status")
"""Where providers report why an output ended."""
_CUT = ("length", "max_tokens", "max_output_tokens", "model_length", "incomplete")
_MARKS = re.compile(
    r"<\|?/?(?:tool_call|function_call|tool_use)\b|<function=|<invoke name=|\[TOOL_CALLS\]", re.IGNORECASE
)
_FENCED = re.compile(r"```[a-z_]*\s*(.*?)\s*```\s*$", re.DOTALL | re.IGNORECASE)
_LEADING_WORDS = re.compile(r"^[^{\[]{0,2000}(?=[{\[])")
_ARGUMENTS = ("arguments", "parameters", "args", "input")
_NAMES = ("name", "tool", "function")

FaultKind = Literal["cut", "cut_call", "broken_call", "written_call", "empty"]


@dataclass(frozen=True, slots=True)
class Fault:
    """Why an output is unusable."""

    kind: FaultKind
    detail: str
    """For users, after the model's name: "answered with nothing"."""
    remedy: str
    correction: str
    """For the model: what is missing, and what to write instead."""


def is_cut(message: Any) -> bool:  # noqa: ANN401 - a LangChain message
    """Return whether an output ended because it reached the model's output limit."""
    reported: Mapping[str, object] = getattr(message, "response_metadata", None) or {}
    # LangChain joins streamed chunks and repeats a reason that came twice: only its start is compared.
    reasons = (str(reported.get(name) or "").lower() for name in _REASONS)
    return any(reason.startswith(_CUT) for reason in reasons)


def fault_of(message: Any, tools: Collection[str] = ()) -> Fault | None:  # noqa: ANN401
    """Return why a complete message of a model is unusable; None when it is usable.

    Args:
        message: A LangChain `AIMessage`, or a chunk with the complete output.
        tools: Names of the tools that the model was offered.
    """
    broken = list(getattr(message, "invalid_tool_calls", None) or ())
    calls = list(getattr(message, "tool_calls", None) or ())
    if is_cut(message):
        return _cut_call([*calls, *broken]) if calls or broken else _CUT_TEXT
    if broken:
        return _broken_call(broken)
    if calls:
        return None
    text = str(message.text).strip()
    if not text:
        return _EMPTY
    name = written_call(text, tools)
    return _written_call(name) if name else None


def written_call(text: str, tools: Collection[str]) -> str:
    """Return the tool that a text calls in writing instead of with a tool call; empty when there is none."""
    text = text.strip()[:LONGEST_READ]
    if _MARKS.search(text):
        tool = next((name for name in tools if re.search(rf"\b{re.escape(name)}\b", text)), "")
        if tool:
            return tool
    for value in _values(text):
        for item in value if isinstance(value, list) else [value]:
            name = _called(item)
            if name in tools:
                return name
    return next((name for name in tools if re.fullmatch(rf"{re.escape(name)}\s*\(.*\)", text, re.DOTALL)), "")


def placeholder(message: Any) -> str:  # noqa: ANN401
    """Return the text of a message that is sent back; providers reject empty messages."""
    return str(message.text).strip() or "(This answer could not be used.)"


def _values(text: str) -> Iterator[Any]:
    """Yield JSON values that are the complete text, or that it ends with."""
    fenced = _FENCED.search(text)
    for candidate in (text, fenced[1] if fenced else "", _LEADING_WORDS.sub("", text, count=1)):
        try:
            yield json.loads(candidate)
        except (ValueError, RecursionError):
            continue


def _called(value: Any) -> str:  # noqa: ANN401 - any JSON
    """Return the name that a JSON object calls; empty when it is not a call."""
    if not isinstance(value, dict):
        return ""
    inner = value.get("function")
    if isinstance(inner, dict):
        return _called(inner)
    name = next((value[key] for key in _NAMES if isinstance(value.get(key), str)), "")
    return name if any(key in value for key in _ARGUMENTS) else ""


def _names(calls: Collection[Any]) -> str:
    tools = dict.fromkeys(str(call.get("name") or "a tool") for call in calls)
    return ", ".join(tools)


def _cut_call(calls: Collection[Any]) -> Fault:
    names = _names(calls)
    return Fault(
        "cut_call",
        f"was cut off at its output limit in the middle of a call of {names}",
        _RAISE_LIMIT,
        f"Your last message was cut off at the output limit in the middle of its tool calls ({names}). None of them was"
        " executed. Call again with less in one call: split long texts and files into several calls.",
    )


def _broken_call(calls: Collection[Any]) -> Fault:
    names = _names(calls)
    excerpt = str(next(iter(calls)).get("args") or "")[:300]
    return Fault(
        "broken_call",
        f"called {names} with arguments that are not valid JSON",
        "Try again, or choose a model that is better at calling tools.",
        f"The arguments of {names} are not valid JSON: {excerpt}\nNo tool call of that message was executed. Write them"
        " again, each as one complete JSON object.",
    )


def _written_call(name: str) -> Fault:
    return Fault(
        "written_call",
        f"wrote a call of {name} as text instead of calling it",
        "Choose a model that supports tool calls, or set `tool_shim` in its parameters.",
        f"You wrote a call of {name} as text, so nothing was executed. Call the tool through the tool interface; write"
        " no JSON or tags of calls in your answer.",
    )


_RAISE_LIMIT = "Raise `max_tokens` in the model's parameters, or ask for less at once."
_CUT_TEXT = Fault(
    "cut",
    "was cut off at its output limit before the answer was complete",
    _RAISE_LIMIT,
    "Your last answer was cut off at the output limit. Write the complete answer again, much shorter.",
)
_EMPTY = Fault(
    "empty",
    "answered with nothing",
    "Try another prompt or model.",
    "Your last answer was empty. Call a tool, or answer in words.",
)
