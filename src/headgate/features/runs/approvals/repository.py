"""Queries on approvals. The tenant is always required."""

from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import Row, Select, and_, case, exists, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.flows.tables import FlowRow
from headgate.features.runs.approvals.tables import ApprovalDecisionRow, ApprovalRow
from headgate.features.runs.states import LIVE_RUNS
from headgate.features.runs.tables import flow_runs
from headgate.foundation.database import insert_into

AnyRow = Row[*tuple[Any, ...]]
_LIVE = [status.value for status in LIVE_RUNS]


async def add_approval(session: AsyncSession, values: dict[str, Any], *, tenant_id: str) -> None:
    """Insert the approval of a step and round, unless it exists."""
    await session.execute(
        insert_into(session, ApprovalRow).values(tenant_id=tenant_id, **values).on_conflict_do_nothing()
    )


async def find_of_step(
    session: AsyncSession, run_id: str, step_id: str, round_: int, *, tenant_id: str
) -> ApprovalRow | None:
    """Return the approval of a step and round."""
    row = ApprovalRow
    query = select(row).where(
        row.flow_run_id == run_id, row.step_id == step_id, row.round == round_, row.tenant_id == tenant_id
    )
    return (await session.execute(query)).scalar_one_or_none()


async def find_starter(session: AsyncSession, run_id: str, *, tenant_id: str) -> str | None:
    """Return the user who started a run."""
    query = select(flow_runs.c.user_id).where(flow_runs.c.id == run_id, flow_runs.c.tenant_id == tenant_id)
    starter: str | None = (await session.execute(query)).scalar_one_or_none()
    return starter


async def find_approval(session: AsyncSession, approval_id: str, *, tenant_id: str) -> AnyRow | None:
    """Return `ApprovalRow`, `flow_name` and `run_status`."""
    query = _described(tenant_id).where(ApprovalRow.id == approval_id)
    row: AnyRow | None = (await session.execute(query)).one_or_none()
    return row


async def list_approvals(
    session: AsyncSession,
    *,
    tenant_id: str,
    spaces: Collection[str] | None,
    status: str | None,
    run_id: str | None,
    limit: int,
    before: str | None,
) -> Sequence[AnyRow]:
    """List approvals of these spaces (None: all), newest first; pending ones only of runs that are not over."""
    query = _described(tenant_id)
    if spaces is not None:
        query = query.where(ApprovalRow.space_id.in_(sorted(spaces)))
    if status == "closed":
        query = query.where(ApprovalRow.status == "pending", flow_runs.c.status.not_in(_LIVE))
    elif status is not None:
        query = query.where(ApprovalRow.status == status)
        if status == "pending":
            query = query.where(flow_runs.c.status.in_(_LIVE))
    if run_id is not None:
        query = query.where(ApprovalRow.flow_run_id == run_id)
    if before is not None:
        query = query.where(ApprovalRow.id < before)
    rows: Sequence[AnyRow] = (await session.execute(query.order_by(ApprovalRow.id.desc()).limit(limit))).all()
    return rows


async def list_decisions(
    session: AsyncSession, approval_ids: Collection[str], *, tenant_id: str
) -> Sequence[ApprovalDecisionRow]:
    """List the decisions on approvals, oldest first."""
    row = ApprovalDecisionRow
    query = select(row).where(row.approval_id.in_(approval_ids), row.tenant_id == tenant_id)
    return (await session.execute(query.order_by(row.decided_at, row.user_id))).scalars().all()


async def list_of_run(session: AsyncSession, run_id: str, *, tenant_id: str) -> Sequence[ApprovalRow]:
    """List the approvals of a run, oldest first."""
    row = ApprovalRow
    query = select(row).where(row.flow_run_id == run_id, row.tenant_id == tenant_id).order_by(row.id)
    return (await session.execute(query)).scalars().all()


async def add_decision(session: AsyncSession, values: dict[str, Any], *, tenant_id: str) -> bool:
    """Store a user's decision. Returns False when the user has decided before."""
    row = ApprovalDecisionRow
    query = insert_into(session, row).values(tenant_id=tenant_id, **values).on_conflict_do_nothing()
    return (await session.execute(query.returning(row.approval_id))).first() is not None


async def settle(session: AsyncSession, approval_id: str, decision: str, *, tenant_id: str, at: int) -> str | None:
    """Count a decision by compare-and-swap. Returns the new status; None when it is not pending any more.

    `decision` is `approve`, `reject` or `timeout`; the last one applies from the due time, the others before it.
    """
    row = ApprovalRow
    live = exists().where(flow_runs.c.id == row.flow_run_id, flow_runs.c.status.in_(_LIVE))
    same = [row.id == approval_id, row.tenant_id == tenant_id, row.status == "pending", live]
    if decision == "approve":
        done = row.approvals + 1 >= row.needed
        changes: dict[str, Any] = {
            "approvals": row.approvals + 1,
            "status": case((done, "approved"), else_="pending"),
            "decided_at": case((done, at), else_=None),
        }
    else:
        changes = {"status": "rejected" if decision == "reject" else "timed_out", "decided_at": at}
    if decision == "timeout":
        same.append(row.due_at <= at)
    else:
        same.append((row.due_at.is_(None)) | (row.due_at > at))
    query = update(row).where(*same).values(**changes).returning(row.status)
    status: str | None = (
        await session.execute(query.execution_options(synchronize_session=False))
    ).scalar_one_or_none()
    return status


def _described(tenant_id: str) -> Select[Any]:
    of_flow = and_(FlowRow.id == ApprovalRow.flow_id, FlowRow.tenant_id == ApprovalRow.tenant_id)
    of_run = and_(flow_runs.c.id == ApprovalRow.flow_run_id, flow_runs.c.tenant_id == ApprovalRow.tenant_id)
    return (
        select(ApprovalRow, FlowRow.name.label("flow_name"), flow_runs.c.status.label("run_status"))
        .join(FlowRow, of_flow)
        .join(flow_runs, of_run)
        .where(ApprovalRow.tenant_id == tenant_id)
        .execution_options(populate_existing=True)
    )
