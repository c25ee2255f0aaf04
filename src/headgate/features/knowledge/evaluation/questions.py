"""The questions of a knowledge base, as its editors keep them."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal
from headgate.features.audit.recorder import record_of
from headgate.features.knowledge.errors import DocumentNotFound, QuestionNotFound, TooManyQuestions
from headgate.features.knowledge.evaluation import repository
from headgate.features.knowledge.evaluation.question_files import QuestionLine
from headgate.features.knowledge.evaluation.schemas import (
    MOST_QUESTIONS,
    ExpectedOut,
    QuestionIn,
    QuestionOut,
    QuestionsAdded,
)
from headgate.features.knowledge.evaluation.tables import QuestionRow
from headgate.features.knowledge.repository import add_knowledge, lock_base
from headgate.features.knowledge.service import get_base, visible_to
from headgate.features.knowledge.tables import KnowledgeBaseRow
from headgate.foundation.checked import checked
from headgate.foundation.database import now
from headgate.foundation.ids import new_id


async def list_questions(session: AsyncSession, principal: Principal, base_id: str) -> list[QuestionOut]:
    """Return the questions of a base, oldest first, as its editor. Raises `BaseNotFound`, `PermissionMissing`."""
    base = await get_base(session, principal, base_id, permission=Permission.KNOWLEDGE_EDIT)
    rows = await repository.list_questions(session, base.id, tenant_id=base.tenant_id)
    names = await _names(session, principal, base, rows)
    return [_out(row, names) for row in rows]


async def add_question(
    session: AsyncSession, principal: Principal, base_id: str, question_in: QuestionIn
) -> QuestionOut:
    """Add a question. Raises like `list_questions`, `DocumentNotFound`, `TooManyQuestions`."""
    base = await get_base(session, principal, base_id, permission=Permission.KNOWLEDGE_EDIT)
    await lock_base(session, base.id, tenant_id=base.tenant_id)
    count = await repository.count_questions(session, base.id, tenant_id=base.tenant_id)
    (question,) = await _added(session, principal, base, [question_in], count)
    return question


async def add_questions(
    session: AsyncSession, principal: Principal, base_id: str, lines: Sequence[QuestionLine]
) -> QuestionsAdded:
    """Add the questions of a file whose text the base does not have yet, all or none. Raises like `add_question`."""
    base = await get_base(session, principal, base_id, permission=Permission.KNOWLEDGE_EDIT)
    await lock_base(session, base.id, tenant_id=base.tenant_id)
    before = await repository.list_questions(session, base.id, tenant_id=base.tenant_id)
    known = {row.question for row in before}
    new: dict[str, QuestionLine] = {}
    for line in lines:
        if line.question not in known:
            new.setdefault(line.question, line)
    names = {name for line in new.values() for name in line.documents}
    visible = await visible_to(session, principal, base)
    ids = await repository.ids_of(session, base.id, names, tenant_id=base.tenant_id, visible=visible)
    questions = [
        checked(
            QuestionIn,
            question=line.question,
            document_ids=[ids.get(name, name) for name in line.documents],
            quote=line.quote,
            answer=line.answer,
            filters=line.filters,
        )
        for line in new.values()
    ]
    added = await _added(session, principal, base, questions, len(before))
    return QuestionsAdded(added=added, skipped=len(lines) - len(added))


async def _added(
    session: AsyncSession, principal: Principal, base: KnowledgeBaseRow, questions: Sequence[QuestionIn], count: int
) -> list[QuestionOut]:
    """Add questions to a locked base that has a number of them (`count`)."""
    if count + len(questions) > MOST_QUESTIONS:
        raise TooManyQuestions(str(MOST_QUESTIONS))
    rows = [
        QuestionRow(
            id=new_id(),
            tenant_id=base.tenant_id,
            base_id=base.id,
            question=question.question,
            document_ids=list(dict.fromkeys(question.document_ids)),
            quote=question.quote,
            answer=question.answer,
            filters=[condition.written for condition in question.filters],
            created_at=now(),
        )
        for question in questions
    ]
    names = await _names(session, principal, base, rows)
    for row in rows:
        for document_id in row.document_ids:
            if document_id not in names:
                raise DocumentNotFound(document_id)
        await add_knowledge(session, row)
        await record_of(session, principal, "knowledge_question.added", base, after=_values(row))
    return [_out(row, names) for row in rows]


async def delete_question(session: AsyncSession, principal: Principal, base_id: str, question_id: str) -> None:
    """Delete a question; evaluations keep its text. Raises like `list_questions`, `QuestionNotFound`."""
    base = await get_base(session, principal, base_id, permission=Permission.KNOWLEDGE_EDIT)
    row = await repository.find_question(session, base.id, question_id, tenant_id=base.tenant_id)
    if row is None:
        raise QuestionNotFound(question_id)
    await record_of(session, principal, "knowledge_question.deleted", base, before=_values(row))
    await repository.remove_question(session, row.id, tenant_id=base.tenant_id)


async def _names(
    session: AsyncSession, principal: Principal, base: KnowledgeBaseRow, rows: Sequence[QuestionRow]
) -> dict[str, str]:
    """Return the names of the expected documents that the caller can view."""
    visible = await visible_to(session, principal, base)
    document_ids = {id_ for row in rows for id_ in row.document_ids}
    return await repository.names_of(session, base.id, document_ids, tenant_id=base.tenant_id, visible=visible)


def _out(row: QuestionRow, names: dict[str, str]) -> QuestionOut:
    documents = [ExpectedOut(id=id_, name=names.get(id_, "")) for id_ in row.document_ids]
    values = _values(row)
    del values["document_ids"]
    return QuestionOut(id=row.id, documents=documents, created_at=row.created_at, **values)


def _values(row: QuestionRow) -> dict[str, Any]:
    return {name: getattr(row, name) for name in ("question", "document_ids", "quote", "answer", "filters")}
