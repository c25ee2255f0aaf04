"""The circuit breakers of models: those of their servers, and of single models.

After a failed connection no model of its server is asked, after other failures only the model is not. Where a fallback
model can be asked, one failure is enough for a pause; without one as many failures in a row are needed as of any host.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from headgate.features.models.chain import FAILED
from headgate.features.models.errors import (
    KeyRejected,
    ModelRateLimited,
    ModelSkipped,
    ModelUnreachable,
    QuotaExhausted,
)
from headgate.features.runs.circuits.errors import CircuitOpen
from headgate.features.runs.ports.limits import Circuits
from headgate.features.runs.steps.circuits import LONGEST_HOST, host_of
from headgate.foundation.errors import HeadgateError
from headgate.sdk.values import Model

PAUSE_SECONDS: Final = 15.0
"""Seconds for which a model with a fallback model is skipped after a failure."""
LONGEST_PAUSE_SECONDS: Final = 120.0
"""Seconds for which a rate-limited model is skipped at most, where its provider named a longer pause."""
_OF_KEY = (KeyRejected, QuotaExhausted)
"""Failures of a key, which say nothing about the keys of other spaces."""


class ModelCircuit:
    """The circuit breakers of models for one tenant.

    Args:
        circuits: Those of the installation.
        tenant_id: The tenant.
    """

    def __init__(self, circuits: Circuits, tenant_id: str) -> None:
        self._circuits = circuits
        self._tenant_id = tenant_id

    async def enter(self, model: Model, *, replaceable: bool) -> None:
        """Return when a model may be asked. Raises `ModelSkipped`."""
        for host in _hosts(model):
            try:
                await self._circuits.enter(self._tenant_id, host, at_once=replaceable)
            except CircuitOpen as error:
                seconds = error.extra["retry_after_seconds"]
                raise ModelSkipped(
                    f"{model} was not asked: {error.detail}",
                    remedy=f"It is asked again in {seconds} seconds, or once {host} is reset in Settings, Limits.",
                    retry_after_seconds=seconds,
                ) from error

    async def failed(self, model: Model, error: HeadgateError, *, replaceable: bool) -> None:
        """Count the failure of a model, or of its server."""
        if not isinstance(error, FAILED) or (isinstance(error, _OF_KEY) and not replaceable):
            return
        server, itself = _hosts(model)
        host = server if isinstance(error, ModelUnreachable) else itself
        pause = _pause(error) if replaceable else 0.0
        counts = not isinstance(error, _OF_KEY)
        await self._circuits.failed(self._tenant_id, host, error.code, pause_seconds=pause, counts=counts)

    async def succeeded(self, model: Model) -> None:
        """Close the circuits of a model that answered."""
        for host in _hosts(model):
            await self._circuits.succeeded(self._tenant_id, host)

    @asynccontextmanager
    async def asking(self, model: Model, *, replaceable: bool) -> AsyncIterator[None]:
        """Hold around one call of a model. Raises `ModelSkipped`, and what the call raises."""
        await self.enter(model, replaceable=replaceable)
        try:
            yield
        except HeadgateError as error:
            await self.failed(model, error, replaceable=replaceable)
            raise
        await self.succeeded(model)


def _pause(error: HeadgateError) -> float:
    named = error.extra.get("retry_after_seconds") if isinstance(error, ModelRateLimited) else None
    return min(float(named), LONGEST_PAUSE_SECONDS) if isinstance(named, int | float) and named > 0 else PAUSE_SECONDS


def _hosts(model: Model) -> tuple[str, str]:
    """Return the names of a model's server and of the model: `openai` or `host:port`, and `openai/gpt-5`."""
    address = model.params.get("base_url")
    server = host_of(str(address)) if address else model.provider
    itself = f"{model} at {server}" if address else str(model)
    return server[:LONGEST_HOST], itself[:LONGEST_HOST]
