"""Queries on triggers and occurrences. The tenant is always required, except for the scheduler and public addresses."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Row, Select, and_, case, delete, func, literal, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.accounts.tables import User
from headgate.features.flows.tables import FlowRow
from headgate.features.jobs.queue import Queue
from headgate.features.runs.states import LIVE_RUNS
from headgate.features.runs.tables import flow_runs
from headgate.features.triggers.tables import OccurrenceRow, TriggerRow
from headgate.foundation.database import insert_into

QUEUE = Queue(TriggerRow.__table__, only=TriggerRow.enabled)  # type: ignore[arg-type]
_FRESH = {"populate_existing": True}
_LIVE = [status.value for status in LIVE_RUNS]
AnyRow = Row[*tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class Listed:
    """A trigger with what its row does not contain."""

    row: TriggerRow
    flow_name: str
    space_id: str
    published: bool
    owner_name: str | None


def _listing(tenant_id: str | None) -> Select[*tuple[Any, ...]]:
    query = (
        select(TriggerRow, FlowRow.name, FlowRow.space_id, FlowRow.published_version, User.name)
        .join(FlowRow, and_(FlowRow.id == TriggerRow.flow_id, FlowRow.tenant_id == TriggerRow.tenant_id))
        .outerjoin(User, and_(User.id == TriggerRow.owner_user_id, User.tenant_id == TriggerRow.tenant_id))
        .where(FlowRow.deleted_at.is_(None))
        .execution_options(**_FRESH)
    )
    return query if tenant_id is None else query.where(TriggerRow.tenant_id == tenant_id)


async def find_trigger(session: AsyncSession, trigger_id: str, *, tenant_id: str) -> Listed | None:
    """Return a trigger of a flow that is not deleted."""
    row = (await session.execute(_listing(tenant_id).where(TriggerRow.id == trigger_id))).one_or_none()
    return None if row is None else _listed(row)


async def find_claimed(session: AsyncSession, trigger_id: str) -> Listed | None:
    """Return a trigger that this process has claimed, of any tenant."""
    row = (await session.execute(_listing(None).where(TriggerRow.id == trigger_id))).one_or_none()
    return None if row is None else _listed(row)


async def find_by_address(session: AsyncSession, address: str) -> Listed | None:
    """Return the webhook or the form at a public address, of any tenant."""
    query = _listing(None).where(TriggerRow.address == address)
    row = (await session.execute(query)).one_or_none()
    return None if row is None else _listed(row)


async def list_triggers(
    session: AsyncSession,
    *,
    tenant_id: str,
    spaces: Collection[str] | None,
    flow_id: str | None = None,
    kind: str | None = None,
    state: str | None = None,
    text: str = "",
    limit: int,
    before: str | None = None,
) -> list[Listed]:
    """List the triggers of these spaces (None: all), newest first; with `text` those whose name or flow contains it."""
    query = _listing(tenant_id)
    if spaces is not None:
        query = query.where(FlowRow.space_id.in_(sorted(spaces)))
    if flow_id is not None:
        query = query.where(TriggerRow.flow_id == flow_id)
    if kind is not None:
        query = query.where(TriggerRow.kind == kind)
    if state is not None:
        query = query.where(_state() == state)
    if text:
        names = (TriggerRow.name, FlowRow.name)
        query = query.where(or_(*(name.icontains(text, autoescape=True) for name in names)))
    if before is not None:
        query = query.where(TriggerRow.id < before)
    rows = (await session.execute(query.order_by(TriggerRow.id.desc()).limit(limit))).all()
    return [_listed(row) for row in rows]


def _state() -> ColumnElement[str]:
    """Return the state of a trigger: see `schemas.TriggerState`."""
    row = TriggerRow
    return case(
        (and_(row.enabled, row.poll_failures > 0), "failing"),
        (and_(row.enabled, FlowRow.published_version.is_(None)), "unpublished"),
        (row.enabled, "on"),
        (row.paused_reason != "", "failing"),
        else_="off",
    )


async def count_triggers(session: AsyncSession, flow_id: str, *, tenant_id: str) -> int:
    """Return how many triggers a flow has."""
    query = select(func.count()).select_from(TriggerRow)
    query = query.where(TriggerRow.flow_id == flow_id, TriggerRow.tenant_id == tenant_id)
    return (await session.execute(query)).scalar_one()


async def lock_trigger(session: AsyncSession, trigger_id: str, *, tenant_id: str) -> TriggerRow | None:
    """Return a trigger; no other transaction changes or fires it until this one ends."""
    query = select(TriggerRow).where(TriggerRow.id == trigger_id, TriggerRow.tenant_id == tenant_id)
    return (await session.execute(query.with_for_update().execution_options(**_FRESH))).scalar_one_or_none()


async def add_occurrences(session: AsyncSession, rows: Sequence[dict[str, Any]]) -> int:
    """Insert occurrences; keeps those that exist. Returns how many were added."""
    if not rows:
        return 0
    statement = insert_into(session, OccurrenceRow).on_conflict_do_nothing().returning(OccurrenceRow.id)
    return len((await session.execute(statement.values(list(rows)))).all())


async def find_occurrence(session: AsyncSession, trigger_id: str, key: str, *, tenant_id: str) -> AnyRow | None:
    """Return the occurrence of a trigger with this key, and the status of its run."""
    query = _occurrences(tenant_id).where(OccurrenceRow.trigger_id == trigger_id, OccurrenceRow.occurrence_key == key)
    return (await session.execute(query)).one_or_none()


async def list_occurrences(
    session: AsyncSession,
    trigger_id: str,
    *,
    tenant_id: str,
    status: str | None = None,
    limit: int,
    before: str | None = None,
) -> Sequence[AnyRow]:
    """List the occurrences of a trigger with the status of their runs, newest first."""
    query = _occurrences(tenant_id).where(OccurrenceRow.trigger_id == trigger_id)
    if status is not None:
        query = query.where(OccurrenceRow.status == status)
    if before is not None:
        query = query.where(OccurrenceRow.id < before)
    return (await session.execute(query.order_by(OccurrenceRow.id.desc()).limit(limit))).all()


def _occurrences(tenant_id: str) -> Select[*tuple[Any, ...]]:
    run = and_(flow_runs.c.id == OccurrenceRow.flow_run_id, flow_runs.c.tenant_id == OccurrenceRow.tenant_id)
    query = select(OccurrenceRow, flow_runs.c.status).outerjoin(flow_runs, run)
    return query.where(OccurrenceRow.tenant_id == tenant_id).execution_options(**_FRESH)


async def list_queued(session: AsyncSession, trigger_id: str, *, tenant_id: str, limit: int) -> Sequence[OccurrenceRow]:
    """Return the queued occurrences of a trigger, oldest first."""
    query = (
        select(OccurrenceRow)
        .where(
            OccurrenceRow.trigger_id == trigger_id,
            OccurrenceRow.tenant_id == tenant_id,
            OccurrenceRow.status == "queued",
        )
        .order_by(OccurrenceRow.id)
        .limit(limit)
    )
    return (await session.execute(query.execution_options(**_FRESH))).scalars().all()


async def due_with_rows(
    session: AsyncSession, trigger_id: str, *, tenant_id: str, since: int, until: int, limit: int
) -> frozenset[int]:
    """Return the due times of a range that have an occurrence, oldest first up to a limit."""
    query = select(OccurrenceRow.due_at).where(
        OccurrenceRow.trigger_id == trigger_id,
        OccurrenceRow.tenant_id == tenant_id,
        OccurrenceRow.due_at >= since,
        OccurrenceRow.due_at <= until,
    )
    query = query.order_by(OccurrenceRow.due_at).limit(limit)
    return frozenset((await session.execute(query)).scalars().all())  # type: ignore[arg-type]


async def keys_with_rows(
    session: AsyncSession, trigger_id: str, keys: Collection[str], *, tenant_id: str
) -> frozenset[str]:
    """Return the keys of a trigger that have an occurrence."""
    query = select(OccurrenceRow.occurrence_key).where(
        OccurrenceRow.trigger_id == trigger_id,
        OccurrenceRow.tenant_id == tenant_id,
        OccurrenceRow.occurrence_key.in_(keys),
    )
    return frozenset((await session.execute(query)).scalars().all())


async def has_backfill(session: AsyncSession, trigger_id: str, backfill_id: str, *, tenant_id: str) -> bool:
    """Whether a backfill has created occurrences of the trigger."""
    query = select(OccurrenceRow.id).where(
        OccurrenceRow.trigger_id == trigger_id,
        OccurrenceRow.tenant_id == tenant_id,
        OccurrenceRow.backfill_id == backfill_id,
    )
    return (await session.execute(query.limit(1))).first() is not None


async def cancel_queued(session: AsyncSession, trigger_id: str, backfill_id: str, *, tenant_id: str) -> int:
    """Cancel the queued occurrences of a backfill. Returns how many."""
    statement = update(OccurrenceRow).where(
        OccurrenceRow.trigger_id == trigger_id,
        OccurrenceRow.tenant_id == tenant_id,
        OccurrenceRow.backfill_id == backfill_id,
        OccurrenceRow.status == "queued",
    )
    statement = statement.values(status="cancelled", reason="backfill_cancelled", content=None)
    changed = await session.execute(
        statement.returning(OccurrenceRow.id), execution_options={"synchronize_session": False}
    )
    return len(changed.all())


async def replace_queued(session: AsyncSession, trigger: TriggerRow, newest_id: str, reason: str) -> None:
    """Skip the other occurrences of a trigger that wait for a reason: those of a backfill stay."""
    row = OccurrenceRow
    waits = (row.trigger_id == trigger.id, row.tenant_id == trigger.tenant_id, row.status == "queued")
    statement = update(row).where(*waits, row.reason == reason, row.backfill_id.is_(None), row.id != newest_id)
    statement = statement.values(
        status="skipped", reason="replaced", message="A newer occurrence replaced it in the queue.", content=None
    )
    await session.execute(statement, execution_options={"synchronize_session": False})


async def delete_skipped(session: AsyncSession, trigger: TriggerRow, key: str) -> None:
    """Delete the occurrence of a trigger with this key if it was skipped, so that it is tried again."""
    row = OccurrenceRow
    await session.execute(
        delete(row).where(
            row.trigger_id == trigger.id,
            row.tenant_id == trigger.tenant_id,
            row.occurrence_key == key,
            row.status == "skipped",
        ),
        execution_options={"synchronize_session": False},
    )


async def count_started(session: AsyncSession, trigger: TriggerRow, since: int) -> int:
    """Return how many runs a trigger has started since a time."""
    row = OccurrenceRow
    query = select(func.count()).where(
        row.trigger_id == trigger.id,
        row.tenant_id == trigger.tenant_id,
        row.status == "started",
        row.created_at > since,
    )
    return (await session.execute(query)).scalar_one()


async def live_runs(session: AsyncSession, trigger: TriggerRow) -> Sequence[str]:
    """Return the runs of a trigger that are not over, oldest first."""
    of_run = select(OccurrenceRow.trigger_id).where(OccurrenceRow.flow_run_id == flow_runs.c.id)
    query = (
        select(flow_runs.c.id)
        .where(
            flow_runs.c.flow_id == trigger.flow_id,
            flow_runs.c.tenant_id == trigger.tenant_id,
            flow_runs.c.status.in_(_LIVE),
            literal(trigger.id).in_(of_run.correlate(flow_runs)),
        )
        .order_by(flow_runs.c.created_at, flow_runs.c.id)
    )
    return (await session.execute(query)).scalars().all()


async def last_outcomes(session: AsyncSession, trigger: TriggerRow, limit: int) -> Sequence[str]:
    """Return the statuses of the last ended runs of a trigger since it was enabled, newest first."""
    query = (
        select(flow_runs.c.status)
        .join(OccurrenceRow, OccurrenceRow.flow_run_id == flow_runs.c.id)
        .where(
            OccurrenceRow.trigger_id == trigger.id,
            OccurrenceRow.created_at >= trigger.resumed_at,
            flow_runs.c.status.in_(("completed", "failed", "cancelled")),
        )
        .order_by(OccurrenceRow.created_at.desc(), OccurrenceRow.id.desc())
        .limit(limit)
    )
    return (await session.execute(query)).scalars().all()


async def count_occurrences(
    session: AsyncSession, trigger_id: str, since: int, *, tenant_id: str
) -> tuple[Sequence[AnyRow], AnyRow]:
    """Count the occurrences of a trigger since a time.

    Returns `status`, `reason`, `run_status` and `count_`; and of those with a due time that started a run `many` and
    the percentiles `p50`, `p95` and `p100` of how late they were, in microseconds.
    """
    row, run = OccurrenceRow, flow_runs.c
    own = and_(row.trigger_id == trigger_id, row.tenant_id == tenant_id, row.created_at >= since)
    of_run = and_(run.id == row.flow_run_id, run.tenant_id == row.tenant_id)
    counts = select(row.status, row.reason, run.status.label("run_status"), func.count().label("count_"))
    counts = counts.outerjoin(flow_runs, of_run).where(own).group_by(row.status, row.reason, run.status)
    late = (row.created_at - row.due_at).label("late")
    ranked = (
        select(late, func.row_number().over(order_by=late).label("place"), func.count().over().label("many"))
        .where(own, row.status == "started", row.due_at.is_not(None), row.backfill_id.is_(None))
        .subquery()
    )
    at = (
        func.max(case((ranked.c.place == (ranked.c.many * share + 99) // 100, ranked.c.late))).label(f"p{share}")
        for share in (50, 95, 100)
    )
    lateness = (await session.execute(select(func.count().label("many"), *at).select_from(ranked))).one()
    return (await session.execute(counts)).all(), lateness


async def delete_old(session: AsyncSession, before: int, *, dry: bool = False) -> int:
    """Delete settled occurrences that were created before a time; with `dry` only count them. Returns how many."""
    old = and_(OccurrenceRow.created_at < before, OccurrenceRow.status != "queued")
    if dry:
        return (await session.execute(select(func.count()).select_from(OccurrenceRow).where(old))).scalar_one()
    return len((await session.execute(delete(OccurrenceRow).where(old).returning(OccurrenceRow.id))).all())


async def clear_caught(session: AsyncSession, before: int) -> None:
    """Delete caught calls of triggers, of all tenants, that waited for them until a time."""
    statement = update(TriggerRow).where(TriggerRow.caught.is_not(None), TriggerRow.catching_until < before)
    await session.execute(
        statement.values(caught=None, catching_until=None), execution_options={"synchronize_session": False}
    )


def _listed(row: AnyRow) -> Listed:
    trigger, flow_name, space_id, published, owner = row
    return Listed(trigger, flow_name, space_id, published is not None, owner)
