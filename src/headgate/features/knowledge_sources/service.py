"""Adding, changing and deleting sources, and what of them was not understood."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal
from headgate.features.audit.actions import Action
from headgate.features.audit.recorder import record
from headgate.features.jobs.leases import clock
from headgate.features.knowledge.documents import service as documents
from headgate.features.knowledge.metadata.rows import set_metadata
from headgate.features.knowledge.repository import add_knowledge, remove_knowledge
from headgate.features.knowledge.service import get_base, visible_to
from headgate.features.knowledge.tables import KnowledgeBaseRow
from headgate.features.knowledge_sources import repository
from headgate.features.knowledge_sources.errors import (
    NotOwner,
    SourceBusy,
    SourceNameTaken,
    SourceNotFound,
    TooManySources,
)
from headgate.features.knowledge_sources.schemas import (
    MOST_SOURCES,
    AnySource,
    SourceChange,
    SourceIn,
    SourceItemOut,
    SourceOut,
    SyncReport,
    WebSource,
)
from headgate.features.knowledge_sources.tables import SourceRow
from headgate.foundation.database import moment, now
from headgate.foundation.ids import is_id, new_id


async def add_source(session: AsyncSession, principal: Principal, base_id: str, source_in: SourceIn) -> SourceOut:
    """Add a source, which is synchronised at once with the rights of the caller.

    Raises `BaseNotFound`, `PermissionMissing`, `ReadersUnknown`, `SourceNameTaken`, `TooManySources`.
    """
    base = await _locked_base(session, principal, base_id)
    _require_connections(principal, source_in.config)
    await documents.require_readers(session, source_in.readers, tenant_id=base.tenant_id)
    if len(await repository.list_sources(session, base.id, tenant_id=base.tenant_id)) >= MOST_SOURCES:
        raise TooManySources(MOST_SOURCES)
    row = SourceRow(
        id=new_id(), tenant_id=base.tenant_id, base_id=base.id, name=source_in.name, owner_user_id=principal.user_id,
        config=source_in.config.model_dump(), readers=source_in.readers.model_dump(),
        classification=source_in.classification, document_metadata=source_in.metadata,
        every_seconds=source_in.every_seconds, generation=1,
        status="pending", problem="", report=SyncReport().model_dump(), synced_at=None, created_at=now(),
        updated_at=now(), due_at=clock(), attempts=0,
    )  # fmt: skip
    try:
        await add_knowledge(session, row)
    except IntegrityError as error:
        raise SourceNameTaken(source_in.name) from error
    await _record(session, principal, "knowledge_source.added", base, row, after=_values(row))
    return (await _described(session, [row], tenant_id=base.tenant_id))[0]


async def _locked_base(session: AsyncSession, principal: Principal, base_id: str) -> KnowledgeBaseRow:
    base = await get_base(session, principal, base_id, permission=Permission.KNOWLEDGE_EDIT)
    await documents.lock_base(session, base)
    return base


async def get_source(
    session: AsyncSession, principal: Principal, base_id: str, source_id: str, *, lock: bool = False
) -> tuple[KnowledgeBaseRow, SourceRow]:
    """Return a source with its base, for an editor. Raises `BaseNotFound`, `PermissionMissing`, `SourceNotFound`."""
    base = await get_base(session, principal, base_id, permission=Permission.KNOWLEDGE_EDIT)
    row = None
    if is_id(source_id):
        row = await repository.find_source(
            session, source_id, base_id=base.id, tenant_id=principal.tenant_id, lock=lock
        )
    if row is None:
        raise SourceNotFound(source_id)
    return base, row


async def find_source(session: AsyncSession, principal: Principal, base_id: str, which: str) -> str:
    """Return the id of the source with an id or name. Raises like `get_source`."""
    row = await repository.find_source_named(session, which, base_id=base_id, tenant_id=principal.tenant_id)
    _, row = await get_source(session, principal, base_id, which if row is None else row.id)
    return row.id


async def describe_source(session: AsyncSession, principal: Principal, base_id: str, source_id: str) -> SourceOut:
    """Return a source with its state. Raises like `get_source`."""
    _, row = await get_source(session, principal, base_id, source_id)
    return (await _described(session, [row], tenant_id=principal.tenant_id))[0]


async def list_sources(session: AsyncSession, principal: Principal, base_id: str) -> Sequence[SourceOut]:
    """Return the sources of a base, oldest first. Raises `BaseNotFound`, `PermissionMissing`."""
    base = await get_base(session, principal, base_id, permission=Permission.KNOWLEDGE_EDIT)
    rows = await repository.list_sources(session, base.id, tenant_id=principal.tenant_id)
    return await _described(session, rows, tenant_id=principal.tenant_id)


async def change_source(
    session: AsyncSession, principal: Principal, base_id: str, source_id: str, change: SourceChange
) -> SourceOut:
    """Change a source; the caller becomes its owner. Readers, classification and metadata apply to its documents.

    Raises like `get_source`, and `NotOwner`, `ReadersUnknown`. A synchronisation that is running begins again.
    """
    base, row = await get_source(session, principal, base_id, source_id, lock=True)
    _require_owner(principal, base, row)
    before = _values(row)
    _require_connections(
        principal, change.config or SourceIn.model_validate({"name": row.name, "config": row.config}).config
    )
    values = change.model_dump(exclude_unset=True)
    if change.metadata is not None:
        row.document_metadata = change.metadata
        of_source = repository.of_source(row.id, tenant_id=row.tenant_id)
        await set_metadata(session, of_source, change.metadata, tenant_id=row.tenant_id)
    for name in ("config", "readers", "classification", "every_seconds"):
        if name in values and (values[name] is not None or name == "every_seconds"):
            setattr(row, name, values[name])
    if change.readers is not None:
        await documents.require_readers(session, change.readers, tenant_id=row.tenant_id)
    listed = None if change.readers is None else (change.readers.role, documents.listed(change.readers))
    level = None if change.classification is None else max(change.classification, row.connection_level)
    await repository.set_rights(session, row.id, tenant_id=row.tenant_id, readers=listed, classification=level)
    row.owner_user_id = principal.user_id
    row.generation += 1
    row.updated_at = now()
    if change.config is not None or row.worker_id is not None:
        row.due_at = clock()
    elif row.status != "pending":
        row.due_at = None if row.every_seconds is None else clock() + row.every_seconds * 1_000_000
    await session.flush()
    await _record(session, principal, "knowledge_source.changed", base, row, before=before, after=_values(row))
    return (await _described(session, [row], tenant_id=row.tenant_id))[0]


async def sync_source(session: AsyncSession, principal: Principal, base_id: str, source_id: str) -> SourceOut:
    """Have a source synchronised now, with the rights of its owner. Raises like `get_source`, and `SourceBusy`."""
    base, row = await get_source(session, principal, base_id, source_id, lock=True)
    if row.worker_id is not None:
        raise SourceBusy(row.name)
    row.status, row.due_at, row.report, row.updated_at = "pending", clock(), SyncReport().model_dump(), now()
    await session.flush()
    await _record(session, principal, "knowledge_source.started", base, row, after=_values(row))
    return (await _described(session, [row], tenant_id=row.tenant_id))[0]


async def delete_source(session: AsyncSession, principal: Principal, base_id: str, source_id: str) -> None:
    """Delete a source; its documents stay as they are. Raises like `change_source`."""
    base, row = await get_source(session, principal, base_id, source_id, lock=True)
    _require_owner(principal, base, row)
    await _record(session, principal, "knowledge_source.deleted", base, row, before=_values(row))
    await remove_knowledge(session, row)


async def list_problems(
    session: AsyncSession, principal: Principal, base_id: str, source_id: str, *, limit: int, after: str
) -> Sequence[SourceItemOut]:
    """Return what of a source was not understood, by key: of documents that the caller can list.

    Items without a document are listed for the owner of the source and owners of the space. Raises like `get_source`.
    """
    base, row = await get_source(session, principal, base_id, source_id)
    rows = await repository.list_problems(
        session,
        row.id,
        tenant_id=row.tenant_id,
        visible=await visible_to(session, principal, base),
        undocumented=_is_owner(principal, base, row),
        limit=limit,
        after=after,
    )
    return [
        SourceItemOut(
            key=item.key,
            document_id=item.document_id,
            document="" if document is None else document.name,
            reasons=[
                reason
                for reason in (item.problem, item.note, *(() if document is None else _reasons(document)))
                if reason
            ],
        )
        for item, document in rows
    ]


def _reasons(document: Any) -> list[str]:  # noqa: ANN401 - a `DocumentRow`
    return [document.problem, *document.notes]


def _is_owner(principal: Principal, base: KnowledgeBaseRow, row: SourceRow) -> bool:
    return row.owner_user_id == principal.user_id or principal.may(Permission.KNOWLEDGE_MANAGE, base.space_id)


def _require_connections(principal: Principal, config: AnySource) -> None:
    """Raise `PermissionMissing` for an API key that may not view connections, when one would be read with."""
    if not isinstance(config, WebSource):
        principal.require_scope(Permission.CONNECTIONS_VIEW)


def _require_owner(principal: Principal, base: KnowledgeBaseRow, row: SourceRow) -> None:
    if not _is_owner(principal, base, row):
        raise NotOwner(row.name)


async def _described(session: AsyncSession, rows: Sequence[SourceRow], *, tenant_id: str) -> list[SourceOut]:
    counts = await repository.item_counts(session, [row.id for row in rows], tenant_id=tenant_id)
    described = []
    for row in rows:
        count, problems = counts.get(row.id, (0, 0))
        counted = {
            "documents": count, "problems": problems, "metadata": row.document_metadata or {},
            "next_at": None if row.due_at is None else moment(row.due_at),
        }  # fmt: skip
        values = {name: getattr(row, name) for name in SourceOut.model_fields if name not in counted}
        described.append(SourceOut.model_validate(values | counted))
    return described


def _values(row: SourceRow) -> dict[str, Any]:
    return {
        name: getattr(row, name) for name in ("config", "readers", "classification", "every_seconds", "owner_user_id")
    } | {"metadata": row.document_metadata or {}}


async def _record(
    session: AsyncSession,
    principal: Principal,
    action: Action,
    base: KnowledgeBaseRow,
    row: SourceRow,
    *,
    before: dict[str, Any] | None = None,
    after: dict[str, Any] | None = None,
) -> None:
    await record(
        session, principal, action, id=row.id, name=row.name, space_id=base.space_id, before=before, after=after,
        payload=(after or before or {}) | {"base_id": base.id},
    )  # fmt: skip
