"""Queries on approvals. The tenant is always required."""

from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Row, Select, Text, and_, case, cast, exists, func, literal, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import Role
from headgate.features.accounts.tables import SpaceMember, User
from headgate.features.flows.tables import FlowRow
from headgate.features.runs.approvals.tables import ApprovalDecisionRow, ApprovalRow
from headgate.features.runs.states import LIVE_RUNS
from headgate.features.runs.tables import flow_runs
from headgate.foundation.database import insert_into

AnyRow = Row[*tuple[Any, ...]]
_LIVE = [status.value for status in LIVE_RUNS]
_NEVER = 2**62
"""Due time of approvals without one, in order."""


async def add_approval(session: AsyncSession, values: dict[str, Any], *, tenant_id: str) -> None:
    """Insert an approval with the next number of its step, unless it, or another one with that number, exists."""
    row = ApprovalRow
    same_step = (row.flow_run_id == values["flow_run_id"], row.step_id == values["step_id"])
    number = select(func.coalesce(func.max(row.round), 0) + 1).where(*same_step).scalar_subquery()
    await session.execute(
        insert_into(session, row).values(tenant_id=tenant_id, round=number, **values).on_conflict_do_nothing()
    )


async def find_of_step(
    session: AsyncSession, run_id: str, step_id: str, scope: str, *, tenant_id: str
) -> ApprovalRow | None:
    """Return the approval of a step, or of one of its tool calls."""
    row = ApprovalRow
    query = select(row).where(
        row.flow_run_id == run_id, row.step_id == step_id, row.scope == scope, row.tenant_id == tenant_id
    )
    return (await session.execute(query)).scalar_one_or_none()


async def list_recipients(
    session: AsyncSession,
    approval_id: str,
    deciders: Sequence[dict[str, Any]],
    *,
    tenant_id: str,
    space_id: str,
    besides: str | None,
) -> tuple[str, ...]:
    """Return the mail addresses of deciders who have not decided; of roles, of members of the space only."""
    decision, order = ApprovalDecisionRow, list(Role)
    decided = exists().where(decision.approval_id == approval_id, decision.user_id == User.id)
    ranks = [order.index(Role(entry["role"])) for entry in deciders if "role" in entry]
    least = min(ranks, default=len(order)) if deciders else order.index(Role.RUNNER)
    member = and_(
        SpaceMember.user_id == User.id,
        SpaceMember.tenant_id == User.tenant_id,
        SpaceMember.space_id == space_id,
        SpaceMember.role.in_([role.value for role in order[least:]]),
    )
    named = [entry["user_id"] for entry in deciders if "user_id" in entry]
    query = select(User.email).where(
        User.tenant_id == tenant_id,
        User.active,
        User.deleted_at.is_(None),
        User.email.is_not(None),
        or_(User.id.in_(named), exists().where(member)),
        User.id != (besides or ""),
        ~decided,
    )
    return tuple(email for email in (await session.execute(query.order_by(User.email))).scalars() if email)


async def find_starter(session: AsyncSession, run_id: str, *, tenant_id: str) -> str | None:
    """Return the user who started a run."""
    query = select(flow_runs.c.user_id).where(flow_runs.c.id == run_id, flow_runs.c.tenant_id == tenant_id)
    starter: str | None = (await session.execute(query)).scalar_one_or_none()
    return starter


async def find_approval(session: AsyncSession, approval_id: str, *, tenant_id: str) -> AnyRow | None:
    """Return `ApprovalRow`, `flow_name`, `run_status`, `starter_id` and `starter_name`."""
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
    """List approvals of these spaces (None: all), newest first; pending ones by due time, of runs that are not over.

    `status` is a state, or `decided`: every approval that is not pending.
    """
    query = _described(tenant_id).where(*_of_spaces(spaces), *_of_status(status))
    if run_id is not None:
        query = query.where(ApprovalRow.flow_run_id == run_id)
    if status == "pending":
        query = _most_urgent(query, before)
    elif before is not None:
        query = query.where(ApprovalRow.id < before)
    rows: Sequence[AnyRow] = (await session.execute(query.order_by(ApprovalRow.id.desc()).limit(limit))).all()
    return rows


async def list_undecided(
    session: AsyncSession,
    user_id: str,
    *,
    tenant_id: str,
    spaces: Collection[str] | None,
    run_id: str | None,
    run_states: Collection[str],
    at: int,
    limit: int,
    before: str | None,
) -> Sequence[AnyRow]:
    """List pending approvals that a user has not decided and that may be assigned to the user, most urgent first.

    Of those that are assigned to roles the caller selects.
    """
    row, decision = ApprovalRow, ApprovalDecisionRow
    decided = exists().where(decision.approval_id == row.id, decision.user_id == user_id)
    assignees, escalation = cast(row.assignees, Text), cast(row.escalation, Text)
    escalated = and_(
        row.escalates_at <= at, or_(escalation.contains(user_id, autoescape=True), escalation.contains('"role"'))
    )
    query = _described(tenant_id).where(
        *_of_spaces(spaces),
        row.status == "pending",
        flow_runs.c.status.in_(run_states),
        or_(row.due_at.is_(None), row.due_at > at),
        or_(row.barred_user_id.is_(None), row.barred_user_id != user_id),
        ~decided,
        or_(assignees == "[]", assignees.contains(user_id, autoescape=True), assignees.contains('"role"'), escalated),
    )
    if run_id is not None:
        query = query.where(row.flow_run_id == run_id)
    query = _most_urgent(query, before).order_by(row.id.desc()).limit(limit)
    rows: Sequence[AnyRow] = (await session.execute(query)).all()
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


def _of_spaces(spaces: Collection[str] | None) -> list[ColumnElement[bool]]:
    return [] if spaces is None else [ApprovalRow.space_id.in_(sorted(spaces))]


def _of_status(status: str | None) -> list[ColumnElement[bool]]:
    row, live = ApprovalRow, flow_runs.c.status.in_(_LIVE)
    if status is None:
        return []
    if status == "pending":
        return [row.status == "pending", live]
    if status == "closed":
        return [row.status == "pending", ~live]
    return [or_(row.status != "pending", ~live)] if status == "decided" else [row.status == status]


def _most_urgent(query: Select[Any], before: str | None) -> Select[Any]:
    """Order by due time, those without one last; `before` is the last approval of the previous page."""
    due = func.coalesce(ApprovalRow.due_at, _NEVER)
    if before is not None:
        row = ApprovalRow.__table__.alias()
        last = select(func.coalesce(row.c.due_at, _NEVER)).where(row.c.id == before).scalar_subquery()
        query = query.where(or_(due > last, and_(due == last, ApprovalRow.id < before)))
    return query.order_by(due)


def _described(tenant_id: str) -> Select[Any]:
    of_flow = and_(FlowRow.id == ApprovalRow.flow_id, FlowRow.tenant_id == ApprovalRow.tenant_id)
    of_run = and_(flow_runs.c.id == ApprovalRow.flow_run_id, flow_runs.c.tenant_id == ApprovalRow.tenant_id)
    starter = and_(User.id == flow_runs.c.user_id, User.tenant_id == ApprovalRow.tenant_id)
    return (
        select(
            ApprovalRow,
            FlowRow.name.label("flow_name"),
            flow_runs.c.status.label("run_status"),
            User.id.label("starter_id"),
            func.coalesce(User.name, literal("")).label("starter_name"),
        )
        .join(FlowRow, of_flow)
        .join(flow_runs, of_run)
        .outerjoin(User, starter)
        .where(ApprovalRow.tenant_id == tenant_id)
        .execution_options(populate_existing=True)
    )
