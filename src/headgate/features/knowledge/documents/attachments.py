"""Attachments of a message as documents of their own, which have its rights and are deleted with it.

An attachment has its name in the message, so that a job that was interrupted finds those that it stored. An attached
message has attachments as well, down to `MOST_DEPTH`.
"""

import hashlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.components.readers.document import Unreadable
from headgate.components.readers.reading import kind_of
from headgate.features.access.principal import Access, Actor, Principal
from headgate.features.files import service as files
from headgate.features.files.errors import NoRoomForFile
from headgate.features.files.limits import StorageLimits
from headgate.features.files.storage import Storage
from headgate.features.knowledge import repository
from headgate.features.knowledge.contents import delete_contents, discard
from headgate.features.knowledge.documents import service as documents
from headgate.features.knowledge.documents.schemas import LONGEST_NAME, DocumentIn
from headgate.features.knowledge.errors import TooManyDocuments
from headgate.features.knowledge.passages.extraction import Attached
from headgate.features.knowledge.tables import DocumentRow, KnowledgeBaseRow
from headgate.foundation.database import Database
from headgate.foundation.names import distinct_name

MOST_DEPTH = 2
"""Messages in messages whose attachments are read: those of a message, and those of a message attached to it."""
_SOURCE = "attachment of "
Require = Callable[[AsyncSession], Awaitable[None]]
"""Raises when the document is indexed anew or by another process; locks it until the transaction ends."""


@dataclass(frozen=True, slots=True)
class Attachments:
    """Stores attachments. No connection is held while a file is stored."""

    database: Database
    storage: Storage
    limits: StorageLimits | None

    async def replace(
        self, document: DocumentRow, base: KnowledgeBaseRow, attached: Sequence[Attached], require: Require
    ) -> tuple[list[str], list[str]]:
        """Make these the attachments of a document.

        Returns the ids of documents that are added or changed, and why attachments have no document.
        """
        depth = await self._depth(document, base)
        changed, notes, names = list[str](), list[str](), set[str]()
        for number, item in enumerate(attached, start=1):
            name = _name(document.name, item.name, number, names)
            names.add(name)
            reason = _reason(item, depth)
            document_id = None
            if not reason:
                document_id, reason = await self._put(document, base, item, name, require)
            if document_id:
                changed.append(document_id)
            if reason:
                names.discard(name)
                notes.append(reason)
        await self._delete(document, base, names, require)
        return changed, notes

    async def _depth(self, document: DocumentRow, base: KnowledgeBaseRow) -> int:
        depth, parent, actor = 0, document.parent_id, _actor(document, base)
        async with self.database.reading() as session:
            while parent is not None and depth < MOST_DEPTH:
                depth += 1
                parent = (await documents.describe_document(session, actor, base.id, parent)).parent_id
        return depth

    async def _put(
        self, document: DocumentRow, base: KnowledgeBaseRow, item: Attached, name: str, require: Require
    ) -> tuple[str | None, str | None]:
        """Store an attachment, unless it is stored already. Returns its document if it changed, or why it has none."""
        tenant_id, actor = document.tenant_id, _actor(document, base)
        async with self.database.reading() as session:
            row = await repository.find_document_named(session, name, base_id=base.id, tenant_id=tenant_id)
            if row is not None and row.parent_id != document.id:
                return None, f"'{item.name}' is not read: the base has a document '{name}' that is not of this message."
            if row is not None:
                version = await repository.find_version(session, row.id, row.version, tenant_id=tenant_id)
                if version is not None and version.sha256 == hashlib.sha256(item.content).hexdigest():
                    return None, None
        try:
            file = await files.store_upload(
                self.database, self.storage, actor, name=item.name, content=item.content, media_type=item.media_type,
                limits=self.limits,
            )  # fmt: skip
        except NoRoomForFile as error:
            return None, f"'{item.name}' is not read: {error.detail}"
        try:
            async with self.database.writing() as session:
                await repository.lock_base(session, base.id, tenant_id=tenant_id)
                await require(session)
                body = DocumentIn(file_id=file.id, name=name, source=f"{_SOURCE}{document.name}")
                if row is None:
                    message = await documents.describe_document(session, actor, base.id, document.id)
                    body.readers, body.classification = message.readers, message.classification
                    body.metadata = message.metadata
                added = await documents.add_document(session, actor, base.id, body)
                await repository.attach(session, added.id, document.id, tenant_id=tenant_id)
        except BaseException as error:
            await discard(self.database, self.storage, actor, file.id)
            if isinstance(error, TooManyDocuments):
                return None, f"'{item.name}' is not read: {error.detail}"
            raise
        return added.id, None

    async def _delete(self, document: DocumentRow, base: KnowledgeBaseRow, names: set[str], require: Require) -> None:
        """Delete the documents of attachments that the message has no more."""
        async with self.database.reading() as session:
            rows = await repository.attached_documents(session, document.id, tenant_id=document.tenant_id)
        for row in rows:
            if row.name in names or not row.source.startswith(_SOURCE):
                continue
            async with self.database.writing() as session:
                await repository.lock_base(session, base.id, tenant_id=document.tenant_id)
                await require(session)
                file_ids = await documents.delete_document(session, _actor(document, base), base.id, row.id)
            await delete_contents(self.storage, file_ids, tenant_id=document.tenant_id)


def _actor(document: DocumentRow, base: KnowledgeBaseRow) -> Principal:
    """Return the owner of a message, who sees all of its attachments."""
    actor = Actor("system", f"Attachments of {document.name}")
    return Principal(document.tenant_id, document.owner_user_id or "", base.space_id, Access(admin=True), actor)


def _name(message: str, name: str, number: int, taken: set[str]) -> str:
    """Return the name of the document of an attachment; each attachment of a message has another one."""
    text = f"{message}/{name}"
    if distinct_name(text, text, longest=LONGEST_NAME, otherwise="attachment") in taken:
        text = f"{message}/{number} {name}"
    return distinct_name(text, text, longest=LONGEST_NAME, otherwise="attachment")


def _reason(item: Attached, depth: int) -> str | None:
    """Return why an attachment has no document."""
    if depth >= MOST_DEPTH:
        return f"'{item.name}' is not read: it is attached to a message in a message in a message."
    if not item.content:
        return f"'{item.name}' is empty."
    try:
        kind_of(item.content, item.name, item.media_type)
    except Unreadable as error:
        return error.detail
    return None
