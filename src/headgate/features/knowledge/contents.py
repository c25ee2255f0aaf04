"""Files of documents: they exist as long as a version of a document has them, and are deleted with the last one."""

import asyncio
from collections.abc import Collection, Sequence
from itertools import islice

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal
from headgate.features.files import service as files
from headgate.features.files.errors import FileNotFound
from headgate.features.files.storage import Storage
from headgate.features.files.tables import StoredFile
from headgate.features.knowledge import repository
from headgate.foundation.database import Database
from headgate.foundation.errors import HeadgateError
from headgate.foundation.log import get_logger

log = get_logger(__name__)
BATCH = 500
"""Files of one query."""


async def bring_file(session: AsyncSession, principal: Principal, file_id: str) -> StoredFile:
    """Return a file that the caller may view, to be added. Raises `FileNotFound`, `PermissionMissing` for an API key.

    A key needs the permission to view files, or to upload them for files that its user uploaded.
    """
    if not principal.in_scope(Permission.FILES_UPLOAD):
        principal.require_scope(Permission.FILES_VIEW)
    return await files.get_file(session, principal, file_id)


async def hold_file(session: AsyncSession, file: StoredFile) -> None:
    """Keep a file from being deleted until the transaction ends. Raises `FileNotFound` when it was deleted."""
    if not await files.lock_files(session, [file.id], tenant_id=file.tenant_id):
        raise FileNotFound(file.id)


async def used_files(session: AsyncSession, file_ids: Collection[str], *, tenant_id: str) -> set[str]:
    """Return the files among these that a version of a document has."""
    return await repository.files_in_use(session, file_ids, tenant_id=tenant_id)


async def unused_files(session: AsyncSession, file_ids: Collection[str], *, tenant_id: str) -> Sequence[StoredFile]:
    """Return the files among these that no document has; until the transaction ends no document gets one of them."""
    rows = await files.lock_files(session, file_ids, tenant_id=tenant_id)
    used = await used_files(session, file_ids, tenant_id=tenant_id)
    return [row for row in rows if row.id not in used]


async def delete_unused(session: AsyncSession, principal: Principal, file_ids: Collection[str]) -> list[str]:
    """Delete the records of files that no document has any more. Returns their ids, for `delete_contents`.

    Files of runs stay: an artifact is its run's, and a run that uses a file shares it with its space.
    """
    remaining, deleted = iter(sorted(set(file_ids))), list[str]()
    while batch := list(islice(remaining, BATCH)):
        unused = await unused_files(session, batch, tenant_id=principal.tenant_id)
        own = [row for row in unused if row.space_id is None and row.flow_run_id is None]
        await files.delete_records(session, principal, own)
        deleted += [row.id for row in own]
    return deleted


async def delete_contents(storage: Storage, file_ids: Collection[str], *, tenant_id: str) -> None:
    """Delete contents whose records are deleted, after the commit. The sweep of orphans deletes those that are left."""
    for file_id in file_ids:
        await storage.delete(tenant_id, file_id)


async def discard(database: Database, storage: Storage, principal: Principal, file_id: str) -> None:
    """Delete a file that no document got, also when the caller is cancelled.

    What cannot be deleted now, the sweep of orphans deletes.
    """
    await asyncio.shield(_discard(database, storage, principal, file_id))


async def _discard(database: Database, storage: Storage, principal: Principal, file_id: str) -> None:
    try:
        async with database.writing() as session:
            rows = await files.lock_files(session, [file_id], tenant_id=principal.tenant_id)
            await files.delete_records(session, principal, rows)
        await storage.delete(principal.tenant_id, file_id)
    except HeadgateError as error:
        log.warning("file not deleted", file_id=file_id, problem=error.detail)
