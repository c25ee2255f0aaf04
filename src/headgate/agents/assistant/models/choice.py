"""Selects the model of a turn."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pydantic import JsonValue

from headgate.agents.assistant.errors import ProviderNotConfigured
from headgate.agents.assistant.intent.intents import MAX_OUTPUT_TOKENS
from headgate.agents.assistant.metrics import AssistantMetrics
from headgate.agents.assistant.schemas import CheckConfig, ProviderState
from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal
from headgate.features.models import catalogue, readiness, service
from headgate.features.models.catalogue import ModelInfo
from headgate.features.models.chain import Miss, ModelChain
from headgate.features.models.local.models import LocalModels
from headgate.features.models.ports import GuardedWeb, KeySource
from headgate.features.models.providers import LOCAL, PROVIDERS, known_provider
from headgate.features.models.setup.chosen import FIRST_READY, Choice, chosen_model
from headgate.features.models.setup.facts import known_of
from headgate.features.models.setup.values import OFFLINE, ModelRole
from headgate.features.runs.circuits.of_models import ModelCircuit
from headgate.features.runs.ports.limits import Circuits
from headgate.foundation.errors import HeadgateError
from headgate.foundation.lazy import lazy_module
from headgate.sdk import Model
from headgate.toolkit.workbench import Workbench

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

    from headgate.agents.assistant.offline import builder
    from headgate.agents.assistant.offline.builder import OfflineBuilder
    from headgate.features.models import fallback
else:
    fallback = lazy_module("headgate.features.models.fallback")
    builder = lazy_module("headgate.agents.assistant.offline.builder")

OFFLINE_NAME = "offline builder"
_MODELS_SHOWN = 6
"""Models listed per provider."""


@dataclass(frozen=True, slots=True)
class ModelsAvailable:
    """The models that steps of a flow may use: those of providers that have a key."""

    providers: tuple[tuple[str, tuple[str, ...]], ...]
    """Provider and its models, the usual one first."""
    default: str = ""
    """The model of steps that name none; empty where none is chosen."""


@dataclass(slots=True)
class TurnModels:
    """The models of one turn: the answering and the classifying one."""

    provider: str
    chat: "BaseChatModel | OfflineBuilder"
    available: Callable[[], Awaitable[ModelsAvailable]]
    chain: ModelChain | None = None
    """None for the offline builder, which has no other model to fall back on."""
    known: Callable[[Model], ModelInfo] = catalogue.resolve
    """Returns the properties of a model, including the tenant's settings."""

    @property
    def offline(self) -> bool:
        """Whether no language model is called."""
        return self.chain is None

    @property
    def model(self) -> Model | None:
        """The current model."""
        return self.chain.model if self.chain is not None else None

    @property
    def name(self) -> str:
        """Its display name."""
        return str(self.model or OFFLINE_NAME)

    @property
    def info(self) -> ModelInfo | None:
        """Its known properties, including prices."""
        return self.known(self.model) if self.model is not None else None

    async def classifier(self) -> "BaseChatModel | OfflineBuilder":
        """The model with the ceiling of a classification. Raises `Invalid`."""
        if self.chain is None:
            return self.chat
        model = self.chain.model
        made: BaseChatModel = await fallback.with_fallback(self.chain, **_brief(model, self.known(model)))
        return made


@dataclass(frozen=True, slots=True)
class ModelChooser:
    """Selects the model of a turn: the requested one, else the configured one, else the offline builder.

    The local model is never selected by default for the assistant's loop: models of its size are not capable of one. It
    can still be the model of a step.
    """

    keys_of: Callable[[Principal, str], KeySource]
    """The variables of a user, read in a session of theirs."""
    local: LocalModels | None
    web: GuardedWeb
    metrics: AssistantMetrics = field(default_factory=AssistantMetrics)
    circuits: Circuits | None = None
    """Circuit breakers of models; None if there are none."""

    async def choose(
        self, principal: Principal, *, provider: str | None, name: str | None, bench: Workbench, session_id: str = ""
    ) -> TurnModels:
        """Return the models of a turn. Raises `Invalid` naming what is missing."""
        keys = self.keys_of(principal, session_id)

        model = await self._wanted(keys, provider, name)

        async def available() -> ModelsAvailable:
            return await self._available(keys, model)

        if model is None:
            offline = builder.OfflineBuilder(
                catalog=bench.registry,
                current_flow=lambda: bench.flow,
                default_model=await self._step_model(keys),
                flows=_runnable_flows(bench),
            )
            return TurnModels(OFFLINE.provider, offline, available)

        async def make(fallback_model: Model) -> "BaseChatModel":
            return await service.create_chat_model(
                fallback_model, keys, local=self.local, web=self.web, role=ModelRole.ASSISTANT
            )

        following = await readiness.fallback_models(keys)

        def missed(miss: Miss) -> None:
            if miss.following is not None:
                name = str(miss.following) if following else miss.following.name
                self.metrics.model_fell_back(miss.tried[-1], name, provider=miss.model.provider, tried=[*miss.tried])

        circuit = None if self.circuits is None else ModelCircuit(self.circuits, principal.tenant_id)
        chain = ModelChain(model, make, following, on_miss=missed, circuit=circuit)
        setup = await keys.setup()
        return TurnModels(
            model.provider,
            await fallback.with_fallback(chain),
            available,
            chain,
            lambda candidate: known_of(candidate, setup),
        )

    async def check_config(self, principal: Principal) -> CheckConfig:
        """Every provider with its state and models, and the model of a turn that names none."""
        keys = self.keys_of(principal, "")
        survey = await readiness.survey(keys, local=self.local)
        offers = await asyncio.gather(
            *(service.offered_models(provider, keys, local=self.local) for provider in survey.providers)
        )
        role = survey.role(ModelRole.ASSISTANT)
        provider, _, name = (role.model or str(OFFLINE)).partition("/")
        providers = [
            ProviderState(
                name=status.id,
                label=status.label,
                configured=status.configured,
                why_not="" if status.configured else f"{status.reason} {status.remedy}",
                default_model=status.default_model,
                models=_shown(offered, name if status.id == provider else ""),
            )
            for status, offered in zip(survey.providers, offers, strict=True)
        ]
        ready = [provider.name for provider in providers if provider.configured and provider.name != LOCAL]
        return CheckConfig(
            configured=role.ready and (provider != OFFLINE.provider or bool(ready)),
            configured_providers=ready,
            providers=providers,
            default_provider=provider,
            default_model=name,
            problem=role.problem,
            remedy=role.remedy,
        )

    def explain(self, error: Exception) -> HeadgateError:
        """Explain a provider's error to the user."""
        return service.friendly_error(error)

    async def _wanted(self, keys: KeySource, provider: str | None, name: str | None) -> Model | None:
        """Return the requested or configured model; None for the offline builder."""
        if provider == OFFLINE.provider:
            return None
        choice = await readiness.choose_model(ModelRole.ASSISTANT, keys, local=self.local)
        if provider is not None:
            return await self._ready(keys, await self._named(keys, provider, name, choice))
        if choice is None:
            await self._require_no_server(keys)
            return None
        if choice.model == OFFLINE:
            return None
        renamed = {"name": name} if name and choice.source == FIRST_READY else {}
        return await self._ready(keys, choice.model.model_copy(update=renamed))

    async def _named(self, keys: KeySource, provider: str, name: str | None, choice: Choice | None) -> Model:
        """Return the model that a request names; the provider's first if it names only a provider."""
        known = await service.provider_of(provider, keys)
        name = name or (await service.status_of(known, keys, self.local)).default_model or ""
        if choice is not None and (choice.model.provider, choice.model.name) == (known.id, name):
            return choice.model
        return await readiness.with_params(Model(provider=known.id, name=name), ModelRole.ASSISTANT, keys)

    async def _require_no_server(self, keys: KeySource) -> None:
        """Raise `ProviderNotConfigured` when a server is ready of which no model is known: it is to be chosen."""
        role = (await readiness.survey(keys, local=self.local)).role(ModelRole.ASSISTANT)
        statuses = await service.list_providers(keys, local=self.local)
        ready = [status.id for status in statuses if status.configured and status.id != LOCAL]
        if ready:
            raise ProviderNotConfigured(ready[0], ready, problem=role.problem, remedy=role.remedy)

    async def _ready(self, keys: KeySource, model: Model) -> Model:
        """Return the model if its provider is ready. Raises `ProviderNotConfigured` naming what is missing."""
        why = await readiness.unready(model, keys, self.local)
        if why is None:
            return model
        raise ProviderNotConfigured(why.provider, why.ready, problem=why.problem, remedy=why.remedy)

    async def _step_model(self, keys: KeySource) -> str | None:
        """The model that the offline builder puts into steps that need one."""
        choice = await readiness.choose_model(ModelRole.STEP, keys, local=self.local)
        return None if choice is None else str(choice.model)

    async def _available(self, keys: KeySource, answering: Model | None) -> ModelsAvailable:
        """Return every ready provider with its first models, without an order of preference.

        The answering model and those configured for steps are always included.
        """
        step = await readiness.choose_model(ModelRole.STEP, keys, local=self.local)
        default = chosen_model(ModelRole.STEP, await keys.setup())
        named = [
            candidate for candidate in (step.model if step is not None else None, answering) if candidate is not None
        ]
        statuses = [status for status in await service.list_providers(keys, local=self.local) if status.configured]
        offers = await asyncio.gather(*(service.offered_models(status, keys, local=self.local) for status in statuses))
        names: dict[str, dict[str, None]] = {
            status.id: dict.fromkeys([info.name for info in offered][:_MODELS_SHOWN])
            for status, offered in zip(statuses, offers, strict=True)
        }
        for model in named:
            names[model.provider] = {model.name: None} | names.get(model.provider, {})
        listed = tuple((provider, tuple(some)) for provider, some in names.items() if some)
        return ModelsAvailable(listed, "" if default is None else str(default.model))


def _runnable_flows(bench: Workbench) -> tuple[str, ...] | None:
    """Return the names of the other published flows that the user may run; None where they are not known."""
    if bench.environment is None:
        return None
    own = bench.stored.flow_id if bench.stored is not None else None
    links = bench.environment.flows.by_name.values()
    names = (
        link.name for link in links if link.flow_id != own and bench.principal.may(Permission.RUNS_START, link.space_id)
    )
    return tuple(sorted(set(names)))


def _shown(offered: Sequence[ModelInfo], chosen: str) -> list[dict[str, Any]]:
    """The models of a provider; the one that is chosen is always among them."""
    shown = [{"name": info.name, "display_name": info.label} for info in offered]
    if chosen and all(info.name != chosen for info in offered):
        shown.insert(0, {"name": chosen, "display_name": chosen})
    return shown


def _brief(model: Model, info: ModelInfo) -> dict[str, JsonValue]:
    """Return the params of a short, plain answer that the provider supports.

    Reasoning models count their reasoning as tokens: they are configured to reason little.
    """
    known = known_provider(model.provider) or PROVIDERS["openai_compatible"]
    accepted, thinks = known.params, not info.temperature
    params: dict[str, JsonValue] = {"max_tokens": MAX_OUTPUT_TOKENS}
    if thinks:
        params["reasoning_effort"] = "low"
    else:
        params["temperature"] = 0.0
    return {name: value for name, value in params.items() if name in accepted}
