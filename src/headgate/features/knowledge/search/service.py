"""Searches as users: queries that a model writes, the port to the models that embed and rerank, and which are used."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal, within
from headgate.features.accounts.spaces.service import require_space
from headgate.features.knowledge.errors import NoEmbeddings
from headgate.features.knowledge.index import embeddings
from headgate.features.knowledge.index.lexical import Scope
from headgate.features.knowledge.index.vectors import require_vectors
from headgate.features.knowledge.rights import reader_of
from headgate.features.knowledge.search import reranking
from headgate.features.knowledge.search.queries import LIKELY_TO_PASS, Question, Variant, not_embedded
from headgate.features.knowledge.search.reranking import Reranking, reranker_of
from headgate.features.knowledge.search.schemas import Mode, SearchIn, SearchOut, WordsOnly
from headgate.features.knowledge.service import get_base
from headgate.features.knowledge.tables import KnowledgeBaseRow
from headgate.features.models.asking import Asker
from headgate.features.models.embeddings import MOST_TEXTS, Embedded
from headgate.features.models.reranking import Reranked
from headgate.foundation.database import Database
from headgate.foundation.quoting import as_data
from headgate.graph.queries import LONGEST_CONVERSATION, query_instructions, query_prompt, searched_queries

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
    asker: Asker

    async def search_as(self, principal: Principal, base_id: str, search_in: SearchIn) -> SearchOut:
        """Search a base.

        Raises `BaseNotFound`, `PermissionMissing`, `NoEmbeddings`, `NoReranker`, and the failure of a model.
        """
        async with self.database.reading() as session:
            permission = Permission.KNOWLEDGE_EDIT if search_in.query_model else Permission.KNOWLEDGE_VIEW
            base = await get_base(session, principal, base_id, permission=permission)
            model = await model_of_search(session, base, search_in.mode)
        ranker = reranker_of(base, search_in)
        asker = within(principal, base.space_id)
        queries = await written_queries(self.asker, asker, search_in)
        search_in = search_in.model_copy(update={"query": queries[0]})
        questions: Sequence[Question | None] = [None] * len(queries)
        problem = ""
        if model:
            try:
                questions = await embedded_queries(self.embedder, asker, model, queries)
            except LIKELY_TO_PASS as error:
                if search_in.mode is not None:
                    raise
                problem = not_embedded(error)

        async def scoping(session: AsyncSession) -> Scope:
            base = await get_base(session, principal, base_id)
            reader = await reader_of(session, principal, base.space_id)
            return Scope(base.tenant_id, base.id, reader, search_in.filters)

        by_model = await reranking_of(self.embedder, principal, base, search_in) if ranker else None
        variants = [Variant(*more) for more in zip(queries[1:], questions[1:], strict=True)]
        answer = await reranking.search(self.database, scoping, search_in, questions[0], by_model, variants=variants)
        reason = None if answer.vectors else words_only(base, search_in.mode, model)
        problems = " ".join(filter(None, (problem, answer.problem)))
        return answer.model_copy(update={"problem": problems, "words_only": reason})

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


async def written_queries(asker: Asker, principal: Principal, search_in: SearchIn) -> Sequence[str]:
    """Return the queries of a search, which a model writes when it names one. Raises the failure of the model."""
    if not search_in.query_model:
        return [search_in.query]
    conversation = search_in.conversation[-LONGEST_CONVERSATION:].strip()
    asked = await asker.ask(
        principal,
        search_in.query_model,
        system=query_instructions(search_in.queries),
        text=query_prompt(search_in.query, as_data("the conversation", conversation) if conversation else ""),
    )
    return searched_queries(search_in.query, asked.text, count=search_in.queries, follows=bool(conversation))


async def embedded_queries(
    embedder: Embedder, principal: Principal, model: str, texts: Sequence[str]
) -> list[Question]:
    """Return embedded queries. Raises the failure of the model."""
    vectors: list[tuple[float, ...]] = []
    for first in range(0, len(texts), MOST_TEXTS):
        vectors += (await embedder.embed(principal, model, texts[first : first + MOST_TEXTS])).vectors
    return [Question(model, vector) for vector in vectors]


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


def words_only(base: KnowledgeBaseRow, mode: Mode | None, model: str) -> WordsOnly:
    """Return why a search was lexical; `model` is the one that the question should have been embedded with."""
    if mode == "lexical":
        return "chosen"
    if model:
        return "failed"
    return "embedding" if base.embedding_model else "no_model"


async def model_of_search(session: AsyncSession, base: KnowledgeBaseRow, mode: Mode | None) -> str:
    """Return the model to embed the question with; empty for a lexical search. Raises `NoEmbeddings`."""
    if mode == "lexical":
        return ""
    model = await embeddings.searched_model(session, base)
    if mode is not None and not model:
        reason = "its passages are still being embedded" if base.embedding_model else "it has no embedding model"
        raise NoEmbeddings(
            f"The knowledge base '{base.name}' can only be searched lexically: {reason}.",
            remedy="Omit the mode, or choose 'lexical'.",
        )
    return model
