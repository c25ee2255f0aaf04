"""Knowledge bases for steps, read with the rights that the user who started the run has now."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.accounts.directory.service import group_ids_of
from headgate.features.knowledge import reranking as rerankings
from headgate.features.knowledge.embedding import model_of_search
from headgate.features.knowledge.questions import Question, Variant
from headgate.features.knowledge.reranking import Reranking, reranker_of
from headgate.features.knowledge.rights import VISITOR, Reader
from headgate.features.knowledge.schemas import HitOut, SearchIn
from headgate.features.knowledge.search_index import Scope
from headgate.features.knowledge.service import base_of_space
from headgate.features.runs import repository
from headgate.features.runs.ports.origin import Origin
from headgate.features.runs.ports.storage import FoundPassages, SearchModels
from headgate.features.runs.spaces import Spaces
from headgate.features.runs.transitions import RunKey
from headgate.foundation.checked import checked
from headgate.foundation.database import Database
from headgate.sdk.knowledge import KnowledgeQuery, Passage


@dataclass(frozen=True, slots=True)
class RunKnowledge:
    """Knowledge of flows' spaces; see `ports.KnowledgeBases`."""

    database: Database
    spaces: Spaces

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
            base_id = (await base_of_space(session, query.base, tenant_id=key.tenant_id, space_id=space_id)).id

        async def scoping(session: AsyncSession) -> Scope:
            return Scope(key.tenant_id, base_id, await _reader(session, key, clearance))

        answer = await rerankings.search(
            self.database, scoping, _search_in(query), question, reranking, variants=variants
        )
        level = max((hit.classification for hit in answer.hits), default=0)
        passages = tuple(_passage(hit, base_id) for hit in answer.hits)
        return FoundPassages(passages, level, answer.mode, answer.rerank_model, answer.problem)


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
