"""Documents of knowledge bases are deleted when they are older than their base keeps them, and no others."""

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import select, update

from headgate.features.access.principal import LOCAL
from headgate.features.audit.tables import AuditEvent
from headgate.features.knowledge import service
from headgate.features.knowledge.schemas import KnowledgeBaseChange
from headgate.features.knowledge.tables import DocumentRow, DocumentVersionRow
from headgate.features.knowledge_sources.tables import SourceItemRow, SourceRow
from headgate.features.maintenance.documents import delete_expired_documents
from headgate.foundation.database import Database, now
from headgate.foundation.ids import new_id
from headgate.foundation.settings import RetentionSettings
from tests.support.knowledge import Shelf, open_shelf


async def names(shelf: Shelf) -> set[str]:
    async with shelf.database.reading() as session:
        return set((await session.execute(select(DocumentRow.name))).scalars())


async def age(shelf: Shelf, document_id: str, days: float) -> None:
    async with shelf.database.writing() as session:
        change = update(DocumentVersionRow).where(DocumentVersionRow.document_id == document_id)
        await session.execute(change.values(created_at=now() - timedelta(days=days)))


async def of_source(shelf: Shelf, document_id: str) -> None:
    async with shelf.database.writing() as session:
        source = SourceRow(
            id=new_id(), tenant_id=LOCAL.tenant_id, base_id=shelf.base_id, name="Site", owner_user_id=LOCAL.user_id,
            config={}, readers={}, classification=0, every_seconds=None, generation=1, status="ready", problem="",
            report={}, synced_at=None, attempts=0,
        )  # fmt: skip
        session.add(source)
        await session.flush()
        session.add(
            SourceItemRow(
                source_id=source.id,
                key="a",
                tenant_id=LOCAL.tenant_id,
                document_id=document_id,
                version="",
                sha256="",
                problem="",
                note="",
            )
        )


@pytest.fixture
async def shelf(database: Database, tmp_path: Path) -> AsyncIterator[Shelf]:
    opened = open_shelf(database, tmp_path)
    async with opened.jobs.running():
        yield opened


async def test_documents_are_deleted_after_the_days_of_their_base(shelf: Shelf) -> None:
    database = shelf.database
    base = await shelf.make_base(retention_days=30)
    old, followed = await shelf.add("old.txt", "Old."), await shelf.add("followed.txt", "Followed.")
    await age(shelf, await shelf.add("young.txt", "Young."), 29)
    await age(shelf, old, 31)
    await age(shelf, followed, 31)
    await of_source(shelf, followed)
    await shelf.make_base("Kept")
    await age(shelf, await shelf.add("kept.txt", "Kept."), 9_999)
    settings = RetentionSettings()
    counted = await delete_expired_documents(database, shelf.storage, settings, dry=True)
    assert (counted.documents, len(await names(shelf))) == (1, 4)
    deleted = await delete_expired_documents(database, shelf.storage, settings)
    assert (deleted.documents, await names(shelf)) == (1, {"followed.txt", "young.txt", "kept.txt"})
    async with database.reading() as session:
        query = select(AuditEvent.action).where(AuditEvent.resource_id == old).order_by(AuditEvent.seq)
        actions = (await session.execute(query)).scalars().all()
    assert actions == ["knowledge_document.added", "knowledge_document.deleted"]
    assert (await delete_expired_documents(database, shelf.storage, settings)).documents == 0
    async with database.writing() as session:
        await service.change_base(session, LOCAL, base, KnowledgeBaseChange(retention_days=0))
    await age(shelf, await shelf.add("late.txt", "Late."), 9_999)
    assert (await delete_expired_documents(database, shelf.storage, settings)).documents == 0
