"""Operations on evaluations of knowledge bases: questions, figures and what was missed, as an editor of the base."""

from datetime import datetime
from typing import cast

from pydantic import JsonValue
from typing_extensions import TypedDict

from headgate.features.access.permissions import Permission
from headgate.features.knowledge import service
from headgate.features.knowledge.evaluation import evaluating, questions
from headgate.features.knowledge.evaluation.evaluating import Evaluator
from headgate.features.knowledge.evaluation.schemas import DEFAULT_LIMIT, EvaluationDetail, EvaluationIn, EvaluationOut
from headgate.features.knowledge.search.schemas import MOST_PASSAGES
from headgate.foundation.checked import checked
from headgate.toolkit.stored.operation import Row
from headgate.toolkit.stored.visit import Visit

MOST_MISSED = 50
"""Questions of an evaluation that are listed."""


class QuestionLine(TypedDict):
    """A question with the documents that answer it."""

    id: str
    question: str
    documents: list[str]
    quote: str
    answer: str
    filters: list[dict[str, JsonValue]]
    """Conditions on the metadata of documents with which it is searched."""


class QuestionList(TypedDict):
    """The questions of a knowledge base, oldest first."""

    questions: list[QuestionLine]


class WayLine(TypedDict):
    """Means over the questions of a way of searching, from 0 to 1."""

    way: str
    recall: float
    ndcg: float
    mrr: float
    complete: int
    """Questions all of whose documents were found."""


class EvaluationLine(TypedDict):
    """Figures of an evaluation, and the settings of the base at its time."""

    id: str
    created_at: datetime
    k: int
    """Passages of each search."""
    questions: int
    skipped: int
    passages: int
    passage_tokens: int
    overlap_tokens: int
    embedding_model: str
    rerank_model: str
    query_model: str
    measures: list[WayLine]


class EvaluationList(TypedDict):
    """The evaluations of a knowledge base, newest first."""

    evaluations: list[EvaluationLine]


class MissedLine(TypedDict):
    """A question some of whose documents a way of searching did not find."""

    question: str
    way: str
    documents: list[str]


class EvaluationAnswer(EvaluationLine):
    """An evaluation with what was missed."""

    missed: list[MissedLine]
    more_missed: int
    """Further ones that are not listed."""


async def list_knowledge_questions(visit: Visit, base: str) -> QuestionList:
    """List the questions that evaluate a knowledge base, with the documents that answer them.

    Args:
        base: Id or name of the knowledge base, from list_knowledge.
    """
    base_id = await _base_id(visit, base)
    async with visit.studio.database.reading() as session:
        rows = await questions.list_questions(session, visit.principal, base_id)
    return {
        "questions": [
            {
                "id": row.id,
                "question": row.question,
                "documents": [document.name for document in row.documents],
                "quote": row.quote,
                "answer": row.answer,
                "filters": [condition.written for condition in row.filters],
            }
            for row in rows
        ]
    }


async def list_knowledge_evaluations(visit: Visit, base: str) -> EvaluationList:
    """List the evaluations of a knowledge base with their figures, newest first, to compare its settings.

    Args:
        base: Id or name of the knowledge base, from list_knowledge.
    """
    base_id = await _base_id(visit, base)
    async with visit.studio.database.reading() as session:
        rows = await evaluating.list_evaluations(session, visit.principal, base_id)
    return {"evaluations": [_line(row) for row in rows]}


async def read_knowledge_evaluation(visit: Visit, base: str, evaluation: str) -> EvaluationAnswer:
    """Return an evaluation with the questions whose documents were not found.

    Args:
        base: Id or name of the knowledge base, from list_knowledge.
        evaluation: Id of the evaluation, from list_knowledge_evaluations.
    """
    base_id = await _base_id(visit, base)
    async with visit.studio.database.reading() as session:
        return _answer(await evaluating.read_evaluation(session, visit.principal, base_id, evaluation))


async def evaluate_knowledge(
    visit: Visit,
    base: str,
    limit: int = DEFAULT_LIMIT,
    query_model: str = "",
    filters: list[dict[str, JsonValue]] | None = None,
    *,
    rerank: bool = True,
) -> EvaluationAnswer:
    """Search all questions of a knowledge base in every way, and store recall, nDCG and reciprocal rank.

    Args:
        base: Id or name of the knowledge base, from list_knowledge.
        limit: Passages of each search.
        query_model: Also measure with queries that this chat model writes, as provider/name; empty: do not.
        filters: Conditions on metadata, as in search_knowledge: no other document is searched or expected.
        rerank: Also measure the searches reranked, where the base has a rerank model.
    """
    base_id = await _base_id(visit, base)
    evaluation_in = checked(
        EvaluationIn, limit=max(1, min(limit, MOST_PASSAGES)), rerank=rerank, query_model=query_model,
        filters=filters or [],
    )  # fmt: skip
    searcher = visit.studio.knowledge()
    evaluator = Evaluator(searcher.database, searcher.embedder, searcher.asker)
    return _answer(await evaluator.evaluate(visit.principal, base_id, evaluation_in))


async def _base_id(visit: Visit, base: str) -> str:
    async with visit.studio.database.reading() as session:
        row = await service.find_base(session, visit.principal, base, space_id=visit.principal.space_id)
    return row.id


def _line(row: EvaluationOut) -> EvaluationLine:
    same = {name: getattr(row, name) for name in EvaluationLine.__annotations__ if hasattr(row, name)}
    measures = [
        {"way": measure.way, **{name: getattr(measure, name) for name in ("recall", "ndcg", "mrr", "complete")}}
        for measure in row.measures
    ]
    return cast("EvaluationLine", same | {"k": row.limit, "measures": measures})


def _answer(row: EvaluationDetail) -> EvaluationAnswer:
    missed: list[MissedLine] = [
        {"question": answer.question, "way": search.way, "documents": names}
        for answer in row.answers
        for search in answer.searches
        if (names := search.missed(answer.documents))
    ]
    return {**_line(row), "missed": missed[:MOST_MISSED], "more_missed": max(0, len(missed) - MOST_MISSED)}


OPERATIONS: tuple[Row, ...] = (
    (list_knowledge_questions, Permission.KNOWLEDGE_EDIT, "read"),
    (list_knowledge_evaluations, Permission.KNOWLEDGE_EDIT, "read"),
    (read_knowledge_evaluation, Permission.KNOWLEDGE_EDIT, "read"),
    (evaluate_knowledge, Permission.KNOWLEDGE_EDIT, "run"),
)
