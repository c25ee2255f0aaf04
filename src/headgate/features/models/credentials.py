"""Find a provider's key and address among the variables, and send a key nowhere but where it belongs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pydantic import SecretStr

from headgate.features.models.errors import BadModelSettings, KeyMissing
from headgate.features.models.params import ModelParams
from headgate.features.models.ports import KeySource
from headgate.features.models.providers import PROVIDER_VARIABLES, PROVIDERS, Provider, Setting
from headgate.features.models.setup.values import ModelServer
from headgate.features.secrets.errors import VariableNotFound
from headgate.features.secrets.service import origin_of
from headgate.foundation.guarded_http.addresses import Network
from headgate.foundation.guarded_http.outgoing import OPERATOR_NETWORKS


@dataclass(frozen=True, slots=True)
class Credentials:
    """Constructor arguments from variables, and the sources of key and address."""

    arguments: dict[str, Any]
    key_variable: str
    """Name of the key's variable; empty when there is none."""
    base_url: str
    """The address to call; empty when the provider's package knows it."""
    networks: Sequence[Network] | None = None
    """Internal networks of the address; None for those that flows may reach."""
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Further headers of each request."""


async def find_credentials(provider: Provider, params: ModelParams, keys: KeySource) -> Credentials:
    """Key, address and further settings of a provider.

    Raises:
        KeyMissing: A required variable is set nowhere; the error names it, and the user's own when they named one.
        BadModelSettings: The variable they named is another provider's key.
    """
    if provider.server is not None:
        return await _of_server(provider, provider.server, params, keys)
    own_address = await find_server(provider, keys)
    address = params.base_url or own_address.address or None
    if provider.base_url is not None and address is None and provider.base_url.required:
        raise _address_missing(provider, provider.base_url)
    key = await _find_key(provider, params, keys, own_address.address or None)
    arguments: dict[str, Any] = {}
    if provider.base_url is not None and address is not None:
        arguments[provider.base_url.argument] = address
    if provider.key is not None and key is not None:
        arguments[provider.key.argument] = SecretStr(key.value)
    for setting in provider.settings:
        credential = await _lookup(setting, keys)
        if credential is not None:
            arguments[setting.argument] = credential.value
        elif setting.required:
            raise _variable_missing(provider, setting)
    networks = None if params.base_url else own_address.networks
    return Credentials(arguments, key.variable if key else "", address or "", networks)


async def _of_server(provider: Provider, server: ModelServer, params: ModelParams, keys: KeySource) -> Credentials:
    """Return the key and headers stored with a user-defined server."""
    if params.api_key is not None:
        raise BadModelSettings(
            f"The model server '{server.name}' has its own key; a step cannot replace it.",
            remedy="Remove 'api_key', or add a second server with that key in Settings, Models.",
        )
    access = await keys.access(server)
    headers = dict(access.headers)
    arguments: dict[str, Any] = {"base_url": server.address}
    if provider.key is not None:
        arguments[provider.key.argument] = access.key or SecretStr(provider.key.default or "")
    elif access.key is not None:
        headers["Authorization"] = f"Bearer {access.key.get_secret_value()}"
    return Credentials(arguments, "", server.address, server.networks, headers)


def variables_of(providers: Iterable[Provider]) -> frozenset[str]:
    """Return the names of all variables that the providers read."""
    settings = (setting for provider in providers for setting in provider.all_settings)
    return frozenset(name for setting in settings for name in setting.variables)


def missing_variable(provider: Provider, available: frozenset[str]) -> str | None:
    """Return the name of the first required variable that is not available; None when nothing is missing."""
    for setting in provider.all_settings:
        if setting.required and setting.default is None and available.isdisjoint(setting.variables):
            return setting.variables[0]
    return None


async def find_address(provider: Provider, keys: KeySource) -> str | None:
    """Return the address of the provider's server, from its variable or default."""
    server = await _lookup(provider.base_url, keys)
    return server.value if server else None


async def find_server(provider: Provider, keys: KeySource) -> "Server":
    """Return the same with the internal networks that it may be in."""
    server = await _lookup(provider.base_url, keys)
    if server is None or provider.base_url is None:
        return Server("", None)
    if server.variable:
        return Server(server.value, await keys.networks(server.variable))
    return Server(server.value, OPERATOR_NETWORKS if provider.base_url.default_is_internal else None)


async def own_origins(provider: Provider, keys: KeySource) -> frozenset[str]:
    """Return the servers of a provider's key: its own, and the one set by the operator or tenant."""
    address = await find_address(provider, keys)
    default = provider.base_url.default if provider.base_url is not None else None
    return frozenset(origin_of(url) for url in (address, default, *provider.servers) if url)


async def secret_for(name: str, url: str, keys: KeySource) -> SecretStr:
    """Return a variable's value, to be sent to an address that a flow names.

    Raises `VariableNotFound`; `Forbidden` when it was stored for other servers, or is a model provider's and the
    address is not.
    """
    provider = PROVIDER_VARIABLES.get(name)
    own = provider is not None and origin_of(url) in await own_origins(PROVIDERS[provider], keys)
    secret = await keys.key(name) if own else await keys.key_for(name, url, bound=provider is not None)
    if secret is None:
        raise VariableNotFound(name)
    return secret


@dataclass(frozen=True, slots=True)
class Server:
    """A provider's server, from its variable or default."""

    address: str
    """Empty when neither is set: its package knows the address."""
    networks: Sequence[Network] | None
    """Internal networks of the server; None for those that flows may reach."""


@dataclass(frozen=True, slots=True)
class _Found:
    value: str
    variable: str = ""


async def _lookup(setting: Setting | None, keys: KeySource) -> _Found | None:
    if setting is None:
        return None
    for name in setting.variables:
        value = await keys.key(name)
        if value is not None and value.get_secret_value().strip():
            return _Found(value.get_secret_value().strip(), name)
    return _Found(setting.default) if setting.default is not None else None


async def _find_key(provider: Provider, params: ModelParams, keys: KeySource, own_address: str | None) -> _Found | None:
    setting = provider.key
    if setting is None:
        return None
    chosen = params.base_url if params.base_url and not _same_origin(params.base_url, own_address) else None
    if params.api_key is not None:
        return await _named_key(provider, setting, params.api_key.name, keys, chosen=chosen or "", own=own_address)
    if chosen is not None:
        # The flow chose the server: it gets the stored key only when it is the server the key was stored for.
        return _Found(setting.default) if setting.default is not None else None
    key = await _lookup(setting, keys)
    if key is None and setting.required:
        raise _variable_missing(provider, setting)
    return key


async def _named_key(
    provider: Provider, setting: Setting, name: str, keys: KeySource, *, chosen: str, own: str | None
) -> _Found:
    """Return the key in the variable that a flow names, if it belongs to the server that is called."""
    owner = PROVIDER_VARIABLES.get(name, provider.id)
    if owner != provider.id:
        raise BadModelSettings(
            f"The variable {name} contains a key of {PROVIDERS[owner].label}; it is not sent to {provider.label}.",
            remedy="Store this provider's key in a separate variable and refer to that in 'api_key'.",
        )
    key = await _sendable(name, keys, chosen=chosen, own=own, usual=name in setting.variables)
    if key is None:
        usual = setting.variables[0]
        raise KeyMissing(
            f"The variable {name}, which the model's settings use as the key of {provider.label}, is not set.",
            remedy=f"Set it with `headgate variables set {name}`, or remove 'api_key' to use {usual}.",
            variable=name,
            usual_variable=usual,
        )
    return key


async def _sendable(name: str, keys: KeySource, *, chosen: str, own: str | None, usual: bool) -> _Found | None:
    """A variable's value. Raises `Forbidden` when it was stored for other servers, or for none and the flow chose."""
    if chosen:
        value = await keys.key_for(name, chosen)
    elif own is None or usual:
        value = await keys.key(name)
    else:
        value = await keys.key_for(name, own, bound=False)
    text = value.get_secret_value().strip() if value is not None else ""
    return _Found(text, name) if text else None


def _variable_missing(provider: Provider, setting: Setting) -> KeyMissing:
    name = setting.variables[0]
    what = "needs a key" if setting is provider.key else f"needs '{setting.argument}'"
    return KeyMissing(
        f"{provider.label} {what}, and the variable {name} is not set.",
        remedy=f"Set it with `headgate variables set {name}`, or as an environment variable of the same name.",
        variable=name,
        provider=provider.id,
    )


def _address_missing(provider: Provider, setting: Setting) -> KeyMissing:
    name = setting.variables[0]
    in_flow = "Set 'base_url' in the model's settings, or set it" if provider.flow_base_url else "Set it"
    return KeyMissing(
        f"{provider.label} requires a URL, and the variable {name} is not set.",
        remedy=f"{in_flow} with `headgate variables set {name}`, or as an environment variable of the same name.",
        variable=name,
        provider=provider.id,
    )


def _same_origin(url: str, other: str | None) -> bool:
    return other is not None and origin_of(url) == origin_of(other)
