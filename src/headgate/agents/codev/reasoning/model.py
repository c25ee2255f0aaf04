"""The workflow's client of a language model. Imports LangChain: load it through `chooser` only."""

import asyncio
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from time import monotonic
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, SystemMessage, messages_from_dict

from headgate.agents.codev.domain import DomainTool
from headgate.agents.codev.ports import ModelAnswer
from headgate.features.models import service
from headgate.features.models.errors import BrokenModelAnswer, ModelRateLimited
from headgate.graph.json_values import parse_json
from headgate.sdk.answers import fault_of, is_cut

PAUSES = (2.0, 8.0, 30.0)
"""Seconds before a rate-limited call is retried, if the provider does not specify a wait."""
LONGEST_PAUSE = 90.0
"""Longest wait requested by a provider, in seconds; longer ones are left to the user."""
LONGEST_SAID = 400_000
"""Characters of one answer that are read; a longer one may be endless."""
LONGEST_ARGUMENTS = 100_000
"""Characters of the arguments of one answer that are read."""
MOST_PIECES = 200_000
"""Chunks of one answer that are read, including empty ones."""
MOST_CALLS = 200
"""Tool calls of one answer that are processed."""
_TOGETHER = 500
"""Pieces that are put together at once: one by one, each would copy all that came before."""
_CHARACTERS_A_TOKEN = 4
_CUT_CALL = (
    "Your message was cut off at the output limit in the middle of its tool calls, so none of them was executed. Call"
    " again with less in one call."
)
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]+")
_LONGEST_NAME = 64
"""Length of a tool name that every provider accepts in the history."""
_CALL_BLOCKS = frozenset({"tool_use", "input_json_delta", "tool_call", "tool_call_chunk"})
"""Content parts that duplicate `tool_calls`, with raw arguments."""


@dataclass(frozen=True, slots=True)
class ModelReasoning:
    """Calls one chat model, streamed, so that its text is shown as it arrives."""

    model: str
    chat: BaseChatModel
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep

    @property
    def model_id(self) -> str:
        """`provider/name`."""
        return self.model

    async def complete(
        self,
        messages: Sequence[dict[str, Any]],
        *,
        system: str,
        tools: Sequence[DomainTool] = (),
        on_token: Callable[[str], None] = lambda _text: None,
    ) -> ModelAnswer:
        """Return an answer; retry a rate limit a few times. Raises a `HeadgateError`."""
        sent = [SystemMessage(system), *messages_from_dict(_in_turns(messages))]
        began, paused, requests = monotonic(), 0, 0
        broken: BrokenModelAnswer | None = None
        while True:
            try:
                return await self._once(sent, tools, on_token)
            except ModelRateLimited as error:
                requests += _requests(error)
                pause = _pause(error, paused)
                if pause is None:
                    raise _retries_exhausted(error, requests, monotonic() - began) from None
                paused += 1
                await self.sleep(pause)
            except BrokenModelAnswer as error:
                if broken is not None:
                    raise
                broken = error

    async def _once(
        self, sent: list[BaseMessage], tools: Sequence[DomainTool], on_token: Callable[[str], None]
    ) -> ModelAnswer:
        asked = self.chat.bind_tools([_shown(tool) for tool in tools]) if tools else self.chat
        answer: AIMessageChunk | None = None
        try:
            async with aclosing(_pieces(asked, sent, on_token)) as several:
                async for pieces in several:
                    answer = _together(answer, pieces)
        except Exception as error:  # noqa: BLE001 - what a provider's package raises is reported in our words
            raise service.friendly_error(error) from None
        if answer is None:
            raise BrokenModelAnswer(f"{self.model} returned an empty answer.", remedy="Try again.")
        return _as_answer(answer, sent, tools)


def _in_turns(messages: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Merge consecutive user messages: templates of many open models reject two."""
    turns: list[dict[str, Any]] = []
    for message in messages:
        if turns and turns[-1]["type"] == message["type"] == "human":
            content = f"{turns[-1]['data']['content']}\n\n{message['data']['content']}"
            turns[-1] = {**message, "data": {**message["data"], "content": content}}
        else:
            turns.append(message)
    return turns


async def _pieces(
    asked: Any,  # noqa: ANN401 - LangChain's runnable
    sent: list[BaseMessage],
    on_token: Callable[[str], None],
) -> AsyncGenerator[list[AIMessageChunk], None]:
    """Yield the answer in lists of chunks, up to the limits."""
    pieces, length, written, count = list[AIMessageChunk](), 0, 0, 0
    async with aclosing(asked.astream(sent)) as stream:
        async for chunk in stream:
            piece = chunk if isinstance(chunk, AIMessageChunk) else AIMessageChunk(**chunk.model_dump())
            pieces.append(piece)
            if piece.text:
                on_token(piece.text[:LONGEST_SAID])
            count, length = count + 1, length + _length(piece)
            written += sum(len(call["args"] or "") + len(call["name"] or "") for call in piece.tool_call_chunks)
            if len(pieces) == _TOGETHER:
                yield pieces
                pieces = []
            if length > LONGEST_SAID or written > LONGEST_ARGUMENTS or count > MOST_PIECES:
                break
    yield pieces


def _length(piece: AIMessageChunk) -> int:
    """Return the characters of a chunk: its text, and other stored content such as reasoning."""
    return _characters(piece.content) + _characters(_marks(piece))


def _characters(value: Any) -> int:  # noqa: ANN401 - any JSON
    if isinstance(value, str):
        return len(value)
    if isinstance(value, dict):
        return sum(_characters(item) for name, item in value.items() if name != "type")
    return sum(map(_characters, value)) if isinstance(value, list) else 0


def _marks(piece: AIMessageChunk) -> dict[str, Any]:
    return {name: value for name, value in piece.additional_kwargs.items() if name != "tool_calls"}


def _together(answer: AIMessageChunk | None, pieces: list[AIMessageChunk]) -> AIMessageChunk | None:
    if answer is None and pieces:
        answer, pieces = pieces[0], pieces[1:]
    return answer + pieces if answer is not None and pieces else answer


def _shown(tool: DomainTool) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.schema}
    return {"type": "function", "function": function}


def _as_answer(answer: AIMessageChunk, sent: Sequence[BaseMessage], tools: Sequence[DomainTool]) -> ModelAnswer:
    calls = [_call(chunk, number) for number, chunk in enumerate(answer.tool_call_chunks)]
    if not calls:
        calls = [{"id": call["id"], "name": _name(call["name"]), "args": call["args"]} for call in answer.tool_calls]
    calls = _with_unique_ids(calls[:MOST_CALLS])
    if is_cut(answer):
        calls = [{"id": call["id"], "name": call["name"], "error": _CUT_CALL} for call in calls]
    fault = fault_of(answer, [tool.name for tool in tools])
    usage: Any = answer.usage_metadata or {}
    read = _counted(usage.get("input_tokens")) or _estimated_read(sent, tools)
    written = _counted(usage.get("output_tokens"))
    if not written or _length(answer) >= LONGEST_SAID:  # one that was left is not counted to its end
        written = max(written, _estimated_written(answer))
    unusable = fault if fault is not None and not calls and fault.kind in {"cut", "written_call"} else None
    return ModelAnswer(answer.text[:LONGEST_SAID], calls, read, written, _as_history(answer, calls), unusable)


def _counted(tokens: Any) -> int:  # noqa: ANN401 - what a provider says
    return max(0, tokens) if isinstance(tokens, int) and not isinstance(tokens, bool) else 0


def _call(chunk: Any, number: int) -> dict[str, Any]:  # noqa: ANN401 - LangChain's ToolCallChunk
    """Return a call with its arguments as JSON. LangChain would repair truncated ones, which must not be executed."""
    call = {"id": chunk["id"] or f"call_{number}", "name": _name(chunk["name"])}
    written = chunk["args"]
    try:
        arguments = parse_json(written) if written else {}
    except ValueError:
        return {**call, "error": f"The arguments are not valid JSON: {written[:300]}"}
    if not isinstance(arguments, dict):
        return {**call, "error": "The arguments are not a JSON object."}
    return {**call, "args": arguments}


def _with_unique_ids(calls: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return calls with unique ids: some servers give every call the same id."""
    ids = [call["id"] for call in calls]
    return [
        call if call["id"] not in ids[:number] else {**call, "id": f"{call['id']}_{number}"}
        for number, call in enumerate(calls)
    ]


def _name(name: str | None) -> str:
    """A tool's name as it can be sent again: one that a provider refuses would end the session for good."""
    return _NOT_IN_NAMES.sub("_", (name or "").strip())[:_LONGEST_NAME]


def _as_history(answer: AIMessageChunk, calls: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the message for the history: providers require every answered call, and their own metadata."""
    content: Any = answer.content
    marks = _marks(answer)
    if _length(answer) >= LONGEST_SAID:
        content, marks = answer.text[:LONGEST_SAID], {}
    if isinstance(content, list):
        content = [part for part in content if not (isinstance(part, dict) and part.get("type") in _CALL_BLOCKS)]
    tool_calls = [
        {"id": call["id"], "name": call["name"] or "unnamed", "args": call.get("args", {}), "type": "tool_call"}
        for call in calls
    ]
    return {"type": "ai", "data": {"content": content, "additional_kwargs": marks, "tool_calls": tool_calls}}


def _estimated_read(sent: Sequence[BaseMessage], tools: Sequence[DomainTool]) -> int:
    """Estimate the input tokens if the provider does not count them, so that the budget still applies."""
    written = sum(len(message.text) for message in sent)
    called = sum(
        len(str(message.tool_calls)) for message in sent if isinstance(message, AIMessage) and message.tool_calls
    )
    offered = sum(len(tool.name) + len(tool.description) + len(str(tool.schema)) for tool in tools)
    return _tokens(written + called + offered)


def _estimated_written(answer: AIMessageChunk) -> int:
    return _tokens(_length(answer) + sum(len(chunk["args"] or "") for chunk in answer.tool_call_chunks))


def _tokens(characters: int) -> int:
    return -(-characters // _CHARACTERS_A_TOKEN)


def _pause(error: ModelRateLimited, paused: int) -> float | None:
    """Return the seconds to wait; None after too many retries, or for too long a wait."""
    if paused >= len(PAUSES):
        return None
    asked = error.extra.get("retry_after_seconds")
    pause = float(asked) if isinstance(asked, int | float) else PAUSES[paused]
    return pause if pause <= LONGEST_PAUSE else None


def _requests(error: ModelRateLimited) -> int:
    """Requests that were sent for one call; the client libraries repeat some by themselves."""
    sent = error.extra.get("requests")
    return sent if isinstance(sent, int) else 1


def _retries_exhausted(error: ModelRateLimited, requests: int, seconds: float) -> ModelRateLimited:
    if requests == 1:
        return error
    detail = f"{error.detail.rstrip('.')}. It was called {requests} times within {seconds:.0f} s."
    return ModelRateLimited(detail, remedy=error.remedy, **error.extra)
