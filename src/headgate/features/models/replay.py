"""Answers of chat models as JSON, and back. Imports LangChain: load it through `service` only."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from typing import Any

from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, message_chunk_to_message
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult

from headgate.features.models.ports import CallLog, Payment
from headgate.foundation.errors import HeadgateError
from headgate.sdk.calls import REPLAYED, CallRequest, messages_as_sent
from headgate.sdk.values import Model

CHARACTERS_A_TOKEN = 4
TOKENS_A_MESSAGE = 4
"""Tokens of the role and the separators of a message."""
TOKENS_A_FILE = 1_000
"""Tokens of an image, a recording or a document in a message, whose size only the provider knows."""


def prompt_tokens(messages: Iterable[Any], options: Mapping[str, Any]) -> int:
    """Return the estimated tokens of LangChain messages and the offered tools: text at four characters per token."""
    characters = tokens = 0
    for message in messages:
        tokens += TOKENS_A_MESSAGE
        content = message.content
        blocks = [content] if isinstance(content, str) else content
        for block in blocks:
            text = block if isinstance(block, str) else block.get("text")
            if isinstance(text, str):
                characters += len(text)
            else:
                tokens += TOKENS_A_FILE
        characters += sum(
            len(json.dumps(call["args"], default=str)) for call in getattr(message, "tool_calls", ()) or ()
        )
    if tools := options.get("tools"):
        characters += len(json.dumps(tools, default=str))
    return tokens - (-characters // CHARACTERS_A_TOKEN)


_MEMBERS = ("content", "additional_kwargs", "response_metadata", "tool_calls", "invalid_tool_calls", "id", "name")


class OnceOnly:
    """Calls one model, and reuses the answers of earlier attempts.

    Args:
        model: The model that the step selected.
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
        """Return the stored answer to a request; without one, that of `call`, which is then stored."""
        request = self._request(messages, stop, options)
        stored = await self._recall(request)
        if stored is not None:
            return ChatResult(generations=[stored])
        async with self._log.asking():
            payment = await self._log.pay(prompt_tokens(messages, options))
            try:
                result = await call()
            except HeadgateError as error:
                if payment is not None:
                    await payment.failed(error)
                raise
        await self._keep(request, result.generations[0], payment)
        return result

    async def stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None,
        options: dict[str, Any],
        pieces: AsyncIterator[ChatGenerationChunk],
    ) -> AsyncIterator[ChatGenerationChunk]:
        """Yield the stored answer as one chunk; without one, `pieces`, which are stored once complete."""
        request = self._request(messages, stop, options)
        stored = await self._recall(request)
        if stored is not None:
            yield as_chunk(stored)
            return
        answer: ChatGenerationChunk | None = None
        async with self._log.asking():
            payment = await self._log.pay(prompt_tokens(messages, options))
            try:
                async for piece in pieces:
                    answer = piece if answer is None else answer + piece
                    yield piece
            except HeadgateError as error:
                if payment is not None and answer is None:
                    await payment.failed(error)
                raise
        if answer is not None:
            message = message_chunk_to_message(answer.message)
            generation = ChatGeneration(message=message, generation_info=answer.generation_info)
            await self._keep(request, generation, payment)

    def _request(self, messages: list[BaseMessage], stop: list[str] | None, options: dict[str, Any]) -> CallRequest:
        content = {
            "messages": messages_as_sent(messages),
            "stop": stop,
            "options": options,
            "params": self._model.params,
        }
        return CallRequest.of("model", str(self._model), content)

    async def _recall(self, request: CallRequest) -> ChatGeneration | None:
        """Return the stored answer, marked as replayed, without token counts: the earlier attempt has them."""
        result = await self._log.recall(request)
        if result is None or not isinstance(result.value, dict):
            return None
        stored: dict[str, Any] = dict(result.value)
        message = AIMessage(**stored["message"])
        message.response_metadata = {**message.response_metadata, REPLAYED: True}
        return ChatGeneration(message=message, generation_info=stored["info"])

    async def _keep(self, request: CallRequest, answer: ChatGeneration, payment: Payment | None) -> None:
        message = answer.message
        usage = message.usage_metadata if isinstance(message, AIMessage) else None
        value = {
            "message": {name: member for name in _MEMBERS if (member := getattr(message, name, None)) is not None},
            "info": answer.generation_info,
        }
        tokens = (usage["input_tokens"], usage["output_tokens"]) if usage else (None, None)
        await self._log.keep(request, json.loads(json.dumps(value, default=str)), tokens=tokens)
        if payment is not None:
            await payment.answered(tokens)


def as_chunk(answer: ChatGeneration) -> ChatGenerationChunk:
    """Return the answer as a stream of one piece."""
    message = answer.message
    written = _written_calls(message) if isinstance(message, AIMessage) else []
    return ChatGenerationChunk(
        message=AIMessageChunk(
            content=message.content,
            id=message.id,
            additional_kwargs=message.additional_kwargs,
            tool_call_chunks=[
                tool_call_chunk(name=name, args=args, id=call_id, index=index)
                for index, (name, args, call_id) in enumerate(written)
            ],
            usage_metadata=message.usage_metadata if isinstance(message, AIMessage) else None,
            response_metadata=message.response_metadata,
        ),
        generation_info=answer.generation_info,
    )


def _written_calls(message: AIMessage) -> list[tuple[str | None, str | None, str | None]]:
    """Return name, arguments as JSON and id of each call; incomplete calls keep their arguments as they were."""
    complete = [(call["name"], json.dumps(call["args"]), call["id"]) for call in message.tool_calls]
    return [*complete, *((call["name"], call["args"], call["id"]) for call in message.invalid_tool_calls)]
