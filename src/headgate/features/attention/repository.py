"""Queries of the attention list, for SQLite and PostgreSQL. The tenant is always required.

Each returns one row per cause, of the spaces that the caller sees (None: all), and at most `limit` rows.
"""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Row, Select, Table, and_, case, delete, func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.attention.tables import AttentionDismissalRow
from headgate.features.connections.tables import ConnectionRow
from headgate.features.flows.tables import FlowRow, FlowVersionRow
from headgate.features.runs.deliveries.tables import webhook_deliveries
from headgate.features.runs.tables import flow_runs
from headgate.features.triggers.tables import TriggerRow
from headgate.foundation.database import insert_into

AnyRow = Row[*tuple[Any, ...]]
Spaces = Collection[str] | None
_R, _D = flow_runs.c, webhook_deliveries.c


async def failed_runs(
    session: AsyncSession, *, tenant_id: str, spaces: Spaces, since: int, limit: int
) -> Sequence[AnyRow]:
    """Return failed runs of published versions by flow and error code; runs of steps count as their parent's."""
    version = and_(FlowVersionRow.flow_id == _R.flow_id, FlowVersionRow.version == _R.version)
    query = (
        _by_flow(flow_runs, tenant_id, spaces)
        .add_columns(_R.error_code, func.min(FlowVersionRow.release).label("release"))
        .join(FlowVersionRow, and_(version, FlowVersionRow.release.is_not(None)))
        .where(_R.status == "failed", _R.created_at >= since, _R.parent_run_id.is_(None))
        .group_by(_R.error_code)
    )
    return await _rows(session, query.limit(limit))


async def queued_runs(
    session: AsyncSession, *, tenant_id: str, spaces: Spaces, before: int, limit: int
) -> Sequence[AnyRow]:
    """Return runs that no worker has started since a time, by flow."""
    query = _by_flow(flow_runs, tenant_id, spaces).where(_R.status == "queued", _R.created_at < before)
    return await _rows(session, query.limit(limit))


async def failed_deliveries(
    session: AsyncSession, *, tenant_id: str, spaces: Spaces, since: int, limit: int
) -> Sequence[AnyRow]:
    """Return deliveries that are not retried any more, by flow."""
    query = _by_flow(webhook_deliveries, tenant_id, spaces).where(_D.status == "failed", _D.created_at >= since)
    return await _rows(session, query.limit(limit))


async def _rows(session: AsyncSession, query: Select[Any]) -> Sequence[AnyRow]:
    rows: Sequence[AnyRow] = (await session.execute(query)).all()
    return rows


def _by_flow(table: Table, tenant_id: str, spaces: Spaces) -> Select[Any]:
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
    query = (
        select(*shown)
        .select_from(table)
        .join(FlowRow, and_(FlowRow.id == columns.flow_id, FlowRow.tenant_id == columns.tenant_id))
        .where(columns.tenant_id == tenant_id, FlowRow.deleted_at.is_(None))
        .group_by(FlowRow.id, FlowRow.name, FlowRow.space_id)
        .order_by(func.max(columns.created_at).desc())
    )
    return query if spaces is None else query.where(FlowRow.space_id.in_(sorted(spaces)))


async def run_messages(session: AsyncSession, run_ids: Collection[str], *, tenant_id: str) -> Mapping[str, str]:
    """Return the error messages of runs, by id."""
    query = select(_R.id, _R.error_message).where(_R.id.in_(run_ids), _R.tenant_id == tenant_id)
    return {row.id: row.error_message or "" for row in (await session.execute(query)).all()}


async def delivery_messages(
    session: AsyncSession, delivery_ids: Collection[str], *, tenant_id: str
) -> Mapping[str, AnyRow]:
    """Return run and error message of deliveries, by id."""
    query = select(_D.id, _D.flow_run_id, _D.error_message)
    query = query.where(_D.id.in_(delivery_ids), _D.tenant_id == tenant_id)
    return {row.id: row for row in (await session.execute(query)).all()}


async def stopped_triggers(
    session: AsyncSession, *, tenant_id: str, spaces: Spaces, failed_polls: int, limit: int
) -> Sequence[AnyRow]:
    """Return triggers that are paused with a reason, and those whose last polls all failed, at least so many."""
    row = TriggerRow
    is_paused = and_(row.enabled.is_(False), row.paused_reason != "")
    at = case((is_paused, row.updated_at), else_=func.coalesce(row.polled_at, row.updated_at)).label("at")
    reason = case((is_paused, row.paused_reason), else_=row.poll_error).label("reason")
    query = (
        select(row.id, row.flow_id, row.name, row.enabled, row.poll_failures, reason, at, FlowRow.space_id)
        .join(FlowRow, and_(FlowRow.id == row.flow_id, FlowRow.tenant_id == row.tenant_id))
        .where(row.tenant_id == tenant_id, or_(is_paused, and_(row.enabled, row.poll_failures >= failed_polls)))
        .where(FlowRow.deleted_at.is_(None))
        .order_by(at.desc())
    )
    if spaces is not None:
        query = query.where(FlowRow.space_id.in_(sorted(spaces)))
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


async def dismissals(session: AsyncSession, user_id: str, *, tenant_id: str) -> Mapping[str, int]:
    """Return the dismissed items of a user and when each was dismissed."""
    row = AttentionDismissalRow
    query = select(row.item_key, row.dismissed_at).where(row.user_id == user_id, row.tenant_id == tenant_id)
    return {item.item_key: item.dismissed_at for item in (await session.execute(query)).all()}


async def dismiss(session: AsyncSession, key: str, user_id: str, at: int, *, tenant_id: str) -> None:
    """Store that a user dismissed an item."""
    values = {"user_id": user_id, "item_key": key, "tenant_id": tenant_id, "dismissed_at": at}
    insert = insert_into(session, AttentionDismissalRow).values(values)
    insert = insert.on_conflict_do_update(index_elements=["user_id", "item_key"], set_={"dismissed_at": at})
    await session.execute(insert)


async def restore(session: AsyncSession, key: str, user_id: str, *, tenant_id: str) -> None:
    """Show a dismissed item again."""
    row = AttentionDismissalRow
    where = (row.user_id == user_id, row.item_key == key, row.tenant_id == tenant_id)
    await session.execute(delete(row).where(*where))
