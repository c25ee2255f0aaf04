"""Searching a knowledge base: passages that the reader may read, the best first, within a budget of tokens."""

from dataclasses import dataclass

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.principal import Principal
from headgate.features.knowledge import search_index
from headgate.features.knowledge.rights import reader_of
from headgate.features.knowledge.schemas import HitOut, SearchIn, SearchOut
from headgate.features.knowledge.search_index import Scope
from headgate.features.knowledge.service import get_base
from headgate.features.knowledge.tables import DocumentRow, DocumentVersionRow, PassageRow
from headgate.features.knowledge.terms import content_terms, query_terms, terms

CANDIDATES = 60
"""Passages that each way of searching returns."""
RANK_CONSTANT = 60
"""Of reciprocal rank fusion (Cormack et al., 2009)."""


@dataclass(frozen=True, slots=True)
class Ranks:
    """The rank of a passage in each way of searching, from 1."""

    lexical: int | None = None
    vector: int | None = None

    @property
    def fused(self) -> float:
        """Return the sum of the reciprocal ranks."""
        return sum(1 / (RANK_CONSTANT + rank) for rank in (self.lexical, self.vector) if rank is not None)


async def search_as(
    session: AsyncSession, principal: Principal, base_id: str, search_in: SearchIn, *, clearance: int | None = None
) -> SearchOut:
    """Search a base as a user. Raises `BaseNotFound`, `PermissionMissing`."""
    base = await get_base(session, principal, base_id)
    reader = await reader_of(session, principal, base.space_id, clearance=clearance)
    return await search(session, Scope(principal.tenant_id, base.id, reader), search_in)


async def search(session: AsyncSession, scope: Scope, search_in: SearchIn) -> SearchOut:
    """Return the best passages that the reader may read, no others; see `search_index` for what decides the order."""
    searched = query_terms(search_in.query)
    ids = await search_index.ranked(session, scope, searched, limit=CANDIDATES)
    ranks = {id_: Ranks(lexical=rank) for rank, id_ in enumerate(ids, start=1)}
    ordered = sorted(ranks, key=lambda id_: (-ranks[id_].fused, id_))
    rows = await search_index.read_passages(session, scope, ordered[: search_in.limit * 2])
    hits = [_hit(*rows[id_], ranks[id_], searched) for id_ in ordered if id_ in rows]
    return SearchOut(terms=searched, vectors=False, hits=_within(hits, search_in))


def _within(hits: list[HitOut], search_in: SearchIn) -> list[HitOut]:
    """Return the hits that fit the limits; the best one in any case, and no text twice."""
    chosen: list[HitOut] = []
    tokens, seen = 0, set[str]()
    for hit in hits:
        fits = not chosen or tokens + hit.tokens <= search_in.max_tokens
        if len(chosen) < search_in.limit and fits and hit.sha256 not in seen:
            chosen.append(hit)
            seen.add(hit.sha256)
            tokens += hit.tokens
    return chosen


def _hit(
    passage: PassageRow, document: DocumentRow, version: DocumentVersionRow, ranks: Ranks, searched: list[str]
) -> HitOut:
    present = set(terms(passage.text)) | content_terms(passage.context)
    return HitOut(
        document_id=document.id,
        document=document.name,
        version=passage.version,
        document_sha256=version.sha256,
        ordinal=passage.ordinal,
        start=passage.start,
        end=passage.end,
        page=passage.page,
        sha256=passage.sha256,
        context=passage.context,
        text=passage.text,
        tokens=passage.tokens,
        classification=document.classification,
        score=round(ranks.fused * (RANK_CONSTANT + 1), 4),
        lexical_rank=ranks.lexical,
        vector_rank=ranks.vector,
        matched=[term for term in searched if term in present],
    )
