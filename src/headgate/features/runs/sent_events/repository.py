"""Queries on sent events and the steps that wait for them. The tenant is always required."""

from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import Row, and_, delete, exists, func, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.flows.tables import FlowRow
from headgate.features.runs.sent_events.tables import EventWaitRow, SentEventRow
from headgate.features.runs.sent_events.topic import Topic
from headgate.features.runs.states import LIVE_RUNS, RunStatus
from headgate.features.runs.tables import flow_runs
from headgate.foundation.database import insert_into

AnyRow = Row[*tuple[Any, ...]]
_LIVE = [status.value for status in LIVE_RUNS]
_REPEATABLE = [status.value for status in RunStatus if status not in {RunStatus.COMPLETED, RunStatus.CANCELLED}]
_FRESH = {"populate_existing": True}


async def add_event(session: AsyncSession, values: dict[str, Any], *, tenant_id: str) -> bool:
    """Insert an event. Returns False when the space has an event with its key."""
    row = SentEventRow
    query = insert_into(session, row).values(tenant_id=tenant_id, **values).on_conflict_do_nothing()
    return (await session.execute(query.returning(row.id))).first() is not None


async def find_by_key(session: AsyncSession, space_id: str, event_key: str, *, tenant_id: str) -> SentEventRow | None:
    """Return the event of a space with this key."""
    row = SentEventRow
    query = select(row).where(row.space_id == space_id, row.event_key == event_key, row.tenant_id == tenant_id)
    return (await session.execute(query.execution_options(**_FRESH))).scalar_one_or_none()


async def count_stored(session: AsyncSession, space_id: str, *, tenant_id: str, at: int, most: int) -> int:
    """Return how many events of a space no step or trigger has received and are still kept, `most` at most."""
    row = SentEventRow
    unreceived = (
        select(row.id)
        .where(
            row.space_id == space_id,
            row.tenant_id == tenant_id,
            row.followed.is_(False),
            row.deliveries == 0,
            row.keep_until > at,
        )
        .limit(most)
        .subquery()
    )
    return (await session.execute(select(func.count()).select_from(unreceived))).scalar_one()


async def list_events(
    session: AsyncSession,
    *,
    tenant_id: str,
    spaces: Collection[str] | None,
    name: str | None,
    kept_at: int | None,
    limit: int,
    before: str | None,
) -> Sequence[SentEventRow]:
    """List the events of these spaces (None: all), newest first; `kept_at`: only those that are kept at a time."""
    row = SentEventRow
    query = select(row).where(row.tenant_id == tenant_id)
    if spaces is not None:
        query = query.where(row.space_id.in_(sorted(spaces)))
    if name is not None:
        query = query.where(row.name == name)
    if kept_at is not None:
        query = query.where(row.keep_until > kept_at, or_(row.deliver == "all", row.deliveries == 0))
    if before is not None:
        query = query.where(row.id < before)
    return (await session.execute(query.order_by(row.id.desc()).limit(limit))).scalars().all()


async def add_wait(session: AsyncSession, values: dict[str, Any], *, tenant_id: str) -> None:
    """Insert the wait of a step, unless it exists."""
    await session.execute(
        insert_into(session, EventWaitRow).values(tenant_id=tenant_id, **values).on_conflict_do_nothing()
    )


async def find_wait(session: AsyncSession, run_id: str, step_id: str, *, tenant_id: str) -> EventWaitRow | None:
    """Return the wait of a step."""
    row = EventWaitRow
    query = select(row).where(row.flow_run_id == run_id, row.step_id == step_id, row.tenant_id == tenant_id)
    return (await session.execute(query.execution_options(**_FRESH))).scalar_one_or_none()


async def find_stored(session: AsyncSession, topic: Topic, *, tenant_id: str, at: int) -> SentEventRow | None:
    """Return the oldest kept event of a topic that another step may receive."""
    row = SentEventRow
    query = (
        select(row)
        .where(
            row.space_id == topic.space_id,
            row.tenant_id == tenant_id,
            row.name == topic.name,
            row.correlation == topic.correlation,
            row.keep_until > at,
            or_(row.deliver == "all", row.deliveries == 0),
        )
        .order_by(row.id)
        .limit(1)
    )
    return (await session.execute(query.execution_options(**_FRESH))).scalar_one_or_none()


async def waiting_steps(
    session: AsyncSession, topic: Topic, *, tenant_id: str, at: int, first_only: bool, lock: bool = True
) -> Sequence[tuple[str, str]]:
    """Return run and step of those that wait for a topic: the one that has waited longest, or all.

    Their runs are locked before their steps, in the order in which every transition locks runs.
    """
    row, runs = EventWaitRow, flow_runs.c
    of_run = and_(runs.id == row.flow_run_id, runs.tenant_id == row.tenant_id)
    query = (
        select(row.flow_run_id, row.step_id)
        .join(flow_runs, of_run)
        .where(
            row.space_id == topic.space_id,
            row.tenant_id == tenant_id,
            row.name == topic.name,
            row.correlation == topic.correlation,
            row.status == "waiting",
            or_(row.due_at.is_(None), row.due_at > at),
            runs.status.in_(_LIVE),
        )
    )
    if first_only:
        query = query.order_by(row.created_at, row.flow_run_id, row.step_id).limit(1)
    else:
        query = query.order_by(row.flow_run_id, row.step_id)
    if lock:
        query = query.with_for_update(key_share=True, of=flow_runs)
    return [(wait.flow_run_id, wait.step_id) for wait in await session.execute(query)]


async def settle_wait(
    session: AsyncSession, run_id: str, step_id: str, changes: dict[str, Any], *, tenant_id: str
) -> bool:
    """End the wait of a step by compare-and-swap. Returns False when it is over already."""
    row = EventWaitRow
    query = (
        update(row)
        .where(
            row.flow_run_id == run_id,
            row.step_id == step_id,
            row.tenant_id == tenant_id,
            row.status == "waiting",
        )
        .values(**changes)
        .returning(row.step_id)
    )
    return (await session.execute(query.execution_options(synchronize_session=False))).first() is not None


async def count_delivery(session: AsyncSession, event_id: str, steps: int, *, tenant_id: str) -> None:
    """Add the steps that received an event."""
    row = SentEventRow
    query = update(row).where(row.id == event_id, row.tenant_id == tenant_id)
    await session.execute(query.values(deliveries=row.deliveries + steps).execution_options(synchronize_session=False))


async def mark_followed(session: AsyncSession, event_ids: Collection[str], *, tenant_id: str) -> None:
    """Record that a trigger has fired for events."""
    row = SentEventRow
    query = update(row).where(row.id.in_(event_ids), row.tenant_id == tenant_id).values(followed=True)
    await session.execute(query.execution_options(synchronize_session=False))


async def list_waiting(
    session: AsyncSession,
    *,
    tenant_id: str,
    spaces: Collection[str] | None,
    run_id: str | None,
    name: str | None,
    limit: int,
) -> Sequence[AnyRow]:
    """List steps of these spaces (None: all) that wait: `EventWaitRow` and `flow_name`, newest first."""
    row = EventWaitRow
    query = (
        select(row, FlowRow.name.label("flow_name"))
        .join(FlowRow, and_(FlowRow.id == row.flow_id, FlowRow.tenant_id == row.tenant_id))
        .join(flow_runs, and_(flow_runs.c.id == row.flow_run_id, flow_runs.c.tenant_id == row.tenant_id))
        .where(row.tenant_id == tenant_id, row.status == "waiting", flow_runs.c.status.in_(_LIVE))
    )
    if spaces is not None:
        query = query.where(row.space_id.in_(sorted(spaces)))
    if run_id is not None:
        query = query.where(row.flow_run_id == run_id)
    if name is not None:
        query = query.where(row.name == name)
    query = query.order_by(row.created_at.desc(), row.flow_run_id, row.step_id).limit(limit)
    rows: Sequence[AnyRow] = (await session.execute(query)).all()
    return rows


async def list_of_run(session: AsyncSession, run_id: str, *, tenant_id: str) -> Sequence[EventWaitRow]:
    """List the waits of a run's steps, oldest first."""
    row = EventWaitRow
    query = select(row).where(row.flow_run_id == run_id, row.tenant_id == tenant_id)
    return (await session.execute(query.order_by(row.created_at, row.step_id))).scalars().all()


async def delete_expired(session: AsyncSession, before: int, *, at: int, dry: bool = False) -> int:
    """Delete, in all tenants, events whose time is over; `dry` only counts. Returns how many.

    Args:
        session: The transaction.
        before: Events received later are kept, because their key is still in use: microseconds in UTC.
        at: The time now.
        dry: Whether nothing is deleted.
    """
    row = SentEventRow
    sending = exists().where(flow_runs.c.id == row.flow_run_id, flow_runs.c.status.in_(_REPEATABLE))
    expired = and_(row.keep_until <= at, row.received_at < before, ~sending)
    if dry:
        return (await session.execute(select(func.count()).select_from(row).where(expired))).scalar_one()
    deleted = await session.execute(
        delete(row).where(expired).returning(row.id).execution_options(synchronize_session=False)
    )
    return len(deleted.all())
