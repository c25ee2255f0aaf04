"""Shared parts of components that call a model: selection, request, evidence."""

import time
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, ClassVar, Self

from headgate.components.attachments import content_of, described
from headgate.foundation.errors import HeadgateError, UpstreamFailed
from headgate.graph.names import clipped
from headgate.sdk import Component, ComponentError, File, Message, Model, RunContext, field
from headgate.sdk.answers import RESTARTED, is_cut
from headgate.sdk.calls import REPLAYED

_SECONDS_BETWEEN_LOOKS = 1.0
HOW_TO_ADD = (
    "Choose a model, written provider/name, for example openai/gpt-5-mini. Set its key with `headgate "
    "variables set OPENAI_API_KEY` or in Settings, Models; `headgate models list` shows the available "
    "models, and `headgate models pull` downloads one that needs no key."
)


def model_field() -> Any:  # noqa: ANN401 - as `field`
    """Return the field `model` of a component that calls one."""
    return field(
        label="Model",
        help="The chat model, provider/name; or connect a Language model's model output. Empty: the default for steps.",
        default_model=True,
    )


def assistant_field() -> Any:  # noqa: ANN401 - as `field`
    """The field `assistant` of a component that supports shared assistants. It is read when a version is frozen."""
    return field(
        default="",
        label="Shared assistant",
        help="Name of a shared assistant: provides the model, the instructions and the temperature not set here.",
        advanced=True,
        interpolate=False,
    )


def files_field() -> Any:  # noqa: ANN401 - as `field`
    """Return the field `files` of a component that calls a model."""
    return field(
        default_factory=list,
        label="Files",
        help="Images, audio and documents to send in addition to those of a message.",
        many=True,
    )


def temperature_field() -> Any:  # noqa: ANN401 - as `field`
    """Return the field `temperature` of a component that calls a model."""
    return field(
        default=None,
        label="Temperature",
        help="0 is the most predictable, 2 the most varied; empty uses the provider's default.",
        ge=0,
        le=2,
        advanced=True,
    )


class ModelStep(Component):
    """A component that calls a model; its subclasses declare `model`."""

    model_using: ClassVar[bool] = True

    @classmethod
    def create(cls, values: Mapping[str, Any], *, node_id: str = "") -> Self:
        """Create the component; explains a missing model."""
        try:
            return super().create(values, node_id=node_id)
        except ComponentError as error:
            if str(error.extra.get("field", "")).partition(".")[0] != "model":
                raise
            raise ComponentError(error.detail, remedy=HOW_TO_ADD, field="model") from error


def with_temperature(model: Model, temperature: float | None) -> Model:
    """Return the model with its temperature set, when one is given."""
    if temperature is None:
        return model
    params = {**model.params, "temperature": temperature}
    fallback = [
        alternative.model_copy(update={"params": {"temperature": temperature, **alternative.params}})
        for alternative in model.fallback
    ]
    return model.model_copy(update={"params": params, "fallback": tuple(fallback)})


async def ask(
    ctx: RunContext, model: Model, *, system: str, text: str, files: Sequence[File] = (), quiet: bool = False
) -> str:
    """Send one request to a model: emits tokens, unless it is quiet, records prompt and usage, returns the output.

    Raises the model's own `HeadgateError`, and `UpstreamFailed` for other failures, for an empty output and for one
    that was cut off at the model's output limit: a partial output is never returned.
    """
    chat = await ctx.chat_model(model)
    messages = await conversation(ctx, model, system, text, files)
    ctx.record_prompt(as_evidence(system, text, files))
    chunks: list[str] = []
    usage: dict[str, int] = {}
    cut = replayed = False
    async for chunk in _guarded(ctx, model, chat.astream(messages)):
        if RESTARTED in chunk.response_metadata:
            chunks, usage, cut = [], {}, False
        for kind, count in (chunk.usage_metadata or {}).items():
            if isinstance(count, int):
                usage[kind] = usage.get(kind, 0) + count
        cut = cut or is_cut(chunk)
        replayed = replayed or REPLAYED in chunk.response_metadata
        if chunk.text:
            chunks.append(str(chunk.text))
            if not quiet:
                await ctx.emit(chunks[-1])
    model = answering(chat, model)
    if not replayed:
        ctx.record_usage(model, input_tokens=usage.get("input_tokens"), output_tokens=usage.get("output_tokens"))
    output = "".join(chunks)
    if cut:
        raise cut_off(model, output)
    if not output.strip():
        raise UpstreamFailed(f"{model} returned an empty answer.", remedy="Try another prompt or model.")
    return output


def cut_off(model: Model, output: str) -> UpstreamFailed:
    """Return the error for an output cut off at the model's limit; it quotes the end of the output."""
    ending = f" It ended with: ...{output.strip()[-80:]}" if output.strip() else " No text had been written yet."
    return UpstreamFailed(
        f"{model} reached its output limit before the answer was complete.{ending}",
        remedy="Raise `max_tokens` in the model's parameters, or ask for less at once.",
    )


async def conversation(ctx: RunContext, model: Model, system: str, text: str, files: Sequence[File]) -> list[Any]:
    """Return the LangChain messages of one request."""
    kinds = message_kinds()
    head = [kinds.SystemMessage(content=system)] if system.strip() else []
    return [*head, kinds.HumanMessage(content=await content_of(ctx, model, text, files))]


def as_evidence(system: str, text: str, files: Sequence[File]) -> str:
    """Return the prompt as it was sent, in readable form."""
    question = described(text, files)
    return f"system: {system}\n\nuser: {question}" if system.strip() else question


def answering(chat: Any, model: Model) -> Model:  # noqa: ANN401 - a LangChain model
    """Return the model that answered: the chosen one, or one of its fallback models."""
    answered: Model = getattr(chat, "answering", model)
    return answered


def record_answer_usage(ctx: RunContext, model: Model, output: Any) -> None:  # noqa: ANN401 - a LangChain message
    """Record the token usage of a complete output, unless an earlier attempt at the step paid for it."""
    if REPLAYED in output.response_metadata:
        return
    usage = getattr(output, "usage_metadata", None) or {}
    ctx.record_usage(model, input_tokens=usage.get("input_tokens"), output_tokens=usage.get("output_tokens"))


def failed(model: Model, error: Exception) -> HeadgateError:
    """Return the error for an exception of a model's library; uses the message of the deepest cause."""
    deepest: BaseException = error
    while True:
        if isinstance(deepest, HeadgateError):
            return deepest
        cause = deepest.__cause__ or (None if deepest.__suppress_context__ else deepest.__context__)
        if cause is None:
            break
        deepest = cause
    reason = clipped(str(deepest), 400) or type(deepest).__name__
    return UpstreamFailed(f"{model} failed: {reason}.", remedy="Check the model's name, its key and its limits.")


def input_text(value: str | Message) -> str:
    """Return the text of an input that accepts text or a message."""
    return value.text if isinstance(value, Message) else value


def input_files(value: object) -> tuple[File, ...]:
    """Return the files of a message; empty for other values."""
    return value.files if isinstance(value, Message) else ()


async def _guarded(ctx: RunContext, model: Model, stream: AsyncIterator[Any]) -> AsyncIterator[Any]:
    """Yield the stream, checking for cancellation about every second, with readable errors."""
    checked_at = time.monotonic()
    while True:
        try:
            chunk = await anext(stream)
        except StopAsyncIteration:
            return
        except Exception as error:
            raise failed(model, error) from error
        if time.monotonic() - checked_at > _SECONDS_BETWEEN_LOOKS:
            await ctx.check_cancelled()
            checked_at = time.monotonic()
        yield chunk


def message_kinds() -> Any:  # noqa: ANN401 - the module
    """Return LangChain's message classes, imported when first used."""
    from langchain_core import messages  # noqa: PLC0415

    return messages
