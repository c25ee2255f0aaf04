"""Storing and reading files.

Contents are written before the record and outside any transaction; a record that cannot be kept takes its content with
it. So these functions take the database, not a session.
"""

from collections.abc import AsyncIterable, AsyncIterator, Collection, Sequence
from dataclasses import dataclass

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal, system_principal
from headgate.features.audit.recorder import record
from headgate.features.files import repository
from headgate.features.files.errors import FileNotFound, FileTooLarge
from headgate.features.files.limits import Left, StorageLimits, Whose
from headgate.features.files.names import media_type_of, safe_name
from headgate.features.files.reach import reach_of, whole_tenant
from headgate.features.files.storage import Storage, StoredContent
from headgate.features.files.tables import StoredFile
from headgate.foundation.database import Database, now
from headgate.foundation.ids import is_id, new_id

MAX_FILE_BYTES = 1024 * 1024 * 1024
"""For callers who have no smaller limit: what an operator gives on the command line."""
HEAD_BYTES = 512


@dataclass(frozen=True, slots=True)
class _Tags:
    """Whose file it is, and which step of which run made it (seed 002, Overlay 8)."""

    tenant_id: str
    uploader: Principal | None = None
    space_id: str | None = None
    flow_id: str | None = None
    run_id: str | None = None
    step_id: str | None = None


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
) -> StoredFile:
    """Keep a person's file, which nobody else sees until a run or a test takes it.

    `limits` bound what is stored in all; None: no limit applies to the caller. Raises `PermissionMissing`,
    `FileTooLarge`, `NoRoomForFile`, `StorageFull`, `StorageFailed`; then nothing is left behind.
    """
    principal.require_somewhere(Permission.FILES_UPLOAD)
    tags = _Tags(tenant_id=principal.tenant_id, uploader=principal)
    return await _store(
        database,
        storage,
        tags,
        name=name,
        content=content,
        media_type=media_type,
        max_bytes=max_bytes,
        limits=limits,
        whose=Whose(principal.tenant_id, visitor=visitor),
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
    """Keep what a step made, with its integrity tags. `space_id` is its flow's. Raises as `store_upload`."""
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
        whose=Whose(tenant_id, space_id),
    )


async def delete_file_system(database: Database, storage: Storage, *, tenant_id: str, file_id: str) -> None:
    """Delete a file of a tenant, whoever owns it: for maintenance. Its record goes first, then its content."""
    async with database.writing() as session:
        row = await repository.find_file(session, file_id, tenant_id=tenant_id, reach=whole_tenant())
        if row is not None:
            await forget_files(session, [file_id], tenant_id=tenant_id)
            await _record_deletion(session, row)
    await storage.delete(tenant_id, file_id)


async def forget_files(session: AsyncSession, file_ids: Sequence[str], *, tenant_id: str) -> None:
    """Delete records of a tenant; their contents are deleted once that is committed."""
    await repository.delete_files(session, file_ids, tenant_id=tenant_id)


async def get_file(session: AsyncSession, principal: Principal, file_id: str) -> StoredFile:
    """The record of a file that the caller sees. Raises `FileNotFound`."""
    tenant_id = principal.tenant_id
    reach = reach_of(principal)
    row = await repository.find_file(session, file_id, tenant_id=tenant_id, reach=reach) if is_id(file_id) else None
    if row is None:
        raise FileNotFound(file_id)
    return row


async def get_file_system(session: AsyncSession, *, tenant_id: str, file_id: str) -> StoredFile:
    """A file's record, whoever sees it: for the engine. Raises `FileNotFound`."""
    reach = whole_tenant()
    row = await repository.find_file(session, file_id, tenant_id=tenant_id, reach=reach) if is_id(file_id) else None
    if row is None:
        raise FileNotFound(file_id)
    return row


async def get_files(session: AsyncSession, principal: Principal, file_ids: Sequence[str]) -> list[StoredFile]:
    """The records of these ids, in that order. Raises `FileNotFound` naming the first that the caller does not see."""
    wanted = {file_id for file_id in file_ids if is_id(file_id)}
    rows = await repository.find_files(session, wanted, tenant_id=principal.tenant_id, reach=reach_of(principal))
    found = {row.id: row for row in rows}
    for file_id in file_ids:
        if file_id not in found:
            raise FileNotFound(file_id)
    return [found[file_id] for file_id in file_ids]


async def share_uploads(
    session: AsyncSession,
    principal: Principal,
    file_ids: Collection[str],
    *,
    space_id: str,
    limits: StorageLimits | None = None,
) -> None:
    """Show the caller's uploads to a space whose run takes them; what a space sees already stays where it is.

    They count for the space from then on. Raises `NoRoomForFile`.
    """
    shared = await repository.put_in_space(
        session, file_ids, space_id, tenant_id=principal.tenant_id, reach=reach_of(principal)
    )
    if shared:
        await _require_room(session, limits, Whose(principal.tenant_id, space_id))
    for row in sorted(shared, key=lambda one: one.id):
        seen = {"space_id": space_id}
        await record(
            session,
            principal,
            "file.shared",
            id=row.id,
            name=row.name,
            space_id=space_id,
            before={"space_id": None},
            after=seen,
            payload=seen,
        )


async def find_files(session: AsyncSession, *, tenant_id: str, file_ids: Collection[str]) -> Sequence[StoredFile]:
    """Those of these files that are still there, in no order."""
    return await repository.find_files(session, file_ids, tenant_id=tenant_id, reach=whole_tenant())


async def list_files(
    session: AsyncSession,
    principal: Principal,
    *,
    flow_run_id: str | None = None,
    limit: int = 50,
    before: str | None = None,
) -> Sequence[StoredFile]:
    """Files that the caller sees, newest first; those of one run when it is given."""
    return await repository.list_files(
        session,
        tenant_id=principal.tenant_id,
        flow_run_id=flow_run_id,
        limit=limit,
        before=before,
        reach=reach_of(principal),
    )


async def run_artifacts(session: AsyncSession, *, tenant_id: str, run_id: str, limit: int) -> Sequence[StoredFile]:
    """What the steps of a run made, newest first."""
    return await repository.list_files(
        session, tenant_id=tenant_id, flow_run_id=run_id, limit=limit, before=None, reach=whole_tenant()
    )


async def open_file(storage: Storage, row: StoredFile) -> AsyncIterator[bytes]:
    """The content in pieces. Raises `FileDamaged` before the first one."""
    return await storage.get(row.tenant_id, row.id, sha256=row.sha256, data_key_id=row.data_key_id)


async def read_file(database: Database, storage: Storage, *, tenant_id: str, file_id: str) -> bytes:
    """The whole content, whoever sees the file: for the engine. Raises `FileNotFound`, `FileDamaged`."""
    async with database.reading() as session:
        row = await get_file_system(session, tenant_id=tenant_id, file_id=file_id)
    return await read_content(storage, row)


async def read_content(storage: Storage, row: StoredFile) -> bytes:
    """The whole content of a file. Raises `FileDamaged`."""
    return b"".join([piece async for piece in await open_file(storage, row)])


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
    whose: Whose,
) -> StoredFile:
    file_id = new_id()
    source = _Source(content)
    stored = await _put(database, storage, file_id, source, max_bytes=max_bytes, limits=limits, whose=whose)
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
    )
    try:
        async with database.writing() as session:
            await repository.add_file(session, row)
            await _require_room(session, limits, whose)
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
    whose: Whose,
) -> StoredContent:
    """Write the content, as far as there is room for it now: what is refused is not received first."""
    left: Left | None = None
    if limits is not None:
        async with database.reading() as session:
            left = await limits.left(session, whose, lock=False)
    most = max_bytes if left is None else min(max_bytes, max(0, left.size_bytes))
    try:
        return await storage.put(whose.tenant_id, file_id, source, max_bytes=most)
    except FileTooLarge as error:
        if left is None or most == max_bytes:
            raise
        raise left.refusal from error


async def _require_room(session: AsyncSession, limits: StorageLimits | None, whose: Whose) -> None:
    """Raise when more is stored now than may be, by whoever stored meanwhile; the transaction then stores nothing."""
    left = await limits.left(session, whose, lock=True) if limits is not None else None
    if left is not None and left.size_bytes < 0:
        raise left.refusal


async def _record_upload(session: AsyncSession, uploader: Principal | None, row: StoredFile) -> None:
    """What people bring is written down; what runs make is told by their evidence."""
    if uploader is None:
        return
    about = {"media_type": row.media_type, "size_bytes": row.size_bytes, "sha256": row.sha256}
    await record(session, uploader, "file.uploaded", id=row.id, name=row.name, after=about, payload=about)


async def _record_deletion(session: AsyncSession, row: StoredFile) -> None:
    about = {"flow_run_id": row.flow_run_id, "step_id": row.step_id, "sha256": row.sha256}
    await record(
        session,
        system_principal(row.tenant_id),
        "file.deleted",
        id=row.id,
        name=row.name,
        space_id=row.space_id,
        before=about,
        payload=about,
    )


class _Source:
    """A content as it goes by; its first bytes are remembered."""

    def __init__(self, content: bytes | AsyncIterable[bytes]) -> None:
        self._content = content
        self.head = b""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        if isinstance(self._content, bytes):
            self.head = self._content[:HEAD_BYTES]
            yield self._content
            return
        async for piece in self._content:
            if len(self.head) < HEAD_BYTES:
                self.head += piece[: HEAD_BYTES - len(self.head)]
            yield piece
