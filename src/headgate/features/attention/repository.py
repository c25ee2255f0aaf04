"""Queries of the attention list, for SQLite and PostgreSQL. The tenant is always required.

Each is one query, of at most `limit` rows where it has one.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypedDict

from sqlalchemy import ColumnElement, Row, Select, Table, and_, case, exists, func, literal_column, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.connections.tables import ConnectionRow
from headgate.features.flows.tables import FlowRow, FlowVersionRow
from headgate.features.runs.budgets.daily import used_today
from headgate.features.runs.deliveries.tables import webhook_deliveries
from headgate.features.runs.tables import flow_runs, flow_step_results
from headgate.features.triggers.tables import TriggerRow
from headgate.foundation.ids import lowest_id

AnyRow = Row[*tuple[Any, ...]]
Spaces = Collection[str] | None
LONGEST_MESSAGE = 300
"""Characters of an error message that are read: they are shown, and tell errors apart."""
_R, _D, _S = flow_runs.c, webhook_deliveries.c, flow_step_results.c
_UNDELIVERED = _D.status == literal_column("'failed'")
"""As in the condition of their index."""


@dataclass(frozen=True, slots=True)
class Flows:
    """Of which flows rows are read; None: of all."""

    ids: Collection[str] | None = None
    owner_id: str | None = None


class Scope(TypedDict):
    """Whose rows are read: of the spaces in which the caller has a permission (None: all), and of which flows."""

    tenant_id: str
    spaces: Spaces
    flows: Flows


ALL_FLOWS = Flows()


def _conditions(tenant_id: str, spaces: Spaces, flows: Flows) -> list[ColumnElement[bool]]:
    conditions = [FlowRow.tenant_id == tenant_id, FlowRow.deleted_at.is_(None)]
    if spaces is not None:
        conditions.append(FlowRow.space_id.in_(sorted(spaces)))
    if flows.ids is not None:
        conditions.append(FlowRow.id.in_(sorted(flows.ids)))
    if flows.owner_id is not None:
        conditions.append(FlowRow.owner_user_id == flows.owner_id)
    return conditions


async def failed_runs(
    session: AsyncSession, *, tenant_id: str, spaces: Spaces, flows: Flows = ALL_FLOWS, since: int, limit: int
) -> Sequence[AnyRow]:
    """Return the newest failed runs of published versions since a time, each with the start of its message.

    `step_id` is its first failed step. Runs of steps count as their parent's, and a run that another continues or
    reruns as that one. The id bounds the rows that are read.
    """
    step = (
        select(_S.step_id)
        .where(_S.flow_run_id == _R.id, _S.flow_id == _R.flow_id, _S.status == "failed")
        .order_by(_S.step_order)
        .limit(1)
        .correlate(flow_runs)
        .scalar_subquery()
    )
    version = and_(FlowVersionRow.flow_id == _R.flow_id, FlowVersionRow.version == _R.version)
    later = flow_runs.alias("later")
    message = func.substr(_R.error_message, 1, LONGEST_MESSAGE)
    query = (
        select(_R.id, _R.flow_id, FlowRow.name, FlowRow.space_id, _R.error_code, message.label("message"))
        .add_columns(step.label("step_id"), FlowVersionRow.release, _R.created_at)
        .join(FlowRow, and_(FlowRow.id == _R.flow_id, FlowRow.tenant_id == _R.tenant_id))
        .join(FlowVersionRow, and_(version, FlowVersionRow.release.is_not(None)))
        .where(
            _R.tenant_id == tenant_id,
            _R.status == "failed",
            _R.parent_run_id.is_(None),
            *_conditions(tenant_id, spaces, flows),
        )
        .where(_R.id >= lowest_id(since // 1000), _R.created_at >= since)
        .where(~exists().where(later.c.source_run_id == _R.id))
        .order_by(_R.id.desc())
    )
    return await _rows(session, query.limit(limit))


async def queued_runs(
    session: AsyncSession, *, tenant_id: str, spaces: Spaces, flows: Flows = ALL_FLOWS, before: int, limit: int
) -> Sequence[AnyRow]:
    """Return runs that no worker has started since a time, by flow."""
    query = _by_flow(flow_runs, tenant_id, spaces, flows).where(_R.status == "queued", _R.created_at < before)
    return await _rows(session, query.limit(limit))


def _stuck(before: int) -> ColumnElement[bool]:
    """Return the condition of a running run with a step whose worker has not renewed its lease since a time."""
    lost = select(_S.step_id).where(_S.flow_run_id == _R.id, _S.flow_id == _R.flow_id, _S.status == "running")
    return and_(_R.status == "running", lost.where(_S.lease_until < before).exists())


async def stuck_runs(
    session: AsyncSession, *, tenant_id: str, spaces: Spaces, flows: Flows = ALL_FLOWS, before: int, limit: int
) -> Sequence[AnyRow]:
    """Return runs whose worker is dead since a time and that no other worker has recovered, by flow."""
    return await _rows(session, _by_flow(flow_runs, tenant_id, spaces, flows).where(_stuck(before)).limit(limit))


async def run_ids(
    session: AsyncSession,
    *,
    tenant_id: str,
    spaces: Spaces,
    flows: Flows = ALL_FLOWS,
    queued_before: int | None = None,
    stuck_before: int | None = None,
    limit: int,
) -> Sequence[AnyRow]:
    """Return id and flow of the runs that `queued_runs` or `stuck_runs` count, the newest first."""
    of_flow = and_(FlowRow.id == _R.flow_id, FlowRow.tenant_id == _R.tenant_id)
    query = select(_R.id, _R.flow_id).join(FlowRow, of_flow)
    query = query.where(_R.tenant_id == tenant_id, *_conditions(tenant_id, spaces, flows)).order_by(_R.id.desc())
    if queued_before is not None:
        query = query.where(_R.status == "queued", _R.created_at < queued_before)
    if stuck_before is not None:
        query = query.where(_stuck(stuck_before))
    return await _rows(session, query.limit(limit))


async def failed_deliveries(
    session: AsyncSession, *, tenant_id: str, spaces: Spaces, flows: Flows = ALL_FLOWS, since: int, limit: int
) -> Sequence[AnyRow]:
    """Return deliveries that are not retried any more, by flow."""
    query = _by_flow(webhook_deliveries, tenant_id, spaces, flows).where(_UNDELIVERED, _D.created_at >= since)
    return await _rows(session, query.limit(limit))


async def delivery_ids(
    session: AsyncSession, *, tenant_id: str, spaces: Spaces, flows: Flows = ALL_FLOWS, since: int, limit: int
) -> Sequence[AnyRow]:
    """Return id and flow of the deliveries that `failed_deliveries` counts, the newest first."""
    of_flow = and_(FlowRow.id == _D.flow_id, FlowRow.tenant_id == _D.tenant_id)
    query = (
        select(_D.id, _D.flow_id)
        .join(FlowRow, of_flow)
        .where(_D.tenant_id == tenant_id, *_conditions(tenant_id, spaces, flows))
    )
    query = query.where(_UNDELIVERED, _D.created_at >= since).order_by(_D.id.desc())
    return await _rows(session, query.limit(limit))


async def used_budgets(
    session: AsyncSession, *, tenant_id: str, spaces: Spaces, flows: Flows = ALL_FLOWS, at: int
) -> Sequence[AnyRow]:
    """Return what flows have used of each limit of their daily budget (`budgets.daily`)."""
    flow: tuple[Any, ...] = (FlowRow.id.label("flow_id"), FlowRow.name, FlowRow.space_id)
    return await _rows(session, used_today(select(*flow).where(*_conditions(tenant_id, spaces, flows)), at))


async def _rows(session: AsyncSession, query: Select[Any]) -> Sequence[AnyRow]:
    rows: Sequence[AnyRow] = (await session.execute(query)).all()
    return rows


def _by_flow(table: Table, tenant_id: str, spaces: Spaces, flows: Flows) -> Select[Any]:
    columns = table.c
    shown: tuple[Any, ...] = (
        FlowRow.id.label("flow_id"),
        FlowRow.name,
        FlowRow.space_id,
        func.count().label("count"),
        func.min(columns.created_at).label("first_at"),
        func.max(columns.created_at).label("last_at"),
        func.max(columns.id).label("last_id"),
    )
    return (
        select(*shown)
        .select_from(table)
        .join(FlowRow, and_(FlowRow.id == columns.flow_id, FlowRow.tenant_id == columns.tenant_id))
        .where(columns.tenant_id == tenant_id, *_conditions(tenant_id, spaces, flows))
        .group_by(FlowRow.id, FlowRow.name, FlowRow.space_id)
        .order_by(func.max(columns.created_at).desc())
    )


async def delivery_messages(
    session: AsyncSession, delivery_ids: Collection[str], *, tenant_id: str
) -> Mapping[str, AnyRow]:
    """Return run and error message of deliveries, by id."""
    query = select(_D.id, _D.flow_run_id, _D.error_message)
    query = query.where(_D.id.in_(delivery_ids), _D.tenant_id == tenant_id)
    return {row.id: row for row in (await session.execute(query)).all()}


async def stopped_triggers(
    session: AsyncSession, *, tenant_id: str, spaces: Spaces, flows: Flows = ALL_FLOWS, failed_polls: int, limit: int
) -> Sequence[AnyRow]:
    """Return triggers that are paused with a reason, and those whose last polls all failed, at least so many."""
    row = TriggerRow
    is_paused = and_(row.enabled.is_(False), row.paused_reason != "")
    at = case((is_paused, row.updated_at), else_=func.coalesce(row.polled_at, row.updated_at)).label("at")
    reason = case((is_paused, row.paused_reason), else_=row.poll_error).label("reason")
    query = (
        select(row.id, row.flow_id, row.name, row.enabled, row.poll_failures, reason, at, FlowRow.space_id)
        .join(FlowRow, and_(FlowRow.id == row.flow_id, FlowRow.tenant_id == row.tenant_id))
        .where(row.tenant_id == tenant_id, *_conditions(tenant_id, spaces, flows))
        .where(or_(is_paused, and_(row.enabled, row.poll_failures >= failed_polls)))
        .order_by(at.desc())
    )
    return (await session.execute(query.limit(limit))).all()


async def broken_connections(
    session: AsyncSession,
    *,
    tenant_id: str,
    spaces: Spaces,
    user_id: str,
    expires_before: datetime,
    limit: int,
) -> Sequence[ConnectionRow]:
    """Return shared connections and those of the user that do not work or whose secret expires before a time."""
    row = ConnectionRow
    query = select(row).where(
        row.tenant_id == tenant_id,
        or_(row.owner_id.is_(None), row.owner_id == user_id),
        or_(
            row.status.in_(("failed", "unauthorized")),
            row.rejected_at.is_not(None),
            row.expires_at < expires_before,
        ),
    )
    if spaces is not None:
        query = query.where(row.space_id.in_(sorted(spaces)))
    return (await session.execute(query.order_by(row.updated_at.desc()).limit(limit))).scalars().all()
