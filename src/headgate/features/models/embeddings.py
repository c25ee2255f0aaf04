"""Texts into vectors, over OpenAI's `/embeddings`, which most servers of models speak too, or Ollama's `/api/embed`.

A local model is a server of the first kind. A text that is longer than it takes is embedded in windows, whose mean is
its vector: nothing is cut off.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from pydantic import SecretStr

from headgate.features.models.calling import caller_of, checked_params
from headgate.features.models.credentials import Credentials, find_credentials
from headgate.features.models.diagnosis import friendly_error
from headgate.features.models.errors import BadModelSettings, BrokenModelAnswer
from headgate.features.models.libraries import ollama_library, openai_library
from headgate.features.models.local.models import PLACEHOLDER_URL
from headgate.features.models.local.windows import in_windows
from headgate.features.models.ports import GuardedWeb, KeySource
from headgate.features.models.providers import LOCAL, Provider
from headgate.features.models.service import provider_of
from headgate.foundation.lazy import lazy_module
from headgate.sdk.values import Model

if TYPE_CHECKING:
    import httpx2

    from headgate.features.models import clients
    from headgate.features.models.local.models import LocalModels
else:
    clients = lazy_module("headgate.features.models.clients")

KINDS = ("openai", "openai_compatible", "ollama", LOCAL)
"""Protocols over which texts are embedded."""
MOST_TEXTS = 64
"""Texts of one request."""
MOST_DIMENSIONS = 8_192
_RETRIES = 2


@dataclass(frozen=True, slots=True)
class Embedded:
    """Vectors of texts, in their order."""

    vectors: tuple[tuple[float, ...], ...]
    tokens: int | None
    """Tokens of the texts, as counted by the server; None when it does not count them."""


@dataclass(frozen=True, slots=True)
class _Server:
    """How a request reaches a provider's server."""

    credentials: Credentials
    timeout_seconds: float
    client: "Callable[[], httpx2.AsyncClient]"
    classic: Callable[[], dict[str, Any]]
    """Arguments for a library that makes its own client."""


async def embed(
    model: Model, texts: Sequence[str], keys: KeySource, *, web: GuardedWeb, local: "LocalModels | None" = None
) -> Embedded:
    """Return the vectors of at most `MOST_TEXTS` texts, in one request.

    Args:
        model: For example `openai/text-embedding-3-small`, `ollama/nomic-embed-text`, or a model of a named server.
        texts: None of them is empty.
        keys: Where keys come from.
        web: The way to the provider's server.
        local: The local models of this process; needed for the provider `local`.

    Raises:
        LocalModelMissing: A local model that was not pulled.
        Invalid: A provider without embeddings, a missing key or package, or wrong settings.
        BrokenModelAnswer: The server answered with other than one vector of numbers for each text.
        HeadgateError: The failure of the call, as for a chat model.
    """
    provider = await provider_of(model.provider, keys)
    _require_embeddings(provider)
    params = await checked_params(model, provider, web)
    timeout = params.timeout_seconds or provider.timeout_seconds
    if provider.id == LOCAL:
        server = _local_server(model, local, timeout)
    else:
        credentials = await find_credentials(provider, params, keys)
        transport = web.library_transport(credentials.networks)
        server = _Server(
            credentials, timeout, partial(clients.client, transport), partial(clients.classic_arguments, transport)
        )
    caller = caller_of(model, provider, server.credentials, params)
    ask = _ASKING.get(provider.kind, _ask_openai)
    try:
        vectors, tokens = await ask(provider, model.name, texts, server)
    except Exception as error:  # noqa: BLE001 - the libraries raise anything; all of it is translated
        # Not chained: the libraries' exceptions hold request headers.
        raise friendly_error(error, caller) from None
    return Embedded(_checked(vectors, len(texts), caller.model), tokens)


def _local_server(model: Model, local: "LocalModels | None", timeout_seconds: float) -> _Server:
    """Return the local model's server. Raises `BadModelSettings`."""
    if local is None:
        raise BadModelSettings("Local models are disabled.", remedy="Choose another provider.")
    credentials = Credentials({"api_key": SecretStr(LOCAL)}, "", PLACEHOLDER_URL)
    return _Server(credentials, timeout_seconds, partial(local.client, model.name, "embedding"), dict)


def _require_embeddings(provider: Provider) -> None:
    if provider.kind not in KINDS:
        raise BadModelSettings(
            f"{provider.label} has no embedding API that Headgate supports.",
            remedy=f"Use a model of {', '.join(KINDS)} or of a model server, such as openai/text-embedding-3-small.",
        )


async def _ask_openai(provider: Provider, name: str, texts: Sequence[str], server: "_Server") -> tuple[Any, int | None]:
    credentials = server.credentials
    client = openai_library(provider, f"Embedding by {provider.label}").AsyncOpenAI(
        api_key=credentials.arguments["api_key"].get_secret_value(),
        organization=credentials.arguments.get("organization"),
        base_url=credentials.base_url,
        timeout=server.timeout_seconds,
        default_headers=dict(credentials.headers),
        http_client=server.client(),
        max_retries=provider.fixed.get("max_retries", _RETRIES),
    )
    async with client:
        answer = await client.embeddings.create(model=name, input=list(texts), encoding_format="float")
    ordered = sorted(answer.data, key=lambda entry: entry.index)
    tokens = getattr(answer.usage, "prompt_tokens", None)
    return [entry.embedding for entry in ordered], tokens


async def _ask_ollama(provider: Provider, name: str, texts: Sequence[str], server: "_Server") -> tuple[Any, int | None]:
    credentials = server.credentials
    client = ollama_library(provider, f"Embedding by {provider.label}").AsyncClient(
        credentials.base_url,
        timeout=server.timeout_seconds,
        headers=dict(credentials.headers),
        **server.classic(),
    )
    async with client:
        answer = await client.embed(name, list(texts))
    return answer.embeddings, answer.prompt_eval_count


async def _ask_local(provider: Provider, name: str, texts: Sequence[str], server: "_Server") -> tuple[Any, int | None]:
    """Embed each text in windows."""
    (vectors, tokens), counts = await in_windows(texts, lambda parts: _ask_openai(provider, name, parts, server))
    remaining = iter(vectors)
    return [_mean([next(remaining) for _ in range(count)]) for count in counts], tokens


def _mean(vectors: list[list[float]]) -> list[float]:
    """Return the mean of the vectors of a text's windows, which are of length 1."""
    return [sum(values) / len(vectors) for values in zip(*vectors, strict=True)]


_ASKING = {"ollama": _ask_ollama, LOCAL: _ask_local}
"""How models of a protocol are asked, other than OpenAI's."""


def _checked(vectors: Any, count: int, model: str) -> tuple[tuple[float, ...], ...]:  # noqa: ANN401 - of a server
    """Return the vectors. Raises `BrokenModelAnswer` unless there are `count` of the same size, of finite numbers."""
    try:
        checked = tuple(tuple(float(value) for value in vector) for vector in vectors)
    except (TypeError, ValueError):
        checked = ()
    sizes = {len(vector) for vector in checked}
    if (
        len(checked) != count
        or len(sizes) != 1
        or not 0 < min(sizes) <= MOST_DIMENSIONS
        or not all(math.isfinite(value) for vector in checked for value in vector)
        or not all(any(vector) for vector in checked)
    ):
        raise BrokenModelAnswer(
            f"{model} did not answer with one embedding for each of {count} texts.",
            remedy="Check that it is an embedding model.",
        )
    return checked
