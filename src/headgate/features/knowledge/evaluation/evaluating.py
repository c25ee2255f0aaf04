"""Evaluating a knowledge base: every question is searched in every way, with the rights of the user who evaluates."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from sqlalchemy import and_
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal, within
from headgate.features.audit.recorder import record_of
from headgate.features.knowledge import service
from headgate.features.knowledge.errors import EvaluationNotFound, NoQuestions
from headgate.features.knowledge.evaluation import measures, repository
from headgate.features.knowledge.evaluation.schemas import (
    AnswerOut,
    EvaluationDetail,
    EvaluationIn,
    EvaluationOut,
    ExpectedOut,
    MeasureOut,
    RanksOut,
)
from headgate.features.knowledge.evaluation.tables import EvaluationRow, QuestionRow
from headgate.features.knowledge.index.lexical import Scope
from headgate.features.knowledge.metadata.rows import matching
from headgate.features.knowledge.metadata.values import Condition
from headgate.features.knowledge.repository import add_knowledge
from headgate.features.knowledge.rights import Reader, readable, reader_of
from headgate.features.knowledge.search import reranking
from headgate.features.knowledge.search.queries import Question, Variant
from headgate.features.knowledge.search.schemas import MOST_BUDGET, HitOut, Mode, SearchIn
from headgate.features.knowledge.search.service import (
    Embedder,
    embedded_queries,
    model_of_search,
    reranking_of,
    written_queries,
)
from headgate.features.knowledge.service import get_base
from headgate.features.knowledge.tables import KnowledgeBaseRow
from headgate.features.models.asking import Asker
from headgate.foundation.database import Database, now
from headgate.foundation.ids import new_id

MOST_EVALUATIONS = 50
"""Evaluations that a base keeps."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """What an evaluation reads before it searches."""

    base: KnowledgeBaseRow
    reader: Reader
    questions: Sequence[QuestionRow]
    names: dict[str, str]
    """Of the expected documents that the user may read and that meet the filters."""
    model: str
    """The model to embed the questions with; empty: the base is searched lexically."""
    passages: int


@dataclass(frozen=True, slots=True)
class Way:
    """A way of searching."""

    mode: Mode
    reranked: bool = False
    queries: int = 0
    """Queries that a model writes."""


@dataclass(frozen=True, slots=True)
class Evaluator:
    """Evaluates bases: no connection is held while questions are embedded, and passages reranked."""

    database: Database
    embedder: Embedder
    asker: Asker

    async def evaluate(self, principal: Principal, base_id: str, evaluation_in: EvaluationIn) -> EvaluationDetail:
        """Search all questions and store the measures, as an editor.

        Raises `BaseNotFound`, `PermissionMissing`, `NoQuestions`, and the failure of a model.
        """
        async with self.database.reading() as session:
            prepared = await _prepared(session, principal, base_id, evaluation_in.filters)
        if not prepared.base.rerank_model:
            evaluation_in = evaluation_in.model_copy(update={"rerank": False})
        asker = within(principal, prepared.base.space_id)
        embedded = await self._embedded(asker, prepared, [row.question for row in prepared.questions])
        answers = [
            await self._answer(principal, prepared, row, question, evaluation_in)
            for row, question in zip(prepared.questions, embedded, strict=True)
        ]
        async with self.database.writing() as session:
            return await _store(session, principal, prepared, answers, evaluation_in)

    async def _embedded(
        self, principal: Principal, prepared: Prepared, texts: Sequence[str]
    ) -> Sequence[Question | None]:
        if not prepared.model:
            return [None] * len(texts)
        return await embedded_queries(self.embedder, principal, prepared.model, texts)

    async def _answer(
        self,
        principal: Principal,
        prepared: Prepared,
        row: QuestionRow,
        question: Question | None,
        evaluation_in: EvaluationIn,
    ) -> AnswerOut:
        expected = [ExpectedOut(id=id_, name=prepared.names[id_]) for id_ in row.document_ids if id_ in prepared.names]
        filters = [Condition.model_validate(condition) for condition in row.filters]
        searches: list[RanksOut] = []
        modes: tuple[Mode, ...] = ("lexical",) if question is None else ("lexical", "vector", "hybrid")
        ways = [Way(mode) for mode in modes]
        ways += [Way(modes[-1], reranked=True)] if evaluation_in.rerank else []
        ways += [Way(modes[-1], queries=evaluation_in.queries)] if evaluation_in.query_model else []

        async def scoping(_session: AsyncSession) -> Scope:
            return Scope(prepared.base.tenant_id, prepared.base.id, prepared.reader, [*evaluation_in.filters, *filters])

        for way in ways if expected else ():
            search_in = SearchIn(
                query=row.question, limit=evaluation_in.limit, max_tokens=MOST_BUDGET, mode=way.mode,
                rerank=way.reranked, query_model=evaluation_in.query_model if way.queries else "",
                queries=evaluation_in.queries,
            )  # fmt: skip
            by_model = await reranking_of(self.embedder, principal, prepared.base, search_in) if way.reranked else None
            asked = None if way.mode == "lexical" else question
            variants = await self._variants(within(principal, prepared.base.space_id), prepared, search_in)
            answer = await reranking.search(self.database, scoping, search_in, asked, by_model, variants=variants)
            ranks = [_rank(answer.hits, document.id, row.quote) for document in expected]
            searches.append(RanksOut(mode=way.mode, reranked=way.reranked, queries=way.queries, ranks=ranks))
        return AnswerOut(
            question_id=row.id, question=row.question, documents=expected, filters=filters, searches=searches
        )

    async def _variants(self, principal: Principal, prepared: Prepared, search_in: SearchIn) -> list[Variant]:
        """Return the queries that a model writes; none when the search names no model."""
        texts = (await written_queries(self.asker, principal, search_in))[1:]
        embedded = await self._embedded(principal, prepared, texts)
        return [Variant(*more) for more in zip(texts, embedded, strict=True)]


async def list_evaluations(session: AsyncSession, principal: Principal, base_id: str) -> list[EvaluationOut]:
    """Return the evaluations of a base, newest first, as its editor. Raises `BaseNotFound`, `PermissionMissing`."""
    base = await get_base(session, principal, base_id, permission=Permission.KNOWLEDGE_EDIT)
    rows = await repository.list_evaluations(session, base.id, tenant_id=base.tenant_id, limit=MOST_EVALUATIONS)
    return [EvaluationOut.model_validate(_detail(row), from_attributes=True) for row in rows]


async def read_evaluation(
    session: AsyncSession, principal: Principal, base_id: str, evaluation_id: str
) -> EvaluationDetail:
    """Return an evaluation with its questions. Raises like `list_evaluations`, `EvaluationNotFound`.

    Documents that the caller may not view have no name.
    """
    base = await get_base(session, principal, base_id, permission=Permission.KNOWLEDGE_EDIT)
    row = await repository.find_evaluation(session, base.id, evaluation_id, tenant_id=base.tenant_id)
    if row is None:
        raise EvaluationNotFound(evaluation_id)
    detail = _detail(row)
    visible = await service.visible_to(session, principal, base)
    ids = {document.id for answer in detail.answers for document in answer.documents}
    names = await repository.names_of(session, base.id, ids, tenant_id=base.tenant_id, visible=visible)
    for answer in detail.answers:
        answer.documents = [ExpectedOut(id=item.id, name=names.get(item.id, "")) for item in answer.documents]
    return detail


async def _prepared(
    session: AsyncSession, principal: Principal, base_id: str, filters: Sequence[Condition]
) -> Prepared:
    base = await get_base(session, principal, base_id, permission=Permission.KNOWLEDGE_EDIT)
    rows = await repository.list_questions(session, base.id, tenant_id=base.tenant_id)
    if not rows:
        raise NoQuestions(base.name)
    reader = await reader_of(session, principal, base.space_id)
    ids = {id_ for row in rows for id_ in row.document_ids}
    expected = and_(readable(reader), *matching(filters))
    names = await repository.names_of(session, base.id, ids, tenant_id=base.tenant_id, visible=expected)
    described = await service.described(session, principal, base)
    return Prepared(base, reader, rows, names, await model_of_search(session, base, None), described.passages)


async def _store(
    session: AsyncSession,
    principal: Principal,
    prepared: Prepared,
    answers: list[AnswerOut],
    evaluation_in: EvaluationIn,
) -> EvaluationDetail:
    base = await get_base(session, principal, prepared.base.id, permission=Permission.KNOWLEDGE_EDIT)
    row = EvaluationRow(
        id=new_id(),
        tenant_id=base.tenant_id,
        base_id=base.id,
        user_id=principal.user_id,
        limit=evaluation_in.limit,
        passage_tokens=prepared.base.passage_tokens,
        overlap_tokens=prepared.base.overlap_tokens,
        embedding_model=prepared.model,
        rerank_model=prepared.base.rerank_model if evaluation_in.rerank else "",
        rerank_candidates=prepared.base.rerank_candidates if evaluation_in.rerank else 0,
        query_model=evaluation_in.query_model,
        queries=evaluation_in.queries if evaluation_in.query_model else 0,
        filters=[condition.written for condition in evaluation_in.filters],
        passages=prepared.passages,
        skipped=sum(not answer.searches for answer in answers),
        measures=[measure.model_dump() for measure in _measures(answers, evaluation_in.limit)],
        answers=[answer.model_dump() for answer in answers],
        created_at=now(),
    )
    await add_knowledge(session, row)
    await repository.remove_old_evaluations(session, base.id, tenant_id=base.tenant_id, keep=MOST_EVALUATIONS)
    await record_of(session, principal, "knowledge_base.evaluated", base, after={"measures": row.measures})
    return _detail(row)


def _rank(hits: Sequence[HitOut], document_id: str, quote: str) -> int | None:
    """Return the rank of the first passage of a document that answers."""
    for rank, hit in enumerate(hits, start=1):
        if hit.document_id == document_id and _plain(quote) in _plain(hit.text):
            return rank
    return None


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _measures(answers: Sequence[AnswerOut], limit: int) -> list[MeasureOut]:
    by_way: dict[Way, list[list[int | None]]] = {}
    for answer in answers:
        for search in answer.searches:
            by_way.setdefault(Way(search.mode, search.reranked, search.queries), []).append(search.ranks)
    return [
        MeasureOut(
            mode=way.mode,
            reranked=way.reranked,
            queries=way.queries,
            recall=round(fmean(map(measures.recall, all_ranks)), 4),
            ndcg=round(fmean(measures.ndcg(ranks, limit) for ranks in all_ranks), 4),
            mrr=round(fmean(map(measures.reciprocal_rank, all_ranks)), 4),
            complete=sum(None not in ranks for ranks in all_ranks),
        )
        for way, all_ranks in by_way.items()
    ]


def _detail(row: EvaluationRow) -> EvaluationDetail:
    values = {name: getattr(row, name) for name in EvaluationDetail.model_fields if name != "questions"}
    return EvaluationDetail.model_validate(values | {"questions": len(row.answers)})
