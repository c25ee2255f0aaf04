"""The models of a step: asked within the run's budgets, slots, circuit breakers and classifications, each call once."""

import hashlib
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from pydantic import JsonValue

from headgate.features.knowledge.passages.chunking import count_tokens
from headgate.features.models.chain import Miss, ModelChain
from headgate.features.runs.circuits.of_models import ModelCircuit
from headgate.features.runs.ports.origin import Origin
from headgate.features.runs.step_services import Services
from headgate.features.runs.steps.calls import ModelMisses, StepCalls
from headgate.features.runs.steps.recorder import Recorder
from headgate.features.runs.steps.secrecy import SecretlessEvents
from headgate.features.runs.transitions import clock
from headgate.foundation.errors import HeadgateError
from headgate.foundation.lazy import lazy_module
from headgate.sdk import File, Model, Recording, Transcript
from headgate.sdk.calls import CallRequest

if TYPE_CHECKING:  # referenced without importing LangChain
    from langchain_core.language_models import BaseChatModel

    from headgate.features.models import fallback
    from headgate.features.models import service as models
    from headgate.features.runs.steps.context import StepContext
else:
    fallback = lazy_module("headgate.features.models.fallback")
    models = lazy_module("headgate.features.models.service")


@dataclass(frozen=True, slots=True)
class ModelCall:
    """A call of a model that is no chat."""

    content: Mapping[str, JsonValue]
    """What identifies it."""
    prompt_tokens: int
    """What is charged before it."""
    call: Callable[[], Awaitable[tuple[JsonValue, int | None]]]
    """Makes it; returns the answer and the tokens of the prompt, where they are counted."""


class StepModels:
    """Asks the models of one step.

    Args:
        context: The step's context, with its guard, budgets and priority.
        origin: The step.
        services: Services that steps may use.
        recorder: Records evidence.
        events: Publishes log lines and changes of the model.
        calls: Answered calls of earlier attempts; None when none are stored.
    """

    def __init__(
        self,
        context: "StepContext",
        origin: Origin,
        services: Services,
        *,
        recorder: Recorder,
        events: SecretlessEvents,
        calls: StepCalls | None,
    ) -> None:
        self._context = context
        self._origin = origin
        self._services = services
        self._recorder = recorder
        self._events = events
        self._calls = calls
        self._unfit: dict[str, HeadgateError] = {}
        """Models that cannot take a file of the step, and why."""

    async def chat_model(self, model: Model) -> "BaseChatModel":
        """Return a chat model with the tenant's keys. No model is called once the run is cancelled."""
        first, *following = model.chain
        self._check_models(model)
        if not following:
            return await self._member(first, replaceable=False)
        chat: BaseChatModel = await fallback.with_fallback(self._chain(first, following))
        return chat

    def check_inputs(self, model: Model, files: Sequence[File], *, unreadable: bool = False) -> frozenset[str]:
        """Which files a model and its fallback models take as they are; those that take one of them not are skipped."""
        taken: list[frozenset[str]] = []
        for member in model.chain:
            try:
                taken.append(self._services.chat_models.check_inputs(member, files, unreadable=unreadable))
            except HeadgateError as error:
                self._unfit[member.model_dump_json()] = error
        if not taken:
            raise self._unfit[model.chain[0].model_dump_json()]
        return frozenset.intersection(*taken)

    async def _member(self, model: Model, *, replaceable: bool) -> "BaseChatModel":
        """One model by itself. Raises `Suspended` until a slot of it is free."""
        await self._context.check_cancelled()
        if self._calls is not None:
            await self._context.slots.take_model(model)
        chat = await self._services.chat_models.chat_model(self._origin, model)
        if self._calls is None:
            return chat
        asking = partial(self._asking, model, replaceable)
        return models.answering_once(chat, model, self._calls.of_model(model, self._context.payments, asking))

    def _asking(self, model: Model, replaceable: bool) -> AbstractAsyncContextManager[None]:  # noqa: FBT001 - bound
        """The circuit breakers around a call of a model."""
        circuits = self._services.circuits
        if circuits is None:
            return nullcontext()
        return ModelCircuit(circuits, self._origin.key.tenant_id).asking(model, replaceable=replaceable)

    def _check_models(self, model: Model) -> None:
        """Raise `ClassRefused` when the model or one of its fallback models may not see what reaches the step."""
        if self._context.guard is not None:
            for member in model.chain:
                self._context.guard.check_model(member)

    def _chain(self, first: Model, following: Sequence[Model]) -> ModelChain:
        last = following[-1]

        async def member(model: Model) -> "BaseChatModel":
            return await self._member(model, replaceable=str(model) != str(last))

        return ModelChain(
            first,
            member,
            tuple(following),
            on_miss=self._missed,
            restarts=True,
            log=None if self._calls is None else ModelMisses(self._calls),
            unfit=self._unfit,
        )

    def _missed(self, miss: Miss) -> None:
        """Keep and show that a model did not answer, and which one is asked next."""
        line = self._recorder.missed(miss, clock())
        following = "" if miss.following is None else str(miss.following)
        self._events.log(line)
        if following:
            self._events.model_changed(str(miss.model), following, code=miss.error.code, restarted=miss.begun)

    async def transcribe(self, model: Model, audio: Recording) -> Transcript:
        """Transcribe a recording. No model is called once the run is cancelled."""
        self._check_models(model)
        first, *following = model.chain
        if not following:
            return await self._transcript(first, audio, replaceable=False)

        async def ask(member: Model) -> Transcript:
            return await self._transcript(member, audio, replaceable=str(member) != str(following[-1]))

        return await self._chain(first, following).first_answer(ask)

    async def _transcript(self, model: Model, audio: Recording, *, replaceable: bool) -> Transcript:
        content = {
            "audio": hashlib.sha256(audio.content).hexdigest(),
            "language": audio.language,
            "prompt": audio.prompt,
        }

        async def call() -> tuple[JsonValue, int | None]:
            transcript = await self._services.chat_models.transcribe(self._origin, model, audio)
            return {"text": transcript.text, "language": transcript.language, "seconds": transcript.seconds}, None

        value = await self._paid(model, ModelCall(content, 1, call), replaceable=replaceable)
        return Transcript(**cast("dict[str, Any]", value))

    async def embed(self, model: Model, texts: Sequence[str]) -> tuple[tuple[float, ...], ...]:
        """Embed texts, paid for and stored as other model calls. Raises like a chat model's call."""
        self._check_models(model)

        async def call() -> tuple[JsonValue, int | None]:
            embedded = await self._services.chat_models.embed(self._origin, model, texts)
            return [list(vector) for vector in embedded.vectors], embedded.tokens

        paid = ModelCall({"embed": list(texts)}, sum(map(count_tokens, texts)), call)
        return tuple(map(tuple, cast("list[list[float]]", await self._paid(model, paid, replaceable=False))))

    async def rerank(self, model: Model, query: str, texts: Sequence[str]) -> tuple[float, ...]:
        """Return how well texts answer a query, like `embed`."""
        self._check_models(model)

        async def call() -> tuple[JsonValue, int | None]:
            reranked = await self._services.chat_models.rerank(self._origin, model, query, texts)
            return list(reranked.scores), reranked.tokens

        prompt_tokens = count_tokens(query) * len(texts) + sum(map(count_tokens, texts))
        paid = ModelCall({"rerank": [query, *texts]}, prompt_tokens, call)
        return tuple(cast("list[float]", await self._paid(model, paid, replaceable=False)))

    async def _paid(self, model: Model, paid: "ModelCall", *, replaceable: bool) -> JsonValue:
        """Make a call of a model that is no chat, once: charged to budgets, and within its slots and circuits."""
        await self._context.check_cancelled()
        if self._calls is not None:
            await self._context.slots.take_model(model)
        tokens: int | None = None

        async def call() -> JsonValue:
            nonlocal tokens
            payment = (
                None if self._context.payments is None else await self._context.payments.pay(model, paid.prompt_tokens)
            )
            try:
                async with self._asking(model, replaceable):
                    value, tokens = await paid.call()
            except HeadgateError as error:
                if payment is not None:
                    await payment.failed(error)
                raise
            if payment is not None:
                await payment.answered((tokens, None))
            return value

        request = CallRequest.of("model", str(model), {**paid.content, "params": model.params})
        result = await self._context.once(request, call)
        if result.replayed:
            self._recorder.used_model(model)
        else:
            self._context.record_usage(model, input_tokens=tokens, output_tokens=None)
        return result.value
