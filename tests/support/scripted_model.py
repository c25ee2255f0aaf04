"""A chat model that says what it was told to say, through LangChain's own interface."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage
from langchain_core.messages.tool import ToolCallChunk, tool_call_chunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from pydantic import ConfigDict, Field


class ScriptedModel(BaseChatModel):
    """Answers with each message in turn; keeps what it was asked."""

    script: list[AIMessage | Exception]
    asked: list[list[BaseMessage]] = Field(default_factory=list)
    tools: list[Any] = Field(default_factory=list)
    hangs_at: int | None = None
    """Number of the call, from 0, that is never answered."""
    hanging: asyncio.Event = Field(default_factory=asyncio.Event)
    """Set when it hangs."""
    streams: bool = True

    model_config = ConfigDict(arbitrary_types_allowed=True)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Sequence[Any], **_: Any) -> "Runnable[Any, Any]":
        self.tools = list(tools)
        return self

    def _generate(self, messages: list[BaseMessage], *_: Any, **__: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self._next(messages))])

    def _should_stream(self, **options: Any) -> bool:
        return self.streams and super()._should_stream(**options)

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **_: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        if len(self.asked) == self.hangs_at:
            self.hanging.set()
            await asyncio.Event().wait()
        message = self._next(messages)
        for word in message.text.split(" ") if message.text else []:
            yield ChatGenerationChunk(message=AIMessageChunk(content=word + " "))
        calls: list[ToolCallChunk] = [
            tool_call_chunk(name=call["name"], args=_json(call["args"]), id=call["id"], index=number)
            for number, call in enumerate(message.tool_calls)
        ]
        yield ChatGenerationChunk(
            message=AIMessageChunk(content="", tool_call_chunks=calls, usage_metadata=message.usage_metadata)
        )

    def _next(self, messages: list[BaseMessage]) -> AIMessage:
        self.asked.append(messages)
        found = self.script.pop(0)
        if isinstance(found, Exception):
            raise found
        return found


def says(text: str, *, tokens: tuple[int, int] = (10, 5)) -> AIMessage:
    """The model answers with text."""
    return AIMessage(content=text, usage_metadata=_usage(tokens))


def calls(name: str, tokens: tuple[int, int] = (10, 5), **arguments: Any) -> AIMessage:
    """The model calls a tool."""
    return AIMessage(
        content="", tool_calls=[{"name": name, "args": arguments, "id": f"call_{name}"}], usage_metadata=_usage(tokens)
    )


def _usage(tokens: tuple[int, int]) -> Any:
    return {"input_tokens": tokens[0], "output_tokens": tokens[1], "total_tokens": sum(tokens)}


def _json(value: Any) -> str:
    import json

    return json.dumps(value)
