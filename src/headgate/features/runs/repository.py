"""Read queries on runs for users. The tenant is always required. Only the store writes."""

from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import Row, Select, Text, and_, cast, func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import Permission, Role, TenantRole, of_role
from headgate.features.accounts.tables import SpaceMember, User
from headgate.features.flows.tables import FlowRow, FlowVersionRow, VersionStepRow
from headgate.features.runs.deliveries.states import DeliveryStatus
from headgate.features.runs.deliveries.tables import webhook_deliveries
from headgate.features.runs.run_filter import RunFilter
from headgate.features.runs.tables import flow_run_events, flow_runs, flow_step_attempts, flow_step_results

AnyRow = Row[*tuple[Any, ...]]
"""A row of columns, read by name."""
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
    """Return a run's row, with the space of its flow as `space_id`."""
    query = (
        select(flow_runs, FlowRow.space_id)
        .join(FlowRow, _OF_FLOW)
        .where(flow_runs.c.id == run_id, flow_runs.c.tenant_id == tenant_id)
    )
    return (await session.execute(query)).one_or_none()


async def find_starter(session: AsyncSession, run_id: str, *, tenant_id: str) -> tuple[str, Role] | None:
    """Return the user who started a run and may still start runs of its flow, and the role; None if there is none."""
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
    if not _may_start(of_tenant, of_space):
        return None
    return str(user_id), Role.OWNER if of_tenant == TenantRole.ADMIN.value else Role(of_space)


async def may_start(
    session: AsyncSession, flow_id: str, user_id: str | None, *, tenant_id: str, without_user: bool
) -> bool:
    """Return whether a user may start runs of a flow that is not deleted; without a user what the caller says."""
    flow = select(FlowRow.space_id).where(
        FlowRow.id == flow_id, FlowRow.tenant_id == tenant_id, FlowRow.deleted_at.is_(None)
    )
    space_id = (await session.execute(flow)).scalar_one_or_none()
    if space_id is None or user_id is None:
        return space_id is not None and without_user
    query = (
        select(User.role, SpaceMember.role)
        .outerjoin(
            SpaceMember,
            and_(
                SpaceMember.user_id == User.id,
                SpaceMember.tenant_id == User.tenant_id,
                SpaceMember.space_id == space_id,
            ),
        )
        .where(User.id == user_id, User.tenant_id == tenant_id, User.active)
    )
    row = (await session.execute(query)).one_or_none()
    return row is not None and _may_start(*row)


def _may_start(of_tenant: str, of_space: str | None) -> bool:
    """Return whether a user with these roles may start runs in the space."""
    return of_tenant == TenantRole.ADMIN.value or (
        of_space is not None and Permission.RUNS_START in of_role(Role(of_space))
    )


async def list_runs(
    session: AsyncSession,
    *,
    tenant_id: str,
    spaces: Collection[str] | None,
    run_filter: RunFilter,
    limit: int,
    before: str | None,
) -> Sequence[AnyRow]:
    """List runs of flows in these spaces (None: all), newest first; `before` is the previous page's last run id."""
    query = _newest_first(_SHOWN, tenant_id=tenant_id, spaces=spaces, run_filter=run_filter, before=before)
    rows: Sequence[AnyRow] = (await session.execute(query.limit(limit))).all()
    return rows


async def search_runs(
    session: AsyncSession,
    *,
    tenant_id: str,
    spaces: Collection[str] | None,
    run_filter: RunFilter,
    words: str,
    among: int,
    limit: int,
    before: str | None,
) -> tuple[Sequence[AnyRow], str | None]:
    """Search the input and the result of the newest runs, up to a limit, for words.

    Returns also the last run id that was searched when the limit was reached. No index supports substring search: each
    run's texts are read, and the limit bounds the time.
    """
    parameters: dict[str, Any] = {"tenant_id": tenant_id, "spaces": spaces, "run_filter": run_filter, "before": before}
    oldest = _newest_first([flow_runs.c.id], **parameters).offset(among - 1).limit(1)
    last: str | None = (await session.execute(oldest)).scalar_one_or_none()
    query = _newest_first(_SHOWN, **parameters)
    query = query.where(or_(*(cast(column, Text).icontains(words, autoescape=True) for column in _WORDS)))
    if last is not None:
        query = query.where(flow_runs.c.id >= last)
    return (await session.execute(query.limit(limit))).all(), last


def _newest_first(
    columns: Sequence[Any],
    *,
    tenant_id: str,
    spaces: Collection[str] | None,
    run_filter: RunFilter,
    before: str | None,
) -> Select[Any]:
    # As an expression, the tenant condition offers SQLite no other index to prefer.
    tenant = flow_runs.c.tenant_id.concat("") if run_filter.of_one else flow_runs.c.tenant_id
    query = select(*columns).where(tenant == tenant_id, *run_filter.conditions())
    if spaces is not None:
        query = query.join(FlowRow, _OF_FLOW).where(FlowRow.space_id.in_(sorted(spaces)))
    if before is not None:
        query = query.where(flow_runs.c.id < before)
    return query.order_by(flow_runs.c.id.desc())


async def flows_of_runs(session: AsyncSession, run_ids: Collection[str], *, tenant_id: str) -> Sequence[AnyRow]:
    """Return of runs, as `id`: name and owner of the flow, and the release of the version."""
    run = flow_runs.c
    version = and_(FlowVersionRow.flow_id == run.flow_id, FlowVersionRow.version == run.version)
    query = (
        select(run.id, FlowRow.name, FlowRow.owner_user_id, User.name.label("owner"), FlowVersionRow.release)
        .join(FlowRow, _OF_FLOW)
        .join(FlowVersionRow, version)
        .outerjoin(User, and_(User.id == FlowRow.owner_user_id, User.tenant_id == FlowRow.tenant_id))
        .where(run.id.in_(run_ids), run.tenant_id == tenant_id)
    )
    return (await session.execute(query)).all()


async def waits_of_runs(session: AsyncSession, run_ids: Collection[str], *, tenant_id: str) -> Sequence[AnyRow]:
    """Return what steps of runs wait for, as `flow_run_id` and `waits_for`, each once, in a fixed order."""
    step = flow_step_results.c
    query = select(step.flow_run_id, step.waits_for).distinct().order_by(step.flow_run_id, step.waits_for)
    waits = (step.status == "waiting", step.waits_for.is_not(None))
    rows = await session.execute(query.where(step.flow_run_id.in_(run_ids), step.tenant_id == tenant_id, *waits))
    return rows.all()


async def list_steps(session: AsyncSession, run_id: str, *, tenant_id: str) -> Sequence[AnyRow]:
    """List a run's steps in order, each with its component type as `type`."""
    query = (
        select(flow_step_results, VersionStepRow.type)
        .join(VersionStepRow, _OF_VERSION)
        .where(flow_step_results.c.flow_run_id == run_id, flow_step_results.c.tenant_id == tenant_id)
        .order_by(flow_step_results.c.step_order)
    )
    return (await session.execute(query)).all()


async def versions_of(session: AsyncSession, run_ids: Collection[str], *, tenant_id: str) -> dict[str, int]:
    """Map run ids of the tenant to the version that each run executed."""
    query = select(flow_runs.c.id, flow_runs.c.version)
    rows = await session.execute(query.where(flow_runs.c.id.in_(run_ids), flow_runs.c.tenant_id == tenant_id))
    return {row.id: row.version for row in rows}


async def list_started_runs(session: AsyncSession, run_id: str, *, tenant_id: str) -> Sequence[AnyRow]:
    """List the runs that the steps of a run started, in order: their ids, flows and places."""
    run = flow_runs.c
    columns = run.id, run.flow_id, run.version, run.parent_step_id, run.parent_iteration
    query = select(*columns).where(run.parent_run_id == run_id, run.tenant_id.concat("") == tenant_id)
    return (await session.execute(query.order_by(run.parent_step_id, run.parent_iteration))).all()


async def count_started_runs(session: AsyncSession, run_id: str, *, tenant_id: str) -> Sequence[AnyRow]:
    """Count the runs that the steps of a run started: step id, status and count."""
    run = flow_runs.c
    query = select(run.parent_step_id, run.status, func.count().label("count"))
    query = query.where(run.parent_run_id == run_id, run.tenant_id.concat("") == tenant_id)
    return (await session.execute(query.group_by(run.parent_step_id, run.status))).all()


async def list_expected_runs(session: AsyncSession, run_id: str, *, tenant_id: str) -> Sequence[AnyRow]:
    """List the steps of a run that know how many runs they start: step id and number."""
    step = flow_step_results.c
    query = select(step.step_id, step.expected_runs).where(step.flow_run_id == run_id, step.tenant_id == tenant_id)
    return (await session.execute(query.where(step.expected_runs.is_not(None)))).all()


async def list_pauses(session: AsyncSession, run_id: str, *, tenant_id: str) -> Sequence[AnyRow]:
    """List the events that a run was paused or continued, in order."""
    events = flow_run_events.c
    query = (
        select(events.kind, events.at)
        .join(flow_runs, flow_runs.c.id == events.flow_run_id)
        .where(events.flow_run_id == run_id, flow_runs.c.tenant_id == tenant_id)
        .where(events.kind.in_(["run_paused", "run_continued"]))
        .order_by(events.seq)
    )
    return (await session.execute(query)).all()


async def list_attempts(
    session: AsyncSession, run_id: str, *, tenant_id: str, step_id: str | None = None
) -> Sequence[AnyRow]:
    """List the attempts at the steps of a run, or at one of them, in order."""
    table = flow_step_attempts
    query = select(table).where(table.c.flow_run_id == run_id, table.c.tenant_id == tenant_id)
    if step_id is not None:
        query = query.where(table.c.step_id == step_id)
    return (await session.execute(query.order_by(table.c.step_order, table.c.attempt_no))).all()
