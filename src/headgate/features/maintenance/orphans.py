"""Deletes orphaned artifacts, and contents without a record (seed 002, Cleanup).

An artifact is deleted only if it is older than the grace period AND its run is missing, failed or cancelled AND no
completed step result refers to it. Inputs of a run and files of knowledge stay too. Artifacts of completed steps are
evidence, and are never deleted here.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import groupby

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.principal import system_principal
from headgate.features.files import service as files
from headgate.features.files.storage import Storage, StoredItem
from headgate.features.files.tables import StoredFile
from headgate.features.knowledge.contents import unused_files, used_files
from headgate.features.maintenance import repository
from headgate.features.maintenance.outcome import Outcome
from headgate.foundation.database import Database, now
from headgate.foundation.settings import RetentionSettings

BATCH = 50


async def sweep_orphans(
    database: Database, storage: Storage, settings: RetentionSettings, *, dry: bool = False
) -> Outcome:
    """Delete orphans; `dry` only counts. Raises `Unavailable`, or errors of the storage."""
    outcome = Outcome()
    before = now() - timedelta(minutes=settings.orphan_grace_minutes)
    last_id = ""
    while True:
        async with database.reading() as session:
            candidates = await repository.orphan_candidates(session, before, after=last_id, limit=BATCH)
            garbage = await _unnamed(session, candidates)
        for row in garbage:
            if dry or await _delete(database, storage, row):
                outcome.count(row.tenant_id, artifacts=1, size=row.size_bytes)
        if len(candidates) < BATCH:
            break
        last_id = candidates[-1].id
    await _sweep_contents(database, storage, before, outcome, dry=dry)
    return outcome


async def _delete(database: Database, storage: Storage, row: StoredFile) -> bool:
    """Delete an artifact: first its record, then its content. False when a document got it in the meantime."""
    async with database.writing() as session:
        unused = await unused_files(session, [row.id], tenant_id=row.tenant_id)
        await files.delete_records(session, system_principal(row.tenant_id), unused)
    if unused:
        await storage.delete(row.tenant_id, row.id)
    return bool(unused)


async def _unnamed(session: AsyncSession, candidates: Sequence[StoredFile]) -> list[StoredFile]:
    """Return files that no completed step result, no run's input, no test and no document of knowledge refers to."""
    garbage: list[StoredFile] = []
    ordered = sorted(candidates, key=lambda row: row.tenant_id)
    for tenant_id, group in groupby(ordered, key=lambda row: row.tenant_id):
        unnamed = {row.id: row for row in group}
        runs = {row.flow_run_id for row in unnamed.values() if row.flow_run_id is not None}
        for referenced in (
            # most are referred to by a step of their own run, which is fast to check
            await repository.named_in_results(session, [*unnamed], tenant_id=tenant_id, runs=runs),
            await repository.named_in_inputs(session, [*unnamed], tenant_id=tenant_id),
            await repository.named_in_tests(session, [*unnamed], tenant_id=tenant_id),
            await used_files(session, [*unnamed], tenant_id=tenant_id),
        ):
            unnamed = {key: row for key, row in unnamed.items() if key not in referenced}
        if unnamed:
            referenced = await repository.named_in_results(session, [*unnamed], tenant_id=tenant_id)
            garbage += [row for key, row in unnamed.items() if key not in referenced]
    return garbage


async def _sweep_contents(
    database: Database, storage: Storage, before: datetime, outcome: Outcome, *, dry: bool
) -> None:
    batch: list[StoredItem] = []
    async for item in storage.contents():
        if item.stored_at < before:
            batch.append(item)
        if len(batch) >= BATCH:
            await _drop_unknown(database, storage, batch, outcome, dry=dry)
            batch = []
    if batch:
        await _drop_unknown(database, storage, batch, outcome, dry=dry)


async def _drop_unknown(
    database: Database, storage: Storage, batch: Sequence[StoredItem], outcome: Outcome, *, dry: bool
) -> None:
    async with database.reading() as session:
        known_ids = await repository.known_files(session, [item.file_id for item in batch])
    for item in batch:
        if item.file_id not in known_ids:
            outcome.contents += 1
            if not dry:
                await storage.delete(item.tenant_id, item.file_id)
