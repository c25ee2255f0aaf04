"""Models that embed and rerank for knowledge bases, with the keys of a space."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from headgate.entrypoints.installation import Installation
from headgate.entrypoints.model_asking import clearance_of
from headgate.features.access.principal import Principal
from headgate.features.models.ports import GuardedWeb
from headgate.foundation.lazy import lazy_module
from headgate.sdk import Model

if TYPE_CHECKING:  # named without importing the HTTP library
    from headgate.features.models import embeddings, reranking
else:
    embeddings = lazy_module("headgate.features.models.embeddings")
    reranking = lazy_module("headgate.features.models.reranking")


@dataclass(frozen=True, slots=True)
class SpaceEmbedder:
    """See `knowledge.search.service.Embedder`."""

    installation: Installation
    web: GuardedWeb

    async def embed(self, principal: Principal, model: str, texts: Sequence[str]) -> "embeddings.Embedded":
        """Embed texts, in one span; calls and tokens are counted in the metrics of models."""
        asked = Model.model_validate(model)
        keys = self.installation.keys_of(principal, "knowledge")
        telemetry = self.installation.telemetry
        with telemetry.traces.span(f"embed {asked.name}", {"gen_ai.request.model": asked.name}, kind="client"):
            embedded = await embeddings.embed(asked, texts, keys, web=self.web, local=self.installation.local_models)
        telemetry.metrics.model_called(asked.provider, embedded.tokens, None)
        return embedded

    async def rerank(self, principal: Principal, model: str, query: str, texts: Sequence[str]) -> "reranking.Reranked":
        """Rerank texts, in one span; calls and tokens are counted in the metrics of models."""
        asked = Model.model_validate(model)
        keys = self.installation.keys_of(principal, "knowledge")
        telemetry = self.installation.telemetry
        with telemetry.traces.span(f"rerank {asked.name}", {"gen_ai.request.model": asked.name}, kind="client"):
            reranked = await reranking.rerank(
                asked, query, texts, keys, web=self.web, local=self.installation.local_models
            )
        telemetry.metrics.model_called(asked.provider, reranked.tokens, None)
        return reranked

    async def clearance(self, tenant_id: str, model: str) -> int | None:
        """Return the classification of a model; None when classifications are disabled."""
        return await clearance_of(self.installation, tenant_id, model)
