"""Queries on deliveries. Each requires a tenant, except the two that the worker runs across all tenants."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from pydantic import JsonValue
from sqlalchemy import Row, and_, exists, insert, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.flows.tables import FlowRow
from headgate.features.jobs.errors import LeaseLost
from headgate.features.jobs.queue import Job, Queue
from headgate.features.runs.deliveries.states import REDELIVERED, DeliveryStatus
from headgate.features.runs.deliveries.tables import webhook_deliveries, webhook_delivery_attempts
from headgate.features.runs.errors import WORKER_LOST
from headgate.features.runs.states import RunStatus
from headgate.features.runs.tables import flow_run_events, flow_runs, flow_step_results

AnyRow = Row[*tuple[Any, ...]]
_D, _A = webhook_deliveries.c, webhook_delivery_attempts.c
_UNWANTED = exists().where(
    flow_runs.c.id == _D.flow_run_id,
    or_(
        flow_runs.c.status == RunStatus.CANCELLED,
        exists().where(FlowRow.id == flow_runs.c.flow_id, FlowRow.deleted_at.is_not(None)),
    ),
)
"""Matches when the run was cancelled or its flow deleted."""
QUEUE = Queue(webhook_deliveries)
"""The queue of due deliveries."""


async def list_deliveries(
    session: AsyncSession, run_id: str, *, tenant_id: str, step_id: str | None = None
) -> Sequence[AnyRow]:
    """List the deliveries of a run, or of one of its steps, oldest first."""
    query = select(webhook_deliveries).where(_D.flow_run_id == run_id, _D.tenant_id == tenant_id)
    if step_id is not None:
        query = query.where(_D.step_id == step_id)
    return (await session.execute(query.order_by(_D.created_at, _D.id))).all()


async def find_deliveries(
    session: AsyncSession,
    *,
    tenant_id: str,
    spaces: Collection[str] | None,
    status: str | None = None,
    flow_id: str | None = None,
    ids: Collection[str] | None = None,
    before: str | None = None,
    limit: int,
) -> Sequence[AnyRow]:
    """List deliveries of flows in these spaces (None: all), newest first, each with `space_id` and `flow_name`."""
    query = (
        select(webhook_deliveries, FlowRow.space_id, FlowRow.name.label("flow_name"))
        .join(FlowRow, and_(FlowRow.id == _D.flow_id, FlowRow.tenant_id == _D.tenant_id))
        .where(_D.tenant_id == tenant_id)
    )
    if spaces is not None:
        query = query.where(FlowRow.space_id.in_(sorted(spaces)))
    for column, value in ((_D.status, status), (_D.flow_id, flow_id)):
        if value is not None:
            query = query.where(column == value)
    if ids is not None:
        query = query.where(_D.id.in_(ids))
    if before is not None:
        query = query.where(_D.id < before)
    return (await session.execute(query.order_by(_D.id.desc()).limit(limit))).all()


async def list_attempts(session: AsyncSession, delivery_ids: Collection[str], *, tenant_id: str) -> Sequence[AnyRow]:
    """List the attempts at deliveries, in order."""
    query = select(webhook_delivery_attempts).where(_A.delivery_id.in_(delivery_ids), _A.tenant_id == tenant_id)
    return (await session.execute(query.order_by(_A.delivery_id, _A.attempt_no))).all()


async def open_attempt(session: AsyncSession, job: Job, at: int, *, again: bool) -> bool:
    """Store the start of an attempt, `again` under the same claim. Returns False when there is nothing left to send.

    An attempt that a dead worker left open is closed. If the run was cancelled or the flow deleted, the delivery is
    cancelled instead. Raises `LeaseLost`.
    """
    unwanted = select(_D.id).where(_D.id == job.id, _UNWANTED)
    if (await session.execute(unwanted)).one_or_none() is not None:
        await QUEUE.finish(session, job, status=DeliveryStatus.CANCELLED)
        return False
    if again and not await QUEUE.attempt_again(session, job):
        raise LeaseLost(f"Delivery {job.id} was claimed by another worker.")
    claimed = update(webhook_deliveries).where(QUEUE.held(job))
    await session.execute(claimed.values(status=DeliveryStatus.DELIVERING))
    open_attempts = update(webhook_delivery_attempts).where(_A.delivery_id == job.id, _A.finished_at.is_(None))
    message = "The worker died or lost its connection; it is unknown whether the receiver got the request."
    await session.execute(open_attempts.values(finished_at=at, error_code=WORKER_LOST, error_message=message))
    opened = {"delivery_id": job.id, "tenant_id": job.row.tenant_id, "attempt_no": job.attempt, "started_at": at}
    await session.execute(insert(webhook_delivery_attempts).values(opened))
    return True


async def find_output(session: AsyncSession, delivery: AnyRow) -> AnyRow | None:
    """Return `version` and `output_payload` of the step that a delivery sends."""
    query = select(flow_step_results.c.version, flow_step_results.c.output_payload).where(
        flow_step_results.c.flow_run_id == delivery.flow_run_id,
        flow_step_results.c.step_id == delivery.step_id,
        flow_step_results.c.tenant_id == delivery.tenant_id,
    )
    return (await session.execute(query)).one_or_none()


async def close_attempt(session: AsyncSession, job: Job, **columns: Any) -> None:  # noqa: ANN401 - columns
    """Store the outcome of an attempt."""
    open_attempt = and_(_A.delivery_id == job.id, _A.attempt_no == job.attempt, _A.finished_at.is_(None))
    await session.execute(update(webhook_delivery_attempts).where(open_attempt).values(columns))


async def append_event(session: AsyncSession, job: Job, kind: str, data: Mapping[str, JsonValue], at: int) -> None:
    """Append an event of an attempt to the run's event log."""
    count = update(flow_runs).where(flow_runs.c.id == job.row.flow_run_id, flow_runs.c.tenant_id == job.row.tenant_id)
    counted = await session.execute(
        count.values(last_event=flow_runs.c.last_event + 1).returning(flow_runs.c.last_event)
    )
    event = {"seq": counted.scalar_one(), "kind": kind, "step_id": job.row.step_id, "attempt": job.attempt, "at": at}
    event_data = {"delivery_id": job.id, **data}
    await session.execute(insert(flow_run_events).values(flow_run_id=job.row.flow_run_id, data=event_data, **event))


async def update_claimed(session: AsyncSession, job: Job, **change: Any) -> bool:  # noqa: ANN401 - columns
    """Update a delivery that is retried under the same claim. Returns False when the claim is lost."""
    result = await session.execute(update(webhook_deliveries).where(QUEUE.held(job)).values(change).returning(_D.id))
    return result.scalar_one_or_none() is not None


async def reopen(session: AsyncSession, delivery_ids: Collection[str], *, tenant_id: str, at: int) -> Sequence[str]:
    """Queue delivered and failed deliveries again, in a new series of rounds. Returns their ids.

    Attempt numbers continue, so that the history keeps every attempt.
    """
    again = (
        update(webhook_deliveries)
        .where(_D.id.in_(delivery_ids), _D.tenant_id == tenant_id, _D.status.in_(REDELIVERED), ~_UNWANTED)
        .values(
            status=DeliveryStatus.PENDING,
            due_at=at,
            delivered_at=None,
            earlier_attempts=_D.attempts,
        )
        .returning(_D.id)
    )
    ids: Sequence[str] = (await session.execute(again)).scalars().all()
    return ids


async def hasten(session: AsyncSession, delivery_ids: Collection[str], *, tenant_id: str, at: int) -> None:
    """Make deliveries that wait for a later attempt due immediately."""
    waiting = and_(_D.status == DeliveryStatus.PENDING, _D.worker_id.is_(None))
    condition = and_(_D.id.in_(delivery_ids), _D.tenant_id == tenant_id)
    await session.execute(update(webhook_deliveries).where(condition, waiting).values(due_at=at))
