"""Which model a session works with (DD-003, DD-005): the one asked for, else the one that is set, else the first."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from pydantic import JsonValue, ValidationError

from headgate.agents.codev.ports import Reasoning
from headgate.agents.codev.reasoning.errors import NoReasoningModel
from headgate.features.access.principal import Principal
from headgate.features.models import catalogue, choosing, service
from headgate.features.models.local.models import LocalModels
from headgate.features.models.ports import GuardedWeb, KeySource
from headgate.features.models.providers import find_provider
from headgate.foundation.errors import HeadgateError, Invalid
from headgate.foundation.settings import CodevSettings, ModelSettings
from headgate.sdk import Model

_OFFLINE = "offline"
"""The assistant's builder without a model. It cannot do this work."""


@dataclass(frozen=True, slots=True)
class ReasoningChooser:
    """Chooses the model of a session. There is nothing to fall back on: without a model there is no session."""

    codev: CodevSettings
    models: ModelSettings
    keys_of: Callable[[Principal], KeySource]
    web: GuardedWeb
    local: LocalModels | None = None

    async def choose(self, principal: Principal, name: str | None = None) -> Reasoning:
        """The model, `provider/name`. Raises `NoReasoningModel` or `Invalid` naming what is missing."""
        keys = self.keys_of(principal)
        model = await self._ready(keys, name)
        cooled = model.model_copy(update={"params": {**_cool(model, self.codev.temperature), **model.params}})
        chat = await service.create_chat_model(cooled, keys, local=self.local, web=self.web)
        made: Reasoning = _load().ModelReasoning(model=str(model), chat=chat)
        return made

    async def default(self, principal: Principal) -> str:
        """The model of a session that names none; empty where there is none that can be asked. Loads nothing."""
        try:
            return str(await self._ready(self.keys_of(principal), None))
        except HeadgateError:  # what is wrong is said when a session is started
            return ""

    async def _ready(self, keys: KeySource, name: str | None) -> Model:
        model = await self._wanted(keys, name)
        why = await choosing.unready(model, keys, self.local)
        if why is not None:
            raise NoReasoningModel(why)
        return model

    async def _wanted(self, keys: KeySource, name: str | None) -> Model:
        for asked in (name, self.codev.model, self.models.assistant, self.models.default):
            if asked and asked != _OFFLINE:
                return _parsed(asked)
        found = await choosing.first_configured(keys)
        if found is None:
            raise NoReasoningModel(None)
        return found


def _parsed(name: str) -> Model:
    try:
        return Model.model_validate(name)
    except ValidationError:
        raise Invalid(
            f"'{name[:100]}' is not the name of a model.", remedy="Write it as provider/name: anthropic/claude-..."
        ) from None


def _cool(model: Model, temperature: float) -> dict[str, JsonValue]:
    """The temperature, for models that take one (DD-006)."""
    takes = "temperature" in find_provider(model.provider).params and catalogue.resolve(model).temperature
    return {"temperature": temperature} if takes else {}


def _load() -> Any:  # noqa: ANN401 - the module; it imports LangChain
    return import_module("headgate.agents.codev.reasoning.model")
