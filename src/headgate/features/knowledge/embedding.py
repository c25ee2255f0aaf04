"""Searches as users: the port to the models that embed and rerank, and which of them a search uses."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal, within
from headgate.features.accounts.spaces.service import require_space
from headgate.features.knowledge import reranking, vector_index
from headgate.features.knowledge.errors import NoEmbeddings
from headgate.features.knowledge.questions import LIKELY_TO_PASS, Question, not_embedded
from headgate.features.knowledge.reranking import Reranking, reranker_of
from headgate.features.knowledge.rights import reader_of
from headgate.features.knowledge.schemas import Mode, SearchIn, SearchOut
from headgate.features.knowledge.search_index import Scope
from headgate.features.knowledge.service import get_base
from headgate.features.knowledge.tables import KnowledgeBaseRow
from headgate.features.knowledge.vectors import require_vectors
from headgate.features.models.embeddings import Embedded
from headgate.features.models.reranking import Reranked
from headgate.foundation.database import Database

PROBE = "Headgate"
"""Text that is embedded to test a model."""


class Embedder(Protocol):
    """Models that embed and rerank, with the keys of a space."""

    async def embed(self, principal: Principal, model: str, texts: Sequence[str]) -> Embedded:
        """Return the vectors of at most `MOST_TEXTS` texts, as a user who works in a space. Raises `HeadgateError`."""
        ...

    async def rerank(self, principal: Principal, model: str, query: str, texts: Sequence[str]) -> Reranked:
        """Return the scores of at most `reranking.MOST_TEXTS` texts, like `embed`. Raises `HeadgateError`."""
        ...

    async def clearance(self, tenant_id: str, model: str) -> int | None:
        """Return the highest classification that a model may receive; None when classifications are disabled."""
        ...


@dataclass(frozen=True, slots=True)
class Searcher:
    """Searches as a user: no connection is held while the question is embedded, and passages reranked."""

    database: Database
    embedder: Embedder

    async def search_as(self, principal: Principal, base_id: str, search_in: SearchIn) -> SearchOut:
        """Search a base.

        Raises `BaseNotFound`, `PermissionMissing`, `NoEmbeddings`, `NoReranker`, and the failure of a model.
        """
        async with self.database.reading() as session:
            base = await get_base(session, principal, base_id)
            model = await model_of_search(session, base, search_in.mode)
        ranker = reranker_of(base, search_in)
        question, problem = None, ""
        if model:
            try:
                question = await self._question(within(principal, base.space_id), model, search_in.query)
            except LIKELY_TO_PASS as error:
                if search_in.mode is not None:
                    raise
                problem = not_embedded(error)

        async def scoping(session: AsyncSession) -> Scope:
            base = await get_base(session, principal, base_id)
            return Scope(base.tenant_id, base.id, await reader_of(session, principal, base.space_id))

        by_model = await reranking_of(self.embedder, principal, base, search_in) if ranker else None
        answer = await reranking.search(self.database, scoping, search_in, question, by_model)
        problems = " ".join(filter(None, (problem, answer.problem)))
        return answer.model_copy(update={"problem": problems}) if problems else answer

    async def _question(self, principal: Principal, model: str, text: str) -> Question:
        embedded = await self.embedder.embed(principal, model, [text])
        return Question(model, embedded.vectors[0])

    async def probe(self, principal: Principal, space_id: str, model: str | None, ranker: str | None = None) -> None:
        """Embed and rerank a text with the models that a base is to have, as an editor of its space.

        Raises `SpaceNotFound`, `PermissionMissing`, `VectorsNotInstalled`, and the failure of a model.
        """
        if model or ranker:
            async with self.database.reading() as session:
                await require_space(session, principal, space_id, Permission.KNOWLEDGE_EDIT)
        if model:
            require_vectors()
            await self.embedder.embed(within(principal, space_id), model, [PROBE])
        if ranker:
            await self.embedder.rerank(within(principal, space_id), ranker, PROBE, [PROBE, PROBE])


async def reranking_of(
    embedder: Embedder, principal: Principal, base: KnowledgeBaseRow, search_in: SearchIn
) -> Reranking:
    """Return how a search of a user in a base with a rerank model is reranked."""

    async def ask(texts: Sequence[str]) -> Sequence[float]:
        asker = within(principal, base.space_id)
        return (await embedder.rerank(asker, base.rerank_model, search_in.query, texts)).scores

    clearance = await embedder.clearance(base.tenant_id, base.rerank_model)
    required = bool(search_in.rerank)
    return Reranking(base.rerank_model, base.rerank_candidates, ask, clearance, required=required)


async def model_of_search(session: AsyncSession, base: KnowledgeBaseRow, mode: Mode | None) -> str:
    """Return the model to embed the question with; empty for a lexical search. Raises `NoEmbeddings`."""
    if mode == "lexical":
        return ""
    model = await vector_index.searched_model(session, base)
    if mode is not None and not model:
        reason = "its passages are still being embedded" if base.embedding_model else "it has no embedding model"
        raise NoEmbeddings(
            f"The knowledge base '{base.name}' can only be searched lexically: {reason}.",
            remedy="Omit the mode, or choose 'lexical'.",
        )
    return model
