"""Texts in the order in which they answer a query, over the `/rerank` of Cohere (v2), Jina, Voyage, vLLM, llama.cpp.

They share one request, `{model, query, documents}`. Text Embeddings Inference takes `{query, texts}` instead, outside
of `/v1`, and is asked in its own way when the first request is not understood. A local model is a server of the first
kind; of a text that is longer than it takes, the best part counts.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from headgate.features.models.calling import caller_of, checked_params
from headgate.features.models.credentials import Credentials, find_credentials
from headgate.features.models.diagnosis import Caller, friendly_error
from headgate.features.models.errors import BadModelSettings, BrokenModelAnswer
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

KINDS = ("openai", "openai_compatible")
"""Protocols of the servers that may have a `/rerank`."""
MOST_TEXTS = 100
"""Texts of one call."""
_BATCH = 32
"""Texts of one request to Text Embeddings Inference: its default limit."""
_NOT_UNDERSTOOD = (400, 404, 405, 422)
"""How a server refuses a request of another protocol."""


@dataclass(frozen=True, slots=True)
class Reranked:
    """Scores of texts, in the order of the texts: the higher, the better. Their scale is that of the model."""

    scores: tuple[float, ...]
    tokens: int | None
    """Tokens that the server counted; None when it does not count them."""


class _Refused(Exception):
    """An HTTP error of a server, as `failure` reads those of the providers' libraries."""

    def __init__(self, response: "httpx2.Response", body: object) -> None:
        super().__init__(response.text)
        self.status_code = response.status_code
        self.response = response
        self.request = response.request
        self.body = body


@dataclass(frozen=True, slots=True)
class _Endpoint:
    """How a server is asked."""

    client: "httpx2.AsyncClient"
    address: str
    headers: Mapping[str, str]

    async def post(self, address: str, body: object) -> Any:  # noqa: ANN401 - JSON of a server
        response = await self.client.post(f"{address}/rerank", json=body, headers=dict(self.headers))
        try:
            answer = response.json()
        except ValueError:
            answer = None
        if response.is_success:
            return answer
        raise _Refused(response, answer)


async def rerank(
    model: Model,
    query: str,
    texts: Sequence[str],
    keys: KeySource,
    *,
    web: GuardedWeb,
    local: "LocalModels | None" = None,
) -> Reranked:
    """Return how well each of at most `MOST_TEXTS` texts answers a query.

    Args:
        model: A model of a named server, such as `cohere/rerank-v3.5`, of `openai_compatible`, or a local one.
        query: What the texts are to answer.
        texts: None of them is empty.
        keys: Where keys come from.
        web: The way to the server.
        local: The local models of this process; needed for the provider `local`.

    Raises:
        LocalModelMissing: A local model that is not there.
        Invalid: A provider without reranking, a missing key, or wrong settings.
        BrokenModelAnswer: The server answered with other than one number for each text.
        HeadgateError: The failure of the call, as for a chat model.
    """
    provider = await provider_of(model.provider, keys)
    if provider.id == LOCAL:
        return await _rerank_locally(model, query, texts, provider, local)
    if provider.kind not in KINDS:
        raise BadModelSettings(
            f"{provider.label} has no rerank API that Headgate supports.",
            remedy="Add the server that has one to Settings, Models, with the protocol of OpenAI: its name is then the"
            " provider of the model, such as cohere/rerank-v3.5.",
        )
    params = await checked_params(model, provider, web)
    credentials = await find_credentials(provider, params, keys)
    caller = caller_of(model, provider, credentials, params)
    try:
        async with clients.client(web.library_transport(credentials.networks)) as client:
            client.timeout = caller.timeout_seconds
            endpoint = _Endpoint(client, credentials.base_url.rstrip("/"), _headers(provider, credentials))
            answers = await _ask(endpoint, model.name, query, texts)
    except Exception as error:  # noqa: BLE001 - anything of the wire; all of it is translated
        # Not chained: the exception holds request headers.
        raise friendly_error(error, caller) from None
    scores = [score for answer, count in answers for score in _scores(answer, count, caller.model)]
    return Reranked(tuple(scores), _tokens([answer for answer, _ in answers]))


async def _rerank_locally(
    model: Model, query: str, texts: Sequence[str], provider: Provider, local: "LocalModels | None"
) -> Reranked:
    if local is None:
        raise BadModelSettings("Local models are disabled.", remedy="Choose another rerank model.")
    try:
        async with local.client(model.name, "rerank") as client:
            client.timeout = provider.timeout_seconds
            endpoint = _Endpoint(client, PLACEHOLDER_URL, {})
            body = {"model": model.name, "query": query}
            answer, counts = await in_windows(
                texts, lambda parts: endpoint.post(endpoint.address, body | {"documents": parts})
            )
    except Exception as error:  # noqa: BLE001 - anything of the wire; all of it is translated
        raise friendly_error(error, Caller(str(model), provider.label)) from None
    scores = iter(_scores(answer, sum(counts), str(model)))
    return Reranked(tuple(max(next(scores) for _ in range(count)) for count in counts), _tokens([answer]))


def _headers(provider: Provider, credentials: Credentials) -> dict[str, str]:
    key = credentials.arguments.get(provider.key.argument) if provider.key is not None else None
    bearer = {"Authorization": f"Bearer {key.get_secret_value()}"} if key is not None and key.get_secret_value() else {}
    return bearer | dict(credentials.headers)


async def _ask(endpoint: _Endpoint, name: str, query: str, texts: Sequence[str]) -> list[tuple[Any, int]]:
    """Return the answers of a server, each with the number of its texts."""
    try:
        answer = await endpoint.post(endpoint.address, {"model": name, "query": query, "documents": list(texts)})
        return [(answer, len(texts))]
    except _Refused as refused:
        if refused.status_code not in _NOT_UNDERSTOOD:
            raise
        try:
            return await _ask_tei(endpoint, query, texts)
        except _Refused as error:
            # What it says about its own protocol is of use, unless it does not know the address.
            raise (refused if error.status_code in _NOT_UNDERSTOOD else error) from None


async def _ask_tei(endpoint: _Endpoint, query: str, texts: Sequence[str]) -> list[tuple[Any, int]]:
    answers = []
    for first in range(0, len(texts), _BATCH):
        batch = list(texts[first : first + _BATCH])
        body = {"query": query, "texts": batch, "truncate": True}
        answers.append((await endpoint.post(endpoint.address.removesuffix("/v1"), body), len(batch)))
    return answers


def _scores(answer: Any, count: int, model: str) -> list[float]:  # noqa: ANN401 - JSON of a server
    """Return the scores in the order of the texts. Raises `BrokenModelAnswer` unless each text has a finite one."""
    results = answer if isinstance(answer, list) else None
    if isinstance(answer, Mapping):
        results = answer.get("results", answer.get("data"))
    scores: dict[int, float] = {}
    try:
        for result in results or []:
            score = result["relevance_score"] if "relevance_score" in result else result["score"]
            scores[int(result["index"])] = float(score)
    except (TypeError, ValueError, KeyError):
        scores = {}
    if len(results or []) != count or set(scores) != set(range(count)) or not all(map(math.isfinite, scores.values())):
        raise BrokenModelAnswer(
            f"{model} did not answer with one score for each of {count} texts.",
            remedy="Check that it is a rerank model.",
        )
    return [scores[index] for index in range(count)]


def _tokens(answers: Sequence[Any]) -> int | None:
    """Return the tokens that a server counted, in the place of its protocol; None when it does not count them."""
    counts = [_count(answer) for answer in answers if isinstance(answer, Mapping)]
    known = [count for count in counts if count is not None]
    return sum(known) if known else None


def _count(answer: Mapping[str, Any]) -> int | None:
    usage, meta = _object(answer.get("usage")), _object(answer.get("meta"))
    billed, counted = _object(meta.get("billed_units")), _object(meta.get("tokens"))
    named = (
        usage.get("total_tokens"),
        usage.get("prompt_tokens"),
        billed.get("total_tokens"),
        counted.get("input_tokens"),
    )
    return next((int(value) for value in named if isinstance(value, int | float) and 0 <= value < 2**31), None)


def _object(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
