"""Tests of a flow that are made from the questions of a knowledge base."""

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal
from headgate.features.flows.service import get_flow
from headgate.features.knowledge.errors import NoQuestions
from headgate.features.knowledge.evaluation.questions import list_questions
from headgate.features.knowledge.evaluation.schemas import QuestionOut
from headgate.features.knowledge.service import get_base
from headgate.features.testing.schemas import QuestionTestsIn, QuestionTestsOut
from headgate.features.testing.service import cases_of, keep_cases
from headgate.foundation.checked import checked
from headgate.foundation.quoting import shortened
from headgate.graph.cases import MOST_CASES, Expectation, TestCase

LONGEST_NAME = 100


async def add_question_tests(
    session: AsyncSession, principal: Principal, flow_id: str, tests_in: QuestionTestsIn
) -> QuestionTestsOut:
    """Add a test for each question of a base, unless the flow has one with its text, as an editor of both.

    A test expects the reference answer of its question, and passages of the documents that answer it. Questions without
    an answer whose documents the caller cannot view are skipped, and with a judge all those with such a document: its
    classification could not be compared with the clearance of the judge. Questions beyond the most tests of a flow are
    left, and counted. Raises `FlowNotFound`, `BaseNotFound`,
    `PermissionMissing`, `NoQuestions`, `TestSetInvalid`.
    """
    await get_flow(session, principal, flow_id, permission=Permission.FLOWS_EDIT)
    base = await get_base(session, principal, tests_in.base_id, permission=Permission.KNOWLEDGE_EDIT)
    questions = await list_questions(session, principal, base.id)
    if not questions:
        raise NoQuestions(base.name)
    before = await cases_of(session, flow_id, tenant_id=principal.tenant_id)
    names, texts = {case.name for case in before}, {case.text for case in before}
    cases: list[TestCase] = []
    room, left = MOST_CASES - len(before), 0
    for question in questions:
        expectation = _expectation(question, tests_in)
        hidden = tests_in.judge_model and any(not document.name for document in question.documents)
        if question.question not in texts and not expectation.is_empty and not hidden:
            if len(cases) >= room:
                left += 1
                continue
            name = _free_name(question.question, names)
            names.add(name)
            cases.append(checked(TestCase, name=name, text=question.question, expect=expectation))
    if cases:
        await keep_cases(session, principal, flow_id, cases)
    return QuestionTestsOut(added=[case.name for case in cases], skipped=len(questions) - len(cases) - left, left=left)


def _expectation(question: QuestionOut, tests_in: QuestionTestsIn) -> Expectation:
    reference = question.answer or None
    return checked(
        Expectation,
        reference=reference,
        documents=[document.name for document in question.documents if document.name],
        supported=tests_in.supported,
        judge_model=tests_in.judge_model if reference else "",
    )


def _free_name(question: str, taken: set[str]) -> str:
    plain = shortened(" ".join(question.split()), LONGEST_NAME - 5)
    number, name = 1, plain
    while name in taken:
        number += 1
        name = f"{plain} {number}"
    return name
