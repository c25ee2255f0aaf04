"""Searching a knowledge base: passages that the reader may read, the best first, within a budget of tokens."""

from dataclasses import dataclass, replace

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.principal import Principal
from headgate.features.knowledge import search_index, selecting, vectors
from headgate.features.knowledge.questions import Question
from headgate.features.knowledge.rights import reader_of
from headgate.features.knowledge.schemas import HitOut, Mode, SearchIn, SearchOut
from headgate.features.knowledge.search_index import Scope
from headgate.features.knowledge.selecting import Part
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
    similarity: float | None = None
    """Cosine of the embeddings of passage and question; None unless it is among the nearest."""

    @property
    def fused(self) -> float:
        """Return the sum of the reciprocal ranks."""
        return sum(1 / (RANK_CONSTANT + rank) for rank in (self.lexical, self.vector) if rank is not None)


async def search_as(
    session: AsyncSession,
    principal: Principal,
    base_id: str,
    search_in: SearchIn,
    *,
    question: Question | None = None,
    clearance: int | None = None,
) -> SearchOut:
    """Search a base as a user; lexically without the embedded query. Raises `BaseNotFound`, `PermissionMissing`."""
    base = await get_base(session, principal, base_id)
    reader = await reader_of(session, principal, base.space_id, clearance=clearance)
    return await search(session, Scope(principal.tenant_id, base.id, reader), search_in, question)


async def search(
    session: AsyncSession, scope: Scope, search_in: SearchIn, question: Question | None = None
) -> SearchOut:
    """Return the best passages that the reader may read, no others.

    `search_index` and `vectors` decide the order of each way of searching; the ranks of both are fused.
    """
    mode: Mode = "lexical" if question is None else search_in.mode or "hybrid"
    searched = query_terms(search_in.query)
    ranks = await _ranks(session, scope, mode, searched, question)
    # Of two with the same sum, the one that has the words of the query is first.
    ordered = sorted(ranks, key=lambda id_: (-ranks[id_].fused, ranks[id_].lexical is None, id_))
    rows = await search_index.read_passages(session, scope, ordered[: search_in.limit * 2])
    ordered = [id_ for id_ in ordered if id_ in rows]
    passages = {id_: rows[id_][0] for id_ in ordered}
    if search_in.diversity:
        texts = {id_: passage.text for id_, passage in passages.items()}
        ordered = selecting.ordered_by_diversity(ordered, texts, lambda id_: ranks[id_].fused, search_in.diversity)
    near = await selecting.read_neighbours(session, scope, list(passages.values()), search_in.neighbours)
    model = "" if question is None else question.model
    ways = 2 if mode == "hybrid" else 1
    return SearchOut(
        terms=[] if mode == "vector" else searched,
        vectors=mode != "lexical",
        mode=mode,
        embedding_model=model,
        hits=[
            _hit(chosen.part, *rows[chosen.id], Match(ranks[chosen.id], searched, model, ways))
            for chosen in selecting.within_limits(ordered, passages, near, search_in)
        ],
    )


async def _ranks(
    session: AsyncSession, scope: Scope, mode: Mode, searched: list[str], question: Question | None
) -> dict[int, Ranks]:
    """Return the ranks of the candidates of each way of searching."""
    ids = [] if mode == "vector" else await search_index.ranked(session, scope, searched, limit=CANDIDATES)
    ranks = {id_: Ranks(lexical=rank) for rank, id_ in enumerate(ids, start=1)}
    if question is not None:
        near = await vectors.nearest(session, scope, question.model, question.vector, limit=CANDIDATES)
        for rank, (id_, similarity) in enumerate(near, start=1):
            ranks[id_] = replace(ranks.get(id_, Ranks()), vector=rank, similarity=similarity)
    return ranks


@dataclass(frozen=True, slots=True)
class Match:
    """How a passage was found."""

    ranks: Ranks
    searched: list[str]
    model: str
    ways: int
    """Number of ways of searching whose ranks are fused."""


def _hit(part: Part, passage: PassageRow, document: DocumentRow, version: DocumentVersionRow, match: Match) -> HitOut:
    ranks = match.ranks
    present = set(terms(part.text)) | content_terms(passage.context)
    return HitOut(
        document_id=document.id,
        document=document.name,
        version=passage.version,
        document_sha256=version.sha256,
        ordinal=passage.ordinal,
        start=part.start,
        end=part.end,
        page=passage.page,
        sha256=part.sha256,
        context=passage.context,
        text=part.text,
        tokens=part.tokens,
        classification=document.classification,
        score=round(ranks.fused * (RANK_CONSTANT + 1) / match.ways, 4),
        lexical_rank=ranks.lexical,
        vector_rank=ranks.vector,
        similarity=None if ranks.similarity is None else round(ranks.similarity, 4),
        embedding_model="" if ranks.vector is None else match.model,
        matched=[term for term in match.searched if term in present],
    )
