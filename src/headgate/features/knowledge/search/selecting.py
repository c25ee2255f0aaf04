"""Which of the ranked passages a search returns: unlike each other, with their neighbours, within the limits."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import and_, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.knowledge.index.lexical import Scope
from headgate.features.knowledge.passages.chunking import digest_of
from headgate.features.knowledge.passages.terms import content_terms
from headgate.features.knowledge.search.schemas import SearchIn
from headgate.features.knowledge.tables import PassageRow

Place = tuple[str, int, int]
"""Document, generation and ordinal of a passage."""


@dataclass(frozen=True, slots=True)
class Part:
    """A passage of a document, or several in a row; `core` is where the text begins that the one before it lacks."""

    start: int
    core: int
    end: int
    text: str
    tokens: int
    sha256: str

    def before(self, following: "Part") -> "Part | None":
        """Return both as one text; None unless the other one continues this one."""
        if self.end != following.core:
            return None
        text = self.text + following.text[following.core - following.start :]
        tokens = self.tokens + following.tokens
        return Part(self.start, self.core, following.end, text, tokens, digest_of(text))


@dataclass(frozen=True, slots=True)
class Chosen:
    """A ranked passage that is returned, with the text that is returned for it."""

    id: int
    part: Part


def ordered_by_diversity(
    ids: Sequence[int], texts: Mapping[int, str], relevance: Callable[[int], float], diversity: float
) -> list[int]:
    """Return passages in an order in which each is unlike those before it, by the terms that they share.

    Maximal marginal relevance (Carbonell and Goldstein, 1998): the share `diversity` of the score is what it has in
    common with the most similar passage before it.
    """
    terms = {id_: content_terms(texts[id_]) for id_ in ids}
    best = max((relevance(id_) for id_ in ids), default=0.0) or 1.0
    ordered: list[int] = []
    nearest = dict.fromkeys(ids, 0.0)
    while nearest:
        chosen = max(nearest, key=lambda id_: (1 - diversity) * relevance(id_) / best - diversity * nearest[id_])
        ordered.append(chosen)
        del nearest[chosen]
        for id_ in nearest:
            nearest[id_] = max(nearest[id_], _shared(terms[id_], terms[chosen]))
    return ordered


def _shared(terms: set[str], other: set[str]) -> float:
    """Return the share of the terms of two passages that both have (Jaccard)."""
    union = len(terms | other)
    return len(terms & other) / union if union else 0.0


async def read_neighbours(
    session: AsyncSession, scope: Scope, passages: Sequence[PassageRow], count: int
) -> dict[Place, Part]:
    """Return passages of the same documents that the reader may read, up to `count` before and after each."""
    if not count or not passages:
        return {}
    row = PassageRow
    near = [
        and_(
            row.document_id == passage.document_id,
            row.generation == passage.generation,
            row.ordinal.between(passage.ordinal - count, passage.ordinal + count),
        )
        for passage in passages
    ]
    rows = await session.execute(select(row).where(or_(*near), *scope.passages))
    return {place_of(passage): part_of(passage) for passage in rows.scalars()}


def place_of(passage: PassageRow) -> Place:
    """Return where a passage is."""
    return passage.document_id, passage.generation, passage.ordinal


def part_of(passage: PassageRow) -> Part:
    """Return the text of a passage."""
    return Part(passage.start, passage.core, passage.end, passage.text, passage.tokens, passage.sha256)


def within_limits(
    ids: Sequence[int], passages: Mapping[int, PassageRow], neighbours: Mapping[Place, Part], search_in: SearchIn
) -> Iterator[Chosen]:
    """Yield the passages that fit the limits, the best one in any case; no text is returned twice.

    A passage that is in the surroundings of a better one is not returned again. Surroundings are left out when the
    budget is too small for them.
    """
    taken: set[Place] = set()
    seen: set[str] = set()
    number, tokens = 0, 0
    for id_ in ids:
        passage = passages[id_]
        if number == search_in.limit or place_of(passage) in taken or passage.sha256 in seen:
            continue
        rest = search_in.max_tokens - tokens
        part, places = _surrounded(passage, neighbours, taken, search_in.neighbours, rest)
        if number and part.tokens > rest:
            continue
        number, tokens = number + 1, tokens + part.tokens
        taken.update(places)
        seen.add(passage.sha256)
        yield Chosen(id_, part)


def _surrounded(
    passage: PassageRow, neighbours: Mapping[Place, Part], taken: set[Place], count: int, budget: int
) -> tuple[Part, list[Place]]:
    """Return a passage with those before and after it that are free and fit the budget, and their places."""
    document, generation, ordinal = place_of(passage)
    part, places = part_of(passage), [place_of(passage)]
    for step in (-1, 1):
        for distance in range(1, count + 1):
            place = (document, generation, ordinal + step * distance)
            near = None if place in taken else neighbours.get(place)
            joined = None if near is None else near.before(part) if step < 0 else part.before(near)
            if joined is None or joined.tokens > budget:
                break
            part = joined
            places.append(place)
    return part, places
