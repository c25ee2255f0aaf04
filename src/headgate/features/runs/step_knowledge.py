"""Knowledge bases for steps, with the rights that the user who started the run has now."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.principal import Access, Actor, Principal
from headgate.features.accounts.directory.service import group_ids_of
from headgate.features.knowledge.documents import service as documents
from headgate.features.knowledge.documents.flow_documents import Adding
from headgate.features.knowledge.errors import DocumentNotFound
from headgate.features.knowledge.index.embeddings import searched_model
from headgate.features.knowledge.index.lexical import Scope
from headgate.features.knowledge.rights import VISITOR, Reader
from headgate.features.knowledge.search import reranking as rerankings
from headgate.features.knowledge.search.queries import Question, Variant
from headgate.features.knowledge.search.reranking import Reranking, reranker_of
from headgate.features.knowledge.search.schemas import HitOut, SearchIn
from headgate.features.knowledge.search.service import model_of_search, words_only
from headgate.features.knowledge.service import base_of_space
from headgate.features.runs import repository
from headgate.features.runs.ports.origin import Origin
from headgate.features.runs.ports.storage import FoundPassages, SearchModels
from headgate.features.runs.spaces import Spaces
from headgate.features.runs.transitions import RunKey
from headgate.foundation.checked import checked
from headgate.foundation.database import Database
from headgate.foundation.errors import Forbidden
from headgate.sdk.knowledge import AddedDocument, DocumentState, KnowledgeQuery, NewDocument, Passage


@dataclass(frozen=True, slots=True)
class RunKnowledge:
    """Knowledge of flows' spaces; see `ports.KnowledgeBases`."""

    database: Database
    spaces: Spaces
    adding: Adding
    soon: Callable[[str], None]
    """Has a document indexed."""

    async def models(self, origin: Origin, query: KnowledgeQuery) -> SearchModels:
        """Return the models of a search. Raises `BaseNotFound`, `NoEmbeddings`, `NoReranker`."""
        key = origin.key
        space_id = await self.spaces.of(key.tenant_id, key.flow_id)
        async with self.database.reading() as session:
            base = await base_of_space(session, query.base, tenant_id=key.tenant_id, space_id=space_id)
            search_in = _search_in(query)
            embedding = await model_of_search(session, base, search_in.mode)
            return SearchModels(embedding, reranker_of(base, search_in), base.rerank_candidates)

    async def search(
        self,
        origin: Origin,
        query: KnowledgeQuery,
        *,
        clearance: int | None,
        question: Question | None = None,
        reranking: Reranking | None = None,
        variants: Sequence[Variant] = (),
    ) -> FoundPassages:
        """Return passages. Raises `BaseNotFound`."""
        key = origin.key
        space_id = await self.spaces.of(key.tenant_id, key.flow_id)
        async with self.database.reading() as session:
            base = await base_of_space(session, query.base, tenant_id=key.tenant_id, space_id=space_id)
            model = await searched_model(session, base)
            base_id = base.id

        search_in = _search_in(query)

        async def scoping(session: AsyncSession) -> Scope:
            return Scope(key.tenant_id, base_id, await _reader(session, key, clearance), search_in.filters)

        answer = await rerankings.search(self.database, scoping, search_in, question, reranking, variants=variants)
        level = max((hit.classification for hit in answer.hits), default=0)
        passages = tuple(_passage(hit, base_id) for hit in answer.hits)
        return FoundPassages(
            passages,
            level,
            answer.mode,
            answer.rerank_model,
            answer.problem,
            "" if answer.vectors else words_only(base, search_in.mode, model),
            answer.vector_recall,
        )

    async def add(self, origin: Origin, document: NewDocument, *, level: int) -> AddedDocument:
        """Add a document as the user who started the run. Raises `Forbidden` and like `Adding.add`."""
        principal = await self._starter(origin)
        source = f"flow {origin.key.flow_id}"
        added = await self.adding.add(principal, document, source=source, level=level)
        if added.change != "unchanged":
            self.soon(added.document_id)
        return added

    async def states(self, origin: Origin, base: str, document_ids: Sequence[str]) -> Mapping[str, DocumentState]:
        """Return the states of documents by id, those that were deleted omitted. Raises `BaseNotFound`."""
        principal = await self._starter(origin)
        states = {}
        async with self.database.reading() as session:
            row = await base_of_space(session, base, tenant_id=principal.tenant_id, space_id=principal.space_id)
            for document_id in document_ids:
                with suppress(DocumentNotFound):
                    shown = await documents.describe_document(session, principal, row.id, document_id)
                    states[document_id] = DocumentState(shown.status, shown.passages, shown.problem, tuple(shown.notes))
        return states

    async def _starter(self, origin: Origin) -> Principal:
        """Return the user who started the run, with the role in the space of the flow. Raises `Forbidden`."""
        key = origin.key
        space_id = await self.spaces.of(key.tenant_id, key.flow_id)
        async with self.database.reading() as session:
            starter = await repository.find_starter(session, key.run_id, tenant_id=key.tenant_id)
        if starter is None:
            raise Forbidden(
                "A run without a user adds no documents to a knowledge base.",
                remedy="Start the flow as a user who may change knowledge of its space, or give its trigger an owner.",
            )
        user_id, role = starter
        actor = Actor("system", f"Run {key.run_id}")
        return Principal(key.tenant_id, user_id, space_id, Access(roles={space_id: role}), actor)


def _search_in(query: KnowledgeQuery) -> SearchIn:
    return checked(
        SearchIn,
        query=query.text,
        limit=query.limit,
        max_tokens=query.max_tokens,
        mode=query.mode or None,
        neighbours=query.neighbours,
        diversity=query.diversity,
        rerank=query.rerank,
        filters=query.filters or [],
    )


async def _reader(session: AsyncSession, key: RunKey, clearance: int | None) -> Reader:
    """Return the user who started a run, while they may start runs of the flow; else a visitor."""
    starter = await repository.find_starter(session, key.run_id, tenant_id=key.tenant_id)
    if starter is None:
        return Reader(role=VISITOR, clearance=clearance)
    user_id, role = starter
    groups = await group_ids_of(session, user_id, tenant_id=key.tenant_id)
    return Reader(user_id, role.value, groups, clearance)


def _passage(hit: HitOut, base_id: str) -> Passage:
    members = {name: getattr(hit, name) for name in Passage.__slots__ if name != "base_id"}
    return Passage(base_id=base_id, **members)
