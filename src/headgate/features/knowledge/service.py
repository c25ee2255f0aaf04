"""Creating, changing and deleting knowledge bases, and reading the passages of their documents."""

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import ColumnElement
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal
from headgate.features.accounts.spaces.service import require_space, spaces_shown
from headgate.features.audit.recorder import record_of
from headgate.features.jobs.leases import clock
from headgate.features.knowledge import repository
from headgate.features.knowledge.contents import delete_unused
from headgate.features.knowledge.errors import BaseNameTaken, BaseNotFound
from headgate.features.knowledge.index import embeddings
from headgate.features.knowledge.index.approximate import recalls_of
from headgate.features.knowledge.rights import Reader, of_spaces, readable, reader_of, readers_of
from headgate.features.knowledge.schemas import KnowledgeBaseChange, KnowledgeBaseIn, KnowledgeBaseOut
from headgate.features.knowledge.tables import KnowledgeBaseRow
from headgate.foundation.database import now
from headgate.foundation.ids import is_id, new_id


async def create_base(session: AsyncSession, principal: Principal, base_in: KnowledgeBaseIn) -> KnowledgeBaseOut:
    """Create a knowledge base of a space. Raises `SpaceNotFound`, `PermissionMissing`, `BaseNameTaken`."""
    space = base_in.space_id or principal.space_id
    await require_space(session, principal, space, Permission.KNOWLEDGE_EDIT)
    values = base_in.model_dump(exclude={"space_id"})
    row = KnowledgeBaseRow(
        id=new_id(), tenant_id=principal.tenant_id, space_id=space, created_at=now(), updated_at=now(),
        searched_model=base_in.embedding_model, **values,
    )  # fmt: skip
    try:
        await repository.add_knowledge(session, row)
    except IntegrityError as error:
        raise BaseNameTaken(base_in.name) from error
    await record_of(session, principal, "knowledge_base.created", row, after=values)
    return _out(row, {})


async def get_base(
    session: AsyncSession, principal: Principal, base_id: str, *, permission: Permission = Permission.KNOWLEDGE_VIEW
) -> KnowledgeBaseRow:
    """Return a base for which the caller has the permission. Raises `BaseNotFound`, `PermissionMissing`."""
    row = await repository.find_base(session, base_id, tenant_id=principal.tenant_id) if is_id(base_id) else None
    if row is None:
        raise BaseNotFound(base_id)
    principal.require_in(row.space_id, permission, BaseNotFound(base_id))
    return row


async def find_base(session: AsyncSession, principal: Principal, which: str, *, space_id: str) -> KnowledgeBaseRow:
    """Return the base with an id, or with a name in a space. Raises `BaseNotFound`, `PermissionMissing`."""
    row = await repository.find_base_named(session, which, tenant_id=principal.tenant_id, space_id=space_id)
    return await get_base(session, principal, which if row is None else row.id)


async def base_of_space(session: AsyncSession, name: str, *, tenant_id: str, space_id: str) -> KnowledgeBaseRow:
    """Return the base with a name, for flows of its space. Raises `BaseNotFound`."""
    row = await repository.find_base_named(session, name, tenant_id=tenant_id, space_id=space_id)
    if row is None:
        raise BaseNotFound(name)
    return row


async def list_bases(
    session: AsyncSession, principal: Principal, *, space_id: str | None = None, limit: int = 50, after: str | None
) -> Sequence[KnowledgeBaseOut]:
    """Return the bases that the caller can view, of one space or of all, oldest first. Raises `SpaceNotFound`."""
    space_ids = await spaces_shown(session, principal, space_id, Permission.KNOWLEDGE_VIEW)
    rows = await repository.list_bases(
        session, tenant_id=principal.tenant_id, space_ids=space_ids, limit=limit, after=after
    )
    allowed = [row for row in rows if principal.may(Permission.KNOWLEDGE_VIEW, row.space_id)]
    return await _described(session, principal, allowed)


async def described(session: AsyncSession, principal: Principal, row: KnowledgeBaseRow) -> KnowledgeBaseOut:
    """Return a base with the numbers of documents that the caller can view."""
    return (await _described(session, principal, [row]))[0]


async def _described(
    session: AsyncSession, principal: Principal, rows: Sequence[KnowledgeBaseRow]
) -> list[KnowledgeBaseOut]:
    readers = await readers_of(session, principal, {row.space_id for row in rows})
    visible = of_spaces({space_id: _visible(principal, space_id, reader) for space_id, reader in readers.items()})
    base_ids = [row.id for row in rows]
    tenant_id = principal.tenant_id
    counts = await repository.count_states(session, base_ids, tenant_id=tenant_id, visible=visible)
    sums = await repository.sum_passages(session, base_ids, tenant_id=tenant_id, visible=visible)
    recalls = await recalls_of(session, base_ids, tenant_id)
    return [
        _out(row, counts.get(row.id, {}), sums.get(row.id, (0, 0, 0)), recalls.get((row.id, row.searched_model)))
        for row in rows
    ]


async def change_base(
    session: AsyncSession, principal: Principal, base_id: str, change: KnowledgeBaseChange
) -> KnowledgeBaseOut:
    """Change a base. Raises `BaseNotFound`, `PermissionMissing`, `BaseNameTaken`."""
    row = await get_base(session, principal, base_id, permission=Permission.KNOWLEDGE_EDIT)
    await repository.lock_base(session, row.id, tenant_id=row.tenant_id)
    await session.refresh(row)
    before = _values(row)
    for name, value in change.model_dump(exclude_unset=True, exclude_none=True).items():
        setattr(row, name, value)
    row.updated_at = now()
    try:
        await session.flush()
    except IntegrityError as error:
        raise BaseNameTaken(change.name or "") from error
    if row.embedding_model != before["embedding_model"]:
        await _embed_again(session, row)
    await record_of(session, principal, "knowledge_base.changed", row, before=before, after=_values(row))
    return await described(session, principal, row)


async def _embed_again(session: AsyncSession, row: KnowledgeBaseRow) -> None:
    """Have the passages of a base embedded with its new model; the search uses the previous one until then."""
    if not row.embedding_model:
        row.searched_model = ""
        await session.flush()
    await embeddings.embed_again(session, row, clock())
    await embeddings.use_embedded(session, row.id, tenant_id=row.tenant_id)


async def delete_base(session: AsyncSession, principal: Principal, base_id: str) -> list[str]:
    """Delete a base with its documents and their files, as an owner of its space. Raises like `get_base`.

    Returns the files whose contents are to be deleted after the commit: `contents.delete_contents`.
    """
    row = await get_base(session, principal, base_id, permission=Permission.KNOWLEDGE_MANAGE)
    tenant_id = principal.tenant_id
    await repository.lock_base(session, row.id, tenant_id=tenant_id)
    await repository.lock_documents(session, row.id, tenant_id=tenant_id)
    versions = await repository.versions_of_base(session, row.id, tenant_id=tenant_id)
    await record_of(session, principal, "knowledge_base.deleted", row, before=_values(row))
    await repository.remove_knowledge(session, row)
    return await delete_unused(session, principal, [version.file_id for version in versions])


async def visible_to(session: AsyncSession, principal: Principal, base: KnowledgeBaseRow) -> ColumnElement[bool]:
    """Return the condition of the documents that the caller can list: owners of the space list all of them."""
    return _visible(principal, base.space_id, await reader_of(session, principal, base.space_id))


def _visible(principal: Principal, space_id: str, reader: Reader) -> ColumnElement[bool]:
    return repository.any_document() if principal.may(Permission.KNOWLEDGE_MANAGE, space_id) else readable(reader)


def _out(
    row: KnowledgeBaseRow,
    counts: Mapping[str, int],
    passages: tuple[int, int, int] = (0, 0, 0),
    recall: float | None = None,
) -> KnowledgeBaseOut:
    """Return a base with the numbers of its documents by status, and of their passages."""
    states = dict(zip(("passages", "passages_embedded", "embedding_tokens"), passages, strict=True)) | {
        "vector_recall": recall,
        "documents": sum(counts.values()),
        "waiting": counts.get("pending", 0) + counts.get("indexing", 0),
        "failed": counts.get("failed", 0),
    }
    values = {name: getattr(row, name) for name in KnowledgeBaseOut.model_fields if name not in states}
    return KnowledgeBaseOut.model_validate(values | states)


def _values(row: KnowledgeBaseRow) -> dict[str, Any]:
    return KnowledgeBaseIn.model_validate(row, from_attributes=True).model_dump(exclude={"space_id"})
