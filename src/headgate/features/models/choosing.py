"""Which model works where nobody named one, and what keeps a model from being asked."""

from dataclasses import dataclass

from headgate.features.models import outlook, service
from headgate.features.models.local.models import LocalModels
from headgate.features.models.ports import KeySource
from headgate.features.models.providers import LOCAL
from headgate.sdk import Model


@dataclass(frozen=True, slots=True)
class Unready:
    """Why a model cannot be asked."""

    provider: str
    ready: tuple[str, ...]
    """Providers that could be asked instead."""
    problem: str
    remedy: str


async def first_configured(keys: KeySource, *, name: str | None = None) -> Model | None:
    """The model of the first provider that has its key; never a local one, which cannot hold a long conversation."""
    for status in await service.list_providers(keys):
        if status.configured and status.id != LOCAL and status.default_model:
            return Model(provider=status.id, name=name or status.default_model)
    return None


async def unready(model: Model, keys: KeySource, local: LocalModels | None) -> Unready | None:
    """What keeps the model from being asked; None when nothing does, as far as it shows without asking."""
    seen = await outlook.look_at(model, keys, local)
    if seen.usable:
        return None
    ready = tuple(status.id for status in await service.list_providers(keys, local=local) if status.configured)
    return Unready(model.provider, ready, seen.problem, seen.remedy)
