"""The models of one provider in the order in which they are tried, for the length of one turn."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pydantic import JsonValue

from headgate.agents.assistant.metrics import AssistantMetrics
from headgate.features.models import catalogue
from headgate.features.models.errors import (
    KeyRejected,
    ModelNotAccessible,
    ModelRateLimited,
    ModelTimedOut,
    ModelUnreachable,
    QuotaExhausted,
)
from headgate.foundation.errors import HeadgateError
from headgate.sdk import Model

if TYPE_CHECKING:  # LangChain is imported with the first request
    from langchain_core.language_models import BaseChatModel

_CANNOT_ANSWER = (ModelNotAccessible, ModelUnreachable, ModelTimedOut, KeyRejected, ModelRateLimited, QuotaExhausted)
Maker = Callable[[Model], "Awaitable[BaseChatModel]"]


@dataclass(slots=True)
class ModelChain:
    """The model that answers now, and those that would not.

    The next model is of the fallback chain that is chosen, else of the same provider.
    """

    model: Model
    make: Maker
    metrics: AssistantMetrics = field(default_factory=AssistantMetrics)
    following: tuple[Model, ...] = ()
    """The fallback chain that is chosen in Settings; empty for the other models of the provider."""
    on_change: Callable[[Model], None] = lambda _model: None
    tried: list[str] = field(default_factory=list)
    _made: dict[tuple[str, str], "BaseChatModel"] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.tried.append(self._tried_as(self.model))

    @property
    def key(self) -> tuple[str, str]:
        """Provider and name of the model that answers now."""
        return self.model.provider, self.model.name

    def falls_back_on(self, error: HeadgateError) -> bool:
        """Whether the next model is asked after this error.

        Without a chosen chain the next is of the same provider, where a wrong key or a dead network is the same again.
        """
        return isinstance(error, _CANNOT_ANSWER if self.following else ModelNotAccessible)

    async def chat(self, params: dict[str, JsonValue]) -> "BaseChatModel":
        """The model that answers now, made with further params. Raises `Invalid`."""
        key = (str(self.model), repr(sorted(params.items())))
        if key not in self._made:
            wanted = self.model.model_copy(update={"params": {**self.model.params, **params}})
            self._made[key] = await self.make(wanted)
        return self._made[key]

    def fall_back(self, failed: tuple[str, str], error: HeadgateError) -> None:
        """Take the next model. Raises when there is none: `error`, or `ModelNotAccessible` naming all that were tried.

        `failed` is the key of the model that did not answer; when another call fell back already, nothing changes.
        """
        if failed != self.key:
            return
        following = self._next()
        if following is None:
            raise error if self.following else catalogue.models_exhausted(self.model, self.tried)
        name = following.name if not self.following else str(following)
        self.metrics.model_fell_back(self.tried[-1], name, provider=self.model.provider, tried=list(self.tried))
        self.model = following
        self.tried.append(self._tried_as(following))
        self.on_change(following)

    def _next(self) -> Model | None:
        if not self.following:
            return catalogue.next_model(self.model, self.tried)
        return next((one for one in self.following if str(one) not in self.tried), None)

    def _tried_as(self, model: Model) -> str:
        """How a model is named among those tried: of one provider by its name."""
        return str(model) if self.following else model.name
