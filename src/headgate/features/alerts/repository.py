"""Queries on rules, alerts and notices. The tenant is always required."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Row, Select, and_, case, delete, func, or_, select, true, update
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.alerts.tables import AlertNoticeRow, AlertRow, AlertRuleRow
from headgate.features.flows.tables import FlowRow

AnyRow = Row[*tuple[Any, ...]]
Spaces = Collection[str] | None
"""Of whose rules; None: of every space and of the organisation."""
_RULE = AlertRuleRow


@dataclass(frozen=True, slots=True)
class Listed:
    """A rule with what its row does not contain."""

    row: AlertRuleRow
    flow_name: str | None
    open: int
    unseen: int
    """Of these, how many nobody acknowledged."""
    failed: int


def _listing(tenant_id: str) -> Select[*tuple[Any, ...]]:
    unresolved = and_(AlertRow.rule_id == _RULE.id, AlertRow.state != "resolved")
    failed = and_(AlertNoticeRow.rule_id == _RULE.id, AlertNoticeRow.status == "failed")
    counts = (
        select(func.count()).where(unresolved).correlate(_RULE).scalar_subquery(),
        select(func.coalesce(func.sum(case((AlertRow.state == "open", 1), else_=0)), 0))
        .where(unresolved)
        .correlate(_RULE)
        .scalar_subquery(),
        select(func.count()).where(failed).correlate(_RULE).scalar_subquery(),
    )
    of_flow = and_(FlowRow.id == _RULE.flow_id, FlowRow.tenant_id == _RULE.tenant_id)
    return select(_RULE, FlowRow.name, *counts).outerjoin(FlowRow, of_flow).where(_RULE.tenant_id == tenant_id)


async def list_rules(
    session: AsyncSession,
    *,
    tenant_id: str,
    spaces: Spaces,
    flow_id: str | None = None,
    rule_id: str | None = None,
    limit: int,
    before: str | None = None,
) -> list[Listed]:
    """Return rules of these spaces, newest first, without those of deleted flows; with `flow_id` those of the flow."""
    query = _listing(tenant_id).where(_visible(spaces))
    if flow_id is not None:
        query = query.where(_RULE.flow_id == flow_id)
    query = query.where(FlowRow.deleted_at.is_(None) if rule_id is None else _RULE.id == rule_id)
    if before is not None:
        query = query.where(_RULE.id < before)
    rows = (await session.execute(query.order_by(_RULE.id.desc()).limit(limit))).all()
    return [Listed(row[0], row[1], row[2], int(row[3]), row[4]) for row in rows]


def _visible(spaces: Spaces) -> Any:  # noqa: ANN401 - a condition
    return true() if spaces is None else _RULE.space_id.in_(sorted(spaces))


async def lock_rule(session: AsyncSession, rule_id: str, *, tenant_id: str) -> AlertRuleRow | None:
    """Return a rule; no other transaction changes or evaluates it until this one ends."""
    query = select(_RULE).where(_RULE.id == rule_id, _RULE.tenant_id == tenant_id).with_for_update()
    return (await session.execute(query.execution_options(populate_existing=True))).scalar_one_or_none()


async def count_rules(session: AsyncSession, *, tenant_id: str) -> int:
    """Return how many rules a tenant has."""
    query = select(func.count()).select_from(_RULE).where(_RULE.tenant_id == tenant_id)
    return (await session.execute(query)).scalar_one()


def _alerts(tenant_id: str, spaces: Spaces) -> Select[*tuple[Any, ...]]:
    query = select(AlertRow, _RULE).join(_RULE, _RULE.id == AlertRow.rule_id).where(AlertRow.tenant_id == tenant_id)
    if spaces is None:
        return query
    return query.where(or_(_RULE.space_id.in_(sorted(spaces)), AlertRow.space_id.in_(sorted(spaces))))


async def list_alerts(
    session: AsyncSession,
    *,
    tenant_id: str,
    spaces: Spaces,
    rule_id: str | None = None,
    state: str | None = None,
    alert_id: str | None = None,
    limit: int,
    before: str | None = None,
) -> Sequence[AnyRow]:
    """Return alerts with their rules, newest first: those of rules and of flows of these spaces."""
    query = _alerts(tenant_id, spaces)
    if rule_id is not None:
        query = query.where(AlertRow.rule_id == rule_id)
    if state is not None:
        query = query.where(AlertRow.state == state)
    if alert_id is not None:
        query = query.where(AlertRow.id == alert_id)
    if before is not None:
        query = query.where(AlertRow.id < before)
    return (await session.execute(query.order_by(AlertRow.id.desc()).limit(limit))).all()


async def list_notices(
    session: AsyncSession,
    *,
    tenant_id: str,
    spaces: Spaces,
    rule_id: str | None = None,
    notice_id: str | None = None,
    limit: int,
    before: str | None = None,
) -> Sequence[AnyRow]:
    """Return notices with their rules, newest first."""
    query = select(AlertNoticeRow, _RULE).join(_RULE, _RULE.id == AlertNoticeRow.rule_id)
    query = query.where(AlertNoticeRow.tenant_id == tenant_id, _visible(spaces))
    if rule_id is not None:
        query = query.where(AlertNoticeRow.rule_id == rule_id)
    if notice_id is not None:
        query = query.where(AlertNoticeRow.id == notice_id)
    if before is not None:
        query = query.where(AlertNoticeRow.id < before)
    query = query.order_by(AlertNoticeRow.id.desc()).limit(limit)
    return (await session.execute(query.execution_options(populate_existing=True))).all()


async def reopen_notice(session: AsyncSession, notice_id: str, at: int, *, tenant_id: str) -> bool:
    """Make a failed notice due again; False when it has not failed."""
    row = AlertNoticeRow
    change = update(row).where(row.id == notice_id, row.tenant_id == tenant_id, row.status == "failed")
    change = change.values(status="pending", due_at=at, error_code=None, error_message=None).returning(row.id)
    return (await session.execute(change)).first() is not None


async def delete_old(session: AsyncSession, before: int, *, dry: bool) -> int:
    """Delete resolved alerts and finished notices older than a time, of every tenant; return how many alerts.

    `dry` only counts.
    """
    old = and_(AlertRow.resolved_at < before, AlertRow.pending == "")
    count = (await session.execute(select(func.count()).select_from(AlertRow).where(old))).scalar_one()
    if not dry:
        await session.execute(delete(AlertRow).where(old))
        row = AlertNoticeRow
        await session.execute(delete(row).where(row.created_at < before, row.status != "pending"))
    return count
