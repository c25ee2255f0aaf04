"""Every HTTP client of the table of outgoing connections, ready to be asked for an address."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import partial
from ipaddress import ip_network
from typing import Any

import httpx
import httpx2
import requests
from langsmith import Client
from pydantic import SecretStr

from headgate.agents.codev.domains.flowise.client import FlowiseClient, Server
from headgate.features.accounts.single_sign_on.provider import open_http
from headgate.features.connections.http import ConnectionHttp
from headgate.features.connections.oauth.provider import post
from headgate.features.connections.outside.values import OutsideValues
from headgate.features.connections.sealed import OutsideValue
from headgate.features.files.s3_storage import S3Storage
from headgate.features.mcptools.registry import McpRegistry
from headgate.features.models import clients
from headgate.features.models.embeddings import embed
from headgate.features.models.listing import list_offered
from headgate.features.models.local import sources
from headgate.features.models.providers import PROVIDERS, Provider, find_provider, is_installed
from headgate.features.models.reranking import rerank
from headgate.features.models.service import create_chat_model
from headgate.features.models.transcription import transcribe
from headgate.foundation.errors import HeadgateError
from headgate.foundation.guarded_http import Credential
from headgate.foundation.guarded_http.addresses import Network
from headgate.foundation.guarded_http.outgoing import (
    CODEV,
    CONNECTIONS,
    DELIVERIES,
    FLOWISE,
    FLOWISE_OPERATOR,
    LANGSMITH,
    MCP,
    MCP_REGISTRY,
    MODEL_LISTS,
    MODELS,
    OAUTH,
    OPERATOR_NETWORKS,
    SINGLE_SIGN_ON,
    STEPS,
    STORAGE,
    TRACES,
    VAULT,
    WEIGHTS,
    WEIGHTS_MIRROR,
    Outgoing,
)
from headgate.foundation.guarded_http.requests_session import guarded_session
from headgate.foundation.guarded_http.targets import Target
from headgate.foundation.ids import new_id
from headgate.foundation.settings import (
    ConnectionSettings,
    HttpSettings,
    McpSettings,
    OutgoingSettings,
    StorageSettings,
)
from headgate.sdk.values import Model, Recording
from tests.support.direct import DIRECT
from tests.support.keys import GivenKeys
from tests.support.web import open_web

PUBLIC = "127.0.0.2"
"""The only address that is public here."""
FAR = "10.99.0.1"
"""The same through the operator's proxy: loopback never goes through it."""
OPEN: list[Network] = [ip_network(f"{PUBLIC}/32"), ip_network(f"{FAR}/32")]
SETTINGS = HttpSettings(allowed_internal_cidrs=OPEN)
Send = Callable[[str], Awaitable[str]]
"""Asks for an address; gives what came back."""


@dataclass(frozen=True)
class Way:
    """One client."""

    id: str
    row: Outgoing
    send: Send
    operator: bool = False
    """Whether private addresses and loopback are open to it, since the operator chose them."""


_outgoing: ContextVar[OutgoingSettings] = ContextVar("outgoing", default=DIRECT)


def outgoing() -> OutgoingSettings:
    """The settings of the operator's proxy for the clients here."""
    return _outgoing.get()


@contextmanager
def through(settings: OutgoingSettings) -> Iterator[None]:
    """Within it every client is made with these settings."""
    token = _outgoing.set(settings)
    try:
        yield
    finally:
        _outgoing.reset(token)


class StoredKeys(GivenKeys):
    """Addresses that a tenant stored."""

    @property
    def outgoing(self) -> OutgoingSettings:  # type: ignore[override]
        return outgoing()

    async def networks(self, name: str) -> Sequence[Network]:
        return OPEN


class OfAnyHost(Credential):
    """A credential whose hosts limit nothing, so only the guard does."""

    def require(self, target: Target) -> None:
        """Accept every server."""


async def said_by(send: Send, url: str) -> str:
    """What a client gives for an address, or the name of its failure."""
    try:
        return await send(url)
    except HeadgateError as error:
        return error.code
    except (httpx2.HTTPError, httpx2.InvalidURL, httpx.HTTPError, httpx.InvalidURL, requests.RequestException) as error:
        return type(error).__name__
    except (OSError, UnicodeError, ValueError) as error:
        return type(error).__name__


async def _guarded(method: str, url: str) -> str:
    web = open_web(SETTINGS, outgoing())
    try:
        if method == "request":
            return (await web.request("GET", url)).text
        if method == "post_once":
            return str(await web.post_once(url, headers={}, body=b"{}"))
        async with web.streaming_client() as client:
            return (await client.get(url)).text
    finally:
        await web.close()


async def _connection(url: str) -> str:
    """A request of a flow with the credential of a connection."""
    web = open_web(SETTINGS, outgoing())

    async def credential(_renewed: bool) -> Credential:
        return OfAnyHost("the connection 'crm'", (), headers={"Authorization": "Bearer token-0123456789"})

    try:
        return (await ConnectionHttp(web, "crm", credential).request("GET", url)).text
    finally:
        await web.close()


async def _oauth_provider(url: str) -> str:
    web = open_web(OAUTH.limits(SETTINGS), outgoing())
    try:
        return str(await post(web, url, {}, "grant_type=client_credentials"))
    finally:
        await web.close()


async def _registry(url: str) -> str:
    web = open_web(MCP_REGISTRY.limits(SETTINGS), outgoing())
    try:
        return str(await McpRegistry(McpSettings(registry_url=url), web).search("x"))
    finally:
        await web.close()


async def _vault(url: str) -> str:
    settings = ConnectionSettings(vault_url=url, vault_token=SecretStr("token-0123456789"))
    web = open_web(VAULT.limits(SETTINGS), outgoing())
    value = OutsideValue.model_validate({"from": "vault", "path": "crm", "key": "token"})
    try:
        found = await OutsideValues(settings, web).read(value, tenant_id=new_id(), space_id=new_id())
        return found.get_secret_value()
    finally:
        await web.close()


async def _model(provider: str, variable: bool, url: str) -> str:
    """A real call by the provider's own library, its address stored as a variable or written in the flow."""
    web, known = open_web(SETTINGS, outgoing()), PROVIDERS[provider]
    values = {name: "key-0123456789" for one in known.all_settings for name in one.variables}
    if known.base_url is not None:
        values[known.base_url.variables[0]] = url
    params: dict[str, Any] = {"max_retries": 0} if "max_retries" in known.params else {}
    if not variable:
        params["base_url"] = url
        values = {}
    try:
        chat = await create_chat_model(Model(provider=provider, name="m", params=params), StoredKeys(**values), web=web)
        return str((await chat.ainvoke("hi")).text)
    finally:
        await web.close()


async def _transcription(url: str) -> str:
    web = open_web(SETTINGS, outgoing())
    model = Model(provider="openai_compatible", name="m", params={"base_url": url, "max_retries": 0})
    try:
        return (await transcribe(model, Recording("a.wav", b"RIFF", "audio/wav"), StoredKeys(), web=web)).text
    finally:
        await web.close()


async def _embedding(provider: str, url: str) -> str:
    web = open_web(SETTINGS, outgoing())
    model = Model(provider=provider, name="m", params={"base_url": url})
    try:
        return str(await embed(model, ["text"], StoredKeys(), web=web))
    finally:
        await web.close()


async def _reranking(url: str) -> str:
    web = open_web(SETTINGS, outgoing())
    model = Model(provider="openai_compatible", name="m", params={"base_url": url})
    try:
        return str(await rerank(model, "text", ["text"], StoredKeys(), web=web))
    finally:
        await web.close()


async def _library(provider: Provider, blocking: bool, url: str) -> str:
    """A request by a client made of the very arguments that a provider's library is given."""
    web = open_web(SETTINGS, outgoing())
    given = clients.client_arguments(provider, {}, web.library_transport())
    arguments = given.get(str(provider.client), {})
    if "http_client" in given:
        made: Any = given["http_client" if blocking else "http_async_client"]
    else:
        made = (httpx.Client if blocking else httpx.AsyncClient)(**arguments)
    try:
        if blocking:
            return str((await asyncio.to_thread(made.get, url)).text)
        return str((await made.get(url)).text)
    finally:
        await web.close()


async def _ollama_list(url: str) -> str:
    return str(await list_offered(find_provider("ollama"), StoredKeys(OLLAMA_BASE_URL=url), refresh=True))


async def _session(url: str) -> str:
    session = guarded_session(OPERATOR_NETWORKS, outgoing())
    with session:
        return (await asyncio.to_thread(session.get, url, timeout=5)).text


async def _langsmith(url: str) -> str:
    """As its own client leaves the session: it mounts adapters of its own."""
    client = Client(
        url, api_key="key-0123456789", session=guarded_session(OPERATOR_NETWORKS, outgoing()), auto_batch_tracing=False
    )
    return (await asyncio.to_thread(client.session.get, url, timeout=5)).text


async def _storage(url: str) -> str:
    """The S3 library, which is compiled: it connects through the relay."""
    keys = {"access_key_id": SecretStr("key"), "secret_access_key": SecretStr("secret")}
    store = S3Storage(StorageSettings(kind="s3", bucket="bucket", endpoint_url=url, **keys), outgoing(), retries=0)
    await store.delete(new_id(), new_id())
    return "deleted"


async def _sign_in(url: str) -> str:
    http = open_http(outgoing())
    try:
        return (await http.request("GET", url)).text
    finally:
        await http.close()


async def _flowise(vouched: bool, url: str) -> str:
    made = FlowiseClient(Server("f", url, SecretStr("key-0123456789"), vouched), SETTINGS, outgoing(), 5)
    try:
        return await made.version()
    finally:
        await made.close()


async def _weights(mirror: bool, url: str) -> str:
    with (sources._mirror_client if mirror else sources._https_client)(outgoing()) as made:
        return (await asyncio.to_thread(made.get, url)).text


def _of_libraries() -> Iterator[Way]:
    for provider in PROVIDERS.values():
        if provider.client in {"httpx2", "httpx", "client_kwargs", "client_args"}:
            yield Way(f"{provider.id}_waiting", MODELS, partial(_library, provider, False))
            yield Way(f"{provider.id}_blocking", MODELS, partial(_library, provider, True))
        if provider.client != "own" and is_installed(provider):
            yield Way(f"{provider.id}_stored", MODELS, partial(_model, provider.id, True))
            if provider.flow_base_url:
                yield Way(f"{provider.id}_of_flow", MODELS, partial(_model, provider.id, False))


WAYS = [
    Way("steps", STEPS, partial(_guarded, "request")),
    Way("deliveries", DELIVERIES, partial(_guarded, "post_once")),
    Way("codev", CODEV, partial(_guarded, "post_once")),
    Way("mcp", MCP, partial(_guarded, "streaming")),
    Way("transcription", MODELS, _transcription),
    Way("embeddings_openai", MODELS, partial(_embedding, "openai_compatible")),
    Way("embeddings_ollama", MODELS, partial(_embedding, "ollama")),
    Way("rerank", MODELS, _reranking),
    Way("ollama_list", MODEL_LISTS, _ollama_list),
    Way("connections", CONNECTIONS, _connection),
    Way("oauth", OAUTH, _oauth_provider),
    Way("vault", VAULT, _vault, operator=True),
    Way("mcp_registry", MCP_REGISTRY, _registry, operator=True),
    Way("weights", WEIGHTS, partial(_weights, False)),
    Way("weights_mirror", WEIGHTS_MIRROR, partial(_weights, True), operator=True),
    Way("flowise", FLOWISE, partial(_flowise, False)),
    Way("flowise_operator", FLOWISE_OPERATOR, partial(_flowise, True), operator=True),
    Way("single_sign_on", SINGLE_SIGN_ON, _sign_in, operator=True),
    Way("traces", TRACES, _session, operator=True),
    Way("storage", STORAGE, _storage, operator=True),
    Way("langsmith", LANGSMITH, _langsmith, operator=True),
    *_of_libraries(),
]
"""Every client that an address can be given to."""
