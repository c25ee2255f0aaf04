"""Connection test of a provider: one real, inexpensive call and its result."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from pydantic import BaseModel, Field
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.principal import Principal
from headgate.features.audit.recorder import record
from headgate.features.models import catalogue
from headgate.features.models.errors import BadModelSettings, ModelNotAccessible, ModelTimedOut, ModelUnreachable
from headgate.features.models.listing import forget_lists, list_offered
from headgate.features.models.local.models import LocalModels
from headgate.features.models.ports import GuardedWeb, KeySource
from headgate.features.models.providers import LOCAL, Provider, find_provider, import_chat_class
from headgate.features.models.service import create_chat_model, langchain_side, provider_of, status_of
from headgate.foundation.errors import HeadgateError, Unavailable
from headgate.sdk.values import Model

PATIENCE_SECONDS = 15.0
"""Timeout of a provider. A user waits for the result."""
_ANY_NAME = "any"
"""A server of unknown models is only asked for its list, so no real model name is needed."""


class ConnectionOut(BaseModel):
    """The result of one call to a provider."""

    provider: str
    ok: bool
    model: str | None = Field(description="The model that answered; null when the list of models was requested.")
    models: int | None = Field(description="Number of models it offers; null when not requested.")
    latency_ms: int
    code: str | None = Field(description="Error code; null when the test succeeded.")
    detail: str = Field(description="Error message of the provider without keys; empty when the test succeeded.")
    remedy: str


async def try_provider(
    keys: KeySource, *, web: GuardedWeb, provider: str, model: str | None = None, local: LocalModels | None = None
) -> ConnectionOut:
    """Call a provider once. Raises `UnknownProvider`; every other failure is in the answer.

    Args:
        keys: Where its key comes from.
        web: The way to its server.
        provider: Its id.
        model: The model to let answer; without it a provider that lists its models is asked for the list.
        local: The local models of this process.
    """
    known = await provider_of(provider, keys)
    began = time.monotonic()
    count: int | None = None
    failed: HeadgateError | None = None
    try:
        if not _lists_itself(known, model):
            await asyncio.to_thread(import_chat_class, known)
            began = time.monotonic()  # importing may take seconds that are not the provider's
        async with _patience(known):
            count = await _call(known, keys, web, model, local)
    except HeadgateError as error:
        failed = error
    return ConnectionOut(
        provider=known.id,
        ok=failed is None,
        model=model,
        models=count,
        latency_ms=round((time.monotonic() - began) * 1000),
        code=None if failed is None else failed.code,
        detail="" if failed is None else failed.detail,
        remedy="" if failed is None else failed.remedy or "",
    )


async def record_test(session: AsyncSession, principal: Principal, connection: ConnectionOut) -> None:
    """Write down that a key was used, and whether it worked."""
    outcome = {"ok": connection.ok, "code": connection.code, "model": connection.model}
    await record(
        session, principal, "provider.tested", id=connection.provider, name=connection.provider, payload=outcome
    )


def _lists_itself(provider: Provider, model: str | None) -> bool:
    """Return whether its models can be listed without its package."""
    return model is None and provider.kind in {"ollama", LOCAL}


async def _call(
    provider: Provider, keys: KeySource, web: GuardedWeb, model: str | None, local: LocalModels | None
) -> int | None:
    """Return how many models it offers, or None where a model answered."""
    if _lists_itself(provider, model):
        return await (_local(keys, local) if provider.id == LOCAL else _ollama(provider, keys))
    name = model or catalogue.default_name(provider.id) or _ANY_NAME
    params = {"max_retries": 0} if "max_retries" in provider.params else {}
    chat = await create_chat_model(Model(provider=provider.id, name=name, params=params), keys, local=local, web=web)
    if model is None:
        count = await _count(chat, provider)
        if count is not None:
            return count
    await langchain_side().probe_chat(chat)
    return None


async def _count(chat: Any, provider: Provider) -> int | None:  # noqa: ANN401 - LangChain's, which is not loaded before
    forget_lists()  # what is found out now is true from now on
    try:
        count: int | None = await langchain_side().count_models(chat)
    except ModelNotAccessible:
        if not provider.flow_base_url and provider.server is None:
            raise
        raise BadModelSettings(
            "The server responds but does not list its models.", remedy="Test it with the name of one of its models."
        ) from None
    return count


async def _ollama(provider: Provider, keys: KeySource) -> int:
    listing = await list_offered(provider, keys, refresh=True)
    if listing.names is None:
        raise ModelUnreachable(listing.problem, remedy=listing.remedy)
    return len(listing.names)


async def _local(keys: KeySource, local: LocalModels | None) -> int:
    status = await status_of(find_provider(LOCAL), keys, local)
    if local is None or not status.configured:
        raise Unavailable(status.reason, remedy=status.remedy)
    return len(await asyncio.to_thread(local.ready))


@asynccontextmanager
async def _patience(provider: Provider) -> AsyncIterator[None]:
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            yield
    except TimeoutError:
        raise ModelTimedOut(
            f"{provider.label} did not answer within {PATIENCE_SECONDS:g} seconds.",
            remedy="Check the address and the network, and try again.",
        ) from None
