"""Storing and reading files.

Contents are written before the record and outside any transaction; when the record cannot be stored, its content is
deleted. So these functions take the database, not a session.
"""

from collections.abc import AsyncIterable, AsyncIterator, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal
from headgate.features.audit.recorder import record, record_of
from headgate.features.files import repository
from headgate.features.files.errors import FileNotFound, FileTooLarge
from headgate.features.files.limits import FileOwner, RemainingBytes, StorageLimits
from headgate.features.files.names import media_type_of, safe_name
from headgate.features.files.reach import entire_tenant, reach_of
from headgate.features.files.storage import Storage, StoredContent
from headgate.features.files.tables import StoredFile
from headgate.foundation.database import Database, now
from headgate.foundation.ids import is_id, new_id

MAX_FILE_BYTES = 1024 * 1024 * 1024
"""For callers without a smaller limit: files that an operator provides on the command line."""
HEAD_BYTES = 512


@dataclass(frozen=True, slots=True)
class _Tags:
    """Owner of a file, and the step and run that created it (seed 002, Overlay 8)."""

    tenant_id: str
    uploader: Principal | None = None
    space_id: str | None = None
    flow_id: str | None = None
    run_id: str | None = None
    step_id: str | None = None
    expires_at: datetime | None = None


async def store_upload(
    database: Database,
    storage: Storage,
    principal: Principal,
    *,
    name: str,
    content: bytes | AsyncIterable[bytes],
    media_type: str = "",
    max_bytes: int = MAX_FILE_BYTES,
    limits: StorageLimits | None = None,
    visitor: str | None = None,
    expires_at: datetime | None = None,
) -> StoredFile:
    """Store a user's file, which is private until a run or a test uses it; with `expires_at` it is deleted then.

    `limits` are the storage quotas; None: no quota applies to the caller. Raises `PermissionMissing`, `FileTooLarge`,
    `NoRoomForFile`, `StorageFull`, `StorageFailed`; then nothing is stored.
    """
    principal.require_somewhere(Permission.FILES_UPLOAD)
    tags = _Tags(tenant_id=principal.tenant_id, uploader=principal, expires_at=expires_at)
    return await _store(
        database,
        storage,
        tags,
        name=name,
        content=content,
        media_type=media_type,
        max_bytes=max_bytes,
        limits=limits,
        owner=FileOwner(principal.tenant_id, visitor=visitor),
    )


async def store_artifact(
    database: Database,
    storage: Storage,
    *,
    tenant_id: str,
    space_id: str,
    flow_id: str,
    run_id: str,
    step_id: str,
    name: str,
    content: bytes | AsyncIterable[bytes],
    media_type: str = "",
    max_bytes: int = MAX_FILE_BYTES,
    limits: StorageLimits | None = None,
) -> StoredFile:
    """Store an artifact of a step, with its integrity tags. `space_id` is its flow's. Raises like `store_upload`."""
    tags = _Tags(tenant_id=tenant_id, space_id=space_id, flow_id=flow_id, run_id=run_id, step_id=step_id)
    return await _store(
        database,
        storage,
        tags,
        name=name,
        content=content,
        media_type=media_type,
        max_bytes=max_bytes,
        limits=limits,
        owner=FileOwner(tenant_id, space_id),
    )


async def lock_files(session: AsyncSession, file_ids: Collection[str], *, tenant_id: str) -> Sequence[StoredFile]:
    """Return the existing files among these, by id; they cannot be deleted until the transaction ends."""
    return await repository.lock_files(session, file_ids, tenant_id=tenant_id)


async def delete_records(session: AsyncSession, principal: Principal, rows: Sequence[StoredFile]) -> None:
    """Delete records of the principal's tenant, with an entry in the audit log; see `forget_files`."""
    await forget_files(session, [row.id for row in rows], tenant_id=principal.tenant_id)
    for row in rows:
        await _record_deletion(session, principal, row)


async def forget_files(session: AsyncSession, file_ids: Sequence[str], *, tenant_id: str) -> None:
    """Delete records of a tenant; their contents are deleted after the commit."""
    await repository.delete_files(session, file_ids, tenant_id=tenant_id)


async def get_file(session: AsyncSession, principal: Principal, file_id: str) -> StoredFile:
    """Return the record of a file visible to the caller. Raises `FileNotFound`."""
    tenant_id = principal.tenant_id
    reach = reach_of(principal)
    row = await repository.find_file(session, file_id, tenant_id=tenant_id, reach=reach) if is_id(file_id) else None
    if row is None:
        raise FileNotFound(file_id)
    return row


async def get_file_system(session: AsyncSession, *, tenant_id: str, file_id: str) -> StoredFile:
    """Return a file's record regardless of visibility: for the engine. Raises `FileNotFound`."""
    reach = entire_tenant()
    row = await repository.find_file(session, file_id, tenant_id=tenant_id, reach=reach) if is_id(file_id) else None
    if row is None:
        raise FileNotFound(file_id)
    return row


async def get_files(session: AsyncSession, principal: Principal, file_ids: Sequence[str]) -> list[StoredFile]:
    """Return the records of these ids, in that order. Raises `FileNotFound` for the first invisible one."""
    ids = {file_id for file_id in file_ids if is_id(file_id)}
    rows = await repository.find_files(session, ids, tenant_id=principal.tenant_id, reach=reach_of(principal))
    by_id = {row.id: row for row in rows}
    for file_id in file_ids:
        if file_id not in by_id:
            raise FileNotFound(file_id)
    return [by_id[file_id] for file_id in file_ids]


async def share_uploads(
    session: AsyncSession,
    principal: Principal,
    file_ids: Collection[str],
    *,
    space_id: str,
    limits: StorageLimits | None = None,
) -> None:
    """Share the caller's uploads with a space whose run uses them; files that already have a space stay unchanged.

    From then on they count against the space's quota. Raises `NoRoomForFile`.
    """
    shared = await repository.put_in_space(
        session, file_ids, space_id, tenant_id=principal.tenant_id, reach=reach_of(principal)
    )
    if shared:
        await _require_room(session, limits, FileOwner(principal.tenant_id, space_id))
    for row in sorted(shared, key=lambda upload: upload.id):
        values = {"space_id": space_id}
        await record(
            session,
            principal,
            "file.shared",
            id=row.id,
            name=row.name,
            space_id=space_id,
            before={"space_id": None},
            after=values,
            payload=values,
        )


async def find_files(session: AsyncSession, *, tenant_id: str, file_ids: Collection[str]) -> Sequence[StoredFile]:
    """Return the existing files among these, unordered."""
    return await repository.find_files(session, file_ids, tenant_id=tenant_id, reach=entire_tenant())


async def list_files(
    session: AsyncSession,
    principal: Principal,
    *,
    flow_run_id: str | None = None,
    limit: int = 50,
    before: str | None = None,
) -> Sequence[StoredFile]:
    """Return files visible to the caller, newest first; only those of one run when given."""
    return await repository.list_files(
        session,
        tenant_id=principal.tenant_id,
        flow_run_id=flow_run_id,
        limit=limit,
        before=before,
        reach=reach_of(principal),
    )


async def run_artifacts(session: AsyncSession, *, tenant_id: str, run_id: str, limit: int) -> Sequence[StoredFile]:
    """Return the artifacts of a run, newest first."""
    return await repository.list_files(
        session, tenant_id=tenant_id, flow_run_id=run_id, limit=limit, before=None, reach=entire_tenant()
    )


async def open_file(storage: Storage, row: StoredFile) -> AsyncIterator[bytes]:
    """Return the content in chunks. Raises `FileDamaged` before the first one."""
    return await storage.get(row.tenant_id, row.id, sha256=row.sha256, data_key_id=row.data_key_id)


async def read_file(database: Database, storage: Storage, *, tenant_id: str, file_id: str) -> bytes:
    """Return the complete content regardless of visibility: for the engine. Raises `FileNotFound`, `FileDamaged`."""
    async with database.reading() as session:
        row = await get_file_system(session, tenant_id=tenant_id, file_id=file_id)
    return await read_content(storage, row)


async def read_content(storage: Storage, row: StoredFile) -> bytes:
    """Return the complete content of a file. Raises `FileDamaged`."""
    return b"".join([chunk async for chunk in await open_file(storage, row)])


async def _store(
    database: Database,
    storage: Storage,
    tags: _Tags,
    *,
    name: str,
    content: bytes | AsyncIterable[bytes],
    media_type: str,
    max_bytes: int,
    limits: StorageLimits | None,
    owner: FileOwner,
) -> StoredFile:
    file_id = new_id()
    source = _Source(content)
    stored = await _put(database, storage, file_id, source, max_bytes=max_bytes, limits=limits, owner=owner)
    safe = safe_name(name)
    row = StoredFile(
        id=file_id,
        tenant_id=tags.tenant_id,
        name=safe,
        media_type=media_type_of(safe, source.head, media_type),
        size_bytes=stored.size_bytes,
        sha256=stored.sha256,
        data_key_id=stored.data_key_id,
        created_at=now(),
        owner_user_id=(tags.uploader.user_id or None) if tags.uploader is not None else None,
        space_id=tags.space_id,
        flow_id=tags.flow_id,
        flow_run_id=tags.run_id,
        step_id=tags.step_id,
        expires_at=tags.expires_at,
    )
    try:
        async with database.writing() as session:
            await repository.add_file(session, row)
            await _require_room(session, limits, owner)
            await _record_upload(session, tags.uploader, row)
    except BaseException:
        await storage.delete(tags.tenant_id, file_id)
        raise
    return row


async def _put(
    database: Database,
    storage: Storage,
    file_id: str,
    source: "_Source",
    *,
    max_bytes: int,
    limits: StorageLimits | None,
    owner: FileOwner,
) -> StoredContent:
    """Write the content, within the currently available quota: over-quota uploads are rejected early."""
    remaining: RemainingBytes | None = None
    if limits is not None:
        async with database.reading() as session:
            remaining = await limits.left(session, owner, lock=False)
    limit = max_bytes if remaining is None else min(max_bytes, max(0, remaining.size_bytes))
    try:
        return await storage.put(owner.tenant_id, file_id, source, max_bytes=limit)
    except FileTooLarge as error:
        if remaining is None or limit == max_bytes:
            raise
        raise remaining.refusal from error


async def _require_room(session: AsyncSession, limits: StorageLimits | None, owner: FileOwner) -> None:
    """Raise when concurrent uploads exceeded the quota; the transaction then stores nothing."""
    remaining = await limits.left(session, owner, lock=True) if limits is not None else None
    if remaining is not None and remaining.size_bytes < 0:
        raise remaining.refusal


async def _record_upload(session: AsyncSession, uploader: Principal | None, row: StoredFile) -> None:
    """Record an upload in the audit log; artifacts are covered by the evidence of runs."""
    if uploader is None:
        return
    values = {"media_type": row.media_type, "size_bytes": row.size_bytes, "sha256": row.sha256}
    await record(session, uploader, "file.uploaded", id=row.id, name=row.name, after=values, payload=values)


async def _record_deletion(session: AsyncSession, principal: Principal, row: StoredFile) -> None:
    values = {"flow_run_id": row.flow_run_id, "step_id": row.step_id, "sha256": row.sha256}
    await record_of(session, principal, "file.deleted", row, before=values, payload=values)


class _Source:
    """A content stream whose first bytes are kept."""

    def __init__(self, content: bytes | AsyncIterable[bytes]) -> None:
        self._content = content
        self.head = b""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        if isinstance(self._content, bytes):
            self.head = self._content[:HEAD_BYTES]
            yield self._content
            return
        async for chunk in self._content:
            if len(self.head) < HEAD_BYTES:
                self.head += chunk[: HEAD_BYTES - len(self.head)]
            yield chunk
