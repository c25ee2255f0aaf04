"""Adding, replacing, changing and deleting documents, and reading their passages."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal
from headgate.features.accounts.directory.service import missing_groups
from headgate.features.accounts.users.service import missing_users
from headgate.features.audit.actions import Action
from headgate.features.jobs.leases import clock
from headgate.features.knowledge import repository
from headgate.features.knowledge.contents import bring_file, delete_unused, hold_file
from headgate.features.knowledge.documents.describing import described, record_change
from headgate.features.knowledge.documents.schemas import DocumentChange, DocumentIn, DocumentOut, PassageOut, Readers
from headgate.features.knowledge.errors import DocumentNotFound, ReadersUnknown, RightsDiffer, TooManyDocuments
from headgate.features.knowledge.index import embeddings
from headgate.features.knowledge.metadata.rows import set_metadata
from headgate.features.knowledge.metadata.values import Metadata
from headgate.features.knowledge.rights import readable, reader_of
from headgate.features.knowledge.service import get_base, visible_to
from headgate.features.knowledge.tables import DocumentRow, DocumentVersionRow, KnowledgeBaseRow
from headgate.foundation.database import now
from headgate.foundation.ids import is_id, new_id

MOST_DOCUMENTS = 100_000
"""Maximum documents of one base."""


@dataclass(frozen=True, slots=True)
class OpenDocument:
    """A document that the caller can view."""

    base: KnowledgeBaseRow
    row: DocumentRow
    version: DocumentVersionRow


async def add_document(
    session: AsyncSession, principal: Principal, base_id: str, document_in: DocumentIn
) -> DocumentOut:
    """Add an uploaded file to a base, or make it the next version of the document of its name.

    It is indexed afterwards. A document that has this content already stays as it is; it is indexed again if that
    failed or the language is another, and the upload is deleted. Raises `BaseNotFound`, `PermissionMissing`,
    `FileNotFound`, `ReadersUnknown`, `DocumentNotFound` for a name that a document has which the caller cannot view,
    `RightsDiffer` when the document has other rights than the request, and `TooManyDocuments`.
    """
    base = await get_base(session, principal, base_id, permission=Permission.KNOWLEDGE_EDIT)
    file = await bring_file(session, principal, document_in.file_id)
    name = document_in.name or file.name
    row = await repository.find_document_named(session, name, base_id=base.id, tenant_id=principal.tenant_id)
    if row is None:
        action: Action = "knowledge_document.added"
        row = await _new_document(session, principal, base, name, document_in)
    else:
        action = "knowledge_document.replaced"
        await _require_replaceable(session, principal, base, row, document_in)
        current = await repository.find_version(session, row.id, row.version, tenant_id=row.tenant_id)
        if current is not None and (current.sha256, current.media_type) == (file.sha256, file.media_type):
            return await _unchanged(session, principal, OpenDocument(base, row, current), document_in)
        await _next_version(session, row, document_in)
    await hold_file(session, file)
    version = DocumentVersionRow(
        document_id=row.id, version=row.version, tenant_id=row.tenant_id, file_id=file.id, sha256=file.sha256,
        size_bytes=file.size_bytes, media_type=file.media_type, created_at=now(),
    )  # fmt: skip
    await repository.add_knowledge(session, version)
    await _set_metadata(session, row, document_in.metadata)
    out = (await described(session, [(row, version)], principal.tenant_id))[0]
    await record_change(session, principal, action, base, out)
    return out


async def _new_document(
    session: AsyncSession, principal: Principal, base: KnowledgeBaseRow, name: str, document_in: DocumentIn
) -> DocumentRow:
    count = await repository.count_documents(session, base.id, tenant_id=principal.tenant_id)
    if count >= MOST_DOCUMENTS:
        raise TooManyDocuments(
            f"'{base.name}' has {count} documents, the maximum.", remedy="Use another knowledge base."
        )
    readers = document_in.readers or Readers()
    row = DocumentRow(
        id=new_id(), tenant_id=principal.tenant_id, base_id=base.id, name=name, source=document_in.source,
        owner_user_id=principal.user_id or None, reader_role=readers.role,
        classification=document_in.classification or 0, retention_days=None, parent_id=None,
        language=document_in.language, version=1, generation=1, tries=0, status="pending", problem="", notes=[],
        characters=0, pages=None, passages=0, passages_done=0, passages_added=0, passages_embedded=0,
        embedding_tokens=0, created_at=now(), updated_at=now(), due_at=clock(),
    )  # fmt: skip
    try:
        await repository.add_knowledge(session, row)
    except IntegrityError as error:
        raise DocumentNotFound(name) from error
    await _set_readers(session, row, readers)
    return row


async def _set_metadata(session: AsyncSession, row: DocumentRow, metadata: Metadata | None) -> None:
    if metadata is not None:
        await set_metadata(session, DocumentRow.id == row.id, metadata, tenant_id=row.tenant_id)


async def _require_replaceable(
    session: AsyncSession, principal: Principal, base: KnowledgeBaseRow, row: DocumentRow, document_in: DocumentIn
) -> None:
    """Raise `DocumentNotFound` for a document that the caller cannot view, `RightsDiffer` for other rights."""
    visible = await visible_to(session, principal, base)
    if not await repository.is_visible(session, row.id, tenant_id=row.tenant_id, visible=visible):
        raise DocumentNotFound(row.name)
    await _require_same_rights(session, row, document_in)


async def _unchanged(
    session: AsyncSession, principal: Principal, document: OpenDocument, document_in: DocumentIn
) -> DocumentOut:
    row, language = document.row, document_in.language
    await _set_metadata(session, row, document_in.metadata)
    again = row.status == "failed" or language not in {"", row.language}
    if again:
        row.language = language or row.language
        _index_again(row)
        await session.flush()
    out = (await described(session, [(row, document.version)], row.tenant_id))[0]
    if again:
        await record_change(session, principal, "knowledge_document.reindexed", document.base, out)
    await delete_unused(session, principal, [document_in.file_id])
    return out


async def _next_version(session: AsyncSession, row: DocumentRow, document_in: DocumentIn) -> None:
    row.version += 1
    row.source = document_in.source
    row.language = document_in.language or row.language
    _index_again(row)
    await session.flush()


async def _require_same_rights(session: AsyncSession, row: DocumentRow, document_in: DocumentIn) -> None:
    """Raise `RightsDiffer` when a next version has other rights: rights are of the document, with all its versions."""
    same = document_in.classification in {None, row.classification}
    if document_in.readers is not None:
        stored = (await repository.readers_of(session, [row.id], tenant_id=row.tenant_id)).get(row.id, [])
        same = same and document_in.readers.role == row.reader_role and set(stored) == set(listed(document_in.readers))
    if not same:
        raise RightsDiffer(row.name)


def _index_again(row: DocumentRow) -> None:
    row.generation += 1
    row.tries = 0
    row.status, row.problem, row.notes, row.passages_done = "pending", "", [], 0
    row.due_at, row.updated_at = clock(), now()


async def get_document(
    session: AsyncSession,
    principal: Principal,
    base_id: str,
    document_id: str,
    *,
    permission: Permission = Permission.KNOWLEDGE_VIEW,
    lock: bool = False,
) -> OpenDocument:
    """Return a document that the caller can list. Raises `BaseNotFound`, `DocumentNotFound`, `PermissionMissing`."""
    base = await get_base(session, principal, base_id, permission=permission)
    visible = await visible_to(session, principal, base)
    result = None
    if is_id(document_id):
        result = await repository.find_document(
            session, document_id, base_id=base.id, tenant_id=principal.tenant_id, visible=visible, lock=lock
        )
    if result is None:
        raise DocumentNotFound(document_id)
    return OpenDocument(base, *result)


async def document_id_of(session: AsyncSession, principal: Principal, base_id: str, which: str) -> str:
    """Return the id of the document with an id or name. Raises `DocumentNotFound`."""
    if is_id(which):
        return which
    row = await repository.find_document_named(session, which, base_id=base_id, tenant_id=principal.tenant_id)
    if row is None:
        raise DocumentNotFound(which)
    return (await get_document(session, principal, base_id, row.id)).row.id


async def describe_document(session: AsyncSession, principal: Principal, base_id: str, document_id: str) -> DocumentOut:
    """Return a document with its state. Raises `BaseNotFound`, `DocumentNotFound`."""
    document = await get_document(session, principal, base_id, document_id)
    return (await described(session, [(document.row, document.version)], principal.tenant_id))[0]


async def list_documents(
    session: AsyncSession, principal: Principal, base_id: str, *, limit: int = 50, before: str | None = None
) -> Sequence[DocumentOut]:
    """Return the documents of a base that the caller can view, newest first. Raises `BaseNotFound`."""
    base = await get_base(session, principal, base_id)
    visible = await visible_to(session, principal, base)
    rows = await repository.list_documents(
        session, base.id, tenant_id=principal.tenant_id, visible=visible, limit=limit, before=before
    )
    return await described(session, rows, principal.tenant_id)


async def due_documents(session: AsyncSession, principal: Principal, base_id: str) -> Sequence[str]:
    """Return the documents of a base that are to be indexed or embedded, as an editor. Raises like `get_base`."""
    base = await get_base(session, principal, base_id, permission=Permission.KNOWLEDGE_EDIT)
    return await embeddings.due_documents(session, base.id, tenant_id=base.tenant_id)


async def list_passages(
    session: AsyncSession,
    principal: Principal,
    base_id: str,
    document_id: str,
    *,
    limit: int,
    after: int = -1,
    page: int | None = None,
) -> Sequence[PassageOut]:
    """Return passages of a document, or of a page of it, in order.

    Raises `DocumentNotFound` unless the caller is one of its readers.
    """
    document = await get_document(session, principal, base_id, document_id)
    await require_readable(session, principal, document)
    rows = await repository.list_passages(
        session, document.row.id, tenant_id=principal.tenant_id, limit=limit, after=after, page=page
    )
    return [PassageOut.model_validate(row) for row in rows]


async def require_readable(session: AsyncSession, principal: Principal, document: OpenDocument) -> None:
    """Raise `DocumentNotFound` unless the caller may read the content: owners of the space may list it only."""
    condition = readable(await reader_of(session, principal, document.base.space_id))
    if not await repository.is_visible(session, document.row.id, tenant_id=principal.tenant_id, visible=condition):
        raise DocumentNotFound(document.row.name)


async def change_document(
    session: AsyncSession, principal: Principal, base_id: str, document_id: str, change: DocumentChange
) -> DocumentOut:
    """Change readers, classification and retention of all versions, from the next search on.

    Attachments that have the same rights get the new ones. Raises like `get_document`, and `ReadersUnknown`.
    """
    document = await get_document(
        session, principal, base_id, document_id, permission=Permission.KNOWLEDGE_EDIT, lock=True
    )
    row, pair = document.row, [(document.row, document.version)]
    before = (await described(session, pair, principal.tenant_id))[0]
    if change.classification is not None:
        row.classification = change.classification
    if "retention_days" in change.model_fields_set:
        row.retention_days = change.retention_days
    row.updated_at = now()
    if change.readers is not None:
        await _set_readers(session, row, change.readers)
    await _set_metadata(session, row, change.metadata)
    await session.flush()
    out = (await described(session, pair, principal.tenant_id))[0]
    await record_change(session, principal, "knowledge_document.changed", document.base, out, before=before)
    await _change_attached(session, principal, before, change)
    return out


async def _change_attached(
    session: AsyncSession, caller: Principal, before: DocumentOut, change: DocumentChange
) -> None:
    """Change the readers and classification of the attachments that have those of their message."""
    rights = DocumentChange.model_validate(
        change.model_dump(exclude_unset=True, exclude={"retention_days", "metadata"})
    )
    rows = await repository.attached_documents(session, before.id, tenant_id=caller.tenant_id)
    for row in rows if rights.model_fields_set else ():
        with suppress(DocumentNotFound):  # the caller may not know of it
            shown = await describe_document(session, caller, row.base_id, row.id)
            if (shown.readers, shown.classification) == (before.readers, before.classification):
                await change_document(session, caller, row.base_id, row.id, rights)


async def reindex_document(session: AsyncSession, principal: Principal, base_id: str, document_id: str) -> DocumentOut:
    """Index a document again, for example after another passage size. Raises like `get_document`."""
    document = await get_document(
        session, principal, base_id, document_id, permission=Permission.KNOWLEDGE_EDIT, lock=True
    )
    _index_again(document.row)
    await session.flush()
    out = (await described(session, [(document.row, document.version)], principal.tenant_id))[0]
    await record_change(session, principal, "knowledge_document.reindexed", document.base, out)
    return out


async def delete_document(session: AsyncSession, principal: Principal, base_id: str, document_id: str) -> list[str]:
    """Delete a document with passages, versions and files, and its attachments. Raises like `get_document`.

    Returns the files whose contents are to be deleted after the commit: `contents.delete_contents`.
    """
    document = await get_document(
        session, principal, base_id, document_id, permission=Permission.KNOWLEDGE_EDIT, lock=True
    )
    file_ids = list[str]()
    for attached in await repository.attached_documents(session, document.row.id, tenant_id=principal.tenant_id):
        try:
            file_ids += await delete_document(session, principal, base_id, attached.id)
        except DocumentNotFound:  # the caller may not know of it: it stays, and is attached to nothing
            await repository.attach(session, attached.id, None, tenant_id=principal.tenant_id)
    out = (await described(session, [(document.row, document.version)], principal.tenant_id))[0]
    versions = await repository.versions_of(session, [document.row.id], tenant_id=principal.tenant_id)
    await record_change(session, principal, "knowledge_document.deleted", document.base, None, before=out)
    await repository.remove_knowledge(session, document.row)
    return file_ids + await delete_unused(session, principal, [version.file_id for version in versions])


async def require_readers(session: AsyncSession, readers: Readers, *, tenant_id: str) -> None:
    """Raise `ReadersUnknown` unless all listed users and groups exist."""
    missing = await missing_users(session, readers.users, tenant_id=tenant_id)
    missing += await missing_groups(session, readers.groups, tenant_id=tenant_id)
    if missing:
        raise ReadersUnknown(
            f"There is no user or directory group with the id '{missing[0][:100]}'.",
            remedy="Use ids of users and of directory groups of the organisation.",
        )


async def _set_readers(session: AsyncSession, row: DocumentRow, readers: Readers) -> None:
    await require_readers(session, readers, tenant_id=row.tenant_id)
    row.reader_role = readers.role
    await session.flush()
    await repository.set_readers(session, row.id, listed(readers), tenant_id=row.tenant_id)


async def exists_named(session: AsyncSession, base: KnowledgeBaseRow, name: str) -> bool:
    """Return whether a base has a document with a name, which the caller may not see."""
    row = await repository.find_document_named(session, name, base_id=base.id, tenant_id=base.tenant_id)
    return row is not None


async def lock_base(session: AsyncSession, base: KnowledgeBaseRow) -> None:
    """Lock a base until the transaction ends: what is counted in it stays."""
    await repository.lock_base(session, base.id, tenant_id=base.tenant_id)


def listed(readers: Readers) -> list[tuple[str, str]]:
    """Return kind and id of each listed reader."""
    return [("user", entry) for entry in readers.users] + [("group", entry) for entry in readers.groups]
