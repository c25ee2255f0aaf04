"""The models of one provider in the order in which they are tried, for the length of one turn."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pydantic import JsonValue

from headgate.agents.assistant.metrics import AssistantMetrics
from headgate.features.models import catalogue
from headgate.sdk import Model

if TYPE_CHECKING:  # LangChain is imported with the first request
    from langchain_core.language_models import BaseChatModel

Maker = Callable[[Model], "Awaitable[BaseChatModel]"]


@dataclass(slots=True)
class ModelChain:
    """The model that answers now, and those that would not.

    Only a model that the provider does not give to this key is left for the next: a wrong key, a rate limit or a dead
    network would be the same with every model.
    """

    model: Model
    make: Maker
    metrics: AssistantMetrics = field(default_factory=AssistantMetrics)
    on_change: Callable[[Model], None] = lambda _model: None
    tried: list[str] = field(default_factory=list)
    _made: dict[tuple[str, str], "BaseChatModel"] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.tried.append(self.model.name)

    async def chat(self, params: dict[str, JsonValue]) -> "BaseChatModel":
        """The model that answers now, made with further params. Raises `Invalid`."""
        key = (self.model.name, repr(sorted(params.items())))
        if key not in self._made:
            wanted = self.model.model_copy(update={"params": {**self.model.params, **params}})
            self._made[key] = await self.make(wanted)
        return self._made[key]

    def fall_back(self, failed: str) -> None:
        """Take the next model. Raises `ModelNotAccessible`, naming all that were tried, when there is none.

        `failed` is the name of the model that was not given; when another call has gone on already, nothing changes.
        """
        if failed != self.model.name:
            return
        following = catalogue.next_model(self.model, self.tried)
        if following is None:
            raise catalogue.models_exhausted(self.model, self.tried)
        self.metrics.model_fell_back(failed, following.name, provider=self.model.provider, tried=list(self.tried))
        self.model = following
        self.tried.append(following.name)
        self.on_change(following)
