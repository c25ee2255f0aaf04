"""Knowledge bases for steps, read with the rights that the user who started the run has now."""

from dataclasses import dataclass

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.accounts.directory.service import group_ids_of
from headgate.features.knowledge import searching
from headgate.features.knowledge.rights import VISITOR, Reader
from headgate.features.knowledge.schemas import HitOut, SearchIn
from headgate.features.knowledge.search_index import Scope
from headgate.features.knowledge.service import base_of_space
from headgate.features.runs import repository
from headgate.features.runs.ports import Origin
from headgate.features.runs.spaces import Spaces
from headgate.features.runs.transitions import RunKey
from headgate.foundation.database import Database
from headgate.sdk.knowledge import KnowledgeQuery, Passage


@dataclass(frozen=True, slots=True)
class RunKnowledge:
    """Knowledge of flows' spaces; see `ports.KnowledgeBases`."""

    database: Database
    spaces: Spaces

    async def search(
        self, origin: Origin, query: KnowledgeQuery, *, clearance: int | None
    ) -> tuple[tuple[Passage, ...], int]:
        """Return passages and their highest classification. Raises `BaseNotFound`."""
        key = origin.key
        space_id = await self.spaces.of(key.tenant_id, key.flow_id)
        search_in = SearchIn(query=query.text, limit=query.limit, max_tokens=query.max_tokens)
        async with self.database.reading() as session:
            base = await base_of_space(session, query.base, tenant_id=key.tenant_id, space_id=space_id)
            reader = await _reader(session, key, clearance)
            answer = await searching.search(session, Scope(key.tenant_id, base.id, reader), search_in)
        level = max((hit.classification for hit in answer.hits), default=0)
        return tuple(_passage(hit, base.id) for hit in answer.hits), level


async def _reader(session: AsyncSession, key: RunKey, clearance: int | None) -> Reader:
    """Return the user who started a run, while they may start runs of the flow; else a visitor."""
    starter = await repository.find_starter(session, key.run_id, tenant_id=key.tenant_id)
    if starter is None:
        return Reader(role=VISITOR, clearance=clearance)
    user_id, role = starter
    groups = await group_ids_of(session, user_id, tenant_id=key.tenant_id)
    return Reader(user_id, role.value, groups, clearance)


def _passage(hit: HitOut, base_id: str) -> Passage:
    return Passage(
        text=hit.text,
        context=hit.context,
        document=hit.document,
        document_id=hit.document_id,
        base_id=base_id,
        version=hit.version,
        document_sha256=hit.document_sha256,
        ordinal=hit.ordinal,
        start=hit.start,
        end=hit.end,
        page=hit.page,
        sha256=hit.sha256,
        score=hit.score,
    )
