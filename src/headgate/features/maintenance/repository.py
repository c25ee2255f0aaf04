"""Queries of maintenance. It works across tenants, so each row has its own, and each deletion is scoped by it."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Text, and_, cast, delete, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.principal import DEFAULT_TENANT_ID
from headgate.features.audit.tables import AuditEvent, AuditHead
from headgate.features.files.tables import StoredFile
from headgate.features.flows.tables import FlowRow
from headgate.features.runs.states import LIVE_RUNS, RunStatus, StepStatus
from headgate.features.runs.tables import flow_runs, flow_step_results
from headgate.features.testing.tables import TestCaseRow

BACKUP_ID = "installation"
"""Resource of backups and restores in the audit log."""
RETENTION = FlowRow.draft["settings"]["data_retention_days"]
"""The retention days of a flow's own setting."""
_OVER = [status for status in RunStatus if status not in LIVE_RUNS]
_GIVEN_UP = (RunStatus.FAILED, RunStatus.CANCELLED)
_PAYERS = select(flow_step_results.c.reused_from_run_id).where(
    flow_step_results.c.flow_run_id.in_(select(flow_runs.c.id).where(flow_runs.c.source_run_id.is_not(None))),
    flow_step_results.c.reused_from_run_id.is_not(None),
)
"""Runs whose results other runs reuse. Reads the steps of runs that reuse some, and not those of all runs."""


async def flows_with_retention(session: AsyncSession) -> list[tuple[str, int]]:
    """Return flow ids and the days that they keep their runs."""
    days = RETENTION.as_integer()
    return [(row[0], row[1]) for row in await session.execute(select(FlowRow.id, days).where(days.is_not(None)))]


async def last_backup(session: AsyncSession) -> datetime | None:
    """When the newest backup in the audit log was made; backups are recorded in the log of the first tenant."""
    query = (
        select(AuditEvent.at)
        .where(
            AuditEvent.tenant_id == DEFAULT_TENANT_ID,
            AuditEvent.resource_id == BACKUP_ID,
            AuditEvent.action == "backup.created",
        )
        .order_by(AuditEvent.seq.desc())
        .limit(1)
    )
    return (await session.execute(query)).scalar_one_or_none()


async def audit_heads(session: AsyncSession) -> Sequence[AuditHead]:
    """Return the end of every tenant's audit log."""
    return (await session.scalars(select(AuditHead).order_by(AuditHead.tenant_id))).all()


async def expired_runs(
    session: AsyncSession, before: int, *, flow_id: str | None, after: str, limit: int
) -> Sequence[Any]:
    """Lock and return runs that ended before a time and whose results no other run reuses, by id.

    Each with `id`, `tenant_id`, `flow_id` and `space_id`.

    Args:
        session: The transaction that deletes them.
        before: Microseconds in UTC.
        flow_id: Only of this flow; by default of every flow without its own setting.
        after: After this id.
        limit: Maximum number.
    """
    query = (
        select(flow_runs.c.id, flow_runs.c.tenant_id, flow_runs.c.flow_id, FlowRow.space_id)
        .join(FlowRow, and_(FlowRow.id == flow_runs.c.flow_id, FlowRow.tenant_id == flow_runs.c.tenant_id))
        .where(flow_runs.c.status.in_(_OVER), flow_runs.c.finished_at < before, flow_runs.c.id > after)
        .where(flow_runs.c.id.not_in(_PAYERS))
        .order_by(flow_runs.c.id)
        .limit(limit)
    )
    if flow_id is not None:
        query = query.where(flow_runs.c.flow_id == flow_id)
    else:
        silent = select(FlowRow.id).where(RETENTION.as_integer().is_(None))
        query = query.where(flow_runs.c.flow_id.in_(silent))
    return (await session.execute(query.with_for_update(of=flow_runs))).all()


async def payers_among(session: AsyncSession, run_ids: Collection[str]) -> set[str]:
    """Return the runs among these whose results other runs reuse."""
    query = _PAYERS.where(flow_step_results.c.reused_from_run_id.in_(run_ids))
    return set((await session.execute(query)).scalars())


async def delete_runs(session: AsyncSession, run_ids: Collection[str], *, tenant_id: str) -> None:
    """Delete runs with their steps, attempts and deliveries."""
    await session.execute(delete(flow_runs).where(flow_runs.c.id.in_(run_ids), flow_runs.c.tenant_id == tenant_id))


async def artifacts_of(session: AsyncSession, run_ids: Collection[str], *, tenant_id: str) -> Sequence[StoredFile]:
    """Return the artifacts of the runs."""
    query = select(StoredFile).where(StoredFile.flow_run_id.in_(run_ids), StoredFile.tenant_id == tenant_id)
    return (await session.execute(query)).scalars().all()


async def orphan_candidates(session: AsyncSession, before: datetime, *, after: str, limit: int) -> Sequence[StoredFile]:
    """Return artifacts created before a time whose run is missing, failed or cancelled, by id."""
    same_run = and_(flow_runs.c.id == StoredFile.flow_run_id, flow_runs.c.tenant_id == StoredFile.tenant_id)
    query = (
        select(StoredFile)
        .outerjoin(flow_runs, same_run)
        .where(StoredFile.flow_run_id.is_not(None), StoredFile.created_at < before, StoredFile.id > after)
        .where(or_(flow_runs.c.id.is_(None), flow_runs.c.status.in_(_GIVEN_UP)))
        .order_by(StoredFile.id)
        .limit(limit)
    )
    return (await session.execute(query)).scalars().all()


async def named_in_results(
    session: AsyncSession, file_ids: Collection[str], *, tenant_id: str, runs: Collection[str] | None = None
) -> set[str]:
    """Return the files that completed step results refer to: in these runs, or in any of the tenant's."""
    payload = cast(flow_step_results.c.output_payload, Text)
    query = select(payload).where(
        flow_step_results.c.tenant_id == tenant_id,
        flow_step_results.c.status == StepStatus.COMPLETED,
        _names_any(payload, file_ids),
    )
    if runs is not None:
        query = query.where(flow_step_results.c.flow_run_id.in_(runs))
    return _found_in((await session.execute(query)).scalars().all(), file_ids)


async def named_in_inputs(
    session: AsyncSession, file_ids: Collection[str], *, tenant_id: str, but: Collection[str] = ()
) -> set[str]:
    """Return the files that are inputs of a run, except failed and cancelled runs and those in `but`."""
    payload = cast(flow_runs.c.input_payload, Text)
    query = select(payload).where(
        flow_runs.c.tenant_id == tenant_id,
        flow_runs.c.status.not_in(_GIVEN_UP),
        flow_runs.c.id.not_in(but),
        _names_any(payload, file_ids),
    )
    return _found_in((await session.execute(query)).scalars().all(), file_ids)


async def named_in_tests(session: AsyncSession, file_ids: Collection[str], *, tenant_id: str) -> set[str]:
    """Return the files that a test of a flow uses."""
    payload = cast(TestCaseRow.case, Text)
    query = select(payload).where(TestCaseRow.tenant_id == tenant_id, _names_any(payload, file_ids))
    return _found_in((await session.execute(query)).scalars().all(), file_ids)


async def known_files(session: AsyncSession, file_ids: Collection[str]) -> set[str]:
    """Return the ids that have a file record."""
    return set((await session.execute(select(StoredFile.id).where(StoredFile.id.in_(file_ids)))).scalars())


def _names_any(payload: ColumnElement[str], file_ids: Collection[str]) -> ColumnElement[bool]:
    return or_(*(payload.contains(file_id) for file_id in file_ids))


def _found_in(payloads: Sequence[str], file_ids: Collection[str]) -> set[str]:
    return {file_id for file_id in file_ids if any(file_id in payload for payload in payloads)}
