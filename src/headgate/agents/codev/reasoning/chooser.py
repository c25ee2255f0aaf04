"""Selects the model of a session (DD-003, DD-005): the requested one, else the configured one, else the first."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from pydantic import JsonValue, ValidationError

from headgate.agents.codev.ports import ModelAnswer, Reasoning
from headgate.agents.codev.reasoning.errors import NoReasoningModel
from headgate.features.access.principal import Principal
from headgate.features.models import readiness, service
from headgate.features.models.local.models import LocalModels
from headgate.features.models.ports import GuardedWeb, KeySource
from headgate.features.models.setup.facts import known_of
from headgate.features.models.setup.values import OFFLINE, ModelRole
from headgate.foundation.errors import HeadgateError, Invalid
from headgate.foundation.settings import CodevSettings
from headgate.sdk import Model


@dataclass(frozen=True, slots=True)
class MissingReasoning:
    """The model of a session whose provider is not ready: every call raises the reason."""

    model_id: str
    error: HeadgateError

    async def complete(self, *_messages: object, **_options: object) -> ModelAnswer:
        """Raise the error."""
        raise self.error


@dataclass(frozen=True, slots=True)
class ReasoningChooser:
    """Selects the model of a session. There is no fallback: a session requires a model."""

    codev: CodevSettings
    keys_of: Callable[[Principal, str], KeySource]
    """The variables of a user, read in a session of theirs."""
    web: GuardedWeb
    local: LocalModels | None = None

    async def choose(self, principal: Principal, name: str | None = None, session_id: str = "") -> Reasoning:
        """Return the model, `provider/name`. Raises `NoReasoningModel` or `Invalid` naming what is missing."""
        keys = self.keys_of(principal, session_id)
        model = await self._ready(keys, name)
        cool = await _cool(model, keys, self.codev.temperature)
        cooled = model.model_copy(update={"params": {**cool, **model.params}})
        chat = await service.create_chat_model(cooled, keys, local=self.local, web=self.web, role=ModelRole.CODEV)
        made: Reasoning = _load().ModelReasoning(model=str(model), chat=chat)
        return made

    async def default(self, principal: Principal) -> str:
        """Return the default model; empty if none is ready. Loads nothing."""
        try:
            return str(await self._ready(self.keys_of(principal, ""), None))
        except HeadgateError:  # what is wrong is said when a session is started
            return ""

    async def _ready(self, keys: KeySource, name: str | None) -> Model:
        model = await self._wanted(keys, name)
        why = await readiness.unready(model, keys, self.local)
        if why is not None:
            raise NoReasoningModel(why)
        return model

    async def _wanted(self, keys: KeySource, name: str | None) -> Model:
        choice = await readiness.choose_model(ModelRole.CODEV, keys, local=self.local)
        if name and name != OFFLINE.name:
            model = _parsed(name)
            if choice is not None and str(choice.model) == str(model):
                return choice.model
            return await readiness.with_params(model, ModelRole.CODEV, keys)
        if choice is None:
            raise NoReasoningModel(None)
        return choice.model


def _parsed(name: str) -> Model:
    try:
        return Model.model_validate(name)
    except ValidationError:
        raise Invalid(
            f"'{name[:100]}' is not the name of a model.", remedy="Write it as provider/name: anthropic/claude-..."
        ) from None


async def _cool(model: Model, keys: KeySource, temperature: float) -> dict[str, JsonValue]:
    """The temperature, for models that take one (DD-006)."""
    provider = await service.provider_of(model.provider, keys)
    takes = "temperature" in provider.params and known_of(model, await keys.setup()).temperature
    return {"temperature": temperature} if takes else {}


def _load() -> Any:  # noqa: ANN401 - the module; it imports LangChain
    return import_module("headgate.agents.codev.reasoning.model")
