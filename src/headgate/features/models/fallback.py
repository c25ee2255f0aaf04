"""A chat model that asks the next one of a chain when the one before cannot answer. Imports LangChain.

Each model is asked through LangChain's public methods, without callbacks: those of this model report the call once.
"""

from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any, NoReturn

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, message_chunk_to_message
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.prompt_values import PromptValue
from langchain_core.runnables import Runnable, RunnableBinding, RunnableConfig, RunnableLambda
from langchain_core.tools import BaseTool
from pydantic import JsonValue, PrivateAttr

from headgate.features.models.chain import ModelChain, Tokens
from headgate.foundation.errors import HeadgateError
from headgate.sdk.answers import RESTARTED
from headgate.sdk.values import Model

_OPTIONS = "tool_options"
"""Argument that carries what else tools were offered with, until it is known which model is asked."""
_SILENT: RunnableConfig = {"callbacks": []}


async def with_fallback(chain: ModelChain, **params: JsonValue) -> "FallbackChat":
    """The chain's models as one chat model. Raises `Invalid` naming what is missing, unless another model is left."""
    while True:
        model = chain.model
        try:
            await chain.chat(params)
        except HeadgateError as error:
            if not chain.falls_back_on(error):
                raise
            await chain.fall_back(model, error)
        else:
            break
    # The text of an answer with tool calls is shown as it comes by callbacks: what LangChain collects from a stream
    # could not be undone when the next model starts again.
    chat = FallbackChat(params=params, disable_streaming="tool_calling" if chain.restarts else False)
    chat._chain = chain  # noqa: SLF001 - private to pydantic, which need not know what a chain is
    return chat


class FallbackChat(BaseChatModel):
    """Each call goes to the chain's present model; a call that was not answered is made to the next one."""

    params: dict[str, JsonValue]
    _chain: ModelChain = PrivateAttr()

    @property
    def _llm_type(self) -> str:
        return "headgate-fallback"

    @property
    def answering(self) -> Model:
        """The model that answered last, or that is asked next."""
        return self._chain.model

    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool],
        *,
        tool_choice: str | None = None,
        **kwargs: Any,  # noqa: ANN401 - LangChain's signature
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Offer tools, in the form of whichever model is asked."""
        return self.bind(tools=tuple(tools), **{_OPTIONS: {"tool_choice": tool_choice, **kwargs}})

    def with_structured_output(
        self,
        schema: dict[str, Any] | type,
        *,
        include_raw: bool = False,
        **kwargs: Any,  # noqa: ANN401
    ) -> Runnable[LanguageModelInput, Any]:
        """Each model's own way to hold it to a schema.

        Calling it raises `NotImplementedError` where the model that is asked has none.
        """

        async def ask(asked: LanguageModelInput) -> Any:  # noqa: ANN401 - what the schema says
            return await self._first_answer(
                _messages(asked),
                lambda chat: chat.with_structured_output(schema, include_raw=include_raw, **kwargs),
            )

        return RunnableLambda(ask)

    def _generate(self, *_: Any, **__: Any) -> NoReturn:  # noqa: ANN401 - LangChain's signature
        raise NotImplementedError("Models are asked asynchronously only.")

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,  # noqa: ANN401
    ) -> ChatResult:
        if self.disable_streaming and run_manager is not None:
            message = await self._shown(messages, stop, run_manager, kwargs)
        else:
            message = await self._first_answer(messages, lambda chat: _offering(chat, kwargs), stop=stop)
        return ChatResult(generations=[ChatGeneration(message=message)])

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,  # noqa: ARG002 - LangChain reports the pieces
        **kwargs: Any,  # noqa: ANN401
    ) -> AsyncIterator[ChatGenerationChunk]:
        chain = self._chain
        while True:
            model, begun = chain.model, False
            tokens: Tokens = (None, None)
            try:
                await chain.require_asking(messages)
                chat, bound = _unbound(_offering(await chain.chat(self.params), kwargs))
                async for piece in chat.astream(_plain(messages, chain.foreign), _SILENT, stop=stop, **bound):
                    begun, tokens = True, _with_usage(tokens, piece)
                    yield ChatGenerationChunk(message=piece)
            except HeadgateError as error:
                if not chain.falls_back_on(error) or (begun and not chain.restarts):
                    raise
                await chain.fall_back(model, error, messages=len(messages), tokens=tokens, begun=begun)
                if begun:
                    yield ChatGenerationChunk(message=AIMessageChunk(content="", response_metadata={RESTARTED: True}))
            else:
                await chain.keep_misses(messages)
                return

    async def _shown(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None,
        run_manager: AsyncCallbackManagerForLLMRun,
        kwargs: dict[str, Any],
    ) -> BaseMessage:
        """The answer, whose text is reported as it comes; a part that another model replaced is not in it."""
        answer: AIMessageChunk | None = None
        async for chunk in self._astream(messages, stop, **kwargs):
            piece = chunk.message
            if not isinstance(piece, AIMessageChunk) or RESTARTED in piece.response_metadata:
                answer = None
                continue
            await run_manager.on_llm_new_token(str(piece.text), chunk=chunk)
            answer = piece if answer is None else answer + piece
        return message_chunk_to_message(answer if answer is not None else AIMessageChunk(content=""))

    async def _first_answer(
        self,
        messages: Sequence[BaseMessage],
        offer: Callable[[BaseChatModel], Runnable[LanguageModelInput, Any]],
        **options: Any,  # noqa: ANN401
    ) -> Any:  # noqa: ANN401 - a message, or what a schema says
        """What the first model answers that can, each asked through what `offer` makes of it."""
        chain = self._chain
        while True:
            model = chain.model
            try:
                await chain.require_asking(messages)
                chat, bound = _unbound(offer(await chain.chat(self.params)))
                answer = await chat.ainvoke(_plain(messages, chain.foreign), _SILENT, **{**bound, **options})
            except HeadgateError as error:
                if not chain.falls_back_on(error):
                    raise
                await chain.fall_back(model, error, messages=len(messages))
            else:
                await chain.keep_misses(messages)
                return answer


def _offering(chat: BaseChatModel, kwargs: dict[str, Any]) -> Runnable[LanguageModelInput, Any]:
    """The model with the tools and other arguments of a call."""
    rest = {name: value for name, value in kwargs.items() if name not in {"tools", _OPTIONS}}
    if _OPTIONS in kwargs:
        return chat.bind_tools(list(kwargs["tools"]), **kwargs[_OPTIONS], **rest)
    return chat.bind(**kwargs) if kwargs else chat


def _unbound(asked: Runnable[LanguageModelInput, Any]) -> tuple[Runnable[LanguageModelInput, Any], dict[str, Any]]:
    """Return a model and the arguments that are bound to it.

    A binding merges the callbacks of the surrounding run into those of its call, so each part would be reported twice.
    """
    return (asked.bound, dict(asked.kwargs)) if isinstance(asked, RunnableBinding) else (asked, {})


def _plain(messages: Sequence[BaseMessage], foreign: int) -> list[BaseMessage]:
    """The messages; answers of another model as text and tool calls, without the blocks that only it understands."""
    return [
        AIMessage(content=str(message.text), tool_calls=message.tool_calls, id=message.id)
        if place < foreign and isinstance(message, AIMessage) and not isinstance(message.content, str)
        else message
        for place, message in enumerate(messages)
    ]


def _messages(asked: LanguageModelInput) -> list[BaseMessage]:
    if isinstance(asked, PromptValue):
        return asked.to_messages()
    if isinstance(asked, str) or not all(isinstance(message, BaseMessage) for message in asked):
        raise TypeError("Structured output is asked for with messages.")
    return list(asked)  # type: ignore[arg-type] # all are messages


def _with_usage(tokens: Tokens, piece: AIMessageChunk) -> Tokens:
    usage = piece.usage_metadata
    if not usage:
        return tokens
    return (tokens[0] or 0) + usage["input_tokens"], (tokens[1] or 0) + usage["output_tokens"]
