"""Every query on deliveries. Each of them names the tenant, but for the two that the worker makes for all tenants."""

from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import Row, and_, exists, insert, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.flows.tables import FlowRow
from headgate.features.runs.deliveries.states import OPEN, REDELIVERED, DeliveryStatus
from headgate.features.runs.deliveries.tables import webhook_deliveries, webhook_delivery_attempts
from headgate.features.runs.errors import WORKER_LOST
from headgate.features.runs.states import RunStatus
from headgate.features.runs.tables import flow_runs, flow_step_results

AnyRow = Row[*tuple[Any, ...]]
_D, _A = webhook_deliveries.c, webhook_delivery_attempts.c
_UNWANTED = exists().where(
    flow_runs.c.id == _D.flow_run_id,
    or_(
        flow_runs.c.status == RunStatus.CANCELLED,
        exists().where(FlowRow.id == flow_runs.c.flow_id, FlowRow.deleted_at.is_not(None)),
    ),
)
"""The run was cancelled, or its flow deleted."""
_LET_GO = {"worker_id": None, "lease_until": None}


async def list_deliveries(
    session: AsyncSession, run_id: str, *, tenant_id: str, step_id: str | None = None
) -> Sequence[AnyRow]:
    """The deliveries of a run, or of one of its steps, oldest first."""
    query = select(webhook_deliveries).where(_D.flow_run_id == run_id, _D.tenant_id == tenant_id)
    if step_id is not None:
        query = query.where(_D.step_id == step_id)
    return (await session.execute(query.order_by(_D.created_at, _D.id))).all()


async def list_attempts(session: AsyncSession, delivery_ids: Collection[str], *, tenant_id: str) -> Sequence[AnyRow]:
    """Attempts at deliveries, in order."""
    query = select(webhook_delivery_attempts).where(_A.delivery_id.in_(delivery_ids), _A.tenant_id == tenant_id)
    return (await session.execute(query.order_by(_A.delivery_id, _A.attempt_no))).all()


async def find_due(session: AsyncSession, *, at: int, limit: int) -> Sequence[str]:
    """Ids of deliveries, of any tenant, that are to be tried now or whose worker let its lease run out."""
    query = select(_D.id).where(_D.status.in_(OPEN), _D.next_attempt_at <= at).order_by(_D.next_attempt_at).limit(limit)
    return (await session.execute(query)).scalars().all()


async def open_attempt(
    session: AsyncSession, delivery_id: str, *, worker_id: str, at: int, lease_until: int
) -> AnyRow | None:
    """Claim a delivery for one more attempt: compare-and-swap, so that one worker has it.

    Its row as it is then, with the step's `output_payload`; None when it is somebody else's, made or given up. The
    attempt that a dead worker left open is closed. A delivery of a cancelled run or deleted flow is cancelled instead.
    """
    mine = and_(_D.id == delivery_id, _D.status.in_(OPEN))
    stop = update(webhook_deliveries).where(mine, _UNWANTED)
    if (await session.execute(stop.values(status=DeliveryStatus.CANCELLED, next_attempt_at=None, **_LET_GO))).rowcount:  # type: ignore[attr-defined]
        return None
    claim = (
        update(webhook_deliveries)
        .where(mine, or_(_D.status == DeliveryStatus.PENDING, _D.worker_id == worker_id, _D.lease_until < at))
        .values(
            status=DeliveryStatus.DELIVERING,
            attempts=_D.attempts + 1,
            worker_id=worker_id,
            lease_until=lease_until,
            next_attempt_at=lease_until,
        )
        .returning(webhook_deliveries)
    )
    row: AnyRow | None = (await session.execute(claim)).one_or_none()
    if row is None:
        return None
    left = update(webhook_delivery_attempts).where(_A.delivery_id == delivery_id, _A.finished_at.is_(None))
    lost = "The worker died or was out of reach; whether the receiver got it is unknown."
    await session.execute(left.values(finished_at=at, error_code=WORKER_LOST, error_message=lost))
    opened = {"delivery_id": row.id, "tenant_id": row.tenant_id, "attempt_no": row.attempts, "started_at": at}
    await session.execute(insert(webhook_delivery_attempts).values(opened))
    return row


async def find_output(session: AsyncSession, delivery: AnyRow) -> dict[str, Any] | None:
    """The stored output of the step that a delivery is of."""
    query = select(flow_step_results.c.output_payload).where(
        flow_step_results.c.flow_run_id == delivery.flow_run_id,
        flow_step_results.c.step_id == delivery.step_id,
        flow_step_results.c.tenant_id == delivery.tenant_id,
    )
    found: dict[str, Any] | None = (await session.execute(query)).scalar_one_or_none()
    return found


async def close_attempt(
    session: AsyncSession, delivery: AnyRow, *, attempt: dict[str, Any], change: dict[str, Any]
) -> bool:
    """Write down what an attempt came to, and where the delivery stands; False when it was taken over meanwhile."""
    mine = and_(_A.delivery_id == delivery.id, _A.attempt_no == delivery.attempts, _A.finished_at.is_(None))
    await session.execute(update(webhook_delivery_attempts).where(mine).values(attempt))
    held = and_(
        _D.id == delivery.id,
        _D.status == DeliveryStatus.DELIVERING,
        _D.worker_id == delivery.worker_id,
        _D.attempts == delivery.attempts,
    )
    found = await session.execute(update(webhook_deliveries).where(held).values(change).returning(_D.id))
    return found.scalar_one_or_none() is not None


async def reopen(session: AsyncSession, delivery_ids: Collection[str], *, tenant_id: str, at: int) -> Sequence[str]:
    """Let deliveries that were delivered or failed be sent again, in a new series of rounds. Returns their ids.

    Attempt numbers continue, so that the history keeps every attempt.
    """
    again = (
        update(webhook_deliveries)
        .where(_D.id.in_(delivery_ids), _D.tenant_id == tenant_id, _D.status.in_(REDELIVERED), ~_UNWANTED)
        .values(
            status=DeliveryStatus.PENDING,
            next_attempt_at=at,
            delivered_at=None,
            earlier_attempts=_D.attempts,
            **_LET_GO,
        )
        .returning(_D.id)
    )
    found: Sequence[str] = (await session.execute(again)).scalars().all()
    return found
