"""The offline builder as a chat model: it answers with tool calls like any other and needs no key and no network."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import uuid4

import orjson
from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, HumanMessage, ToolMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from pydantic import ConfigDict, PrivateAttr, SkipValidation

from headgate.agents.assistant.intent.intents import Intent
from headgate.agents.assistant.offline.conclusion import DECLINED, Outcome, conclude, corrected, outcome_of, succeeded
from headgate.agents.assistant.offline.understand import understand
from headgate.agents.assistant.offline.understanding import Action, Understanding
from headgate.graph.model import Flow
from headgate.graph.template import Catalog

_END_OF_CANVAS = "[End of canvas reference]"
_WORDS_A_CHUNK = 4


@dataclass(slots=True)
class _Work:
    """A request being carried out: what is left to do and what came of it."""

    understanding: Understanding
    waiting: list[Action]
    outcomes: list[Outcome] = field(default_factory=list)
    sent: list[Action] = field(default_factory=list)
    retried: bool = False


class OfflineBuilder(BaseChatModel):
    """Understands a documented set of requests about flows and answers with tool calls. One instance a turn.

    Args:
        catalog: The components that flows can be built of.
        current_flow: Gives the flow at hand, as it is now.
        default_model: `provider/name` of a configured model for steps that need one; None when there is none.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    catalog: SkipValidation[Catalog]
    current_flow: SkipValidation[Callable[[], Flow]]
    default_model: str | None = None

    _work: dict[str, _Work] = PrivateAttr(default_factory=dict)

    @property
    def _llm_type(self) -> str:
        return "headgate-offline-builder"

    def intent_of(self, text: str) -> Intent:
        """What a request is, by the builder's own understanding."""
        found = understand(text, self.catalog, self.current_flow(), self.default_model).intent
        return "build_flow" if found == "edit_flow" else found

    def bind_tools(
        self,
        tools: Sequence[Any],  # noqa: ARG002 - LangChain's signature
        *,
        tool_choice: str | None = None,  # noqa: ARG002
        **kwargs: Any,  # noqa: ANN401, ARG002
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """The builder knows the tools; nothing needs to be told."""
        return self

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,  # noqa: ARG002 - LangChain's signature
        run_manager: CallbackManagerForLLMRun | None = None,  # noqa: ARG002
        **kwargs: Any,  # noqa: ANN401, ARG002
    ) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self._answer(messages))])

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,  # noqa: ARG002 - LangChain's signature
        run_manager: AsyncCallbackManagerForLLMRun | None = None,  # noqa: ARG002
        **kwargs: Any,  # noqa: ANN401, ARG002
    ) -> ChatResult:
        return self._generate(messages)

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,  # noqa: ARG002 - LangChain's signature
        run_manager: CallbackManagerForLLMRun | None = None,  # noqa: ARG002
        **kwargs: Any,  # noqa: ANN401, ARG002
    ) -> Iterator[ChatGenerationChunk]:
        yield from _chunks(self._answer(messages))

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,  # noqa: ARG002 - LangChain's signature
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,  # noqa: ANN401, ARG002
    ) -> AsyncIterator[ChatGenerationChunk]:
        for chunk in _chunks(self._answer(messages)):
            if run_manager is not None and chunk.text:
                await run_manager.on_llm_new_token(chunk.text, chunk=chunk)
            yield chunk
            await asyncio.sleep(0)

    def _answer(self, messages: Sequence[BaseMessage]) -> AIMessage:
        """The next tool call of the request, or the closing words."""
        asked, results = _request_and_results(messages)
        work = self._work.get(asked)
        if work is None or not results:
            found = understand(asked, self.catalog, self.current_flow(), self.default_model)
            work = self._work[asked] = _Work(found, list(found.actions))
        for result in results[len(work.outcomes) :]:
            self._take(work, result)
        if not work.waiting:
            return _words(
                conclude(work.understanding, work.outcomes), done=succeeded(work.understanding, work.outcomes)
            )
        action = work.waiting.pop(0).after(work.outcomes[-1].answer if work.outcomes else {})
        work.sent.append(action)
        return _call(action)

    def _take(self, work: _Work, result: str) -> None:
        """Read a tool's answer; after an error one corrected try, else stop."""
        action = work.sent[len(work.outcomes)] if len(work.outcomes) < len(work.sent) else Action("unknown")
        outcome = outcome_of(action, result)
        work.outcomes.append(outcome)
        if outcome.ok or action.tool == "run_flow":
            return
        better = None if work.retried else corrected(action, outcome)
        work.retried = True
        work.waiting = [better, *work.waiting] if better is not None else []


def _request_and_results(messages: Sequence[BaseMessage]) -> tuple[str, list[str]]:
    """The latest request without the canvas quoted before it, and the tool answers since."""
    last = max((at for at, message in enumerate(messages) if isinstance(message, HumanMessage)), default=-1)
    text = messages[last].text if last >= 0 else ""
    asked = text.rpartition(_END_OF_CANVAS)[2].strip()
    return asked, [str(message.text) for message in messages[last + 1 :] if isinstance(message, ToolMessage)]


def _usage() -> UsageMetadata:
    """No tokens: no model was asked."""
    return UsageMetadata(input_tokens=0, output_tokens=0, total_tokens=0)


def _words(text: str, *, done: bool) -> AIMessage:
    about = {"model_name": "offline builder", DECLINED: not done}
    return AIMessage(content=text, usage_metadata=_usage(), response_metadata=about)


def _call(action: Action) -> AIMessage:
    call = {"name": action.tool, "args": dict(action.arguments), "id": f"call_{uuid4().hex[:12]}", "type": "tool_call"}
    return AIMessage(
        "", tool_calls=[call], usage_metadata=_usage(), response_metadata={"model_name": "offline builder"}
    )


def _chunks(message: AIMessage) -> Iterator[ChatGenerationChunk]:
    """The message in pieces: a few words at a time, or one whole tool call."""
    for call in message.tool_calls:
        args = _as_json(call["args"])
        piece = tool_call_chunk(name=call["name"], args=args, id=call["id"], index=0)
        yield ChatGenerationChunk(message=AIMessageChunk(content="", tool_call_chunks=[piece]))
    words = message.text.split(" ") if message.text else []
    for start in range(0, len(words), _WORDS_A_CHUNK):
        piece_ = " ".join(words[start : start + _WORDS_A_CHUNK])
        ending = " " if start + _WORDS_A_CHUNK < len(words) else ""
        yield ChatGenerationChunk(message=AIMessageChunk(content=piece_ + ending))
    yield ChatGenerationChunk(
        message=AIMessageChunk(
            content="", usage_metadata=_usage(), response_metadata=message.response_metadata, chunk_position="last"
        )
    )


def _as_json(value: object) -> str:
    return orjson.dumps(value).decode()
