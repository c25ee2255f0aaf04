"""Deletes runs older than the retention period of their flow or installation. Nothing is deleted by default.

Active runs are never deleted, nor runs whose results a kept run reuses, nor artifacts of an expired run that are inputs
of a kept run or a test, or files of knowledge.
"""

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.principal import system_principal
from headgate.features.audit.recorder import record
from headgate.features.files import service as files
from headgate.features.files.storage import Storage
from headgate.features.files.tables import StoredFile
from headgate.features.knowledge.contents import unused_files
from headgate.features.maintenance import repository
from headgate.features.maintenance.outcome import Outcome
from headgate.features.runs.chat.repository import delete_without_runs
from headgate.features.runs.transitions import clock
from headgate.features.testing.results import forget_runs
from headgate.foundation.database import Database
from headgate.foundation.settings import RetentionSettings

BATCH = 100
"""Runs deleted in one transaction."""
_DAY = 86_400 * 1_000_000


async def delete_expired_runs(
    database: Database, storage: Storage, settings: RetentionSettings, *, dry: bool = False
) -> Outcome:
    """Delete runs older than the policy; `dry` only counts. Raises `Unavailable`, or errors of the storage."""
    outcome = Outcome()
    now = clock()
    async with database.reading() as session:
        own = await repository.flows_with_retention(session)
    policies: list[tuple[str | None, int]] = [*own]
    if settings.run_days is not None:
        policies.append((None, settings.run_days))
    for flow_id, days in policies:
        await _apply(database, storage, outcome, flow_id=flow_id, before=now - days * _DAY, dry=dry)
    return outcome


async def _apply(
    database: Database, storage: Storage, outcome: Outcome, *, flow_id: str | None, before: int, dry: bool
) -> None:
    last_id = ""
    while True:
        async with database.writing() as session:
            rows = await repository.expired_runs(session, before, flow_id=flow_id, after=last_id, limit=BATCH)
            if not rows:
                return
            last_id = rows[-1].id
            paid = await repository.payers_among(session, [row.id for row in rows])
            expired = [row for row in rows if row.id not in paid]
            deleted = await _delete(session, expired, outcome, before=before, dry=dry)
        for row in deleted:
            await storage.delete(row.tenant_id, row.id)


async def _delete(
    session: AsyncSession, rows: Sequence[Any], outcome: Outcome, *, before: int, dry: bool
) -> list[StoredFile]:
    """Delete the rows of runs, of their artifacts, and of conversations of which no run is left.

    Returns the artifacts whose contents are to be deleted.
    """
    deleted: list[StoredFile] = []
    for tenant_id, of_tenant in groupby(sorted(rows, key=lambda row: row.tenant_id), key=lambda row: row.tenant_id):
        runs = list(of_tenant)
        run_ids = [row.id for row in runs]
        artifacts = await repository.artifacts_of(session, run_ids, tenant_id=tenant_id)
        still_used = await _still_used(session, artifacts, run_ids, tenant_id=tenant_id)
        garbage = [row for row in artifacts if row.id not in still_used]
        outcome.count(tenant_id, runs=len(run_ids), artifacts=len(garbage), size=sum(row.size_bytes for row in garbage))
        if not dry:
            await files.forget_files(session, [row.id for row in garbage], tenant_id=tenant_id)
            await forget_runs(session, run_ids, flow_ids={row.flow_id for row in runs}, tenant_id=tenant_id)
            await repository.delete_runs(session, run_ids, tenant_id=tenant_id)
            await delete_without_runs(session, {row.flow_id for row in runs}, before, tenant_id=tenant_id)
            await _record(session, runs, tenant_id=tenant_id)
            deleted += garbage
    return deleted


async def _record(session: AsyncSession, runs: Sequence[Any], *, tenant_id: str) -> None:
    """Record the deleted evidence: the audit log names it and the policy."""
    for run in runs:
        payload = {"flow_id": run.flow_id}
        await record(
            session,
            system_principal(tenant_id),
            "run.expired",
            id=run.id,
            space_id=run.space_id,
            before=payload,
            payload=payload,
        )


async def _still_used(
    session: AsyncSession, artifacts: Sequence[StoredFile], run_ids: Sequence[str], *, tenant_id: str
) -> set[str]:
    if not artifacts:
        return set()
    ids = [row.id for row in artifacts]
    free = {row.id for row in await unused_files(session, ids, tenant_id=tenant_id)}
    used = await repository.named_in_inputs(session, ids, tenant_id=tenant_id, but=run_ids)
    return used | (set(ids) - free) | await repository.named_in_tests(session, ids, tenant_id=tenant_id)
