"""Fires an occurrence with files: they are stored for its run, and deleted again when there is none."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from headgate.features.access.principal import Principal, system_principal
from headgate.features.files import service as files
from headgate.features.files.limits import StorageLimits
from headgate.features.files.storage import Storage
from headgate.features.triggers import repository
from headgate.features.triggers.errors import OwnerGone
from headgate.features.triggers.firing import Firing
from headgate.features.triggers.hooks.bodies import Upload
from headgate.features.triggers.occurrences import Claimed, Fired, Occurrence, input_with
from headgate.features.triggers.repository import Listed
from headgate.foundation.errors import Unavailable


@dataclass(frozen=True, slots=True)
class UploadStore:
    """Where files of occurrences are stored, and the quotas."""

    storage: Storage
    limits: StorageLimits


async def fire_with_files(
    firing: Firing,
    uploads: UploadStore,
    listed: Listed,
    occurrence: Occurrence,
    contents: Sequence[Upload],
    *,
    claimed: Claimed | None = None,
) -> Fired:
    """Fire with files. Raises what `Firing.fire` raises, and `RateLimited` for a reached quota."""
    if not contents:
        return await firing.fire(listed, occurrence, claimed)
    earlier = await _earlier(firing, listed, occurrence)
    if earlier is not None:
        return earlier
    try:
        owner = await firing.owner_of(listed.row, listed.space_id)
    except OwnerGone:  # as for one without files
        return await firing.fire(listed, occurrence, claimed)
    stored = await _store(firing, uploads, owner, contents)
    file_ids = [*occurrence.input.file_ids, *stored]
    used = False
    try:
        complete = replace(occurrence, input=input_with(occurrence.input, file_ids=file_ids))
        fired = await firing.fire(listed, complete, claimed)
        used = fired.status in {"started", "queued"} and not fired.duplicate
    except Unavailable:  # the run may have been stored
        used = True
        raise
    finally:
        if stored and not used:
            await _delete(firing, uploads, stored, tenant_id=listed.row.tenant_id)
    return fired


async def _earlier(firing: Firing, listed: Listed, occurrence: Occurrence) -> Fired | None:
    """Return the outcome of an earlier delivery, so that its files are not stored again."""
    async with firing.database.reading() as session:
        row = await repository.find_occurrence(session, listed.row.id, occurrence.key, tenant_id=listed.row.tenant_id)
    if row is None or (row[0].status == "skipped" and occurrence.is_call):
        return None
    stored = row[0]
    return Fired(stored.id, stored.status, stored.reason, stored.message, stored.flow_run_id, duplicate=True)


async def _store(firing: Firing, uploads: UploadStore, owner: Principal, contents: Sequence[Upload]) -> list[str]:
    stored = []
    for upload in contents:
        row = await files.store_upload(
            firing.database,
            uploads.storage,
            owner,
            name=upload.name or "file",
            content=upload.content,
            media_type=upload.media_type,
            limits=uploads.limits,
        )
        stored.append(row.id)
    return stored


async def _delete(firing: Firing, uploads: UploadStore, file_ids: Sequence[str], *, tenant_id: str) -> None:
    """Delete files, the records first."""
    async with firing.database.writing() as session:
        rows = await files.lock_files(session, file_ids, tenant_id=tenant_id)
        await files.delete_records(session, system_principal(tenant_id), rows)
    for file_id in file_ids:
        await uploads.storage.delete(tenant_id, file_id)
