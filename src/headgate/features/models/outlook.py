"""Whether a model is usable, determined without a connection and without writing."""

import asyncio
from urllib.parse import urlsplit

from pydantic import BaseModel

from headgate.features.models.catalogue import ModelInfo
from headgate.features.models.credentials import find_credentials
from headgate.features.models.local.models import LocalModels
from headgate.features.models.local.store import find_local
from headgate.features.models.params import ModelParams
from headgate.features.models.ports import KeySource
from headgate.features.models.providers import LOCAL, Provider, is_installed
from headgate.features.models.service import provider_of
from headgate.features.models.setup.facts import HIDDEN, known_of
from headgate.foundation.errors import HeadgateError
from headgate.sdk.values import Model


class ModelOutlook(BaseModel):
    """What is known about a model before a call."""

    model: str
    usable: bool
    """Whether key, package and settings are present. Whether the provider knows the model is unknown."""
    problem: str = ""
    remedy: str = ""
    host: str = ""
    """Its server; empty for one that runs inside Headgate, and when only its package knows it."""
    variable: str = ""
    """Name of its key's variable, or of the missing one."""
    info: ModelInfo | None = None
    """Capabilities and costs; None for an unknown provider."""
    note: str = ""
    """A note on a usable model, such as that it is hidden from lists."""


async def look_at(model: Model, keys: KeySource, local: LocalModels | None = None) -> ModelOutlook:
    """Return the outlook of one model. Never raises for what is wrong with it."""
    info, keys = None, await keys.checks()
    try:
        provider = await provider_of(model.provider, keys)
        info = known_of(model, await keys.setup())
        params = ModelParams.parse(model.params, provider=provider, api_key=model.api_key)
        if not is_installed(provider):
            problem = f"The package of {provider.label} is not installed."
            return _unusable(model, info, problem, f"Install it with: {provider.install}")
        if provider.id == LOCAL:
            return await _local(model, info, local)
        credentials = await find_credentials(provider, params, keys)
    except HeadgateError as error:
        variable = str(error.extra.get("variable") or "")
        return _unusable(model, info, error.detail, error.remedy).model_copy(update={"variable": variable})
    return ModelOutlook(
        model=str(model),
        usable=True,
        host=_host(provider, credentials.base_url),
        variable=credentials.key_variable,
        info=info,
        note=f"{model}: {HIDDEN}" if info.hidden else "",
    )


async def _local(model: Model, info: ModelInfo, local: LocalModels | None) -> ModelOutlook:
    if local is None:
        return _unusable(model, info, "Local models are disabled.", "Choose another model.")
    await asyncio.to_thread(find_local, local.models_dir, model.name)
    return ModelOutlook(model=str(model), usable=True, info=info)


def _unusable(model: Model, info: ModelInfo | None, problem: str, remedy: str) -> ModelOutlook:
    return ModelOutlook(model=str(model), usable=False, problem=problem, remedy=remedy, info=info)


def _host(provider: Provider, address: str) -> str:
    known = address or (provider.base_url.default if provider.base_url is not None else None) or ""
    return urlsplit(known).netloc.rpartition("@")[2]
