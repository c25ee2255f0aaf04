"""What the components that call a model share: choosing it, asking it, keeping the evidence."""

import time
from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any, ClassVar, Self

from headgate.components.attachments import content_of, described
from headgate.foundation.errors import HeadgateError, UpstreamFailed
from headgate.graph.names import clipped
from headgate.sdk import Component, ComponentError, File, Message, Model, RunContext, field
from headgate.sdk.answers import is_cut
from headgate.sdk.calls import REPLAYED

_SECONDS_BETWEEN_LOOKS = 1.0
HOW_TO_ADD = (
    "Choose a model, written provider/name, for example openai/gpt-5-mini. Give its key with "
    "`headgate variables set OPENAI_API_KEY` or in Settings, Models; `headgate models list` shows what there is, and "
    "`headgate models pull` fetches one that needs no key."
)


def model_field() -> Any:  # noqa: ANN401 - as `field`
    """The field `model` of a component that calls one."""
    return field(
        label="Model",
        help="The chat model, provider/name; or connect a Language model's model output. Empty: the default for steps.",
        default_model=True,
    )


def assistant_field() -> Any:  # noqa: ANN401 - as `field`
    """The field `assistant` of a component that a shared assistant can fill in. Freezing a version reads it."""
    return field(
        default="",
        label="Shared assistant",
        help="Name of a shared assistant: gives the model, the instructions and the temperature not set here.",
        advanced=True,
        interpolate=False,
    )


def files_field() -> Any:  # noqa: ANN401 - as `field`
    """The field `files` of a component that asks a model."""
    return field(
        default_factory=list,
        label="Files",
        help="Images, audio and documents that go along, beside those of a message.",
        many=True,
    )


def temperature_field() -> Any:  # noqa: ANN401 - as `field`
    """The field `temperature` of a component that calls a model."""
    return field(
        default=None,
        label="Temperature",
        help="0 is the most predictable, 2 the most varied; empty is the provider's own.",
        ge=0,
        le=2,
        advanced=True,
    )


class ModelStep(Component):
    """A component that calls a model; its subclasses declare `model`."""

    model_using: ClassVar[bool] = True

    @classmethod
    def create(cls, values: Mapping[str, Any], *, node_id: str = "") -> Self:
        """As every component, but a missing model is explained."""
        try:
            return super().create(values, node_id=node_id)
        except ComponentError as error:
            if str(error.extra.get("field", "")).partition(".")[0] != "model":
                raise
            raise ComponentError(error.detail, remedy=HOW_TO_ADD, field="model") from error


def with_temperature(model: Model, temperature: float | None) -> Model:
    """The model with its temperature set, when one is given."""
    if temperature is None:
        return model
    return model.model_copy(update={"params": {**model.params, "temperature": temperature}})


async def ask(ctx: RunContext, model: Model, *, system: str, text: str, files: Sequence[File] = ()) -> str:
    """One question to a model: tokens are shown as they come, prompt and usage are kept, the answer is returned.

    Raises the model's own `HeadgateError`, and `UpstreamFailed` for other failures, for an empty answer and for one
    that was cut off at the model's output limit: a part is never returned as the answer.
    """
    chat = await ctx.chat_model(model)
    messages = await conversation(ctx, model, system, text, files)
    ctx.record_prompt(as_evidence(system, text, files))
    pieces: list[str] = []
    usage: dict[str, int] = {}
    cut = replayed = False
    async for chunk in _guarded(ctx, model, chat.astream(messages)):
        for kind, count in (chunk.usage_metadata or {}).items():
            if isinstance(count, int):
                usage[kind] = usage.get(kind, 0) + count
        cut = cut or is_cut(chunk)
        replayed = replayed or REPLAYED in chunk.response_metadata
        if chunk.text:
            pieces.append(str(chunk.text))
            await ctx.emit(pieces[-1])
    if not replayed:
        ctx.record_usage(model, input_tokens=usage.get("input_tokens"), output_tokens=usage.get("output_tokens"))
    answer = "".join(pieces)
    if cut:
        raise cut_off(model, answer)
    if not answer.strip():
        raise UpstreamFailed(f"{model} answered with nothing.", remedy="Try another prompt or model.")
    return answer


def cut_off(model: Model, answer: str) -> UpstreamFailed:
    """The error for an answer that ended at the model's output limit; it quotes where the answer stopped."""
    ending = f" It stopped at: ...{answer.strip()[-80:]}" if answer.strip() else " Nothing of it was written yet."
    return UpstreamFailed(
        f"{model} was cut off at its output limit before the answer was complete.{ending}",
        remedy="Raise `max_tokens` in the model's parameters, or ask for less at once.",
    )


async def conversation(ctx: RunContext, model: Model, system: str, text: str, files: Sequence[File]) -> list[Any]:
    """The LangChain messages of one question."""
    kinds = message_kinds()
    head = [kinds.SystemMessage(content=system)] if system.strip() else []
    return [*head, kinds.HumanMessage(content=await content_of(ctx, model, text, files))]


def as_evidence(system: str, text: str, files: Sequence[File]) -> str:
    """The prompt as it was sent, readable."""
    asked = described(text, files)
    return f"system: {system}\n\nuser: {asked}" if system.strip() else asked


def record_answer_usage(ctx: RunContext, model: Model, answer: Any) -> None:  # noqa: ANN401 - a LangChain message
    """Count the tokens of a complete answer, unless an earlier attempt at the step paid for it."""
    if REPLAYED in answer.response_metadata:
        return
    usage = getattr(answer, "usage_metadata", None) or {}
    ctx.record_usage(model, input_tokens=usage.get("input_tokens"), output_tokens=usage.get("output_tokens"))


def failed(model: Model, error: Exception) -> HeadgateError:
    """The error to raise for what a model's library raised; the deepest cause has the words that help."""
    deepest: BaseException = error
    while True:
        if isinstance(deepest, HeadgateError):
            return deepest
        cause = deepest.__cause__ or (None if deepest.__suppress_context__ else deepest.__context__)
        if cause is None:
            break
        deepest = cause
    said = clipped(str(deepest), 400) or type(deepest).__name__
    return UpstreamFailed(f"{model} failed: {said}.", remedy="Check the model's name, its key and its limits.")


def input_text(value: str | Message) -> str:
    """The text of an input that takes text or a message."""
    return value.text if isinstance(value, Message) else value


def input_files(value: object) -> tuple[File, ...]:
    """The files of a message; none of anything else."""
    return value.files if isinstance(value, Message) else ()


async def _guarded(ctx: RunContext, model: Model, stream: AsyncIterator[Any]) -> AsyncIterator[Any]:
    """The stream, with a look whether the run was cancelled about every second, and errors made readable."""
    looked = time.monotonic()
    while True:
        try:
            chunk = await anext(stream)
        except StopAsyncIteration:
            return
        except Exception as error:
            raise failed(model, error) from error
        if time.monotonic() - looked > _SECONDS_BETWEEN_LOOKS:
            await ctx.check_cancelled()
            looked = time.monotonic()
        yield chunk


def message_kinds() -> Any:  # noqa: ANN401 - the module
    """LangChain's messages, imported when first used."""
    from langchain_core import messages  # noqa: PLC0415

    return messages
