"""Documents as the API shows them, and as the audit log has them."""

from collections.abc import Sequence

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.principal import Principal
from headgate.features.audit.actions import Action
from headgate.features.audit.recorder import record
from headgate.features.knowledge import repository
from headgate.features.knowledge.documents.schemas import DocumentOut
from headgate.features.knowledge.metadata.rows import metadata_of
from headgate.features.knowledge.tables import DocumentRow, DocumentVersionRow, KnowledgeBaseRow

_AUDITED = {
    "version", "sha256", "size_bytes", "source", "classification", "readers", "retention_days", "parent_id", "file_id",
    "metadata",
}  # fmt: skip


async def described(
    session: AsyncSession, rows: Sequence[tuple[DocumentRow, DocumentVersionRow]], tenant_id: str
) -> list[DocumentOut]:
    """Return documents with their current versions, readers and metadata."""
    ids = [row.id for row, _ in rows]
    readers = await repository.readers_of(session, ids, tenant_id=tenant_id)
    metadata = await metadata_of(session, ids, tenant_id=tenant_id)
    described = []
    for row, version in rows:
        stored = readers.get(row.id, [])
        values = {name: getattr(row, name) for name in DocumentOut.model_fields if hasattr(row, name)}
        values |= {
            "sha256": version.sha256, "size_bytes": version.size_bytes, "media_type": version.media_type,
            "file_id": version.file_id, "metadata": metadata.get(row.id, {}),
            "readers": {
                "role": row.reader_role,
                "users": [entry for kind, entry in stored if kind == "user"],
                "groups": [entry for kind, entry in stored if kind == "group"],
            },
        }  # fmt: skip
        described.append(DocumentOut.model_validate(values))
    return described


async def record_change(
    session: AsyncSession,
    principal: Principal,
    action: Action,
    base: KnowledgeBaseRow,
    after: DocumentOut | None,
    *,
    before: DocumentOut | None = None,
) -> None:
    """Write a change of a document to the audit log."""
    document = after or before
    if document is None:
        raise RuntimeError("a change of a document has a state before or after")
    shown = _audited(document)
    await record(
        session, principal, action, id=document.id, name=document.name, space_id=base.space_id,
        before=None if before is None else _audited(before), after=None if after is None else shown,
        payload=shown | {"base_id": base.id},
    )  # fmt: skip


def _audited(document: DocumentOut) -> dict[str, object]:
    return document.model_dump(mode="json", include=_AUDITED)
