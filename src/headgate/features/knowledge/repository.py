"""Queries on knowledge bases, documents and passages. The tenant is always required."""

from collections.abc import Collection, Sequence
from typing import Any, cast

from sqlalchemy import ColumnElement, Select, Table, and_, case, delete, func, literal, select, true, update
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.jobs.queue import Job, Queue
from headgate.features.knowledge.passages.changes import StoredPassage
from headgate.features.knowledge.tables import (
    DocumentRow,
    DocumentVersionRow,
    KnowledgeBaseRow,
    PassageRow,
    ReaderRow,
)
from headgate.foundation.database import Row, now

QUEUE = Queue(cast("Table", DocumentRow.__table__))
"""Documents that are to be indexed."""
_QUIET = {"synchronize_session": False}


async def find_base(session: AsyncSession, base_id: str, *, tenant_id: str) -> KnowledgeBaseRow | None:
    """Return one knowledge base."""
    row = KnowledgeBaseRow
    query = select(row).where(row.id == base_id, row.tenant_id == tenant_id)
    return (await session.execute(query)).scalar_one_or_none()


async def find_base_named(
    session: AsyncSession, name: str, *, tenant_id: str, space_id: str
) -> KnowledgeBaseRow | None:
    """Return the knowledge base of a space with a name."""
    row = KnowledgeBaseRow
    query = select(row).where(row.name == name, row.space_id == space_id, row.tenant_id == tenant_id)
    return (await session.execute(query)).scalar_one_or_none()


async def list_bases(
    session: AsyncSession, *, tenant_id: str, space_ids: Collection[str] | None, limit: int, after: str | None
) -> Sequence[KnowledgeBaseRow]:
    """Return knowledge bases, oldest first; `space_ids` None: of all spaces."""
    query = select(KnowledgeBaseRow).where(KnowledgeBaseRow.tenant_id == tenant_id)
    if space_ids is not None:
        query = query.where(KnowledgeBaseRow.space_id.in_(space_ids))
    if after is not None:
        query = query.where(KnowledgeBaseRow.id > after)
    return (await session.execute(query.order_by(KnowledgeBaseRow.id).limit(limit))).scalars().all()


async def add_knowledge(session: AsyncSession, row: object) -> None:
    """Insert a row. Raises SQLAlchemy's `IntegrityError` when its name is taken."""
    session.add(row)
    await session.flush()


async def remove_knowledge(session: AsyncSession, row: Row) -> None:
    """Delete a base, a document or a source, with everything that belongs to it."""
    await session.delete(row)
    await session.flush()


async def count_states(
    session: AsyncSession, base_ids: Collection[str], *, tenant_id: str, visible: ColumnElement[bool]
) -> dict[str, dict[str, int]]:
    """Return the number of documents by base and status; `visible` is a condition of documents and their bases."""
    query = (
        select(DocumentRow.base_id, DocumentRow.status, func.count())
        .join(KnowledgeBaseRow, KnowledgeBaseRow.id == DocumentRow.base_id)
        .where(DocumentRow.base_id.in_(base_ids), DocumentRow.tenant_id == tenant_id, visible)
        .group_by(DocumentRow.base_id, DocumentRow.status)
    )
    counts: dict[str, dict[str, int]] = {}
    for base_id, status, count in await session.execute(query):
        counts.setdefault(base_id, {})[status] = count
    return counts


async def sum_passages(
    session: AsyncSession, base_ids: Collection[str], *, tenant_id: str, visible: ColumnElement[bool]
) -> dict[str, tuple[int, int, int]]:
    """Return passages, embedded passages and tokens sent to embedding models, by base; `visible` as above."""
    row = DocumentRow
    query = (
        select(row.base_id, func.sum(row.passages), func.sum(row.passages_embedded), func.sum(row.embedding_tokens))
        .join(KnowledgeBaseRow, KnowledgeBaseRow.id == row.base_id)
        .where(row.base_id.in_(base_ids), row.tenant_id == tenant_id, visible)
        .group_by(row.base_id)
    )
    return {base_id: (int(all_), int(done), int(used)) for base_id, all_, done, used in await session.execute(query)}


async def lock_base(session: AsyncSession, base_id: str, *, tenant_id: str) -> str | None:
    """Lock a base until the transaction ends: nobody else adds a document to it. Returns its id."""
    base = select(KnowledgeBaseRow.id).where(KnowledgeBaseRow.id == base_id, KnowledgeBaseRow.tenant_id == tenant_id)
    return (await session.execute(base.with_for_update())).scalar_one_or_none()


async def lock_documents(session: AsyncSession, base_id: str, *, tenant_id: str) -> Sequence[str]:
    """Lock all documents of a base by their ids, in the order in which jobs lock several of them. Returns the ids."""
    document = select(DocumentRow.id).where(DocumentRow.base_id == base_id, DocumentRow.tenant_id == tenant_id)
    return (await session.execute(document.order_by(DocumentRow.id).with_for_update())).scalars().all()


async def count_documents(session: AsyncSession, base_id: str, *, tenant_id: str) -> int:
    """Return the number of documents of a base. Locks the base, so that they are counted one at a time."""
    await lock_base(session, base_id, tenant_id=tenant_id)
    query = select(func.count()).where(DocumentRow.base_id == base_id, DocumentRow.tenant_id == tenant_id)
    return (await session.execute(query)).scalar_one()


def _documents(tenant_id: str) -> Select[DocumentRow, DocumentVersionRow]:
    current = and_(DocumentVersionRow.document_id == DocumentRow.id, DocumentVersionRow.version == DocumentRow.version)
    return (
        select(DocumentRow, DocumentVersionRow)
        .join(DocumentVersionRow, current)
        .where(DocumentRow.tenant_id == tenant_id)
    )


async def find_document(
    session: AsyncSession,
    document_id: str,
    *,
    base_id: str,
    tenant_id: str,
    visible: ColumnElement[bool],
    lock: bool = False,
) -> tuple[DocumentRow, DocumentVersionRow] | None:
    """Return a visible document of a base with its current version."""
    query = _documents(tenant_id).where(DocumentRow.id == document_id, DocumentRow.base_id == base_id, visible)
    row = (await session.execute(query.with_for_update(of=DocumentRow) if lock else query)).one_or_none()
    return None if row is None else (row[0], row[1])


async def find_document_named(session: AsyncSession, name: str, *, base_id: str, tenant_id: str) -> DocumentRow | None:
    """Return the document of a base with a name, locked until the transaction ends."""
    query = select(DocumentRow).where(
        DocumentRow.base_id == base_id, DocumentRow.name == name, DocumentRow.tenant_id == tenant_id
    )
    return (await session.execute(query.with_for_update())).scalar_one_or_none()


async def levels_named(session: AsyncSession, names: Collection[str], *, tenant_id: str) -> dict[str, int]:
    """Return the highest classification of the documents of a tenant with these names, in any base, by name."""
    row = DocumentRow
    query = select(row.name, func.max(row.classification)).where(row.name.in_(names), row.tenant_id == tenant_id)
    return {name: level for name, level, *_ in await session.execute(query.group_by(row.name))}


async def is_visible(session: AsyncSession, document_id: str, *, tenant_id: str, visible: ColumnElement[bool]) -> bool:
    """Return whether a document matches a condition."""
    query = select(DocumentRow.id).where(DocumentRow.id == document_id, DocumentRow.tenant_id == tenant_id, visible)
    return (await session.execute(query)).first() is not None


async def list_documents(
    session: AsyncSession,
    base_id: str,
    *,
    tenant_id: str,
    visible: ColumnElement[bool],
    limit: int,
    before: str | None,
) -> Sequence[tuple[DocumentRow, DocumentVersionRow]]:
    """Return the visible documents of a base with their current versions, newest first."""
    query = _documents(tenant_id).where(DocumentRow.base_id == base_id, visible)
    if before is not None:
        query = query.where(DocumentRow.id < before)
    rows = await session.execute(query.order_by(DocumentRow.id.desc()).limit(limit))
    return [(row[0], row[1]) for row in rows]


async def readers_of(
    session: AsyncSession, document_ids: Collection[str], *, tenant_id: str
) -> dict[str, list[tuple[str, str]]]:
    """Return kind and id of the listed readers, by document."""
    query = select(ReaderRow.document_id, ReaderRow.kind, ReaderRow.reader_id).where(
        ReaderRow.document_id.in_(document_ids), ReaderRow.tenant_id == tenant_id
    )
    readers: dict[str, list[tuple[str, str]]] = {}
    for document_id, kind, reader_id in await session.execute(query.order_by(ReaderRow.reader_id)):
        readers.setdefault(document_id, []).append((kind, reader_id))
    return readers


async def set_readers(
    session: AsyncSession, document_id: str, readers: Collection[tuple[str, str]], *, tenant_id: str
) -> None:
    """Replace the listed readers of a document: kind and id of each."""
    query = delete(ReaderRow).where(ReaderRow.document_id == document_id, ReaderRow.tenant_id == tenant_id)
    await session.execute(query.execution_options(**_QUIET))
    session.add_all(
        ReaderRow(document_id=document_id, kind=kind, reader_id=reader_id, tenant_id=tenant_id)
        for kind, reader_id in sorted(set(readers))
    )
    await session.flush()


async def attached_documents(session: AsyncSession, document_id: str, *, tenant_id: str) -> Sequence[DocumentRow]:
    """Return the documents that are attachments of a document."""
    query = select(DocumentRow).where(DocumentRow.parent_id == document_id, DocumentRow.tenant_id == tenant_id)
    return (await session.execute(query.order_by(DocumentRow.id))).scalars().all()


async def attach(session: AsyncSession, document_id: str, parent_id: str | None, *, tenant_id: str) -> None:
    """Make a document an attachment of another one, or of none."""
    change = update(DocumentRow).where(DocumentRow.id == document_id, DocumentRow.tenant_id == tenant_id)
    await session.execute(change.values(parent_id=parent_id))


async def versions_of(
    session: AsyncSession, document_ids: Collection[str], *, tenant_id: str
) -> Sequence[DocumentVersionRow]:
    """Return all versions of documents."""
    row = DocumentVersionRow
    query = select(row).where(row.document_id.in_(document_ids), row.tenant_id == tenant_id)
    return (await session.execute(query.order_by(row.document_id, row.version))).scalars().all()


async def find_version(
    session: AsyncSession, document_id: str, version: int, *, tenant_id: str
) -> DocumentVersionRow | None:
    """Return a version of a document."""
    row = DocumentVersionRow
    query = select(row).where(row.document_id == document_id, row.version == version, row.tenant_id == tenant_id)
    return (await session.execute(query)).scalar_one_or_none()


async def versions_of_base(session: AsyncSession, base_id: str, *, tenant_id: str) -> Sequence[DocumentVersionRow]:
    """Return all versions of the documents of a base."""
    documents = select(DocumentRow.id).where(DocumentRow.base_id == base_id, DocumentRow.tenant_id == tenant_id)
    query = select(DocumentVersionRow).where(DocumentVersionRow.document_id.in_(documents))
    return (await session.execute(query)).scalars().all()


async def files_in_use(session: AsyncSession, file_ids: Collection[str], *, tenant_id: str) -> set[str]:
    """Return the files among these that a version of a document has."""
    row = DocumentVersionRow
    query = select(row.file_id).where(row.file_id.in_(file_ids), row.tenant_id == tenant_id)
    return set((await session.execute(query)).scalars())


async def list_passages(
    session: AsyncSession, document_id: str, *, tenant_id: str, limit: int, after: int, page: int | None = None
) -> Sequence[PassageRow]:
    """Return passages of a document, or of a page of it, in order, after an ordinal."""
    row = PassageRow
    query = select(row).where(row.document_id == document_id, row.tenant_id == tenant_id, row.ordinal > after)
    query = query if page is None else query.where(row.page == page)
    return (await session.execute(query.order_by(row.ordinal, row.generation.desc()).limit(limit))).scalars().all()


# -- indexing --


async def find_indexed(session: AsyncSession, document_id: str) -> tuple[DocumentRow, KnowledgeBaseRow] | None:
    """Return a document of any tenant with its base, for the job that indexes it."""
    query = (
        select(DocumentRow, KnowledgeBaseRow)
        .join(KnowledgeBaseRow, KnowledgeBaseRow.id == DocumentRow.base_id)
        .where(DocumentRow.id == document_id)
    )
    row = (await session.execute(query)).one_or_none()
    return None if row is None else (row[0], row[1])


async def hold_generation(session: AsyncSession, job: Job, generation: int, **values: Any) -> bool:  # noqa: ANN401
    """Write values to a document, locking it, if the job still has it and it is to be indexed as this generation."""
    change = update(DocumentRow).where(QUEUE.held(job), DocumentRow.generation == generation)
    change = change.values(updated_at=now(), **values)
    rows = await session.execute(change.returning(DocumentRow.id).execution_options(**_QUIET))
    return rows.one_or_none() is not None


async def stored_passages(session: AsyncSession, document_id: str, *, tenant_id: str) -> list[StoredPassage]:
    """Return all passages of a document, of any generation."""
    row = PassageRow
    query = select(row.id, row.generation, row.ordinal, row.digest)
    query = query.where(row.document_id == document_id, row.tenant_id == tenant_id)
    return [StoredPassage(*values) for values in (await session.execute(query)).all()]


async def delete_passages(session: AsyncSession, ids: Collection[int], *, tenant_id: str) -> None:
    """Delete passages."""
    query = delete(PassageRow).where(PassageRow.id.in_(ids), PassageRow.tenant_id == tenant_id)
    await session.execute(query.execution_options(**_QUIET))


async def move_passages(session: AsyncSession, moved: Sequence[dict[str, Any]], *, tenant_id: str) -> None:
    """Update the places of passages: dicts with `id` and columns, the same columns in all."""
    columns = {name: getattr(PassageRow, name) for name in moved[0] if name != "id"}
    places = {
        name: case({place["id"]: literal(place[name], column.type) for place in moved}, value=PassageRow.id)
        for name, column in columns.items()
    }
    query = update(PassageRow).where(
        PassageRow.id.in_([place["id"] for place in moved]), PassageRow.tenant_id == tenant_id
    )
    await session.execute(query.values(places).execution_options(**_QUIET))


def any_document() -> ColumnElement[bool]:
    """Return the condition of every document."""
    return true()
