"""Queries on questions and evaluations. The tenant is always required."""

from collections.abc import Collection, Sequence

from sqlalchemy import ColumnElement, delete, func, select
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.knowledge.evaluation.tables import EvaluationRow, QuestionRow
from headgate.features.knowledge.tables import DocumentRow


async def list_questions(session: AsyncSession, base_id: str, *, tenant_id: str) -> Sequence[QuestionRow]:
    """Return the questions of a base, oldest first."""
    row = QuestionRow
    query = select(row).where(row.base_id == base_id, row.tenant_id == tenant_id).order_by(row.id)
    return (await session.execute(query)).scalars().all()


async def count_questions(session: AsyncSession, base_id: str, *, tenant_id: str) -> int:
    """Return the number of questions of a base."""
    row = QuestionRow
    query = select(func.count()).where(row.base_id == base_id, row.tenant_id == tenant_id)
    return (await session.execute(query)).scalar_one()


async def find_question(session: AsyncSession, base_id: str, question_id: str, *, tenant_id: str) -> QuestionRow | None:
    """Return a question of a base."""
    row = QuestionRow
    query = select(row).where(row.id == question_id, row.base_id == base_id, row.tenant_id == tenant_id)
    return (await session.execute(query)).scalar_one_or_none()


async def remove_question(session: AsyncSession, question_id: str, *, tenant_id: str) -> None:
    """Delete a question."""
    row = QuestionRow
    await session.execute(delete(row).where(row.id == question_id, row.tenant_id == tenant_id))


async def names_of(
    session: AsyncSession, base_id: str, document_ids: Collection[str], *, tenant_id: str, visible: ColumnElement[bool]
) -> dict[str, str]:
    """Return the names of documents of a base by id, of those that are visible."""
    row = DocumentRow
    query = select(row.id, row.name).where(
        row.base_id == base_id, row.tenant_id == tenant_id, row.id.in_(document_ids), visible
    )
    return {row.id: row.name for row in await session.execute(query)}


async def ids_of(
    session: AsyncSession, base_id: str, names: Collection[str], *, tenant_id: str, visible: ColumnElement[bool]
) -> dict[str, str]:
    """Return the ids of documents of a base by name, of those that are visible."""
    row = DocumentRow
    query = select(row.name, row.id).where(
        row.base_id == base_id, row.tenant_id == tenant_id, row.name.in_(names), visible
    )
    return {row.name: row.id for row in await session.execute(query)}


async def list_evaluations(
    session: AsyncSession, base_id: str, *, tenant_id: str, limit: int
) -> Sequence[EvaluationRow]:
    """Return the evaluations of a base, newest first."""
    row = EvaluationRow
    query = select(row).where(row.base_id == base_id, row.tenant_id == tenant_id)
    return (await session.execute(query.order_by(row.id.desc()).limit(limit))).scalars().all()


async def find_evaluation(
    session: AsyncSession, base_id: str, evaluation_id: str, *, tenant_id: str
) -> EvaluationRow | None:
    """Return an evaluation of a base."""
    row = EvaluationRow
    query = select(row).where(row.id == evaluation_id, row.base_id == base_id, row.tenant_id == tenant_id)
    return (await session.execute(query)).scalar_one_or_none()


async def remove_old_evaluations(session: AsyncSession, base_id: str, *, tenant_id: str, keep: int) -> None:
    """Delete all but the newest evaluations of a base."""
    row = EvaluationRow
    newest = select(row.id).where(row.base_id == base_id, row.tenant_id == tenant_id).order_by(row.id.desc())
    newest_ids = newest.limit(keep).scalar_subquery()
    await session.execute(
        delete(row)
        .where(row.base_id == base_id, row.tenant_id == tenant_id, row.id.not_in(newest_ids))
        .execution_options(synchronize_session=False)
    )
