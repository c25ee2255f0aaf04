"""Queries on runs for those who look at them. The tenant is always required. Writing is the store's."""

from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import Row, Text, and_, cast, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.flows.tables import FlowRow, VersionStepRow
from headgate.features.runs.tables import flow_runs, flow_step_attempts, flow_step_results

AnyRow = Row[*tuple[Any, ...]]
"""A row of plain columns, read by name."""
_OF_FLOW = and_(FlowRow.id == flow_runs.c.flow_id, FlowRow.tenant_id == flow_runs.c.tenant_id)
_OF_VERSION = and_(
    VersionStepRow.flow_id == flow_step_results.c.flow_id,
    VersionStepRow.version == flow_step_results.c.version,
    VersionStepRow.step_id == flow_step_results.c.step_id,
)

_WORDS = (flow_runs.c.input_payload, flow_runs.c.output_payload, flow_runs.c.error_message)


async def find_run(session: AsyncSession, run_id: str, *, tenant_id: str) -> AnyRow | None:
    """A run's row, with the space of its flow as `space_id`."""
    query = (
        select(flow_runs, FlowRow.space_id)
        .join(FlowRow, _OF_FLOW)
        .where(flow_runs.c.id == run_id, flow_runs.c.tenant_id == tenant_id)
    )
    return (await session.execute(query)).one_or_none()


async def find_starter(session: AsyncSession, run_id: str, *, tenant_id: str) -> str | None:
    """The user who started a run; None when nobody did, or nobody is left of them."""
    query = select(flow_runs.c.user_id).where(flow_runs.c.id == run_id, flow_runs.c.tenant_id == tenant_id)
    found: str | None = (await session.execute(query)).scalar_one_or_none()
    return found


async def list_runs(
    session: AsyncSession,
    *,
    tenant_id: str,
    spaces: Collection[str] | None,
    flow_id: str | None,
    status: str | None,
    session_id: str | None,
    since: int | None = None,
    until: int | None = None,
    search: str | None = None,
    limit: int,
    before: str | None,
) -> Sequence[AnyRow]:
    """Newest first, of flows in these spaces (None: all); `before` is the id of the last run of the page before.

    `since` and `until` bound when they were created, in microseconds; `search` is looked for in what runs were started
    with and in what came out of them.
    """
    query = select(flow_runs).where(flow_runs.c.tenant_id == tenant_id)
    if spaces is not None:
        query = query.join(FlowRow, _OF_FLOW).where(FlowRow.space_id.in_(sorted(spaces)))
    filters = {"flow_id": flow_id, "status": status, "session_id": session_id}
    for column, value in filters.items():
        if value is not None:
            query = query.where(flow_runs.c[column] == value)
    if since is not None:
        query = query.where(flow_runs.c.created_at >= since)
    if until is not None:
        query = query.where(flow_runs.c.created_at < until)
    if search:
        query = query.where(or_(*(cast(column, Text).icontains(search, autoescape=True) for column in _WORDS)))
    if before is not None:
        query = query.where(flow_runs.c.id < before)
    return (await session.execute(query.order_by(flow_runs.c.id.desc()).limit(limit))).all()


async def list_steps(session: AsyncSession, run_id: str, *, tenant_id: str) -> Sequence[AnyRow]:
    """A run's steps in order, each with its component type as `type`."""
    query = (
        select(flow_step_results, VersionStepRow.type)
        .join(VersionStepRow, _OF_VERSION)
        .where(flow_step_results.c.flow_run_id == run_id, flow_step_results.c.tenant_id == tenant_id)
        .order_by(flow_step_results.c.step_order)
    )
    return (await session.execute(query)).all()


async def versions_of(session: AsyncSession, run_ids: Collection[str], *, tenant_id: str) -> dict[str, int]:
    """Run id to the version that the run carried out, of those that the tenant has."""
    query = select(flow_runs.c.id, flow_runs.c.version)
    rows = await session.execute(query.where(flow_runs.c.id.in_(run_ids), flow_runs.c.tenant_id == tenant_id))
    return {row.id: row.version for row in rows}


async def list_attempts(
    session: AsyncSession, run_id: str, *, tenant_id: str, step_id: str | None = None
) -> Sequence[AnyRow]:
    """Attempts at the steps of a run, or at one of them, in order."""
    table = flow_step_attempts
    query = select(table).where(table.c.flow_run_id == run_id, table.c.tenant_id == tenant_id)
    if step_id is not None:
        query = query.where(table.c.step_id == step_id)
    return (await session.execute(query.order_by(table.c.step_order, table.c.attempt_no))).all()
