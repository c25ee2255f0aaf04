"""Queries on embeddings: which passages lack one, which model a base is searched with, and their vectors."""

from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import and_, case, delete, insert, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.knowledge import repository
from headgate.features.knowledge.tables import DocumentRow, KnowledgeBaseRow, PassageRow, VectorRow

_QUIET = {"synchronize_session": False}


async def searched_model(session: AsyncSession, base: KnowledgeBaseRow) -> str:
    """Return the model whose vectors a search uses: the wanted one as soon as no document waits for it."""
    if base.embedding_model in {"", base.searched_model} or await is_waiting(session, base.id):
        return base.searched_model
    return base.embedding_model


async def is_waiting(session: AsyncSession, base_id: str, *, but: str = "") -> bool:
    """Return whether a document with passages that are not embedded is to be indexed."""
    row = DocumentRow
    lacks = and_(row.base_id == base_id, row.passages_embedded < row.passages, row.id != but)
    due = select(row.id).where(lacks, row.worker_id.is_(None), row.due_at.is_not(None)).exists()
    claimed = select(row.id).where(lacks, row.worker_id.is_not(None)).exists()
    return bool((await session.execute(select(or_(due, claimed)))).scalar_one())


async def use_embedded(session: AsyncSession, base_id: str, *, tenant_id: str, but: str = "") -> None:
    """Search a base with its embedding model if no document, except one, waits for it; delete other vectors."""
    await repository.lock_base(session, base_id, tenant_id=tenant_id)
    query = select(KnowledgeBaseRow).where(KnowledgeBaseRow.id == base_id, KnowledgeBaseRow.tenant_id == tenant_id)
    base = (await session.execute(query.execution_options(populate_existing=True))).scalar_one_or_none()
    if base is None or base.embedding_model == base.searched_model or await is_waiting(session, base_id, but=but):
        return
    base.searched_model = base.embedding_model
    await session.flush()
    await _delete_vectors(session, base)


async def embed_again(session: AsyncSession, base: KnowledgeBaseRow, at: int) -> None:
    """Have every document of a base embedded with its model, and delete vectors of models that it does not have.

    The base is locked. A job that embeds with another model writes nothing after this.
    """
    await repository.lock_documents(session, base.id, tenant_id=base.tenant_id)
    row = DocumentRow
    change = update(row).where(row.base_id == base.id, row.tenant_id == base.tenant_id)
    change = change.values(passages_embedded=0)
    if base.embedding_model:
        # A ready document is only embedded. One that failed is read again: perhaps it could only not be embedded.
        settled = and_(row.status.in_(["ready", "failed"]), row.passages > 0)
        change = change.values(
            status=case((and_(settled, row.status == "failed"), "pending"), else_=row.status),
            tries=case((settled, 0), else_=row.tries),
            due_at=case((settled, at), else_=row.due_at),
        )
    await session.execute(change.execution_options(**_QUIET))
    await _delete_vectors(session, base)


async def _delete_vectors(session: AsyncSession, base: KnowledgeBaseRow) -> None:
    models = {base.embedding_model, base.searched_model}
    query = delete(VectorRow).where(VectorRow.base_id == base.id, VectorRow.model.not_in(models))
    await session.execute(query.execution_options(**_QUIET))


async def due_documents(session: AsyncSession, base_id: str, *, tenant_id: str) -> Sequence[str]:
    """Return the documents of a base that are due, by the time at which they are."""
    row = DocumentRow
    query = select(row.id).where(row.base_id == base_id, row.tenant_id == tenant_id, row.due_at.is_not(None))
    return (await session.execute(query.order_by(row.due_at, row.id))).scalars().all()


async def embedding_model_of(session: AsyncSession, base_id: str) -> str | None:
    """Return the embedding model that a base has now; None when the base was deleted."""
    query = select(KnowledgeBaseRow.embedding_model).where(KnowledgeBaseRow.id == base_id)
    return (await session.execute(query)).scalar_one_or_none()


async def without_vector(session: AsyncSession, document: DocumentRow, model: str) -> tuple[list[int], int]:
    """Return the passages of a document that a model has not embedded, in their order, and how many it has."""
    row = PassageRow
    vector = and_(VectorRow.base_id == row.base_id, VectorRow.model == model, VectorRow.passage_id == row.id)
    query = (
        select(row.id, VectorRow.passage_id)
        .outerjoin(VectorRow, vector)
        .where(row.document_id == document.id, row.tenant_id == document.tenant_id)
    )
    passages = (await session.execute(query.order_by(row.ordinal, row.id))).all()
    missing = [id_ for id_, embedded in passages if embedded is None]
    return missing, len(passages) - len(missing)


async def passages_of(
    session: AsyncSession, ids: Collection[int], *, tenant_id: str
) -> list[tuple[int, str, str, str, int]]:
    """Return id, digest, context, text and tokens of passages, in the order of their ids."""
    row = PassageRow
    query = select(row.id, row.digest, row.context, row.text, row.tokens)
    query = query.where(row.id.in_(ids), row.tenant_id == tenant_id).order_by(row.id)
    return [(id_, digest, context, text, tokens) for id_, digest, context, text, tokens in await session.execute(query)]


async def vectors_of_digests(
    session: AsyncSession, digests: Collection[str], base: KnowledgeBaseRow, model: str
) -> dict[str, bytes]:
    """Return the vectors of passages of a base by digest: the same passage in another document is not embedded."""
    query = (
        select(PassageRow.digest, VectorRow.vector)
        .join(VectorRow, and_(VectorRow.base_id == base.id, VectorRow.model == model,
                              VectorRow.passage_id == PassageRow.id))
        .where(PassageRow.base_id == base.id, PassageRow.digest.in_(digests))
    )  # fmt: skip
    return {row[0]: row[1] for row in await session.execute(query)}


async def add_vectors(session: AsyncSession, rows: Sequence[dict[str, Any]]) -> None:
    """Insert vectors. One that exists is a unique row: raises `IntegrityError`."""
    await session.execute(insert(VectorRow), rows)
