"""Readiness of language models, and reasons. The same result for every entry point.

`model_readiness` answers for one model without asking it: provider, package, key, settings, hidden or not.
`choose_model` answers which model a role has: the choice in Settings, else the variable, else the first that is ready.
`survey` answers for every provider and every role at once. `doctor`, `check-config`, Settings, prompts, the dry run and
the start of a run read these and nothing else.
"""

import asyncio
from dataclasses import dataclass

from pydantic import BaseModel, JsonValue

from headgate.features.models import service
from headgate.features.models.local.models import LocalModels
from headgate.features.models.outlook import ModelOutlook, look_at
from headgate.features.models.ports import KeySource
from headgate.features.models.providers import LOCAL
from headgate.features.models.service import ProviderStatus
from headgate.features.models.setup.chosen import FIRST_READY, Choice, chosen_model, params_of_role
from headgate.features.models.setup.roles import LONG
from headgate.features.models.setup.values import OFFLINE, ModelRole
from headgate.sdk.values import Model

SETUP = (
    "Connect a model server or a key in Settings, Models (`headgate models servers add`, `headgate "
    "variables set OPENAI_API_KEY`), or download a local model (`headgate models pull "
    "qwen2.5-coder-1.5b`). `headgate models providers` lists all providers."
)


class RoleReadiness(BaseModel):
    """The model of a role, and whether it is usable."""

    role: ModelRole
    model: str | None
    """`provider/name`; `offline/offline` for the offline builder; None when there is none."""
    params: dict[str, JsonValue]
    models: list[Model]
    """The models set for this role itself; several for the fallback chain, none when another role's are used."""
    source: str
    """Source of the choice: `settings`, the name of a variable, `first_ready`, or empty."""
    ready: bool
    problem: str
    remedy: str


class ModelsReadiness(BaseModel):
    """Readiness of all language models."""

    providers: list[ProviderStatus]
    roles: list[RoleReadiness]

    def role(self, role: ModelRole) -> RoleReadiness:
        """One role."""
        return next(readiness for readiness in self.roles if readiness.role is role)


async def model_readiness(model: Model, keys: KeySource, local: LocalModels | None = None) -> ModelOutlook:
    """Return whether one model is usable, without calling it. Never raises for its faults."""
    return await look_at(model, keys, local)


async def choose_model(
    role: ModelRole,
    keys: KeySource,
    *,
    local: LocalModels | None = None,
    providers: list[ProviderStatus] | None = None,
) -> Choice | None:
    """Return the model of a role; None when nothing is set and no provider is ready. It may not be ready.

    Args:
        role: Not `fallback`.
        keys: Where keys and choices come from.
        local: The local models of this process.
        providers: What `list_providers` returned, where it was asked already.
    """
    choice = chosen_model(role, await keys.setup())
    if choice is not None:
        return choice
    statuses = await service.list_providers(keys, local=local) if providers is None else providers
    for status in statuses:
        if status.configured and status.default_model and (status.id != LOCAL or role not in LONG):
            first = Model(provider=status.id, name=status.default_model)
            return Choice(await with_params(first, role, keys), FIRST_READY)
    return None


async def fallback_models(keys: KeySource) -> tuple[Model, ...]:
    """Return the fallback models of the assistant, in order."""
    choice = (await keys.setup()).roles.get(ModelRole.FALLBACK)
    return choice.models if choice is not None else ()


async def with_params(model: Model, role: ModelRole, keys: KeySource) -> Model:
    """Return the model with the parameters of its role; its own have precedence."""
    return params_of_role(model, role, await keys.setup())


async def survey(keys: KeySource, *, local: LocalModels | None = None) -> ModelsReadiness:
    """Return every provider and every role: what is ready, and what is missing."""
    providers = await service.list_providers(keys, local=local)
    roles = await asyncio.gather(*(_role(role, keys, local, providers) for role in ModelRole))
    return ModelsReadiness(providers=providers, roles=list(roles))


async def _role(
    role: ModelRole, keys: KeySource, local: LocalModels | None, providers: list[ProviderStatus]
) -> RoleReadiness:
    setup = await keys.setup()
    own = setup.roles.get(role)
    models = list(own.models) if own is not None else []
    if role is ModelRole.FALLBACK:
        return await _chain(models, own.source if own is not None and models else "", keys, local)
    choice = await choose_model(role, keys, local=local, providers=providers)
    if choice is None:
        problem, remedy = _nothing(role, providers)
        return _readiness(role, None, models, "", (problem, remedy))
    if choice.model == OFFLINE:
        return _readiness(role, OFFLINE, models, choice.source, ("", ""))
    outlook = await model_readiness(choice.model, keys, local)
    status = next((provider for provider in providers if provider.id == choice.model.provider), None)
    problem, remedy = outlook.problem, outlook.remedy
    if outlook.usable and status is not None and not status.configured:
        problem, remedy = status.reason, status.remedy
    return _readiness(role, choice.model, models, choice.source, (problem, remedy))


async def _chain(models: list[Model], source: str, keys: KeySource, local: LocalModels | None) -> RoleReadiness:
    """Return the fallback chain is ready when each of its models is; an empty one is."""
    outlooks = [await model_readiness(model, keys, local) for model in models]
    bad = next((outlook for outlook in outlooks if not outlook.usable), None)
    problem, remedy = ("", "") if bad is None else (f"{bad.model}: {bad.problem}", bad.remedy)
    return _readiness(ModelRole.FALLBACK, models[0] if models else None, models, source, (problem, remedy))


def _readiness(
    role: ModelRole, model: Model | None, models: list[Model], source: str, why_not: tuple[str, str]
) -> RoleReadiness:
    return RoleReadiness(
        role=role,
        model=None if model is None else str(model),
        params={} if model is None else dict(model.params),
        models=models,
        source=source,
        ready=not why_not[0],
        problem=why_not[0],
        remedy=why_not[1],
    )


def _nothing(role: ModelRole, providers: list[ProviderStatus]) -> tuple[str, str]:
    """Return why a role has no model: nothing is connected, or the connected provider has no model list."""
    ready = [provider for provider in providers if provider.configured and (provider.id != LOCAL or role not in LONG)]
    if ready:
        problem = f"{ready[0].label} is ready, but no model is selected: it does not list its models."
        return problem, "Choose a model in Settings, Models."
    if any(provider.configured for provider in providers):
        return "Only a local model is ready, which cannot handle a long conversation.", SETUP
    return "No language model is connected.", SETUP


@dataclass(frozen=True, slots=True)
class Unready:
    """Why a model is not usable."""

    provider: str
    ready: tuple[str, ...]
    """Providers that could be used instead."""
    problem: str
    remedy: str
    variable: str = ""
    """Name of the variable that is not set, where that is the reason."""


async def unready(model: Model, keys: KeySource, local: LocalModels | None) -> Unready | None:
    """Return what makes the model unusable; None when nothing does, as far as known without a call."""
    outlook = await model_readiness(model, keys, local)
    if outlook.usable:
        return None
    ready = tuple(status.id for status in await service.list_providers(keys, local=local) if status.configured)
    return Unready(model.provider, ready, outlook.problem, outlook.remedy, outlook.variable)
