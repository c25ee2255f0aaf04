"""Documents that flows add: one content for each name, however often a step is repeated."""

import hashlib
from dataclasses import dataclass

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal
from headgate.features.files import service as files
from headgate.features.files.limits import StorageLimits
from headgate.features.files.storage import Storage
from headgate.features.knowledge import repository
from headgate.features.knowledge.contents import discard
from headgate.features.knowledge.documents import service as documents
from headgate.features.knowledge.documents.schemas import DocumentChange, DocumentIn, DocumentOut, Readers
from headgate.features.knowledge.errors import NameOfAnother
from headgate.features.knowledge.service import base_of_space, get_base
from headgate.foundation.checked import checked
from headgate.foundation.database import Database
from headgate.sdk.knowledge import AddedDocument, NewDocument


@dataclass(frozen=True, slots=True)
class Adding:
    """Adds documents of flows. No connection is held while a file is stored."""

    database: Database
    storage: Storage
    limits: StorageLimits | None
    """The storage quotas that apply."""

    async def add(self, principal: Principal, document: NewDocument, *, source: str, level: int) -> AddedDocument:
        """Add a document to a base of the caller's space, or make its content that of the document of its name.

        A document keeps its readers, and its classification unless `level` is higher. One with the same content stays;
        its metadata becomes that of the request.

        Args:
            principal: The user who started the run.
            document: What is added.
            source: Names the flow. Documents of other sources are not replaced.
            level: The classification of what reached the step.

        Raises:
            BaseNotFound: The space has no such base.
            PermissionMissing: The caller may not change knowledge.
            NameOfAnother: A document of another source has the name.
            DocumentNotFound: The caller can view no document of the flow with this name any more.
            TooManyDocuments: The base is full.
            NoRoomForFile: The file exceeds a storage quota.
        """
        sha256 = hashlib.sha256(document.content).hexdigest()
        body = checked(DocumentIn, file_id="", name=document.name, source=source, metadata=dict(document.metadata))
        async with self.database.writing() as session:
            _, same = await _current(session, principal, document, body, level)
        if same is not None and same.sha256 == sha256 and same.status != "failed":
            return AddedDocument(same.id, same.version, sha256, "unchanged")
        file = await files.store_upload(
            self.database, self.storage, principal, name=document.name, content=document.content,
            media_type=document.media_type, limits=self.limits,
        )  # fmt: skip
        body.file_id = file.id
        try:
            async with self.database.writing() as session:
                base_id, before = await _current(session, principal, document, body, level)
                if before is None:
                    body.readers, body.classification = Readers.model_validate({"role": document.role}), level
                added = await documents.add_document(session, principal, base_id, body)
        except BaseException:
            await discard(self.database, self.storage, principal, file.id)
            raise
        return AddedDocument(added.id, added.version, sha256, "added" if before is None else "changed")


async def _current(
    session: AsyncSession, principal: Principal, document: NewDocument, body: DocumentIn, level: int
) -> tuple[str, DocumentOut | None]:
    """Return the base, locked, and the document of the name, with the classification and metadata of the request."""
    row = await base_of_space(session, document.base, tenant_id=principal.tenant_id, space_id=principal.space_id)
    base = await get_base(session, principal, row.id, permission=Permission.KNOWLEDGE_EDIT)
    await documents.lock_base(session, base)
    named = await repository.find_document_named(session, str(body.name), base_id=base.id, tenant_id=base.tenant_id)
    if named is None:
        return base.id, None
    if named.source != body.source:
        raise NameOfAnother(named.name)
    shown = await documents.describe_document(session, principal, base.id, named.id)
    values: dict[str, object] = {"metadata": body.metadata} if shown.metadata != body.metadata else {}
    values |= {"classification": level} if level > shown.classification else {}
    if values:
        change = checked(DocumentChange, **values)
        shown = await documents.change_document(session, principal, base.id, named.id, change)
    return base.id, shown
