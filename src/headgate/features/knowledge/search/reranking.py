"""Reranking the first passages of a search with a model that reads the query and each passage together.

A passage above the model's clearance is not sent to it: it keeps its place among the others.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.knowledge.errors import NoReranker
from headgate.features.knowledge.index.lexical import Scope
from headgate.features.knowledge.search import matching
from headgate.features.knowledge.search.matching import Candidate, Matches
from headgate.features.knowledge.search.queries import LIKELY_TO_PASS, Question, Variant
from headgate.features.knowledge.search.schemas import SearchIn, SearchOut
from headgate.features.knowledge.tables import KnowledgeBaseRow
from headgate.foundation.database import Database
from headgate.foundation.errors import HeadgateError, TooLarge

Ask = Callable[[Sequence[str]], Awaitable[Sequence[float]]]
"""Returns the score of each text for the query of a search. Raises `HeadgateError`."""


@dataclass(frozen=True, slots=True)
class Reranking:
    """How the passages of a search are reranked."""

    model: str
    candidates: int
    """Number of the first passages that are sent to the model."""
    ask: Ask
    clearance: int | None = None
    """The highest classification that the model may receive; None: any."""
    required: bool = False
    """Whether a failure of the model fails the search; else the passages keep their order, and the answer says why."""
    tolerated: tuple[type[HeadgateError], ...] = (*LIKELY_TO_PASS, TooLarge)
    """Failures after which the passages keep their order."""

    async def scores(self, candidates: Sequence[Candidate]) -> tuple[dict[int, float], str]:
        """Return the scores of passages by id, and what was not done. Raises the failure of a required model."""
        sent = [item for item in candidates if self.clearance is None or item.classification <= self.clearance]
        withheld = len(candidates) - len(sent)
        problem = ""
        if withheld:
            problem = f"Not reranked: {withheld} of {len(candidates)} passages are classified above {self.model}."
        if not sent:
            return {}, problem
        try:
            scores = await self.ask([item.text for item in sent])
        except self.tolerated as error:
            if self.required:
                raise
            return {}, f"Not reranked: {error}"
        return {item.id: score for item, score in zip(sent, scores, strict=True)}, problem


def reranker_of(base: KnowledgeBaseRow, search_in: SearchIn) -> str:
    """Return the model that reranks a search; empty for none. Raises `NoReranker` when a search requires one."""
    if search_in.rerank and not base.rerank_model:
        raise NoReranker(
            f"The knowledge base '{base.name}' has no rerank model.",
            remedy="Choose one: headgate knowledge rerank BASE MODEL. Or omit 'rerank'.",
        )
    return "" if search_in.rerank is False else base.rerank_model


async def search(
    database: Database,
    scoping: Callable[[AsyncSession], Awaitable[Scope]],
    search_in: SearchIn,
    question: Question | None,
    reranking: Reranking | None,
    *,
    variants: Sequence[Variant] = (),
) -> SearchOut:
    """Return the best passages; no connection is held while the model is asked.

    Args:
        database: The database.
        scoping: Returns what may be read; called again after the model has answered, because rights may have changed.
        search_in: What is searched.
        question: The embedded query; None for a lexical search.
        reranking: How the passages are reranked; None: they are not.
        variants: Further queries, embedded like the question.
    """
    if reranking is None:
        async with database.reading() as session:
            return await matching.search(session, await scoping(session), search_in, question, variants)
    async with database.reading() as session:
        scope = await scoping(session)
        matches = await matching.find(session, scope, search_in, question, variants)
        number = max(reranking.candidates, search_in.limit)
        candidates = await matching.candidates(session, scope, matches, number)
    scores, problem = await reranking.scores(candidates) if candidates else ({}, "")
    async with database.reading() as session:
        if scores:
            matches = _reranked(matches, candidates, scores, reranking.model)
        answer = await matching.results(session, await scoping(session), search_in, matches)
    return answer.model_copy(update={"problem": problem})


def _reranked(matches: Matches, candidates: Sequence[Candidate], scores: dict[int, float], model: str) -> Matches:
    """Return matches in their new order; those that were no candidates follow."""
    first = reordered([item.id for item in candidates], scores)
    rest = sorted(set(matches.ordered) - set(first), key=matches.places.__getitem__)
    return replace(matches, ordered=[*first, *rest], scores=scores, rerank_model=model)


def reordered(ids: Sequence[int], scores: Mapping[int, float]) -> list[int]:
    """Return passages by their scores, the highest first; one without a score keeps its place."""
    best = iter(sorted((id_ for id_ in ids if id_ in scores), key=lambda id_: -scores[id_]))
    return [next(best) if id_ in scores else id_ for id_ in ids]
