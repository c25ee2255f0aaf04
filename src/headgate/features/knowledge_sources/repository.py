"""Queries on sources of knowledge bases. The tenant is always required."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, cast

from sqlalchemy import (
    ColumnElement,
    CompoundSelect,
    Table,
    Text,
    and_,
    case,
    delete,
    func,
    insert,
    literal,
    or_,
    select,
    true,
    union,
    update,
)
from sqlalchemy import cast as cast_text
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.jobs.queue import Job, Queue
from headgate.features.knowledge.tables import DocumentRow, KnowledgeBaseRow, ReaderRow
from headgate.features.knowledge_sources.tables import SourceItemRow, SourceRow
from headgate.foundation.database import now

QUEUE = Queue(cast("Table", SourceRow.__table__))
"""Sources that are to be synchronised."""
_QUIET = {"synchronize_session": False}


@dataclass(frozen=True, slots=True)
class Known:
    """What was read of an item."""

    version: str
    sha256: str
    document_id: str | None
    problem: str


async def find_source(
    session: AsyncSession, source_id: str, *, base_id: str, tenant_id: str, lock: bool = False
) -> SourceRow | None:
    """Return a source of a base."""
    row = SourceRow
    query = select(row).where(row.id == source_id, row.base_id == base_id, row.tenant_id == tenant_id)
    return (await session.execute(query.with_for_update() if lock else query)).scalar_one_or_none()


async def find_source_named(session: AsyncSession, name: str, *, base_id: str, tenant_id: str) -> SourceRow | None:
    """Return the source of a base with a name."""
    row = SourceRow
    query = select(row).where(row.name == name, row.base_id == base_id, row.tenant_id == tenant_id)
    return (await session.execute(query)).scalar_one_or_none()


async def list_sources(session: AsyncSession, base_id: str, *, tenant_id: str) -> Sequence[SourceRow]:
    """Return the sources of a base, oldest first."""
    query = select(SourceRow).where(SourceRow.base_id == base_id, SourceRow.tenant_id == tenant_id)
    return (await session.execute(query.order_by(SourceRow.id))).scalars().all()


async def item_counts(
    session: AsyncSession, source_ids: Collection[str], *, tenant_id: str
) -> dict[str, tuple[int, int]]:
    """Return documents, and items that were not understood completely, by source."""
    item = SourceItemRow
    query = (
        select(item.source_id, func.count(item.document_id), func.sum(case((_not_understood(), 1), else_=0)))
        .outerjoin(DocumentRow, _same_document())
        .where(item.source_id.in_(source_ids), item.tenant_id == tenant_id)
        .group_by(item.source_id)
    )
    return {source: (int(count), int(bad)) for source, count, bad in await session.execute(query)}


async def list_problems(
    session: AsyncSession,
    source_id: str,
    *,
    tenant_id: str,
    visible: ColumnElement[bool],
    undocumented: bool,
    limit: int,
    after: str,
) -> Sequence[tuple[SourceItemRow, DocumentRow | None]]:
    """Return items that were not understood completely, by key; `visible` is a condition of their documents."""
    item = SourceItemRow
    shown = and_(item.document_id.is_not(None), visible)
    query = (
        select(item, DocumentRow)
        .outerjoin(DocumentRow, _same_document())
        .where(item.source_id == source_id, item.tenant_id == tenant_id, item.key > after, _not_understood())
        .where(or_(item.document_id.is_(None), shown) if undocumented else shown)
    )
    rows = await session.execute(query.order_by(item.key).limit(limit))
    return [(row[0], row[1]) for row in rows]


def _same_document() -> ColumnElement[bool]:
    return and_(DocumentRow.id == SourceItemRow.document_id, DocumentRow.tenant_id == SourceItemRow.tenant_id)


def _not_understood() -> ColumnElement[bool]:
    item = SourceItemRow
    incomplete = and_(DocumentRow.id.is_not(None), cast_text(DocumentRow.notes, Text) != "[]")
    return or_(item.problem != "", item.note != "", DocumentRow.problem != "", incomplete)


async def set_rights(
    session: AsyncSession,
    source_id: str,
    *,
    tenant_id: str,
    readers: tuple[str | None, Collection[tuple[str, str]]] | None = None,
    classification: int | None = None,
    at_least: bool = False,
) -> None:
    """Give all documents of a source, and their attachments, these readers and classification.

    Readers are a role, and kind and id of listed ones.

    With `at_least` a higher classification of a document stays.
    """
    ids = _with_attachments(source_id, tenant_id)
    change = update(DocumentRow).where(DocumentRow.id.in_(ids), DocumentRow.tenant_id == tenant_id)
    if classification is not None:
        lower = DocumentRow.classification < classification if at_least else true()
        values = {"classification": classification, "updated_at": now()}
        await session.execute(change.where(lower).values(values).execution_options(**_QUIET))
    if readers is None:
        return
    role, listed = readers
    await session.execute(change.values(reader_role=role, updated_at=now()).execution_options(**_QUIET))
    old = delete(ReaderRow).where(ReaderRow.document_id.in_(ids), ReaderRow.tenant_id == tenant_id)
    await session.execute(old.execution_options(**_QUIET))
    for kind, reader_id in sorted(set(listed)):
        columns = DocumentRow.id, literal(kind), literal(reader_id), literal(tenant_id)
        rows = select(*columns).where(DocumentRow.id.in_(ids), DocumentRow.tenant_id == tenant_id)
        await session.execute(insert(ReaderRow).from_select(["document_id", "kind", "reader_id", "tenant_id"], rows))


def of_source(source_id: str, *, tenant_id: str) -> ColumnElement[bool]:
    """Return the condition of the documents of a source, and of their attachments."""
    return DocumentRow.id.in_(_with_attachments(source_id, tenant_id))


def _with_attachments(source_id: str, tenant_id: str) -> CompoundSelect[Any]:
    item = SourceItemRow
    own = select(item.document_id).where(
        item.source_id == source_id, item.tenant_id == tenant_id, item.document_id.is_not(None)
    )
    attached = select(DocumentRow.id).where(DocumentRow.parent_id.in_(own))
    inner = select(DocumentRow.id).where(DocumentRow.parent_id.in_(attached))
    return union(own, attached, inner)


# -- synchronisation --


async def find_synced(session: AsyncSession, source_id: str) -> tuple[SourceRow, KnowledgeBaseRow] | None:
    """Return a source of any tenant with its base, for the job that synchronises it."""
    query = (
        select(SourceRow, KnowledgeBaseRow)
        .join(KnowledgeBaseRow, KnowledgeBaseRow.id == SourceRow.base_id)
        .where(SourceRow.id == source_id)
    )
    row = (await session.execute(query)).one_or_none()
    return None if row is None else (row[0], row[1])


async def hold_source(session: AsyncSession, job: Job, generation: int, **values: Any) -> bool:  # noqa: ANN401
    """Write values to a source, locking it, if the job still has it and its settings are the same."""
    change = update(SourceRow).where(QUEUE.held(job), SourceRow.generation == generation)
    change = change.values(updated_at=now(), **values)
    rows = await session.execute(change.returning(SourceRow.id).execution_options(**_QUIET))
    return rows.one_or_none() is not None


async def known_items(session: AsyncSession, source_id: str, *, tenant_id: str) -> dict[str, Known]:
    """Return what was read from a source before, by key."""
    item = SourceItemRow
    query = select(item.key, item.version, item.sha256, item.document_id, item.problem)
    query = query.where(item.source_id == source_id, item.tenant_id == tenant_id)
    rows = await session.execute(query)
    return {key: Known(version, sha256, document, problem) for key, version, sha256, document, problem in rows}


async def put_item(session: AsyncSession, item: SourceItemRow) -> None:
    """Insert or replace an item."""
    await session.merge(item)
    await session.flush()


async def delete_item(session: AsyncSession, source_id: str, key: str, *, tenant_id: str) -> None:
    """Delete an item; its document stays."""
    item = SourceItemRow
    query = delete(item).where(item.source_id == source_id, item.key == key, item.tenant_id == tenant_id)
    await session.execute(query.execution_options(**_QUIET))


async def document_name(session: AsyncSession, document_id: str, *, tenant_id: str) -> str | None:
    """Return the name of a document."""
    query = select(DocumentRow.name).where(DocumentRow.id == document_id, DocumentRow.tenant_id == tenant_id)
    return (await session.execute(query)).scalar_one_or_none()
