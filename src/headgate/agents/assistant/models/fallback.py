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
from headgate.features.models.errors import ModelNotAccessible


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
            model, name = await self._chain.chat(self.params), self._chain.model.name
            try:
                return await model._agenerate(messages, stop=stop, run_manager=run_manager, **kwargs)  # noqa: SLF001
            except ModelNotAccessible:
                self._chain.fall_back(name)

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,  # noqa: ANN401
    ) -> AsyncIterator[ChatGenerationChunk]:
        while True:
            model, name = await self._chain.chat(self.params), self._chain.model.name
            begun = False
            try:
                async for chunk in model._astream(messages, stop=stop, run_manager=run_manager, **kwargs):  # noqa: SLF001
                    begun = True
                    yield chunk
            except ModelNotAccessible:
                if begun:
                    raise
                self._chain.fall_back(name)
            else:
                return
