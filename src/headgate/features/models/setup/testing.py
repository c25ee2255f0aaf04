"""Whether a model server works: its list of models, then one short completion."""

import time

from headgate.features.models import catalogue
from headgate.features.models.connection import try_provider
from headgate.features.models.listing import Listing, list_offered
from headgate.features.models.local.models import LocalModels
from headgate.features.models.ports import GuardedWeb, KeySource
from headgate.features.models.providers import Provider
from headgate.features.models.service import provider_of
from headgate.features.models.setup.schemas import ServerTestOut

MOST_LISTED = 500


async def try_server(
    keys: KeySource, *, web: GuardedWeb, name: str, model: str | None = None, local: LocalModels | None = None
) -> ServerTestOut:
    """Request a server's models, and one word from one of them. Raises `UnknownProvider`; failures are results."""
    provider = await provider_of(name, keys)
    began = time.monotonic()
    listing = await list_offered(provider, keys, refresh=True)
    list_ms = _ms_since(began)
    names = [info.name for info in catalogue.describe(provider, listing.names or ())][:MOST_LISTED]
    if listing.problem:
        return _failed(list_ms, listing.problem, f"{listing.remedy} {_hint(provider)}".strip())
    tested = model or next(iter(names), None)
    if tested is None:
        return _without_model(provider, listing, list_ms)
    answer = await try_provider(keys, web=web, provider=name, model=tested, local=local)
    return ServerTestOut(
        ok=answer.ok,
        models=names,
        list_ms=list_ms,
        model=tested,
        answer_ms=answer.latency_ms,
        code=answer.code,
        detail=answer.detail,
        remedy=answer.remedy,
    )


def _without_model(provider: Provider, listing: Listing, list_ms: int) -> ServerTestOut:
    if listing.names is None:
        detail = "The server responds but does not list its models."
        return _failed(list_ms, detail, f"{_hint(provider)} Or test it with the name of one of its models.".strip())
    fetch = (
        "Download one on that server, for example: ollama pull qwen3"
        if provider.kind == "ollama"
        else ("Load a model on that server.")
    )
    return _failed(list_ms, "The server responds but has no chat model.", fetch)


def _hint(provider: Provider) -> str:
    """Most servers have OpenAI's protocol at /v1."""
    address = provider.server.address if provider.server is not None else ""
    if provider.kind == "ollama":
        return "Give the URL without /v1." if address.endswith("/v1") else ""
    return "" if "/v1" in address else f"Many servers use {address}/v1: try that URL."


def _failed(list_ms: int, detail: str, remedy: str) -> ServerTestOut:
    return ServerTestOut(
        ok=False,
        models=[],
        list_ms=list_ms,
        model=None,
        answer_ms=None,
        code="model_server_failed",
        detail=detail,
        remedy=remedy,
    )


def _ms_since(began: float) -> int:
    return round((time.monotonic() - began) * 1000)
