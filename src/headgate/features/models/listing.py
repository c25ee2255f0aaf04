"""Lists the models of a provider from its server, with a cache.

A cached list belongs to one server and one key, so a replaced key leads to a new request.
"""

import hashlib
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

import orjson
from pydantic import SecretStr

from headgate.features.models.credentials import Credentials, find_credentials
from headgate.features.models.params import ModelParams
from headgate.features.models.ports import KeySource
from headgate.features.models.providers import Provider
from headgate.foundation.errors import HeadgateError, UpstreamFailed
from headgate.foundation.guarded_http.addresses import Network
from headgate.foundation.guarded_http.errors import HostNotFound, ProxyFailed
from headgate.foundation.guarded_http.outgoing import MODEL_LISTS
from headgate.foundation.lazy import lazy_module
from headgate.foundation.settings import HttpSettings, OutgoingSettings

if TYPE_CHECKING:
    from headgate.foundation import guarded_http
else:
    guarded_http = lazy_module("headgate.foundation.guarded_http")

PATIENCE_SECONDS = 3.0
"""Timeout of a server. A user waits for the page."""
_DEFAULT_PATIENCE_SECONDS = 0.5
"""Timeout when no address is configured: most likely there is no server."""
FRESH_SECONDS = 300.0
OWN_FRESH_SECONDS = 30.0
"""Cache time for self-hosted servers: users add models and expect to see them soon."""
FAILED_SECONDS = 10.0
_MOST_CACHED = 1_000
_REFUSED = frozenset({401, 403})
_NO_LIST = frozenset({404, 405, 501})


@dataclass(frozen=True, slots=True)
class Listing:
    """A server's list of models."""

    names: tuple[str, ...] | None = None
    """In the server's order; None when it has no list or could not be reached."""
    problem: str = ""
    """Why the request failed, in a sentence; empty when it succeeded."""
    remedy: str = ""
    reached: bool = True
    """Whether the server answered."""


@dataclass(frozen=True, slots=True)
class _Protocol:
    """Listing protocol of one kind of server."""

    path: str
    names: Callable[[Any], Sequence[str]]
    """Parses the names in the response. Raises `KeyError`, `TypeError` or `ValueError` when it is invalid."""
    key_header: str = "Authorization"
    key_prefix: str = "Bearer "
    headers: Mapping[str, str] = field(default_factory=dict)


def _ids(answer: Any) -> Sequence[str]:  # noqa: ANN401 - of outside
    return [str(entry["id"]) for entry in answer["data"]]


def _ollama_names(answer: Any) -> Sequence[str]:  # noqa: ANN401
    return [str(entry["name"]) for entry in answer["models"]]


def _google_names(answer: Any) -> Sequence[str]:  # noqa: ANN401
    chats = [model for model in answer["models"] if "generateContent" in model.get("supportedGenerationMethods", ())]
    return [str(model["name"]).removeprefix("models/") for model in chats]


def _watsonx_names(answer: Any) -> Sequence[str]:  # noqa: ANN401
    chats = [model for model in answer["resources"] if {"id": "text_chat"} in model.get("functions", ())]
    return [str(model["model_id"]) for model in chats]


_OPENAI = _Protocol("/models", _ids)
_OLLAMA = _Protocol("/api/tags", _ollama_names)
_PROTOCOLS: Mapping[str, _Protocol] = {
    "openai": _OPENAI,
    "openai_compatible": _OPENAI,
    "groq": _Protocol("/openai/v1/models", _ids),
    "anthropic": _Protocol("/v1/models?limit=1000", _ids, "x-api-key", "", headers={"anthropic-version": "2023-06-01"}),
    "google": _Protocol("/v1beta/models?pageSize=1000", _google_names, "x-goog-api-key", ""),
    "ollama": _OLLAMA,
    "watsonx": _Protocol("/ml/v1/foundation_model_specs?version=2024-10-10&limit=200", _watsonx_names, ""),
}
"""Provider to its list, as its own API reference describes it."""


@dataclass(frozen=True, slots=True)
class _Question:
    """One request for a list."""

    provider: Provider
    protocol: _Protocol
    address: str
    key: str = field(repr=False)
    key_variable: str
    networks: Sequence[Network]
    patience_seconds: float
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def place(self) -> tuple[str, str, str]:
        """Whose answer it is."""
        secrets = orjson.dumps([self.key, dict(self.headers)])
        return self.provider.id, self.address, hashlib.sha256(secrets).hexdigest()

    async def ask(self, outgoing: OutgoingSettings) -> Listing:
        """Request the list from the server."""
        settings = HttpSettings(allowed_internal_cidrs=list(self.networks), timeout_seconds=self.patience_seconds)
        headers = {"Accept": "application/json", **self.protocol.headers, **self.headers}
        if self.key and self.protocol.key_header:
            headers[self.protocol.key_header] = f"{self.protocol.key_prefix}{self.key}"
        http = guarded_http.GuardedHttp(MODEL_LISTS.limits(settings), outgoing, pauses=())
        try:
            answer = await http.request("GET", self.address + self.protocol.path, headers=headers)
        except ProxyFailed as error:
            return Listing(None, error.detail, error.remedy)
        except UpstreamFailed:
            return Listing(None, f"{self._nobody} answers at {self.address}.", self._start_it, reached=False)
        except HeadgateError as error:
            return Listing(None, error.detail, error.remedy)
        finally:
            await http.close()
        return self._read(answer.status, answer.content)

    def _read(self, status: int, content: bytes) -> Listing:
        if status in _REFUSED:
            refused = f"The server at {self.address} rejected the key ({status})."
            return Listing(None, refused, self._check_key)
        if status in _NO_LIST and self.protocol is not _OLLAMA:
            return Listing()
        if status != HTTPStatus.OK:
            return Listing(None, f"The server at {self.address} answered with status {status}.", self._start_it)
        try:
            return Listing(tuple(dict.fromkeys(self.protocol.names(orjson.loads(content)))))
        except (ValueError, KeyError, TypeError, AttributeError):
            return Listing(None, f"The response from {self.address} is not a list of models.", self._start_it)

    @property
    def _nobody(self) -> str:
        if self.provider.server is not None:
            return f"The model server '{self.provider.label}' is not reached: nothing"
        return f"No {self.provider.label.removesuffix(' server')} server"

    @property
    def _check_key(self) -> str:
        if self.provider.server is not None:
            return f"Change the key of '{self.provider.label}' in Settings, Models."
        return f"Check the variable {self.key_variable}." if self.key_variable else ""

    @property
    def _start_it(self) -> str:
        setting = self.provider.base_url
        if self.provider.server is not None:
            return "Start it, or change its URL in Settings, Models."
        return f"Start it, or set {setting.variables[0]} to where it runs." if setting else "Try again later."


@dataclass(slots=True)
class _CachedListing:
    listing: Listing
    until: float


_cache: dict[tuple[str, str, str], _CachedListing] = {}


async def list_offered(provider: Provider, keys: KeySource, *, refresh: bool = False) -> Listing:
    """Return the models of one provider as its server lists them. Never raises for what is wrong with server or key.

    Args:
        provider: Whose.
        keys: Where key and address come from.
        refresh: Whether to ask although an answer is cached.
    """
    if provider.kind not in _PROTOCOLS:
        return Listing()
    try:
        question = _question(provider, await find_credentials(provider, ModelParams(), keys))
    except HeadgateError as error:
        return Listing(None, error.detail, error.remedy)
    cached = _cache.get(question.place)
    if cached is not None and not refresh and time.monotonic() < cached.until:
        return cached.listing
    listing = await question.ask(keys.outgoing)
    if len(_cache) >= _MOST_CACHED:
        _cache.clear()
    fresh = OWN_FRESH_SECONDS if provider.flow_base_url else FRESH_SECONDS
    _cache[question.place] = _CachedListing(listing, time.monotonic() + (FAILED_SECONDS if listing.problem else fresh))
    return listing


async def check_address(address: str, networks: Sequence[Network]) -> None:
    """Raise `AddressRefused` or `BadUrl` for a forbidden address; an unreachable one is allowed.

    Args:
        address: Where a model server is said to be.
        networks: Internal networks that it may be in.
    """
    target = guarded_http.parse_target(address)
    policy = guarded_http.AddressPolicy.of(OutgoingSettings.model_construct(), networks)
    with suppress(HostNotFound):
        await guarded_http.resolve_checked(
            target.host, target.port, policy=policy, resolver=guarded_http.system_resolver
        )


def forget_lists() -> None:
    """Clear the cache of all lists."""
    _cache.clear()


def _question(provider: Provider, credentials: Credentials) -> _Question:
    default = provider.base_url.default if provider.base_url is not None else None
    address = credentials.base_url or provider.servers[0]
    key = credentials.arguments.get(provider.key.argument) if provider.key is not None else None
    return _Question(
        provider,
        _PROTOCOLS[provider.kind],
        address.rstrip("/"),
        key.get_secret_value() if isinstance(key, SecretStr) else "",
        credentials.key_variable,
        credentials.networks or (),
        _DEFAULT_PATIENCE_SECONDS if provider.id == "ollama" and address == default else PATIENCE_SECONDS,
        credentials.headers,
    )
