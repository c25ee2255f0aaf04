"""Streamed tool calls that LangChain must not repair. Imports LangChain: load it through `service` only.

LangChain closes the open ends of a call's arguments, so that half a call looks like a complete one. What is added here
to such arguments makes them invalid for LangChain as well: the call arrives in `invalid_tool_calls`, never in
`tool_calls`.
"""

import json
from dataclasses import dataclass, field

from langchain_core.messages import AIMessageChunk
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGenerationChunk
from langchain_core.utils.json import parse_partial_json

_ENDS = ("]", "}", '"]', '"}', '\\"]', '\\"}')
"""At least one of them closes what is not open, wherever arguments were cut."""


@dataclass(slots=True)
class StreamedCalls:
    """The arguments of the tool calls of one stream, as they came."""

    _written: dict[int, list[str]] = field(default_factory=dict)

    def take(self, chunk: ChatGenerationChunk) -> None:
        """Remember a piece's arguments. A call without an index came in one piece and is made invalid at once."""
        message = chunk.message
        if not isinstance(message, AIMessageChunk) or not message.tool_call_chunks:
            return
        for call in message.tool_call_chunks:
            index, args = call.get("index"), call.get("args") or ""
            if isinstance(index, int):
                self._written.setdefault(index, []).append(args)
            elif args and not _is_complete(args):
                call["args"] = args + _spoiler(args)
                message.tool_calls = [tool_call for tool_call in message.tool_calls if tool_call["id"] != call["id"]]

    def spoiled(self) -> ChatGenerationChunk | None:
        """Return a chunk that prevents repair of incomplete calls; None when every call is complete."""
        written = {index: "".join(pieces) for index, pieces in self._written.items()}
        broken = {index: args for index, args in written.items() if args and not _is_complete(args)}
        if not broken:
            return None
        chunks = [
            tool_call_chunk(name=None, args=_spoiler(args), id=None, index=index) for index, args in broken.items()
        ]
        return ChatGenerationChunk(message=AIMessageChunk(content="", tool_call_chunks=chunks))


def _is_complete(args: str) -> bool:
    try:
        json.loads(args, strict=False)
    except (ValueError, RecursionError):
        return False
    return True


def _spoiler(args: str) -> str:
    return next((end for end in _ENDS if not _is_repaired(args + end)), _ENDS[0])


def _is_repaired(args: str) -> bool:
    try:
        return isinstance(parse_partial_json(args), dict)
    except (ValueError, RecursionError):
        return False
