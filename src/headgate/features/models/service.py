"""Creates chat models from `provider/name`, and reports which providers are ready. Heavy packages load on first use."""

import asyncio
from collections.abc import Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict

from headgate.features.models import catalogue
from headgate.features.models.calling import caller_of, checked_params
from headgate.features.models.catalogue import ModelInfo
from headgate.features.models.credentials import Credentials, find_credentials, missing_variable, variables_of
from headgate.features.models.diagnosis import Caller, friendly_error
from headgate.features.models.errors import BadModelSettings
from headgate.features.models.listing import Listing, list_offered
from headgate.features.models.local.models import LocalModels
from headgate.features.models.params import accepted_params, constructor_arguments, put_argument
from headgate.features.models.ports import CallLog, GuardedWeb, KeySource
from headgate.features.models.providers import (
    LOCAL,
    PROVIDERS,
    Provider,
    find_provider,
    import_chat_class,
    is_installed,
    known_provider,
    of_server,
)
from headgate.features.models.setup.facts import known_of, with_facts
from headgate.features.models.setup.values import ModelRole
from headgate.foundation.lazy import lazy_module
from headgate.sdk.values import Model

if TYPE_CHECKING:  # named without importing LangChain and the HTTP library at start-up
    from langchain_core.language_models import BaseChatModel

    from headgate.features.models import clients
    from headgate.foundation.guarded_http.transport import SharedTransport
else:
    clients = lazy_module("headgate.features.models.clients")

__all__ = ["ProviderStatus", "create_chat_model", "friendly_error", "list_providers"]


class ProviderSetting(BaseModel):
    """A setting of a provider, stored as a variable."""

    model_config = ConfigDict(frozen=True)

    variable: str
    """The variable to store it under, the first of those that are looked up."""
    kind: Literal["key", "address", "setting"]
    required: bool
    default: str | None
    """The default; never a key."""
    is_set: bool = False
    """Whether a value is stored or in the environment."""


class ProviderStatus(BaseModel):
    """Whether a provider can be used now, and if not, what to do."""

    model_config = ConfigDict(frozen=True)

    id: str
    label: str
    configured: bool
    installed: bool
    reason: str
    """Why it is not configured, or that it is ready, in one sentence."""
    remedy: str
    install: str
    variables: tuple[str, ...]
    """Names of the variables it reads, the key first."""
    settings: tuple[ProviderSetting, ...]
    """Its settings, the key first."""
    params: tuple[str, ...]
    """Names that it accepts in `Model.params`."""
    default_model: str | None
    docs: str
    server: bool = False
    """Whether it is a user-defined model server."""
    reached: bool = True
    """Whether its server answered, where it has one."""


async def create_chat_model(
    model: Model,
    keys: KeySource,
    *,
    local: LocalModels | None = None,
    web: GuardedWeb,
    role: ModelRole | None = None,
) -> "BaseChatModel":
    """Return a LangChain chat model, its key filled in; its calls fail with a `HeadgateError` only.

    Args:
        model: Provider, name and params.
        keys: Where keys come from.
        local: The local models of this process; needed for the provider `local`.
        web: The way to the provider's server, wherever its address came from.
        role: What it was chosen for; errors then name the settings of that role.

    Raises:
        Invalid: Unknown provider, package or key missing, or wrong settings; each says what to do.
        LocalModelMissing: A local model that was not pulled.
        Forbidden: The flow's address may not be called, or its key is not for it.
    """
    provider = await provider_of(model.provider, keys)
    params = await checked_params(model, provider, web)
    if provider.id == LOCAL:
        credentials = Credentials(_local_arguments(model, local), "", "")
    else:
        credentials = await find_credentials(provider, params, keys)
    arguments = {"model": model.name, **constructor_arguments(provider, params), **credentials.arguments}
    if credentials.headers:
        put_argument(arguments, provider.headers, dict(credentials.headers))
    caller = caller_of(model, provider, credentials, params, role)
    shim = params.tool_shim
    if shim is None:
        shim = known_of(model, await keys.setup()).tools == "shim"
    # Importing a provider's package and building its client take up to seconds, during which others must be served.
    transport = None if provider.id == LOCAL else web.library_transport(credentials.networks)
    return await asyncio.to_thread(_build, provider, arguments, caller, transport, shim=shim)


async def provider_of(provider_id: str, keys: KeySource) -> Provider:
    """Return the provider of that id, or the model server of that name. Raises `UnknownProvider`."""
    return known_provider(provider_id) or find_provider(provider_id, (await keys.setup()).servers)


async def every_provider(keys: KeySource) -> list[Provider]:
    """Providers in the order a default is looked for; the model servers of the space before Headgate's own models."""
    servers = (await keys.setup()).servers
    *table, own = PROVIDERS.values()
    return [*table, *(of_server(servers[name]) for name in sorted(servers)), own]


async def list_providers(keys: KeySource, *, local: LocalModels | None = None) -> list[ProviderStatus]:
    """Return every provider in the order a default is looked for, without importing any provider's package."""
    providers = await every_provider(keys)
    return await _statuses(providers, keys, local)


async def offered_models(
    status: ProviderStatus,
    keys: KeySource,
    *,
    local: LocalModels | None = None,
    refresh: bool = False,
    hidden: bool = False,
) -> list[ModelInfo]:
    """Return the chat models of a provider, best known first: those of its server, with facts from the catalogue.

    The catalogue's where the provider is not ready or its server has no list. What the organisation says of models is
    merged in: those that it added are listed, those that it hid are not, unless `hidden`.
    """
    provider = await provider_of(status.id, keys)
    infos = await _listed(provider, status, keys, local=local, refresh=refresh)
    return with_facts(provider, infos, (await keys.setup()).facts, hidden=hidden)


async def _listed(
    provider: Provider, status: ProviderStatus, keys: KeySource, *, local: LocalModels | None, refresh: bool
) -> list[ModelInfo]:
    known = [] if provider.server is not None else catalogue.list_models(provider.id)
    if not status.configured:
        return known
    if provider.id == LOCAL:
        names: Sequence[str] | None = [model.name for model in await asyncio.to_thread(local.ready)] if local else []
    else:
        names = (await list_offered(provider, keys, refresh=refresh)).names
    return known if names is None else catalogue.describe(provider, names)


async def all_models(
    keys: KeySource,
    *,
    local: LocalModels | None = None,
    provider: str | None = None,
    refresh: bool = False,
    hidden: bool = False,
) -> list[ModelInfo]:
    """Return the chat models of every provider, or of one, in the order of providers. Raises `UnknownProvider`."""
    providers = await every_provider(keys) if provider is None else [await provider_of(provider, keys)]
    statuses = await _statuses(providers, keys, local)
    offers = await asyncio.gather(
        *(offered_models(status, keys, local=local, refresh=refresh, hidden=hidden) for status in statuses)
    )
    return [info for offered in offers for info in offered]


async def status_of(provider: Provider, keys: KeySource, local: LocalModels | None) -> ProviderStatus:
    """Whether one provider can be used now, without importing its package."""
    (status,) = await _statuses([provider], keys, local)
    return status


async def _statuses(providers: Sequence[Provider], keys: KeySource, local: LocalModels | None) -> list[ProviderStatus]:
    available = await keys.available(variables_of(providers))
    return list(await asyncio.gather(*(_status(provider, keys, local, available) for provider in providers)))


async def _status(
    provider: Provider, keys: KeySource, local: LocalModels | None, available: frozenset[str]
) -> ProviderStatus:
    installed, reached = is_installed(provider), True
    default = catalogue.default_name(provider.id)
    if not installed:
        reason, remedy = "Its package is not installed.", f"Install it with: {provider.install}"
    elif provider.id == LOCAL:
        default, reason, remedy = await asyncio.to_thread(_local_status, local)
    else:
        reason, remedy = _variable_status(provider, available)
        if not remedy and (provider.flow_base_url or provider.server is not None):
            listing = await list_offered(provider, keys)
            default, reason, remedy = await _server_status(provider, keys, listing)
            reached = listing.reached
    return ProviderStatus(
        id=provider.id,
        label=provider.label,
        configured=not remedy,
        installed=installed,
        reason=reason,
        remedy=remedy,
        install=provider.install,
        variables=tuple(name for setting in provider.all_settings for name in setting.variables),
        settings=_settings_of(provider, available),
        params=accepted_params(provider),
        default_model=default,
        docs=provider.docs,
        server=provider.server is not None,
        reached=reached,
    )


def _settings_of(provider: Provider, available: frozenset[str]) -> tuple[ProviderSetting, ...]:
    return tuple(
        ProviderSetting(
            variable=setting.variables[0],
            kind="key" if setting is provider.key else "address" if setting is provider.base_url else "setting",
            required=setting.required and setting.default is None,
            default=None if setting is provider.key else setting.default,
            is_set=not available.isdisjoint(setting.variables),
        )
        for setting in provider.all_settings
        if setting.variables
    )


def _variable_status(provider: Provider, available: frozenset[str]) -> tuple[str, str]:
    variable = missing_variable(provider, available)
    if variable is None:
        return "Ready.", ""
    return f"The variable {variable} is not set.", f"Set it: headgate variables set {variable}"


async def _server_status(provider: Provider, keys: KeySource, listing: Listing) -> tuple[str | None, str, str]:
    """Return the status of a self-hosted server: ready when it responds and has a model."""
    suggested = catalogue.default_name(provider.id)
    if listing.problem:
        return suggested, listing.problem, listing.remedy or "Check its address and key."
    if listing.names is None:
        added = with_facts(provider, [], (await keys.setup()).facts, hidden=False)
        if added:
            return added[0].name, "Ready.", ""
        return None, f"Ready. It does not list its models: add one in Settings, or name it as `{provider.id}/name`.", ""
    infos = catalogue.describe(provider, listing.names)
    models = with_facts(provider, infos, (await keys.setup()).facts, hidden=False)
    if models:
        return models[0].name, "Ready.", ""
    if infos:
        return None, "Ready. All of its models are hidden.", ""
    fetch = (
        f"Download one: ollama pull {suggested or 'qwen3'}"
        if provider.kind == "ollama"
        else ("Load a model on that server.")
    )
    return suggested, f"The server of {provider.label} has no chat models.", fetch


def _local_status(local: LocalModels | None) -> tuple[str | None, str, str]:
    suggested = catalogue.default_name(LOCAL)
    if local is None:
        return suggested, "Local models are disabled.", "Choose another provider."
    ready = local.ready()
    if not ready:
        return (
            suggested,
            "No local model is installed on this machine.",
            f"Download one: headgate models pull {suggested}",
        )
    return ready[0].name, "Ready.", ""


def _local_arguments(model: Model, local: LocalModels | None) -> dict[str, Any]:
    if local is None:
        raise BadModelSettings("Local models are disabled.", remedy="Choose another provider.")
    return local.client_arguments(model.name)


def _build(
    provider: Provider, arguments: dict[str, Any], caller: Caller, transport: "SharedTransport | None", *, shim: bool
) -> "BaseChatModel":
    chat_class = import_chat_class(provider)
    chat = langchain_side()
    model: BaseChatModel = chat.build_chat_model(
        chat_class,
        lambda: clients.client_arguments(provider, arguments, transport),
        caller,
        prepare=lambda made: clients.replace_clients(provider, made, transport),
        ends_are_marked=provider.ends_are_marked,
        shim=shim,
    )
    return model


def answering_once(chat: "BaseChatModel", model: Model, log: CallLog) -> "BaseChatModel":
    """Return the same chat model; calls whose answer `log` has are not repeated."""
    wrapped: BaseChatModel = langchain_side().answer_once(chat, model, log)
    return wrapped


def langchain_side() -> ModuleType:
    """Return the module that subclasses LangChain's classes, loaded when a model is first made."""
    from headgate.features.models import chat  # noqa: PLC0415 - imports LangChain (half a second)

    return chat
