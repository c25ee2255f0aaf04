"""Which model answers a turn."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pydantic import JsonValue

from headgate.agents.assistant.errors import ProviderNotConfigured
from headgate.agents.assistant.intent.intents import MAX_OUTPUT_TOKENS
from headgate.agents.assistant.metrics import AssistantMetrics
from headgate.agents.assistant.models.chain import ModelChain
from headgate.agents.assistant.schemas import CheckConfig, ProviderState
from headgate.features.access.principal import Principal
from headgate.features.models import catalogue, choosing, service
from headgate.features.models.catalogue import ModelInfo
from headgate.features.models.local.models import LocalModels
from headgate.features.models.ports import GuardedWeb, KeySource
from headgate.features.models.providers import LOCAL, find_provider
from headgate.foundation.errors import HeadgateError
from headgate.foundation.lazy import lazy_module
from headgate.foundation.settings import ModelSettings
from headgate.sdk import Model
from headgate.toolkit import Workbench

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from headgate.agents.assistant.models import fallback
    from headgate.agents.assistant.offline import builder
    from headgate.agents.assistant.offline.builder import OfflineBuilder
else:
    fallback = lazy_module("headgate.agents.assistant.models.fallback")
    builder = lazy_module("headgate.agents.assistant.offline.builder")

OFFLINE = "offline"
OFFLINE_NAME = "offline builder"
_MODELS_SHOWN = 6
"""Models of one provider that the assistant is told of."""


@dataclass(frozen=True, slots=True)
class ModelsAvailable:
    """The models that steps of a flow may use: those of providers that have a key."""

    providers: tuple[tuple[str, tuple[str, ...]], ...]
    """Provider and its models, the usual one first."""


@dataclass(slots=True)
class TurnModels:
    """The models of one turn: who works, and who says what the request is."""

    provider: str
    chat: "BaseChatModel | OfflineBuilder"
    available: Callable[[], Awaitable[ModelsAvailable]]
    chain: ModelChain | None = None
    """None for the offline builder, which has no other model to fall back on."""

    @property
    def offline(self) -> bool:
        """Whether no language model is asked."""
        return self.chain is None

    @property
    def model(self) -> Model | None:
        """The model that answers now."""
        return self.chain.model if self.chain is not None else None

    @property
    def name(self) -> str:
        """What is told of it."""
        return str(self.model or OFFLINE_NAME)

    @property
    def info(self) -> ModelInfo | None:
        """What is known of it, its prices among that."""
        return catalogue.resolve(self.model) if self.model is not None else None

    async def classifier(self) -> "BaseChatModel | OfflineBuilder":
        """The model with the ceiling of a classification. Raises `Invalid`."""
        if self.chain is None:
            return self.chat
        made: BaseChatModel = await fallback.with_fallback(self.chain, **_brief(self.chain.model))
        return made


@dataclass(frozen=True, slots=True)
class ModelChooser:
    """Chooses the model of a turn: the one asked for, else the configured one, else the offline builder.

    The local model is never chosen on its own for the assistant's loop: models of its size cannot hold one. It can
    still be the model of a step.
    """

    settings: ModelSettings
    keys_of: Callable[[Principal], KeySource]
    local: LocalModels | None
    web: GuardedWeb
    metrics: AssistantMetrics = field(default_factory=AssistantMetrics)

    async def choose(
        self, principal: Principal, *, provider: str | None, name: str | None, bench: Workbench
    ) -> TurnModels:
        """The models of a turn. Raises `Invalid` naming what is missing."""
        keys = self.keys_of(principal)

        model = await self._wanted(keys, provider, name)

        async def available() -> ModelsAvailable:
            return await self._available(keys, model)

        if model is None:
            offline = builder.OfflineBuilder(
                catalog=bench.registry,
                current_flow=lambda: bench.flow,
                default_model=await self._step_model(keys),
            )
            return TurnModels(OFFLINE, offline, available)

        async def make(wanted: Model) -> "BaseChatModel":
            return await service.create_chat_model(wanted, keys, local=self.local, web=self.web)

        chain = ModelChain(model, make, self.metrics)
        return TurnModels(model.provider, await fallback.with_fallback(chain), available, chain)

    async def check_config(self, principal: Principal) -> CheckConfig:
        """Every provider with its state and models."""
        keys = self.keys_of(principal)
        statuses = await service.list_providers(keys, local=self.local)
        offers = await asyncio.gather(*(service.offered_models(one, keys, local=self.local) for one in statuses))
        providers = [
            ProviderState(
                name=status.id,
                label=status.label,
                configured=status.configured,
                why_not="" if status.configured else f"{status.reason} {status.remedy}",
                default_model=status.default_model,
                models=[{"name": info.name, "display_name": info.label} for info in offered],
            )
            for status, offered in zip(statuses, offers, strict=True)
        ]
        ready = [one for one in providers if one.configured and one.name != LOCAL]
        provider, name = self._default(ready)
        return CheckConfig(
            configured=bool(ready),
            configured_providers=[one.name for one in ready],
            providers=providers,
            default_provider=provider,
            default_model=name,
        )

    def _default(self, ready: Sequence[ProviderState]) -> tuple[str, str]:
        """Provider and model of a turn that names none: the operator's, else the first that is ready."""
        chosen = self._chosen
        if chosen and chosen != OFFLINE:
            provider, _, name = chosen.partition("/")
            return provider, name
        first = next((one for one in ready if one.default_model), None)
        if chosen or first is None:
            return OFFLINE, OFFLINE
        return first.name, first.default_model or ""

    def explain(self, error: Exception) -> HeadgateError:
        """What a provider's own error means to the person who asked."""
        return service.friendly_error(error)

    @property
    def _chosen(self) -> str:
        """What the operator set; empty where that was left open."""
        return self.settings.assistant or self.settings.default

    async def _wanted(self, keys: KeySource, provider: str | None, name: str | None) -> Model | None:
        """The model asked for or configured; None for the offline builder."""
        if provider == OFFLINE:
            return None
        if provider is not None:
            found = find_provider(provider).id
            return await self._ready(keys, Model(provider=found, name=name or catalogue.default_name(found) or ""))
        chosen = self._chosen
        if chosen == OFFLINE:
            return None
        if chosen:
            return await self._ready(keys, Model.model_validate(chosen))
        return await choosing.first_configured(keys, name=name)

    async def _ready(self, keys: KeySource, model: Model) -> Model:
        """The model, when its provider can be asked. Raises `ProviderNotConfigured` naming what is missing."""
        why = await choosing.unready(model, keys, self.local)
        if why is None:
            return model
        raise ProviderNotConfigured(why.provider, why.ready, problem=why.problem, remedy=why.remedy)

    async def _step_model(self, keys: KeySource) -> str | None:
        """The model that the offline builder puts into steps that need one."""
        if self.settings.default:
            return self.settings.default
        for status in await service.list_providers(keys, local=self.local):
            if status.configured and status.default_model:
                return f"{status.id}/{status.default_model}"
        return None

    async def _available(self, keys: KeySource, answering: Model | None) -> ModelsAvailable:
        """Every provider that can be asked now, with its first models. There is no order of preference.

        The model that answers and the operator's default are always among them.
        """
        named = [Model.model_validate(self.settings.default)] if self.settings.default else []
        named += [answering] if answering is not None else []
        statuses = [one for one in await service.list_providers(keys, local=self.local) if one.configured]
        offers = await asyncio.gather(*(service.offered_models(one, keys, local=self.local) for one in statuses))
        found: dict[str, dict[str, None]] = {
            status.id: dict.fromkeys(
                [name for name in (status.default_model, *(info.name for info in offered)) if name][:_MODELS_SHOWN]
            )
            for status, offered in zip(statuses, offers, strict=True)
        }
        for model in named:
            provider = find_provider(model.provider).id
            found[provider] = {model.name: None} | found.get(provider, {})
        return ModelsAvailable(tuple((provider, tuple(names)) for provider, names in found.items() if names))


def _brief(model: Model) -> dict[str, JsonValue]:
    """Params of a short, plain answer, in so far as the provider takes them.

    Models that think before they answer count their thoughts among their tokens: they are told to think little.
    """
    accepted = find_provider(model.provider).params
    thinks = not catalogue.resolve(model).temperature
    wanted: dict[str, JsonValue] = {"max_tokens": MAX_OUTPUT_TOKENS}
    if thinks:
        wanted["reasoning_effort"] = "low"
    else:
        wanted["temperature"] = 0.0
    return {name: value for name, value in wanted.items() if name in accepted}
