"""Synchronises sources, as one kind of job: lists a source, reads what is new or changed, deletes what is gone.

The row of a source is its job, so that it is synchronised once at a time. Each document is written with its item in one
transaction that holds the job: a synchronisation that was interrupted lists again, and reads nothing twice that it
wrote. The generation of a source keeps a job with earlier settings from writing.
"""

import asyncio
import hashlib
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Access, Actor, Principal
from headgate.features.audit.recorder import record
from headgate.features.files import service as files
from headgate.features.files.errors import NoRoomForFile
from headgate.features.jobs.errors import LeaseLost
from headgate.features.jobs.leases import MICROSECONDS, clock
from headgate.features.jobs.queue import Job
from headgate.features.jobs.runner import JobKind, JobRunner
from headgate.features.knowledge.contents import delete_contents, discard
from headgate.features.knowledge.documents import service as documents
from headgate.features.knowledge.documents.schemas import LONGEST_NAME, DocumentIn, Readers
from headgate.features.knowledge.errors import DocumentNotFound, TooManyDocuments
from headgate.features.knowledge.indexing import Indexer
from headgate.features.knowledge.repository import attach
from headgate.features.knowledge.tables import KnowledgeBaseRow
from headgate.features.knowledge_sources import repository
from headgate.features.knowledge_sources.errors import SourceInvalid
from headgate.features.knowledge_sources.reading.kinds import OPENERS
from headgate.features.knowledge_sources.reading.protocol import (
    MOST_BYTES,
    Content,
    Entry,
    Gone,
    Listing,
    SourceContext,
)
from headgate.features.knowledge_sources.repository import Known
from headgate.features.knowledge_sources.schemas import MOST_SHOWN, SourceIn, SyncReport
from headgate.features.knowledge_sources.tables import SourceItemRow, SourceRow
from headgate.features.runs.steps.secrecy import errors_without
from headgate.features.triggers.firing import principal_of
from headgate.features.triggers.polling.context import Sources
from headgate.features.triggers.uploads import UploadStore
from headgate.foundation.database import Database, now
from headgate.foundation.errors import DatabaseUnavailable, HeadgateError, Unavailable, UpstreamFailed
from headgate.foundation.log import get_logger
from headgate.foundation.names import distinct_name
from headgate.foundation.secret_values import SecretValues, use

KIND = "knowledge source"
AT_ONCE = 2
"""Sources that one process synchronises at once."""
LONGEST_SECONDS = 6 * 3600
MOST_FAILURES = 20
"""Entries in a row that cannot be read: then the source itself cannot be."""
SHOWN_EVERY = 25
"""Unchanged entries after which the progress is written."""
LONGEST_REASON = 500
_FATAL = (DatabaseUnavailable, LeaseLost, TooManyDocuments, NoRoomForFile, Unavailable)
"""Errors of one entry that all others would have too."""
log = get_logger(__name__)


@dataclass(slots=True)
class _Sync:
    """One synchronisation."""

    job: Job
    source: SourceRow
    base: KnowledgeBaseRow
    actor: Principal
    """The owner of the source, who sees all of its documents."""
    level: int
    """The classification of its documents."""
    known: dict[str, Known]
    report: SyncReport = field(default_factory=SyncReport)
    seen: set[str] = field(default_factory=set)
    documents: dict[str, str] = field(default_factory=dict)
    """Documents of entries, by key."""
    failures: int = 0
    """In a row."""


class SourceSync:
    """Synchronises sources that are due.

    Args:
        database: Holds sources, items and documents. No connection is held while a source is read.
        uploads: Stores files, within the quotas.
        indexer: Indexes the documents.
        jobs: Runs due sources.
        sources: What is read with.
        auto_login: Whether the local user owns sources without signing in.
    """

    def __init__(
        self,
        database: Database,
        uploads: UploadStore,
        indexer: Indexer,
        jobs: JobRunner,
        *,
        sources: Sources,
        auto_login: bool,
    ) -> None:
        self._database = database
        self._storage = uploads.storage
        self._limits = uploads.limits
        self._indexer = indexer
        self._jobs = jobs
        self._sources = sources
        self._auto_login = auto_login
        jobs.register(JobKind(KIND, repository.QUEUE, self.sync, AT_ONCE))

    def soon(self, source_id: str) -> None:
        """Synchronise a source as soon as possible, in this process."""
        self._jobs.enqueue(KIND, source_id)

    async def settle(self) -> None:
        """Return when this process synchronises and indexes nothing, and nothing that it may do is due."""
        await self._jobs.settle(KIND)
        await self._indexer.settle()

    async def sync(self, job: Job) -> None:
        """Synchronise a source to the end. Raises `LeaseLost` when it was deleted or changed meanwhile."""
        async with self._database.reading() as session:
            pair = await repository.find_synced(session, job.id)
        if pair is None:
            raise LeaseLost(f"The source {job.id} was deleted.")
        source, base = pair
        await self._hold(job, source, status="running", problem="", report=SyncReport().model_dump())
        try:
            sync = await self._read(job, source, base)
        except LeaseLost:
            await self._again(job)
        except DatabaseUnavailable:
            raise
        except HeadgateError as error:
            await self._finish(job, source, base, status="failed", problem=str(error)[:LONGEST_REASON])
        except Exception as error:
            log.exception("source not synchronised", source_id=source.id)
            problem = f"Unexpected error {type(error).__name__}; see the log of the server."
            await self._finish(job, source, base, status="failed", problem=problem)
        else:
            values = {"report": sync.report.model_dump(), "synced_at": now()}
            await self._finish(job, source, base, status="ready", problem="", **values)

    async def _read(self, job: Job, source: SourceRow, base: KnowledgeBaseRow) -> _Sync:
        owner = await self._owner(source, base)
        context = SourceContext(self._sources, owner, SecretValues(), purpose="knowledge")
        config = SourceIn.model_validate({"name": source.name, "config": source.config}).config
        async with self._database.reading() as session:
            known = await repository.known_items(session, source.id, tenant_id=source.tenant_id)
        actor = Principal(
            source.tenant_id, source.owner_user_id, base.space_id, Access(admin=True),
            Actor("system", f"Source {source.name}"),
        )  # fmt: skip
        use(context.secrets)
        try:
            with errors_without(context.secrets):
                async with (
                    asyncio.timeout(LONGEST_SECONDS),
                    OPENERS[type(config)](context, config, known) as listing,
                ):
                    level = max(source.classification, context.classification or 0)
                    sync = _Sync(job, source, base, actor, level, known)
                    sync.documents = {key: item.document_id for key, item in known.items() if item.document_id}
                    await self._raise_level(sync, context.classification or 0)
                    await self._entries(sync, listing)
        except TimeoutError as error:
            raise UpstreamFailed(f"It took longer than {LONGEST_SECONDS // 3600} hours.") from error
        except Unavailable as error:  # a part that reads it is missing
            if isinstance(error, DatabaseUnavailable):
                raise
            raise UpstreamFailed(error.detail, remedy=error.remedy) from error
        return sync

    async def _owner(self, source: SourceRow, base: KnowledgeBaseRow) -> Principal:
        owner = await principal_of(
            self._database, source.owner_user_id, tenant_id=source.tenant_id, space_id=base.space_id,
            actor=Actor("system", f"Source {source.name}"), auto_login=self._auto_login,
        )  # fmt: skip
        if owner is None or not owner.may(Permission.KNOWLEDGE_EDIT, base.space_id):
            raise SourceInvalid(
                "Its owner is deactivated, was deleted, or may not change knowledge of the space any more.",
                remedy="An owner of the space who changes its settings becomes its owner.",
            )
        return owner

    async def _raise_level(self, sync: _Sync, connection_level: int) -> None:
        """Give documents that were read before the classification that the connection has by now."""
        async with self._database.writing() as session:
            await self._require(session, sync, connection_level=connection_level)
            await repository.set_rights(
                session, sync.source.id, tenant_id=sync.source.tenant_id, classification=sync.level, at_least=True
            )

    async def _entries(self, sync: _Sync, listing: Listing) -> None:
        async with aclosing(listing.entries()) as entries:  # type: ignore[type-var]
            async for entry in entries:
                sync.report.listed += 1
                sync.seen.add(entry.key)
                await self._entry(sync, entry)
                sync.report.done += 1
                if sync.report.done % SHOWN_EVERY == 0:
                    await self._hold(sync.job, sync.source, report=sync.report.model_dump())
        sync.report.complete, sync.report.notes = listing.complete, _notes(listing.notes)
        if listing.complete:
            for key, item in list(sync.known.items()):
                if key not in sync.seen:
                    await self._forget(sync, key, item)

    async def _entry(self, sync: _Sync, entry: Entry) -> None:
        known = sync.known.get(entry.key)
        if known is not None and known.document_id and not known.problem and entry.version == known.version != "":
            sync.report.unchanged += 1
            return
        try:
            content = await entry.fetch(known)
            if content is None:
                sync.report.unchanged += 1
            else:
                await self._put(sync, entry, known, content)
            sync.failures = 0
        except Gone as error:
            if known is not None:
                await self._forget(sync, entry.key, known)
            else:
                await self._problem(sync, entry, known, error)
        except _FATAL:
            raise
        except HeadgateError as error:
            sync.failures += 1
            await self._problem(sync, entry, known, error)
            if sync.failures >= MOST_FAILURES:
                raise UpstreamFailed(f"{MOST_FAILURES} in a row could not be read, the last one: {error}") from error

    async def _put(self, sync: _Sync, entry: Entry, known: Known | None, content: Content) -> None:
        """Make the content that of the document of the entry."""
        version, sha256 = entry.version or content.version, hashlib.sha256(content.content).hexdigest()
        item = SourceItemRow(
            source_id=sync.source.id, key=entry.key, tenant_id=sync.source.tenant_id, version=version, sha256=sha256,
            document_id=None if known is None else known.document_id, problem="", note=content.note,
        )  # fmt: skip
        if known is not None and known.document_id and known.sha256 == sha256:
            async with self._database.writing() as session:
                await self._require(session, sync)
                await repository.put_item(session, item)
            sync.report.unchanged += 1
            return
        file = await files.store_upload(
            self._database, self._storage, sync.actor, name=content.file_name or "document", content=content.content,
            media_type=content.media_type, max_bytes=MOST_BYTES, limits=self._limits,
        )  # fmt: skip
        try:
            async with self._database.writing() as session:
                await self._require(session, sync)
                item.document_id = await _add_document(session, sync, entry, known, file.id)
                if parent := sync.documents.get(entry.parent):
                    await attach(session, item.document_id, parent, tenant_id=sync.source.tenant_id)
                await repository.put_item(session, item)
        except BaseException:
            await discard(self._database, self._storage, sync.actor, file.id)
            raise
        sync.documents[entry.key] = item.document_id
        self._indexer.soon(item.document_id)
        if known is not None and known.document_id:
            sync.report.changed += 1
        else:
            sync.report.added += 1

    async def _problem(self, sync: _Sync, entry: Entry, known: Known | None, error: HeadgateError) -> None:
        """Store why an entry could not be read; its document stays as it was."""
        item = SourceItemRow(
            source_id=sync.source.id, key=entry.key, tenant_id=sync.source.tenant_id,
            version="" if known is None else known.version, sha256="" if known is None else known.sha256,
            document_id=None if known is None else known.document_id, problem=str(error)[:LONGEST_REASON], note="",
        )  # fmt: skip
        async with self._database.writing() as session:
            await self._require(session, sync)
            await repository.put_item(session, item)
        sync.report.failed += 1

    async def _forget(self, sync: _Sync, key: str, known: Known) -> None:
        """Delete an item that the source has no more, with its document."""
        file_ids = list[str]()
        async with self._database.writing() as session:
            await self._require(session, sync)
            await repository.delete_item(session, sync.source.id, key, tenant_id=sync.source.tenant_id)
            if known.document_id:
                try:
                    file_ids = await documents.delete_document(session, sync.actor, sync.base.id, known.document_id)
                except DocumentNotFound:
                    log.info("document was deleted before", document_id=known.document_id)
        await delete_contents(self._storage, file_ids, tenant_id=sync.source.tenant_id)
        del sync.known[key]
        sync.report.deleted += 1

    async def _require(self, session: AsyncSession, sync: _Sync, **values: Any) -> None:  # noqa: ANN401 - columns
        """Hold the source in a transaction, and write values. Raises `LeaseLost` when it was deleted or changed."""
        if not await repository.hold_source(session, sync.job, sync.source.generation, **values):
            raise LeaseLost(f"The source {sync.source.id} was changed or deleted.")

    async def _hold(self, job: Job, source: SourceRow, **values: Any) -> None:  # noqa: ANN401 - columns
        async with self._database.writing() as session:
            if await repository.hold_source(session, job, source.generation, **values):
                return
        await self._again(job)

    async def _finish(self, job: Job, source: SourceRow, base: KnowledgeBaseRow, **values: Any) -> None:  # noqa: ANN401
        """End the job until the next time, with an entry in the audit log. Raises `LeaseLost`."""
        pause = source.every_seconds
        async with self._database.writing() as session:
            if await repository.hold_source(session, job, source.generation, **values):
                if pause is None:
                    await repository.QUEUE.finish(session, job)
                else:
                    await repository.QUEUE.release(session, job, due_at=clock() + pause * MICROSECONDS)
                outcome = {"status": values["status"], "problem": values["problem"], "report": values.get("report")}
                actor = Principal(
                    source.tenant_id, source.owner_user_id, base.space_id, Access(),
                    Actor("system", f"Source {source.name}"),
                )  # fmt: skip
                await record(
                    session, actor, "knowledge_source.synchronised", id=source.id, name=source.name,
                    space_id=base.space_id, payload=outcome | {"base_id": base.id},
                )  # fmt: skip
                return
        await self._again(job)

    async def _again(self, job: Job) -> None:
        """Release a job whose source has other settings by now. Raises `LeaseLost`."""
        async with self._database.writing() as session:
            await repository.QUEUE.release(session, job, due_at=clock())
        raise LeaseLost(f"The source {job.id} was changed or deleted.")


async def _add_document(session: AsyncSession, sync: _Sync, entry: Entry, known: Known | None, file_id: str) -> str:
    """Add a file as a document, or as the next version of that of the entry. Returns the document's id."""
    name = None
    if known is not None and known.document_id:
        name = await repository.document_name(session, known.document_id, tenant_id=sync.source.tenant_id)
    is_new = name is None
    name = name or _name(sync.source.name, entry)
    if is_new and await documents.exists_named(session, sync.base, name):
        raise SourceInvalid(f"The knowledge base has a document '{name}' that is not of this source.")
    body = DocumentIn(
        file_id=file_id, name=name, source=f"{sync.source.config['kind']}: {entry.key}"[:500],
        readers=Readers.model_validate(sync.source.readers) if is_new else None,
        classification=sync.level if is_new else None,
        metadata=sync.source.document_metadata if is_new else None,
    )  # fmt: skip
    return (await documents.add_document(session, sync.actor, sync.base.id, body)).id


def _name(source: str, entry: Entry) -> str:
    """Return the name of a document: that of its source, and where it is there. Each entry has another name."""
    return distinct_name(f"{source}/{entry.name}", entry.key, longest=LONGEST_NAME, otherwise=source)


def _notes(notes: list[str]) -> list[str]:
    if len(notes) <= MOST_SHOWN:
        return notes
    return [*notes[:MOST_SHOWN], f"{len(notes) - MOST_SHOWN:,} more."]
