"""Queries on runs for those who look at them. The tenant is always required. Writing is the store's."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Row, Select, Text, and_, cast, exists, func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import Permission, Role, TenantRole, of_role
from headgate.features.accounts.tables import SpaceMember, User
from headgate.features.flows.tables import FlowRow, VersionStepRow
from headgate.features.runs.deliveries.states import DeliveryStatus
from headgate.features.runs.deliveries.tables import webhook_deliveries
from headgate.features.runs.tables import flow_runs, flow_step_attempts, flow_step_results

AnyRow = Row[*tuple[Any, ...]]
"""A row of plain columns, read by name."""
_OF_FLOW = and_(FlowRow.id == flow_runs.c.flow_id, FlowRow.tenant_id == flow_runs.c.tenant_id)
_OF_VERSION = and_(
    VersionStepRow.flow_id == flow_step_results.c.flow_id,
    VersionStepRow.version == flow_step_results.c.version,
    VersionStepRow.step_id == flow_step_results.c.step_id,
)

_FAILED = (
    select(func.count())
    .where(webhook_deliveries.c.flow_run_id == flow_runs.c.id, webhook_deliveries.c.status == DeliveryStatus.FAILED)
    .correlate(flow_runs)
    .scalar_subquery()
    .label("deliveries_failed")
)
_SHOWN = (flow_runs, _FAILED)
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
    """The user who started a run and may start runs of its flow now; None when nobody did, or they no longer may."""
    query = (
        select(User.id, User.role, SpaceMember.role)
        .select_from(flow_runs)
        .join(FlowRow, _OF_FLOW)
        .join(User, and_(User.id == flow_runs.c.user_id, User.tenant_id == flow_runs.c.tenant_id))
        .outerjoin(
            SpaceMember,
            and_(
                SpaceMember.user_id == User.id,
                SpaceMember.tenant_id == User.tenant_id,
                SpaceMember.space_id == FlowRow.space_id,
            ),
        )
        .where(flow_runs.c.id == run_id, flow_runs.c.tenant_id == tenant_id, User.active)
    )
    row = (await session.execute(query)).one_or_none()
    if row is None:
        return None
    user_id, of_tenant, of_space = row
    may = of_tenant == TenantRole.ADMIN.value or (
        of_space is not None and Permission.RUNS_START in of_role(Role(of_space))
    )
    return str(user_id) if may else None


@dataclass(frozen=True, slots=True)
class RunFilter:
    """Which runs of those that somebody sees are asked for; all of it by indexes."""

    flow_id: str | None = None
    status: str | None = None
    session_id: str | None = None
    since: int | None = None
    """When they were created, in microseconds: then or later, and before `until`."""
    until: int | None = None
    deliveries: str | None = None
    """With a delivery in this state."""

    def conditions(self) -> Iterator[ColumnElement[bool]]:
        """As SQL has them."""
        run = flow_runs.c
        for column in (run.flow_id, run.status, run.session_id):
            if (value := getattr(self, column.name)) is not None:
                yield column == value
        if self.deliveries is not None:
            sent = webhook_deliveries.c
            yield exists().where(sent.flow_run_id == run.id, sent.status == self.deliveries)
        if self.since is not None:
            yield run.created_at >= self.since
        if self.until is not None:
            yield run.created_at < self.until


async def list_runs(
    session: AsyncSession,
    *,
    tenant_id: str,
    spaces: Collection[str] | None,
    which: RunFilter,
    limit: int,
    before: str | None,
) -> Sequence[AnyRow]:
    """Newest first, of flows in these spaces (None: all); `before` is the id of the last run of the page before."""
    query = _newest_first(_SHOWN, tenant_id=tenant_id, spaces=spaces, which=which, before=before)
    found: Sequence[AnyRow] = (await session.execute(query.limit(limit))).all()
    return found


async def search_runs(
    session: AsyncSession,
    *,
    tenant_id: str,
    spaces: Collection[str] | None,
    which: RunFilter,
    words: str,
    among: int,
    limit: int,
    before: str | None,
) -> tuple[Sequence[AnyRow], str | None]:
    """Those with the words in what they were started with or in what came of them, among the newest so many.

    With the id of the last that was looked at, where there were so many. No index knows words inside of words: each
    run's texts are read, and a bound keeps that short however many runs there are.
    """
    seen: dict[str, Any] = {"tenant_id": tenant_id, "spaces": spaces, "which": which, "before": before}
    oldest = _newest_first([flow_runs.c.id], **seen).offset(among - 1).limit(1)
    last: str | None = (await session.execute(oldest)).scalar_one_or_none()
    query = _newest_first(_SHOWN, **seen)
    query = query.where(or_(*(cast(column, Text).icontains(words, autoescape=True) for column in _WORDS)))
    if last is not None:
        query = query.where(flow_runs.c.id >= last)
    return (await session.execute(query.limit(limit))).all(), last


def _newest_first(
    columns: Sequence[Any],
    *,
    tenant_id: str,
    spaces: Collection[str] | None,
    which: RunFilter,
    before: str | None,
) -> Select[Any]:
    # Of a flow an index of the flow serves. Compared as an expression, the tenant's is none that SQLite could prefer.
    tenant = flow_runs.c.tenant_id if which.flow_id is None else flow_runs.c.tenant_id.concat("")
    query = select(*columns).where(tenant == tenant_id, *which.conditions())
    if spaces is not None:
        query = query.join(FlowRow, _OF_FLOW).where(FlowRow.space_id.in_(sorted(spaces)))
    if before is not None:
        query = query.where(flow_runs.c.id < before)
    return query.order_by(flow_runs.c.id.desc())


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
