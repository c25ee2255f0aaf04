"""Documents of knowledge bases are deleted when they are older than their base keeps them, and no others."""

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import select, update

from headgate.features.access.principal import LOCAL
from headgate.features.audit.tables import AuditEvent
from headgate.features.knowledge import service
from headgate.features.knowledge.contents import delete_contents
from headgate.features.knowledge.documents.schemas import DocumentChange
from headgate.features.knowledge.documents.service import change_document
from headgate.features.knowledge.schemas import KnowledgeBaseChange
from headgate.features.knowledge.tables import DocumentRow, DocumentVersionRow
from headgate.features.knowledge_sources.tables import SourceItemRow, SourceRow
from headgate.features.maintenance.documents import delete_expired_documents
from headgate.foundation.database import Database, now
from headgate.foundation.ids import new_id
from headgate.foundation.settings import RetentionSettings
from tests.integration.features.knowledge.test_attachments import CSV, message
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


async def test_attachments_are_deleted_with_their_message_or_after_their_own_days(shelf: Shelf) -> None:
    mail = message("Trip", "Text.", rates=CSV, inner=message("In", "Text.", deep=CSV)).as_string()
    base = await shelf.make_base(retention_days=30)
    first, second = await shelf.add("first.eml", mail), await shelf.add("second.eml", mail)
    await shelf.indexer.settle()
    async with shelf.database.reading() as session:
        rows = (await session.execute(select(DocumentRow.id, DocumentRow.name))).all()
    ids = {name: id_ for id_, name in rows}
    assert len(ids) == 8
    for document in ids.values():
        await age(shelf, document, 40)
    await age(shelf, second, 20)
    own = {"first.eml/rates.csv": 35, "second.eml/rates.csv": 35}
    for name, days in own.items():
        async with shelf.database.writing() as session:
            await change_document(session, LOCAL, base, ids[name], DocumentChange(retention_days=days))
    outcome = await delete_expired_documents(shelf.database, shelf.storage, RetentionSettings())
    assert first not in {ids[name] for name in await names(shelf)}
    assert await names(shelf) == {"second.eml", "second.eml/inner.eml", "second.eml/inner.eml/deep.csv"}
    assert outcome.documents == 3
    assert (await delete_expired_documents(shelf.database, shelf.storage, RetentionSettings())).documents == 0


async def test_days_of_a_document_apply_instead_of_those_of_its_base(shelf: Shelf) -> None:
    database, settings = shelf.database, RetentionSettings()
    for base_days, kept in ((0, {"always.txt", "plain.txt"}), (30, {"always.txt"})):
        base = await shelf.make_base(f"Base {base_days}", retention_days=base_days)
        for name, days in (("short.txt", 5), ("always.txt", 0), ("plain.txt", None)):
            document = await shelf.add(name, name)
            await age(shelf, document, 40)
            async with database.writing() as session:
                change = DocumentChange(retention_days=days)
                assert (await change_document(session, LOCAL, base, document, change)).retention_days == days
        outcome = await delete_expired_documents(database, shelf.storage, settings)
        assert (outcome.documents, await names(shelf)) == (3 - len(kept), kept)
        async with database.writing() as session:
            await delete_contents(
                shelf.storage, await service.delete_base(session, LOCAL, base), tenant_id=LOCAL.tenant_id
            )


async def test_a_change_of_readers_keeps_the_days_of_a_document(shelf: Shelf) -> None:
    base = await shelf.make_base()
    document = await shelf.add("a.txt", "A.")
    async with shelf.database.writing() as session:
        await change_document(session, LOCAL, base, document, DocumentChange(retention_days=9))
        changed = await change_document(session, LOCAL, base, document, DocumentChange(classification=1))
    assert changed.retention_days == 9
