"""A language model of any provider as the workflow asks it. Imports LangChain: load it through `chooser` only."""

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
from headgate.agents.codev.ports import Said
from headgate.features.models import service
from headgate.features.models.errors import BrokenModelAnswer, ModelRateLimited
from headgate.graph.json_values import parse_json
from headgate.sdk.answers import fault_of, is_cut

PAUSES = (2.0, 8.0, 30.0)
"""Seconds before a rate-limited call is made again, where the provider does not say how long to wait."""
LONGEST_PAUSE = 90.0
"""Seconds over which a wait that the provider asks for is left to the person."""
LONGEST_SAID = 400_000
"""Characters of one answer that are read. One that goes on is left: it may have no end."""
LONGEST_ARGUMENTS = 100_000
"""Characters of the arguments of one answer that are read."""
MOST_PIECES = 200_000
"""Pieces of one answer that are read, with words in them or not."""
MOST_CALLS = 200
"""Tool calls of one answer that are looked at."""
_TOGETHER = 500
"""Pieces that are put together at once: one by one, each would copy all that came before."""
_CHARACTERS_A_TOKEN = 4
_CUT_CALL = (
    "Your message was cut off at the output limit in the middle of its tool calls, so none of them was executed. Call"
    " again with less in one call."
)
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]+")
_LONGEST_NAME = 64
"""Of a tool, as every provider takes it when it is sent again."""
_CALL_BLOCKS = frozenset({"tool_use", "input_json_delta", "tool_call", "tool_call_chunk"})
"""Parts of a content that say again what `tool_calls` says, with arguments as they came."""


@dataclass(frozen=True, slots=True)
class ModelReasoning:
    """Asks one chat model, streamed, so that its words are seen as they come."""

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
    ) -> Said:
        """Answer; a rate limit is waited for, a few times and not for long. Raises a `HeadgateError`."""
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
                    raise _gave_up(error, requests, monotonic() - began) from None
                paused += 1
                await self.sleep(pause)
            except BrokenModelAnswer as error:
                if broken is not None:
                    raise
                broken = error

    async def _once(
        self, sent: list[BaseMessage], tools: Sequence[DomainTool], on_token: Callable[[str], None]
    ) -> Said:
        asked = self.chat.bind_tools([_shown(tool) for tool in tools]) if tools else self.chat
        whole: AIMessageChunk | None = None
        try:
            async with aclosing(_pieces(asked, sent, on_token)) as several:
                async for pieces in several:
                    whole = _together(whole, pieces)
        except Exception as error:  # noqa: BLE001 - what a provider's package raises is told in our words
            raise service.friendly_error(error) from None
        if whole is None:
            raise BrokenModelAnswer(f"{self.model} answered nothing at all.", remedy="Try again.")
        return _said(whole, sent, tools)


def _in_turns(messages: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """What a person says in a row as one message: templates of many open models refuse two."""
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
    """The answer in lists of pieces, as far as it is read."""
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
    """Characters of a piece: of its words, and of what else is kept, such as thoughts."""
    return _characters(piece.content) + _characters(_marks(piece))


def _characters(value: Any) -> int:  # noqa: ANN401 - any JSON
    if isinstance(value, str):
        return len(value)
    if isinstance(value, dict):
        return sum(_characters(item) for name, item in value.items() if name != "type")
    return sum(map(_characters, value)) if isinstance(value, list) else 0


def _marks(piece: AIMessageChunk) -> dict[str, Any]:
    return {name: value for name, value in piece.additional_kwargs.items() if name != "tool_calls"}


def _together(whole: AIMessageChunk | None, pieces: list[AIMessageChunk]) -> AIMessageChunk | None:
    if whole is None and pieces:
        whole, pieces = pieces[0], pieces[1:]
    return whole + pieces if whole is not None and pieces else whole


def _shown(tool: DomainTool) -> dict[str, Any]:
    function = {"name": tool.name, "description": tool.description, "parameters": tool.schema}
    return {"type": "function", "function": function}


def _said(whole: AIMessageChunk, sent: Sequence[BaseMessage], tools: Sequence[DomainTool]) -> Said:
    calls = [_call(chunk, number) for number, chunk in enumerate(whole.tool_call_chunks)]
    if not calls:
        calls = [{"id": call["id"], "name": _name(call["name"]), "args": call["args"]} for call in whole.tool_calls]
    calls = _told_apart(calls[:MOST_CALLS])
    if is_cut(whole):
        calls = [{"id": call["id"], "name": call["name"], "error": _CUT_CALL} for call in calls]
    fault = fault_of(whole, [tool.name for tool in tools])
    usage: Any = whole.usage_metadata or {}
    read = _counted(usage.get("input_tokens")) or _estimated_read(sent, tools)
    written = _counted(usage.get("output_tokens"))
    if not written or _length(whole) >= LONGEST_SAID:  # one that was left is not counted to its end
        written = max(written, _estimated_written(whole))
    unusable = fault if fault is not None and not calls and fault.kind in {"cut", "written_call"} else None
    return Said(whole.text[:LONGEST_SAID], calls, read, written, _kept(whole, calls), unusable)


def _counted(tokens: Any) -> int:  # noqa: ANN401 - what a provider says
    return max(0, tokens) if isinstance(tokens, int) and not isinstance(tokens, bool) else 0


def _call(chunk: Any, number: int) -> dict[str, Any]:  # noqa: ANN401 - LangChain's ToolCallChunk
    """A call with its arguments as JSON. LangChain would mend what was cut short; half a call is not carried out."""
    call = {"id": chunk["id"] or f"call_{number}", "name": _name(chunk["name"])}
    written = chunk["args"]
    try:
        arguments = parse_json(written) if written else {}
    except ValueError:
        return {**call, "error": f"The arguments are not valid JSON: {written[:300]}"}
    if not isinstance(arguments, dict):
        return {**call, "error": "The arguments are not a JSON object."}
    return {**call, "args": arguments}


def _told_apart(calls: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Calls with an id each: answers are sent by id, and some servers give every call the same."""
    ids = [call["id"] for call in calls]
    return [
        call if call["id"] not in ids[:number] else {**call, "id": f"{call['id']}_{number}"}
        for number, call in enumerate(calls)
    ]


def _name(said: str | None) -> str:
    """A tool's name as it can be sent again: one that a provider refuses would end the session for good."""
    return _NOT_IN_NAMES.sub("_", (said or "").strip())[:_LONGEST_NAME]


def _kept(whole: AIMessageChunk, calls: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The message to be sent again: providers want every call that is answered, and their own marks beside it."""
    content: Any = whole.content
    marks = _marks(whole)
    if _length(whole) >= LONGEST_SAID:
        content, marks = whole.text[:LONGEST_SAID], {}
    if isinstance(content, list):
        content = [part for part in content if not (isinstance(part, dict) and part.get("type") in _CALL_BLOCKS)]
    told = [
        {"id": call["id"], "name": call["name"] or "unnamed", "args": call.get("args", {}), "type": "tool_call"}
        for call in calls
    ]
    return {"type": "ai", "data": {"content": content, "additional_kwargs": marks, "tool_calls": told}}


def _estimated_read(sent: Sequence[BaseMessage], tools: Sequence[DomainTool]) -> int:
    """Tokens of what was sent, where the provider does not count them: a budget that counts nothing would be none."""
    said = sum(len(message.text) for message in sent)
    called = sum(
        len(str(message.tool_calls)) for message in sent if isinstance(message, AIMessage) and message.tool_calls
    )
    offered = sum(len(tool.name) + len(tool.description) + len(str(tool.schema)) for tool in tools)
    return _tokens(said + called + offered)


def _estimated_written(whole: AIMessageChunk) -> int:
    return _tokens(_length(whole) + sum(len(chunk["args"] or "") for chunk in whole.tool_call_chunks))


def _tokens(characters: int) -> int:
    return -(-characters // _CHARACTERS_A_TOKEN)


def _pause(error: ModelRateLimited, paused: int) -> float | None:
    """Seconds to wait; None when it was waited often enough, or would be for too long."""
    if paused >= len(PAUSES):
        return None
    asked = error.extra.get("retry_after_seconds")
    pause = float(asked) if isinstance(asked, int | float) else PAUSES[paused]
    return pause if pause <= LONGEST_PAUSE else None


def _requests(error: ModelRateLimited) -> int:
    """Requests that were sent for one call; the client libraries repeat some by themselves."""
    sent = error.extra.get("requests")
    return sent if isinstance(sent, int) else 1


def _gave_up(error: ModelRateLimited, requests: int, seconds: float) -> ModelRateLimited:
    if requests == 1:
        return error
    detail = f"{error.detail.rstrip('.')}. It was asked {requests} times within {seconds:.0f} s."
    return ModelRateLimited(detail, remedy=error.remedy, **error.extra)
