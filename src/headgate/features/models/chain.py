"""Models in the order in which they are asked until one answers: of a step, of the assistant, of the development agent.

The next model is asked when one cannot answer: it cannot be reached, takes too long, is rate limited after the retries
of its client, fails on its side (5xx), is gone or not set up, or its key is refused. It is not asked when the request
itself is wrong or too long, when the content is refused, when an answer cannot be used, or when a budget is reached:
another model would not change that, or would hide it.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TypeVar

from pydantic import JsonValue

from headgate.features.models import catalogue
from headgate.features.models.errors import (
    InputTooLarge,
    KeyMissing,
    KeyRejected,
    LocalModelFailed,
    LocalModelMissing,
    ModelLacksInput,
    ModelNotAccessible,
    ModelRateLimited,
    ModelSkipped,
    ModelTimedOut,
    ModelUnreachable,
    ProviderFailed,
    ProviderNotInstalled,
    QuotaExhausted,
    UnknownProvider,
)
from headgate.foundation.errors import HeadgateError
from headgate.sdk import Model

if TYPE_CHECKING:  # LangChain is imported with the first request
    from langchain_core.language_models import BaseChatModel
    from langchain_core.messages import BaseMessage

FAILED = (ModelUnreachable, ModelTimedOut, ModelRateLimited, QuotaExhausted, ProviderFailed, KeyRejected)
"""Errors after which the next request would most likely fail as well: the model is skipped for some seconds."""
_CANNOT_ANSWER = (
    *FAILED,
    ModelNotAccessible,
    ModelSkipped,
    ModelLacksInput,
    InputTooLarge,
    KeyMissing,
    ProviderNotInstalled,
    UnknownProvider,
    LocalModelMissing,
    LocalModelFailed,
)
Maker = Callable[[Model], "Awaitable[BaseChatModel]"]
T = TypeVar("T")
Tokens = tuple[int | None, int | None]
"""Tokens in and out; None where they are not known."""


@dataclass(frozen=True, slots=True)
class Miss:
    """A model that did not answer, and the one that is asked next."""

    model: Model
    error: HeadgateError
    tokens: Tokens = (None, None)
    """What the part of an answer used that was read before it failed."""
    following: Model | None = None
    """None when no other model is left."""
    begun: bool = False
    """Whether a part of the answer had been shown."""
    tried: tuple[str, ...] = ()
    """Names of the models asked so far, this one last."""


class MissLog(Protocol):
    """Misses of earlier attempts at the same work, so that a repeated call reaches the model that answered."""

    async def recall(self, model: Model, messages: "Sequence[BaseMessage]") -> HeadgateError | None:
        """Why a model did not answer these messages; None when that is not stored."""

    async def keep(self, model: Model, messages: "Sequence[BaseMessage]", error: HeadgateError) -> None:
        """Store why a model did not answer these messages, which another one has answered."""

    @property
    def replaying(self) -> bool:
        """Whether stored answers are left, so that no model is skipped."""


class Circuit(Protocol):
    """The circuit breakers of models for one tenant."""

    async def enter(self, model: Model, *, replaceable: bool) -> None:
        """Return when a model may be asked; `replaceable`: another one can be. Raises `ModelSkipped`."""

    async def failed(self, model: Model, error: HeadgateError, *, replaceable: bool) -> None:
        """Count the failure of a model, if it is one."""

    async def succeeded(self, model: Model) -> None:
        """Close the circuit of a model that answered."""


@dataclass(slots=True)
class ModelChain:
    """The model that answers now, and those that did not. The model that answered is asked first from then on.

    The next model is of the fallback chain that is chosen, else of the same provider.
    """

    model: Model
    make: Maker
    following: tuple[Model, ...] = ()
    """The fallback models that are chosen; empty for the other models of the provider."""
    on_change: Callable[[Model], None] = lambda _model: None
    on_miss: Callable[[Miss], None] = lambda _miss: None
    restarts: bool = False
    """Whether the next model is asked even when a part of the answer was shown."""
    circuit: Circuit | None = None
    """Skips models that failed; None where the calls themselves do."""
    log: MissLog | None = None
    unfit: dict[str, HeadgateError] = field(default_factory=dict)
    """Models that cannot take what they would be sent, and why."""
    tried: list[str] = field(default_factory=list)
    missed: list[Miss] = field(default_factory=list)
    foreign: int = 0
    """How many of the messages were there before the present model was asked first."""
    _made: dict[tuple[str, str], "BaseChatModel"] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.tried.append(self._tried_as(self.model))

    def falls_back_on(self, error: HeadgateError) -> bool:
        """Whether the next model is asked after this error.

        Without a chosen chain the next is of the same provider, where a wrong key or a dead network is the same again.
        """
        return isinstance(error, _CANNOT_ANSWER if self.following else ModelNotAccessible)

    async def chat(self, params: dict[str, JsonValue], model: Model | None = None) -> "BaseChatModel":
        """The model that answers now, made with further params. Raises `Invalid`."""
        model = model or self.model
        key = (model.model_dump_json(), repr(sorted(params.items())))
        if key not in self._made:
            variant = model.model_copy(update={"params": {**model.params, **params}})
            self._made[key] = await self.make(variant)
        return self._made[key]

    async def require_asking(self, messages: "Sequence[BaseMessage]") -> None:
        """Raise why the present model is not to be asked, before it is."""
        unfit = self.unfit.get(self.model.model_dump_json())
        if unfit is not None:
            raise unfit
        if self.log is not None:
            earlier = await self.log.recall(self.model, messages)
            if earlier is not None:
                raise earlier
            if self.log.replaying:
                return
        if self.circuit is not None:
            await self.circuit.enter(self.model, replaceable=self._next() is not None)

    async def fall_back(
        self,
        failed: Model,
        error: HeadgateError,
        *,
        messages: int = 0,
        tokens: Tokens = (None, None),
        begun: bool = False,
    ) -> None:
        """Take the next model. Raises when there is none: `error`, naming all that were tried.

        `failed` is the model that did not answer; when another call fell back already, nothing changes.
        """
        if failed is not self.model:
            return
        following = self._next()
        miss = Miss(failed, error, tokens, following, begun, tuple(self.tried))
        if self.circuit is not None:
            await self.circuit.failed(failed, error, replaceable=following is not None)
        self.on_miss(miss)
        if following is None:
            raise self._nobody(error)
        self.missed.append(miss)
        self.model = following
        self.foreign = messages
        self.tried.append(self._tried_as(following))
        self.on_change(following)

    async def first_answer(self, ask: Callable[[Model], Awaitable[T]]) -> T:
        """What the first model gives that can, asked by `ask`."""
        while True:
            model = self.model
            try:
                await self.require_asking(())
                answer = await ask(model)
            except HeadgateError as error:
                if not self.falls_back_on(error):
                    raise
                await self.fall_back(model, error)
            else:
                await self.keep_misses(())
                return answer

    async def keep_misses(self, messages: "Sequence[BaseMessage]") -> None:
        """The present model has answered: store which ones before it have not."""
        if self.circuit is not None:
            await self.circuit.succeeded(self.model)
        missed, self.missed = self.missed, []
        if self.log is not None:
            for miss in missed:
                await self.log.keep(miss.model, messages, miss.error)

    def _next(self) -> Model | None:
        if not self.following:
            return catalogue.next_model(self.model, self.tried)
        return next((model for model in self.following if self._tried_as(model) not in self.tried), None)

    def _tried_as(self, model: Model) -> str:
        """How a model is named among those tried: of one provider by its name."""
        return str(model) if self.following else model.name

    def _nobody(self, error: HeadgateError) -> HeadgateError:
        """The last error, with what was wrong with the models before it."""
        if not self.following:
            return catalogue.models_exhausted(self.model, self.tried)
        if len(self.tried) > 1:
            before = " ".join(f"{miss.model}: {miss.error.detail}" for miss in self.missed)
            error.detail = f"None of {len(self.tried)} models answered. {error.detail} Before: {before}".strip()
            error.args = (error.detail,)
            error.extra = {**error.extra, "tried": list[JsonValue](self.tried)}
        return error
