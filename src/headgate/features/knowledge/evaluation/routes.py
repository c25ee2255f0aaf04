"""HTTP routes of evaluations of knowledge bases."""

from typing import Annotated

from fastapi import APIRouter, Depends, Request

from headgate.features.access.caller import Caller, needs
from headgate.features.access.permissions import Permission
from headgate.features.knowledge.evaluation import evaluating, questions
from headgate.features.knowledge.evaluation.evaluating import Evaluator
from headgate.features.knowledge.evaluation.proposing import Proposer
from headgate.features.knowledge.evaluation.question_files import read_questions
from headgate.features.knowledge.evaluation.schemas import (
    EvaluationDetail,
    EvaluationIn,
    EvaluationOut,
    ProposalIn,
    ProposalsOut,
    QuestionFile,
    QuestionIn,
    QuestionOut,
    QuestionsAdded,
)
from headgate.features.knowledge.search.service import Searcher
from headgate.foundation.api import ReadSession, WriteSession, problems

router = APIRouter(prefix="/knowledge-bases", tags=["knowledge"])
_EDIT = [needs(Permission.KNOWLEDGE_EDIT)]


def _evaluator(request: Request) -> Evaluator:
    searcher: Searcher = request.app.state.searcher
    return Evaluator(searcher.database, searcher.embedder, searcher.asker)


def _proposer(request: Request) -> Proposer:
    state = request.app.state
    return Proposer(state.database, state.asker)


@router.get(
    "/{base_id}/questions",
    summary="List the questions of a knowledge base",
    responses=problems(403, 404),
    dependencies=_EDIT,
)
async def list_questions(base_id: str, session: ReadSession, caller: Caller) -> list[QuestionOut]:
    """List the questions with the documents that answer them, oldest first."""
    return await questions.list_questions(session, caller, base_id)


@router.post(
    "/{base_id}/questions",
    status_code=201,
    summary="Add a question",
    responses=problems(403, 404, 409),
    dependencies=_EDIT,
)
async def add_question(base_id: str, body: QuestionIn, session: WriteSession, caller: Caller) -> QuestionOut:
    """Add a question with the documents that answer it."""
    return await questions.add_question(session, caller, base_id, body)


@router.post(
    "/{base_id}/questions/import",
    status_code=201,
    summary="Add questions of a file",
    responses=problems(403, 404, 409, 422),
    dependencies=_EDIT,
)
async def import_questions(base_id: str, body: QuestionFile, session: WriteSession, caller: Caller) -> QuestionsAdded:
    """Add the questions of a file, CSV or JSON, all or none. Those that the base has already are skipped."""
    return await questions.add_questions(session, caller, base_id, read_questions(body.content))


@router.post(
    "/{base_id}/questions/proposals",
    summary="Propose questions",
    responses=problems(403, 404, 422, 502, 503),
    dependencies=_EDIT,
)
async def propose_questions(
    base_id: str, body: ProposalIn, caller: Caller, proposer: Annotated[Proposer, Depends(_proposer)]
) -> ProposalsOut:
    """Have a model make questions from passages that you may read. They are returned, not stored."""
    return await proposer.propose(caller, base_id, body)


@router.delete(
    "/{base_id}/questions/{question_id}",
    status_code=204,
    summary="Delete a question",
    responses=problems(403, 404),
    dependencies=_EDIT,
)
async def delete_question(base_id: str, question_id: str, session: WriteSession, caller: Caller) -> None:
    """Delete a question. Evaluations that used it keep its text."""
    await questions.delete_question(session, caller, base_id, question_id)


@router.get("/{base_id}/evaluations", summary="List evaluations", responses=problems(403, 404), dependencies=_EDIT)
async def list_evaluations(base_id: str, session: ReadSession, caller: Caller) -> list[EvaluationOut]:
    """List the evaluations of a base, newest first, each with the settings of the base at its time."""
    return await evaluating.list_evaluations(session, caller, base_id)


@router.post(
    "/{base_id}/evaluations",
    status_code=201,
    summary="Evaluate a knowledge base",
    responses=problems(403, 404, 422),
    dependencies=_EDIT,
)
async def evaluate(
    base_id: str, body: EvaluationIn, caller: Caller, evaluator: Annotated[Evaluator, Depends(_evaluator)]
) -> EvaluationDetail:
    """Search all questions in every way, with your rights, and store recall, nDCG and reciprocal rank."""
    return await evaluator.evaluate(caller, base_id, body)


@router.get(
    "/{base_id}/evaluations/{evaluation_id}",
    summary="Read an evaluation",
    responses=problems(403, 404),
    dependencies=_EDIT,
)
async def read_evaluation(base_id: str, evaluation_id: str, session: ReadSession, caller: Caller) -> EvaluationDetail:
    """An evaluation with its questions, and where the documents that answer them were found."""
    return await evaluating.read_evaluation(session, caller, base_id, evaluation_id)
