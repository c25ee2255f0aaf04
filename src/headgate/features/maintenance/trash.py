"""Deletes flows that have been in the trash for too long.

Runs are evidence: a flow with runs keeps its name and the versions until retention has deleted them.
"""

from datetime import timedelta
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, delete, exists, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.principal import system_principal
from headgate.features.audit.recorder import record_of
from headgate.features.files.storage import Storage
from headgate.features.flows.comments.tables import FlowCommentRow
from headgate.features.flows.organization.tables import FlowFavouriteRow, FlowTagRow
from headgate.features.flows.tables import FlowDraftRow, FlowRow
from headgate.features.maintenance.outcome import Outcome
from headgate.features.runs.tables import flow_runs
from headgate.features.testing.tables import TestCaseRow
from headgate.foundation.database import Database, now
from headgate.foundation.settings import RetentionSettings

BATCH = 50
"""Flows deleted in one transaction."""
_CONTENT = (FlowDraftRow, FlowTagRow, FlowFavouriteRow, FlowCommentRow, TestCaseRow)
"""Rows of a flow that are deleted although runs of it are left."""
_HAS_RUNS = exists().where(flow_runs.c.flow_id == FlowRow.id, flow_runs.c.tenant_id == FlowRow.tenant_id)


async def empty_trash(
    database: Database, _storage: Storage, settings: RetentionSettings, *, dry: bool = False
) -> Outcome:
    """Delete what was moved to the trash too long ago, and flows whose last run is deleted; `dry` only counts."""
    outcome = Outcome()
    without_runs = and_(FlowRow.purged_at.is_not(None), ~_HAS_RUNS)
    if settings.trash_days is not None:
        before = now() - timedelta(days=settings.trash_days)
        await _each(database, outcome, and_(FlowRow.deleted_at < before, FlowRow.purged_at.is_(None)), dry=dry)
    await _each(database, outcome, without_runs, dry=dry)
    return outcome


async def _each(database: Database, outcome: Outcome, condition: ColumnElement[bool], *, dry: bool) -> None:
    last_id = ""
    while True:
        async with database.writing() as session:
            rows = (await session.execute(_batch(condition, last_id))).all()
            if not rows:
                return
            last_id = rows[-1].id
            for row in rows:
                outcome.flows += row.purged_at is None
                if not dry:
                    await _delete(session, row)


def _batch(condition: ColumnElement[bool], after: str) -> Select[Any]:
    columns = (FlowRow.id, FlowRow.tenant_id, FlowRow.name, FlowRow.space_id, FlowRow.draft, FlowRow.purged_at)
    query = select(*columns, _HAS_RUNS.label("has_runs")).where(condition, FlowRow.id > after)
    return query.order_by(FlowRow.id).limit(BATCH).with_for_update(of=FlowRow)


async def _delete(session: AsyncSession, row: Any) -> None:  # noqa: ANN401 - a row
    same = and_(FlowRow.id == row.id, FlowRow.tenant_id == row.tenant_id)
    if row.purged_at is None:
        principal = system_principal(row.tenant_id)
        before = {"name": row.name}
        await record_of(session, principal, "flow.purged", row, before=before)
    if not row.has_runs:
        await session.execute(delete(FlowRow).where(same).execution_options(synchronize_session=False))
        return
    for table in _CONTENT:
        await session.execute(delete(table).where(table.flow_id == row.id, table.tenant_id == row.tenant_id))
    # Retention reads the setting of the flow as long as there are runs.
    days = (row.draft.get("settings") or {}).get("data_retention_days")
    draft = {} if days is None else {"settings": {"data_retention_days": days}}
    values = {"draft": draft, "description": "", "purged_at": now()}
    await session.execute(update(FlowRow).where(same).values(values).execution_options(synchronize_session=False))
