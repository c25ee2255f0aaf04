"""Searching a knowledge base: passages that the reader may read, the best first, within a budget of tokens."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.principal import Principal
from headgate.features.knowledge.index import lexical, vectors
from headgate.features.knowledge.index.lexical import Scope
from headgate.features.knowledge.passages.terms import content_terms, query_terms, terms
from headgate.features.knowledge.rights import reader_of
from headgate.features.knowledge.search import selecting
from headgate.features.knowledge.search.queries import Question, Variant
from headgate.features.knowledge.search.schemas import HitOut, Mode, SearchIn, SearchOut
from headgate.features.knowledge.service import get_base
from headgate.features.knowledge.tables import DocumentRow, DocumentVersionRow, PassageRow

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
    more: tuple[int, ...] = ()
    """Its ranks for further queries."""
    queries: tuple[int, ...] = (0,)
    """Which queries found it."""

    @property
    def fused(self) -> float:
        """Return the sum of the reciprocal ranks."""
        return sum(1 / (RANK_CONSTANT + rank) for rank in (*self.own, *self.more))

    @property
    def own(self) -> tuple[int, ...]:
        """Return its ranks for the first query."""
        return tuple(rank for rank in (self.lexical, self.vector) if rank is not None)


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
    return await search(session, Scope(principal.tenant_id, base.id, reader, search_in.filters), search_in, question)


@dataclass(frozen=True, slots=True)
class Matches:
    """The passages that a search found, before their texts are read."""

    mode: Mode
    queries: list[str]
    searched: list[str]
    """Terms of the queries."""
    model: str
    """The model that embedded the query; empty for a lexical search."""
    ranks: dict[int, Ranks]
    ordered: list[int]
    """Ids of passages, the best first."""
    places: dict[int, int]
    """The place of each one by the fused ranks, from 1."""
    recall: float | None = None
    """Measured share of the nearest passages that an approximate search finds; None: it was exact, or lexical."""
    scores: Mapping[int, float] = field(default_factory=dict)
    """Scores of a rerank model, of the passages that it received."""
    rerank_model: str = ""
    """That model; empty when nothing was reranked."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A passage that may be reranked."""

    id: int
    text: str
    """With the headings above it."""
    classification: int


async def search(
    session: AsyncSession,
    scope: Scope,
    search_in: SearchIn,
    question: Question | None = None,
    variants: Sequence[Variant] = (),
) -> SearchOut:
    """Return the best passages that the reader may read, no others.

    `index.lexical` and `index.vectors` decide the order of each way of searching; the ranks of both, for all queries,
    are fused.
    """
    return await results(session, scope, search_in, await find(session, scope, search_in, question, variants))


async def find(
    session: AsyncSession,
    scope: Scope,
    search_in: SearchIn,
    question: Question | None,
    variants: Sequence[Variant] = (),
) -> Matches:
    """Return which passages match, in the order of their fused ranks."""
    mode: Mode = "lexical" if question is None else search_in.mode or "hybrid"
    searched = query_terms(search_in.query)
    ranks, recall = await _ranks(session, scope, mode, searched, question)
    for number, variant in enumerate(variants, start=1):
        further = query_terms(variant.text)
        more, _ = await _ranks(session, scope, mode, further, variant.question)
        for id_, further_ranks in more.items():
            known = ranks.get(id_, Ranks(queries=()))
            ranks[id_] = replace(known, more=(*known.more, *further_ranks.own), queries=(*known.queries, number))
        searched += [term for term in further if term not in searched]
    # Of two with the same sum, the one that has the words of the query is first.
    ordered = sorted(ranks, key=lambda id_: (-ranks[id_].fused, ranks[id_].lexical is None, id_))
    places = {id_: place for place, id_ in enumerate(ordered, start=1)}
    queries = [search_in.query, *(variant.text for variant in variants)]
    return Matches(mode, queries, searched, "" if question is None else question.model, ranks, ordered, places, recall)


async def candidates(session: AsyncSession, scope: Scope, matches: Matches, number: int) -> list[Candidate]:
    """Return the first passages with their texts, in their order; each text once."""
    rows = await lexical.read_passages(session, scope, matches.ordered[:number])
    unique: dict[str, Candidate] = {}
    for passage, document, _ in (rows[id_] for id_ in matches.ordered[:number] if id_ in rows):
        text = "\n".join(filter(None, (passage.context, passage.text)))
        unique.setdefault(passage.sha256, Candidate(passage.id, text, document.classification))
    return list(unique.values())


async def results(session: AsyncSession, scope: Scope, search_in: SearchIn, matches: Matches) -> SearchOut:
    """Return matching passages within the limits of a search, those that the reader may read now."""
    rows = await lexical.read_passages(session, scope, matches.ordered[: search_in.limit * 2])
    ordered = [id_ for id_ in matches.ordered if id_ in rows]
    passages = {id_: rows[id_][0] for id_ in ordered}
    if search_in.diversity:
        texts = {id_: passage.text for id_, passage in passages.items()}
        relevance = {id_: 1 / (RANK_CONSTANT + place) for place, id_ in enumerate(ordered, start=1)}
        if not matches.rerank_model:
            relevance = {id_: matches.ranks[id_].fused for id_ in ordered}
        ordered = selecting.ordered_by_diversity(ordered, texts, relevance.__getitem__, search_in.diversity)
    near = await selecting.read_neighbours(session, scope, list(passages.values()), search_in.neighbours)
    return SearchOut(
        queries=matches.queries,
        terms=[] if matches.mode == "vector" else matches.searched,
        vectors=matches.mode != "lexical",
        mode=matches.mode,
        vector_recall=matches.recall,
        embedding_model=matches.model,
        rerank_model=matches.rerank_model,
        hits=[
            _hit(chosen, *rows[chosen.id], matches)
            for chosen in selecting.within_limits(ordered, passages, near, search_in)
        ],
    )


async def _ranks(
    session: AsyncSession, scope: Scope, mode: Mode, searched: list[str], question: Question | None
) -> tuple[dict[int, Ranks], float | None]:
    """Return the ranks of the candidates of each way of searching, and the recall of an approximate one."""
    ids = [] if mode == "vector" else await lexical.ranked(session, scope, searched, limit=CANDIDATES)
    ranks = {id_: Ranks(lexical=rank) for rank, id_ in enumerate(ids, start=1)}
    recall = None
    if question is not None:
        near, recall = await vectors.nearest(session, scope, question.model, question.vector, limit=CANDIDATES)
        for rank, (id_, similarity) in enumerate(near, start=1):
            ranks[id_] = replace(ranks.get(id_, Ranks()), vector=rank, similarity=similarity)
    return ranks, recall


def _hit(
    chosen: selecting.Chosen, passage: PassageRow, document: DocumentRow, version: DocumentVersionRow, matches: Matches
) -> HitOut:
    part, ranks, ways = (
        chosen.part,
        matches.ranks[chosen.id],
        (2 if matches.mode == "hybrid" else 1) * len(matches.queries),
    )
    present = set(terms(part.text)) | content_terms(passage.context)
    rerank_score = matches.scores.get(chosen.id)
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
        score=round(ranks.fused * (RANK_CONSTANT + 1) / ways, 4),
        lexical_rank=ranks.lexical,
        vector_rank=ranks.vector,
        similarity=None if ranks.similarity is None else round(ranks.similarity, 4),
        embedding_model="" if ranks.vector is None else matches.model,
        rerank_score=None if rerank_score is None else round(rerank_score, 4),
        rerank_model="" if rerank_score is None else matches.rerank_model,
        first_rank=matches.places[chosen.id] if matches.rerank_model else None,
        queries=list(ranks.queries),
        matched=[term for term in matches.searched if term in present],
    )
