"""Which model answers a turn."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

from headgate.agents.assistant.schemas import CheckConfig, ProviderState
from headgate.features.access.principal import Principal
from headgate.features.models import catalogue, service
from headgate.features.models.local.models import LocalModels
from headgate.features.models.ports import KeySource
from headgate.features.models.providers import LOCAL
from headgate.foundation.errors import HeadgateError
from headgate.foundation.settings import ModelSettings
from headgate.sdk import Model
from headgate.toolkit import Workbench

if TYPE_CHECKING:  # LangChain is imported with the first request
    from langchain_core.language_models import BaseChatModel

OFFLINE = "offline"


@dataclass(frozen=True, slots=True)
class ModelChooser:
    """Chooses the model of a turn: the one asked for, else the configured one, else the offline builder.

    The local model is never chosen on its own for the assistant's loop: models of its size cannot hold one. It can
    still be the model of a step.
    """

    settings: ModelSettings
    keys_of: Callable[[Principal], KeySource]
    local: LocalModels | None

    async def choose(
        self, principal: Principal, *, provider: str | None, name: str | None, bench: Workbench
    ) -> "tuple[BaseChatModel, str]":
        """The model and its name. Raises `Invalid` naming what is missing."""
        keys = self.keys_of(principal)
        model = await self._wanted(keys, provider, name)
        if model is not None:
            return await service.create_chat_model(model, keys, local=self.local), str(model)
        step_model = await self._step_model(keys)
        offline = _load_offline().OfflineBuilder(
            catalog=bench.registry, current_flow=lambda: bench.flow, default_model=step_model
        )
        return offline, "offline builder"

    async def check_config(self, principal: Principal) -> CheckConfig:
        """Every provider with its state and models."""
        statuses = await service.list_providers(self.keys_of(principal), local=self.local)
        providers = [
            ProviderState(
                name=status.id,
                label=status.label,
                configured=status.configured,
                why_not="" if status.configured else f"{status.reason} {status.remedy}",
                default_model=status.default_model,
                models=[{"name": info.name, "display_name": info.label} for info in catalogue.list_models(status.id)],
            )
            for status in statuses
        ]
        ready = [one for one in providers if one.configured and one.name != LOCAL]
        return CheckConfig(
            configured=bool(ready),
            configured_providers=[one.name for one in ready],
            providers=providers,
            default_provider=ready[0].name if ready else OFFLINE,
            default_model=(ready[0].default_model or "") if ready else OFFLINE,
        )

    def explain(self, error: Exception) -> HeadgateError:
        """What a provider's own error means to the person who asked."""
        return service.friendly_error(error)

    async def _wanted(self, keys: KeySource, provider: str | None, name: str | None) -> Model | None:
        """The model asked for or configured; None for the offline builder."""
        if provider == OFFLINE:
            return None
        if provider is not None:
            return Model(provider=provider, name=name or catalogue.default_name(provider) or "")
        chosen = self.settings.assistant or self.settings.default
        if chosen == OFFLINE:
            return None
        if chosen:
            return Model.model_validate(chosen)
        for status in await service.list_providers(keys):
            if status.configured and status.id != LOCAL and status.default_model:
                return Model(provider=status.id, name=status.default_model)
        return None

    async def _step_model(self, keys: KeySource) -> str | None:
        """The model that the offline builder puts into steps that need one."""
        if self.settings.default:
            return self.settings.default
        for status in await service.list_providers(keys, local=self.local):
            if status.configured and status.default_model:
                return f"{status.id}/{status.default_model}"
        return None


def _load_offline() -> Any:  # noqa: ANN401 - the module; it imports LangChain
    return import_module("headgate.agents.assistant.offline.model")
