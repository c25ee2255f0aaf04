"""Tools for models without tool calls. Imports LangChain: load it through `service` only.

Each tool becomes one branch of a JSON schema, `{"name": ..., "arguments": {...}}`, with another branch `reply`.
The server is held to that schema while it writes, so even a small model answers with exactly one call or one reply,
which is handed on as an ordinary LangChain message. Works with any server that takes `response_format` `json_schema`.
"""

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool

from headgate.features.models.replay import as_chunk
from headgate.features.models.tool_json import call_schema, plain_messages, preamble, read_answer, with_preamble

ToolChoice = str | dict[str, Any] | bool | None


class ToolShim(BaseChatModel):
    """A chat model that adds tool calls to `inner`, which has none."""

    inner: BaseChatModel

    @property
    def _llm_type(self) -> str:
        return "headgate-tool-shim"

    @property
    def _identifying_params(self) -> dict[str, Any]:
        return {"inner": self.inner._llm_type}  # noqa: SLF001 - LangChain's protocol between models

    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool],
        *,
        tool_choice: ToolChoice = None,
        **kwargs: Any,  # noqa: ANN401 - LangChain's signature
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Offer tools. `tool_choice` as at OpenAI: `auto`, `none`, `any`/`required`, or the name of one tool."""
        functions = [convert_to_openai_tool(tool)["function"] for tool in tools]
        return self.bind(shim_functions=_chosen(functions, tool_choice), shim_reply=_may_reply(tool_choice), **kwargs)

    def with_structured_output(
        self,
        schema: dict[str, Any] | type,
        *,
        include_raw: bool = False,
        **kwargs: Any,  # noqa: ANN401
    ) -> Runnable[LanguageModelInput, Any]:
        """Return the inner model's own structured output, by JSON schema."""
        kwargs["method"] = "json_schema"
        return self.inner.with_structured_output(schema, include_raw=include_raw, **kwargs)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,  # noqa: ARG002 - LangChain's signature
        **kwargs: Any,  # noqa: ANN401
    ) -> ChatResult:
        call = _Call(messages, kwargs)
        result = self.inner._generate(call.messages, stop=stop, **call.kwargs)  # noqa: SLF001
        return call.translate(result)

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,  # noqa: ARG002
        **kwargs: Any,  # noqa: ANN401
    ) -> ChatResult:
        call = _Call(messages, kwargs)
        result = await self.inner._agenerate(call.messages, stop=stop, **call.kwargs)  # noqa: SLF001
        return call.translate(result)

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,  # noqa: ARG002 - LangChain's signature
        **kwargs: Any,  # noqa: ANN401
    ) -> Iterator[ChatGenerationChunk]:
        call = _Call(messages, kwargs)
        if call.functions:  # a tool call is only usable once complete
            result = self.inner._generate(call.messages, stop=stop, **call.kwargs)  # noqa: SLF001
            yield as_chunk(call.translate(result).generations[0])
            return
        yield from self.inner._stream(call.messages, stop=stop, **call.kwargs)  # noqa: SLF001

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,  # noqa: ARG002
        **kwargs: Any,  # noqa: ANN401
    ) -> AsyncIterator[ChatGenerationChunk]:
        call = _Call(messages, kwargs)
        if call.functions:
            result = await self.inner._agenerate(call.messages, stop=stop, **call.kwargs)  # noqa: SLF001
            yield as_chunk(call.translate(result).generations[0])
            return
        async for chunk in self.inner._astream(call.messages, stop=stop, **call.kwargs):  # noqa: SLF001
            yield chunk


class _Call:
    """One call: the messages and arguments to send to the inner model, and how to read its answer."""

    def __init__(self, messages: Sequence[BaseMessage], kwargs: dict[str, Any]) -> None:
        self.kwargs = {name: value for name, value in kwargs.items() if name not in {"shim_functions", "shim_reply"}}
        self.functions: list[dict[str, Any]] = kwargs.get("shim_functions") or []
        reply: bool = kwargs.get("shim_reply", True)
        self.messages = plain_messages(messages)
        if self.functions:
            self.messages = with_preamble(self.messages, preamble(self.functions, reply=reply))
            self.kwargs["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": "call", "strict": True, "schema": call_schema(self.functions, reply=reply)},
            }

    def translate(self, result: ChatResult) -> ChatResult:
        """Return the inner model's answer with its JSON turned into tool calls or a reply."""
        if not self.functions:
            return result
        names = {function["name"] for function in self.functions}
        generations = [
            ChatGeneration(message=read_answer(generation.message, names), generation_info=generation.generation_info)
            for generation in result.generations
        ]
        return ChatResult(generations=generations, llm_output=result.llm_output)


def _chosen(functions: list[dict[str, Any]], tool_choice: ToolChoice) -> list[dict[str, Any]]:
    if tool_choice == "none":
        return []
    chosen_name = tool_choice.get("function", {}).get("name") if isinstance(tool_choice, dict) else tool_choice
    return [function for function in functions if function["name"] == chosen_name] or functions


def _may_reply(tool_choice: ToolChoice) -> bool:
    return not isinstance(tool_choice, dict) and tool_choice in {None, False, "auto", "none"}
