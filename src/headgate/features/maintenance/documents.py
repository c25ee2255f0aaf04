"""Deletes documents of knowledge bases that are older than they, or their base, are kept."""

from collections.abc import Collection, Sequence
from contextlib import suppress
from datetime import timedelta

from sqlalchemy import and_, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.principal import system_principal
from headgate.features.files.storage import Storage
from headgate.features.knowledge.contents import delete_contents
from headgate.features.knowledge.documents.service import delete_document
from headgate.features.knowledge.errors import DocumentNotFound
from headgate.features.knowledge.tables import DocumentRow, DocumentVersionRow, KnowledgeBaseRow
from headgate.features.knowledge_sources.tables import SourceItemRow
from headgate.features.maintenance.outcome import Outcome
from headgate.foundation.database import Database, now
from headgate.foundation.settings import RetentionSettings

BATCH = 50
"""Documents deleted in one transaction."""


async def delete_expired_documents(
    database: Database, storage: Storage, _settings: RetentionSettings, *, dry: bool = False
) -> Outcome:
    """Delete documents whose last version is older than it is kept, each with an audit entry.

    The days of a document apply instead of those of its base. A document of a source is deleted when its source has it
    no more, an attachment with its message. `dry` only counts.
    """
    outcome = Outcome()
    async with database.reading() as session:
        query = select(DocumentRow.base_id, DocumentRow.retention_days).where(DocumentRow.retention_days > 0).distinct()
        own: dict[str, set[int]] = {}
        for base_id, days in await session.execute(query):
            own.setdefault(base_id, set()).add(int(days or 0))
        expiring = or_(KnowledgeBaseRow.retention_days > 0, KnowledgeBaseRow.id.in_(own))
        bases = (
            await session.execute(select(KnowledgeBaseRow).where(expiring).order_by(KnowledgeBaseRow.id))
        ).scalars()
    for base in bases.all():
        after = ""
        while True:
            async with database.writing() as session:
                document_ids = await _expired(session, base, own.get(base.id, ()), after)
                file_ids = [] if dry else await _delete(session, base, document_ids)
            await delete_contents(storage, file_ids, tenant_id=base.tenant_id)
            outcome.documents += len(document_ids)
            if len(document_ids) < BATCH:
                break
            after = document_ids[-1]
    return outcome


async def _expired(session: AsyncSession, base: KnowledgeBaseRow, own: Collection[int], after: str) -> Sequence[str]:
    """Return expired documents of a base, locked; `own` are the days that its documents have themselves."""
    row, version, item = DocumentRow, DocumentVersionRow, SourceItemRow
    current = and_(version.document_id == row.id, version.version == row.version)
    of_source = select(item.document_id).where(item.document_id == row.id, item.tenant_id == row.tenant_id).exists()
    old = [and_(row.retention_days == days, version.created_at < now() - timedelta(days=days)) for days in own]
    if base.retention_days:
        before = now() - timedelta(days=base.retention_days)
        old.append(and_(row.retention_days.is_(None), version.created_at < before))
    query = (
        select(row.id)
        .join(version, current)
        .where(row.base_id == base.id, row.tenant_id == base.tenant_id, row.id > after, ~of_source)
        .where(or_(row.parent_id.is_(None), row.retention_days.is_not(None)))
        .where(or_(*old))
    )
    return (await session.execute(query.order_by(row.id).limit(BATCH).with_for_update(of=row))).scalars().all()


async def _delete(session: AsyncSession, base: KnowledgeBaseRow, document_ids: Sequence[str]) -> list[str]:
    """Delete locked documents. Returns the files whose contents are to be deleted after the commit."""
    principal = system_principal(base.tenant_id, base.space_id)
    file_ids = list[str]()
    for document_id in document_ids:
        with suppress(DocumentNotFound):  # an attachment that was deleted with its message
            file_ids += await delete_document(session, principal, base.id, document_id)
    return file_ids
