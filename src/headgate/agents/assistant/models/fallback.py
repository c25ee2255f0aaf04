"""A chat model that asks the next one of its provider when the one before is not given. Imports LangChain."""

from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable, RunnableBinding, RunnableMap, RunnableSequence
from langchain_core.tools import BaseTool
from pydantic import JsonValue, PrivateAttr

from headgate.agents.assistant.models.chain import ModelChain
from headgate.foundation.errors import HeadgateError

_OFFERED = "tools_offered"
"""Argument that carries tools as they were offered, until it is known which model is asked."""


async def with_fallback(chain: ModelChain, **params: JsonValue) -> "FallbackChat":
    """The chain's model as one chat model. Raises `Invalid` naming what is missing for the first."""
    chat = FallbackChat(params=params, first=await chain.chat(params))
    chat._chain = chain  # noqa: SLF001 - private to pydantic, which need not know what a chain is
    return chat


class FallbackChat(BaseChatModel):
    """Each call goes to the chain's present model; a call that was not answered for want of access is made again."""

    params: dict[str, JsonValue]
    first: BaseChatModel
    """Turns tools and schemas into the provider's form, which is the same for all of its models."""
    _chain: ModelChain = PrivateAttr()

    @property
    def _llm_type(self) -> str:
        return "headgate-fallback"

    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool],
        *,
        tool_choice: str | None = None,
        **kwargs: Any,  # noqa: ANN401 - LangChain's signature
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Offer tools in the provider's form."""
        if self._chain.following:  # models of several providers, each with its own form
            return self.bind(**{_OFFERED: (tuple(tools), tool_choice, kwargs)})
        bound = self.first.bind_tools(tools, tool_choice=tool_choice, **kwargs)
        if not isinstance(bound, RunnableBinding):
            return bound
        return self.bind(**bound.kwargs)

    def with_structured_output(
        self,
        schema: dict[str, Any] | type,
        *,
        include_raw: bool = False,
        **kwargs: Any,  # noqa: ANN401
    ) -> Runnable[LanguageModelInput, Any]:
        """The provider's own way to hold a model to a schema, with this model in place of the provider's.

        Raises `NotImplementedError` where that way is unknown.
        """
        made = self.first.with_structured_output(schema, include_raw=True, **kwargs)
        asking = made.first if isinstance(made, RunnableSequence) else None
        bound = asking.steps__.get("raw") if isinstance(asking, RunnableMap) else None
        if not include_raw or not isinstance(made, RunnableSequence) or not isinstance(bound, RunnableBinding):
            raise NotImplementedError
        asked: Runnable[LanguageModelInput, Any] = RunnableMap(raw=self.bind(**bound.kwargs))
        for step in made.steps[1:]:
            asked |= step
        return asked

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,  # noqa: ANN401
    ) -> ChatResult:
        return self.first._generate(messages, stop=stop, run_manager=run_manager, **kwargs)  # noqa: SLF001 - LangChain's protocol between models

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,  # noqa: ANN401
    ) -> ChatResult:
        while True:
            model, key = await self._chain.chat(self.params), self._chain.key
            try:
                sent = _with_tools(model, kwargs)
                return await model._agenerate(messages, stop=stop, run_manager=run_manager, **sent)  # noqa: SLF001
            except HeadgateError as error:
                if not self._chain.falls_back_on(error):
                    raise
                self._chain.fall_back(key, error)

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,  # noqa: ANN401
    ) -> AsyncIterator[ChatGenerationChunk]:
        while True:
            model, key = await self._chain.chat(self.params), self._chain.key
            begun = False
            try:
                sent = _with_tools(model, kwargs)
                async for chunk in model._astream(messages, stop=stop, run_manager=run_manager, **sent):  # noqa: SLF001
                    begun = True
                    yield chunk
            except HeadgateError as error:
                if begun or not self._chain.falls_back_on(error):
                    raise
                self._chain.fall_back(key, error)
            else:
                return


def _with_tools(model: BaseChatModel, kwargs: dict[str, Any]) -> dict[str, Any]:
    """The arguments of a call, with the tools that were offered in the form of this model's provider."""
    if _OFFERED not in kwargs:
        return kwargs
    tools, tool_choice, named = kwargs[_OFFERED]
    bound = model.bind_tools(tools, tool_choice=tool_choice, **named)
    form = bound.kwargs if isinstance(bound, RunnableBinding) else {}
    return {name: value for name, value in kwargs.items() if name != _OFFERED} | dict(form)
