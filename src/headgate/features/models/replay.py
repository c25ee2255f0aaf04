"""Answers of chat models as JSON, and back. Imports LangChain: load it through `service` only."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, message_chunk_to_message
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult

from headgate.features.models.ports import CallLog
from headgate.sdk.calls import REPLAYED, Asked, messages_as_sent
from headgate.sdk.values import Model

_MEMBERS = ("content", "additional_kwargs", "response_metadata", "tool_calls", "invalid_tool_calls", "id", "name")


class OnceOnly:
    """Makes the calls of one model that were not answered before.

    Args:
        model: The model, as the step chose it.
        log: The answered calls.
    """

    def __init__(self, model: Model, log: CallLog) -> None:
        self._model = model
        self._log = log

    async def generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None,
        options: dict[str, Any],
        call: Callable[[], Awaitable[ChatResult]],
    ) -> ChatResult:
        """The stored answer to a request, or that of `call`."""
        asked = self._asked(messages, stop, options)
        stored = await self._recall(asked)
        if stored is not None:
            return ChatResult(generations=[stored])
        result = await call()
        await self._keep(asked, result.generations[0])
        return result

    async def stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None,
        options: dict[str, Any],
        pieces: AsyncIterator[ChatGenerationChunk],
    ) -> AsyncIterator[ChatGenerationChunk]:
        """The stored answer in one piece, or `pieces`, stored when they are complete."""
        asked = self._asked(messages, stop, options)
        stored = await self._recall(asked)
        if stored is not None:
            yield as_chunk(stored)
            return
        answer: ChatGenerationChunk | None = None
        async for piece in pieces:
            answer = piece if answer is None else answer + piece
            yield piece
        if answer is not None:
            message = message_chunk_to_message(answer.message)
            await self._keep(asked, ChatGeneration(message=message, generation_info=answer.generation_info))

    def _asked(self, messages: list[BaseMessage], stop: list[str] | None, options: dict[str, Any]) -> Asked:
        request = {
            "messages": messages_as_sent(messages),
            "stop": stop,
            "options": options,
            "params": self._model.params,
        }
        return Asked.of("model", str(self._model), request)

    async def _recall(self, asked: Asked) -> ChatGeneration | None:
        """The stored answer, marked as replayed and without tokens: they were paid before."""
        answer = await self._log.recall(asked)
        if answer is None or not isinstance(answer.value, dict):
            return None
        stored: dict[str, Any] = dict(answer.value)
        message = AIMessage(**stored["message"])
        message.response_metadata = {**message.response_metadata, REPLAYED: True}
        return ChatGeneration(message=message, generation_info=stored["info"])

    async def _keep(self, asked: Asked, answer: ChatGeneration) -> None:
        message = answer.message
        usage = message.usage_metadata if isinstance(message, AIMessage) else None
        value = {
            "message": {name: found for name in _MEMBERS if (found := getattr(message, name, None)) is not None},
            "info": answer.generation_info,
        }
        tokens = (usage["input_tokens"], usage["output_tokens"]) if usage else (None, None)
        await self._log.keep(asked, json.loads(json.dumps(value, default=str)), tokens=tokens)


def as_chunk(answer: ChatGeneration) -> ChatGenerationChunk:
    """The answer as a stream of one piece."""
    message = answer.message
    calls = message.tool_calls if isinstance(message, AIMessage) else []
    return ChatGenerationChunk(
        message=AIMessageChunk(
            content=message.content,
            id=message.id,
            additional_kwargs=message.additional_kwargs,
            tool_call_chunks=[
                tool_call_chunk(name=call["name"], args=json.dumps(call["args"]), id=call["id"], index=index)
                for index, call in enumerate(calls)
            ],
            usage_metadata=message.usage_metadata if isinstance(message, AIMessage) else None,
            response_metadata=message.response_metadata,
        ),
        generation_info=answer.generation_info,
    )
