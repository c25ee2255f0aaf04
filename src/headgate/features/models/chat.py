"""Chat models whose calls fail with Headgate's errors. Imports LangChain: load it through `service` only."""

import json
import logging
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from traceback import format_exc
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessageChunk, BaseMessage
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_core.utils.json import parse_partial_json
from pydantic import PrivateAttr

from headgate.features.models.diagnosis import Caller, friendly_error
from headgate.features.models.errors import BadModelSettings, BrokenModelAnswer, ModelUnreachable
from headgate.features.models.ports import CallLog
from headgate.features.models.redaction import redact
from headgate.features.models.replay import OnceOnly
from headgate.features.models.tool_shim import ToolShim
from headgate.foundation.errors import HeadgateError
from headgate.sdk.values import Model

logger = logging.getLogger(__name__)

_END_MARKS = ("finish_reason", "stop_reason", "status")
"""Members of the last chunks of a complete stream, in the protocols of OpenAI (both) and Anthropic."""


def build_chat_model(
    chat_class: type[BaseChatModel],
    arguments: Callable[[], dict[str, Any]],
    caller: Caller,
    *,
    prepare: Callable[[BaseChatModel], None],
    ends_are_marked: bool = False,
    shim: bool = False,
) -> BaseChatModel:
    """Return a model of the provider's class. Every exception of a call becomes a `HeadgateError` that names `caller`.

    Args:
        chat_class: The provider's LangChain class.
        arguments: Makes the constructor arguments, the key among them as `SecretStr`.
        caller: Who is called, for messages.
        prepare: Called with the model before anything is asked.
        ends_are_marked: Whether a stream that ends without the protocol's last mark was cut off.
        shim: Whether tools go through a JSON schema.

    Raises:
        HeadgateError: The constructor refused the arguments; what it said, without the arguments.
    """
    try:
        with _translated(caller):
            model = translating(chat_class)(**arguments())
            prepare(model)
    except BrokenModelAnswer as error:  # nothing was requested yet: the arguments are invalid
        raise BadModelSettings(
            f"{caller.provider} cannot be configured for {caller.model}: {error.extra['reason']}",
            remedy="Check the provider's variables and the model's settings.",
        ) from None
    model._caller = caller  # type: ignore[attr-defined] # noqa: SLF001 - private to pydantic, ours
    model._ends_are_marked = ends_are_marked  # type: ignore[attr-defined] # noqa: SLF001
    return ToolShim(inner=model) if shim else model


def answer_once(chat: BaseChatModel, model: Model, log: CallLog) -> BaseChatModel:
    """Return the same chat model; calls whose answer `log` has are not repeated."""
    inner = chat.inner if isinstance(chat, ToolShim) else chat
    if hasattr(inner, "_once"):
        inner._once = OnceOnly(model, log)  # noqa: SLF001 - private to pydantic, ours
    return chat


async def count_models(model: BaseChatModel) -> int | None:
    """Return how many models the provider offers this key; None where its client has no such list. Costs nothing."""
    client = getattr(model, "root_async_client", None) or getattr(model, "_async_client", None)
    listed = getattr(getattr(client, "models", None), "list", None)
    if listed is None:
        return None
    with _translated(model._caller):  # type: ignore[attr-defined] # noqa: SLF001 - private to pydantic, ours
        page = await listed()
        return len(page.data)


async def probe_chat(model: BaseChatModel) -> None:
    """Request one word from a model."""
    await model.ainvoke("Answer with the one word OK.")


@lru_cache(maxsize=32)
def translating(chat_class: type[BaseChatModel]) -> type[BaseChatModel]:
    """The provider's class with its failures translated; everything else, tools and schemas included, is its own."""

    class Translating(_sending_plainly(chat_class)):  # type: ignore[misc]
        _caller: Caller = PrivateAttr(default_factory=Caller)
        _ends_are_marked: bool = PrivateAttr(default=False)
        _once: OnceOnly | None = PrivateAttr(default=None)

        def _generate(
            self,
            messages: list[BaseMessage],
            stop: list[str] | None = None,
            run_manager: CallbackManagerForLLMRun | None = None,
            **kwargs: Any,  # noqa: ANN401 - LangChain's signature
        ) -> ChatResult:
            with _translated(self._caller):
                result: ChatResult = super()._generate(messages, stop=stop, run_manager=run_manager, **kwargs)
            return result

        async def _agenerate(
            self,
            messages: list[BaseMessage],
            stop: list[str] | None = None,
            run_manager: AsyncCallbackManagerForLLMRun | None = None,
            **kwargs: Any,  # noqa: ANN401
        ) -> ChatResult:
            generate = super()._agenerate

            async def call() -> ChatResult:
                with _translated(self._caller):
                    result: ChatResult = await generate(messages, stop=stop, run_manager=run_manager, **kwargs)
                return result

            return await call() if self._once is None else await self._once.generate(messages, stop, kwargs, call)

        def _stream(
            self,
            messages: list[BaseMessage],
            stop: list[str] | None = None,
            run_manager: CallbackManagerForLLMRun | None = None,
            **kwargs: Any,  # noqa: ANN401
        ) -> Iterator[ChatGenerationChunk]:
            ended, calls = not self._ends_are_marked, StreamedCalls()
            with _translated(self._caller):
                for chunk in super()._stream(messages, stop=stop, run_manager=run_manager, **kwargs):
                    ended = ended or _marks_end(chunk)
                    calls.take(chunk)
                    yield chunk
            if not ended:
                raise _cut_off(self._caller)
            if (spoiled := calls.spoiled()) is not None:
                yield spoiled

        async def _astream(
            self,
            messages: list[BaseMessage],
            stop: list[str] | None = None,
            run_manager: AsyncCallbackManagerForLLMRun | None = None,
            **kwargs: Any,  # noqa: ANN401
        ) -> AsyncIterator[ChatGenerationChunk]:
            pieces = _complete(
                super()._astream(messages, stop=stop, run_manager=run_manager, **kwargs),
                self._caller,
                ends_are_marked=self._ends_are_marked,
            )
            async for chunk in pieces if self._once is None else self._once.stream(messages, stop, kwargs, pieces):
                yield chunk

    # LangChain derives type names and serialised ids from the class's name.
    Translating.__name__ = chat_class.__name__
    Translating.__qualname__ = chat_class.__qualname__
    Translating.__module__ = chat_class.__module__
    return Translating


async def _complete(
    stream: AsyncIterator[ChatGenerationChunk], caller: Caller, *, ends_are_marked: bool
) -> AsyncIterator[ChatGenerationChunk]:
    """Yield the stream with converted errors; one without an end mark fails."""
    ended, calls = not ends_are_marked, StreamedCalls()
    with _translated(caller):
        async for chunk in stream:
            ended = ended or _marks_end(chunk)
            calls.take(chunk)
            yield chunk
    if not ended:
        raise _cut_off(caller)
    if (spoiled := calls.spoiled()) is not None:
        yield spoiled


def _sending_plainly(chat_class: type[BaseChatModel]) -> type[BaseChatModel]:
    """Return the class, if it speaks OpenAI's protocol through OpenAI's client with its body as it is."""
    if not any(base.__module__.startswith("langchain_openai.") for base in chat_class.__mro__):
        return chat_class

    class Plain(chat_class):  # type: ignore[valid-type, misc]
        def _get_request_payload(self, input_: Any, **kwargs: Any) -> dict[str, Any]:  # noqa: ANN401
            return _as_it_is(super()._get_request_payload(input_, **kwargs))

    return Plain


def _as_it_is(payload: dict[str, Any]) -> dict[str, Any]:
    """Add messages and tools to the body of OpenAI's client (`extra_body`) unchanged.

    LangChain has made them JSON. The client would walk through every value of theirs, once for each type that it
    might be, to see whether it has to be renamed: 15 ms for a conversation of twenty messages. The calls that read
    `tools` and `response_format` themselves, and the Responses API, get everything where they look for it.
    """
    if "response_format" in payload or "messages" not in payload:
        return payload
    plain = {name: payload[name] for name in ("messages", "tools") if name in payload}
    rest = {name: value for name, value in payload.items() if name != "tools"}
    return rest | {"messages": [], "extra_body": {**(payload.get("extra_body") or {}), **plain}}


@contextmanager
def _translated(caller: Caller) -> Iterator[None]:
    try:
        yield
    except HeadgateError:
        raise
    except Exception as error:  # noqa: BLE001 - provider libraries raise anything; all of it is translated
        if logger.isEnabledFor(logging.DEBUG):
            logger.debug("call to %s failed: %s", caller.model, redact(format_exc()))
        # Not chained: the libraries' exceptions hold request headers, arguments and echoes of the key.
        raise friendly_error(error, caller) from None


def _marks_end(chunk: ChatGenerationChunk) -> bool:
    metadata = {**(chunk.generation_info or {}), **chunk.message.response_metadata}
    return any(metadata.get(mark) for mark in _END_MARKS)


def _cut_off(caller: Caller) -> ModelUnreachable:
    where = f" at {caller.base_url}" if caller.base_url else ""
    return ModelUnreachable(
        f"{caller.provider}{where} closed the connection before the answer of {caller.model} was complete.",
        remedy="Try again. If it keeps happening, check for a proxy or server that restarts.",
    )


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
