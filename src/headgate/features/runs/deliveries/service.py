"""Lists deliveries and queues them again. No step of a run is executed."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal
from headgate.features.audit.recorder import record
from headgate.features.flows.errors import FlowNotFound
from headgate.features.flows.service import space_of
from headgate.features.runs.deliveries import repository
from headgate.features.runs.deliveries.schemas import (
    MOST_REDELIVERED,
    DeliveryAttemptOut,
    DeliveryError,
    DeliveryOut,
    DeliveryState,
)
from headgate.features.runs.deliveries.states import DeliveryStatus
from headgate.features.runs.errors import DeliveryNotFound, NotRedeliverable
from headgate.features.runs.permitted import find_run
from headgate.features.runs.repository import AnyRow
from headgate.features.runs.transitions import clock
from headgate.foundation.database import moment
from headgate.foundation.shaped import shaped


async def list_deliveries(
    session: AsyncSession,
    principal: Principal,
    run_id: str,
    *,
    step_id: str | None = None,
    permission: Permission = Permission.RUNS_VIEW,
) -> list[DeliveryOut]:
    """List the deliveries of a run with their attempts, oldest first. Raises `RunNotFound`, `PermissionMissing`."""
    run = await find_run(session, principal, run_id, permission)
    return await _deliveries_of(session, run, step_id)


async def _deliveries_of(session: AsyncSession, run: AnyRow, step_id: str | None = None) -> list[DeliveryOut]:
    rows = await repository.list_deliveries(session, run.id, tenant_id=run.tenant_id, step_id=step_id)
    return await _with_attempts(session, rows, tenant_id=run.tenant_id)


async def _with_attempts(session: AsyncSession, rows: Sequence[AnyRow], *, tenant_id: str) -> list[DeliveryOut]:
    attempts = await repository.list_attempts(session, [row.id for row in rows], tenant_id=tenant_id) if rows else ()
    return [_view(row, [attempt for attempt in attempts if attempt.delivery_id == row.id]) for row in rows]


async def redeliver(session: AsyncSession, principal: Principal, run_id: str, delivery_id: str) -> Sequence[str]:
    """Queue a delivered or failed delivery again. Returns the ids to send after the commit.

    Raises `RunNotFound`, `PermissionMissing`, `DeliveryNotFound`, or `NotRedeliverable` while it is being sent or when
    its run was cancelled.
    """
    run = await find_run(session, principal, run_id, Permission.RUNS_START)
    deliveries = await _deliveries_of(session, run)
    delivery = next((candidate for candidate in deliveries if candidate.id == delivery_id), None)
    if delivery is None:
        raise DeliveryNotFound(run_id, delivery_id)
    again = await repository.reopen(session, [delivery_id], tenant_id=principal.tenant_id, at=clock())
    if not again and delivery.status != "pending":
        raise NotRedeliverable(delivery_id, delivery.status)
    await repository.hasten(session, [delivery_id], tenant_id=principal.tenant_id, at=clock())
    await _record(session, principal, run, [delivery])
    return [delivery_id]


async def redeliver_step(session: AsyncSession, principal: Principal, run_id: str, step_id: str) -> Sequence[str]:
    """Queue the delivery of a step again. Raises `RunNotFound`, `DeliveryNotFound`, `NotRedeliverable`."""
    deliveries = await list_deliveries(session, principal, run_id, step_id=step_id, permission=Permission.RUNS_START)
    if not deliveries:
        raise DeliveryNotFound(run_id, step_id)
    return await redeliver(session, principal, run_id, deliveries[0].id)


async def redeliver_failed(
    session: AsyncSession, principal: Principal, run_id: str, *, step_id: str | None = None
) -> Sequence[str]:
    """Queue the failed deliveries of a run or step again, and the pending ones now. Returns the ids to send."""
    run = await find_run(session, principal, run_id, Permission.RUNS_START)
    deliveries = await _deliveries_of(session, run, step_id)
    failed = [delivery.id for delivery in deliveries if delivery.status == "failed"]
    again = await repository.reopen(session, failed, tenant_id=principal.tenant_id, at=clock()) if failed else ()
    await _record(session, principal, run, [delivery for delivery in deliveries if delivery.id in again])
    waiting = [delivery.id for delivery in deliveries if delivery.status == "pending"]
    await repository.hasten(session, waiting, tenant_id=principal.tenant_id, at=clock())
    return [*again, *waiting]


async def page_of_deliveries(
    session: AsyncSession,
    principal: Principal,
    *,
    status: DeliveryState | None = None,
    flow_id: str | None = None,
    limit: int = 50,
    before: str | None = None,
) -> list[DeliveryOut]:
    """Return a page of deliveries of runs that the caller has read access to, newest first, with their attempts."""
    rows = await repository.find_deliveries(
        session,
        tenant_id=principal.tenant_id,
        spaces=principal.visible_spaces,
        status=status,
        flow_id=flow_id,
        before=before,
        limit=limit,
    )
    return await _with_attempts(session, rows, tenant_id=principal.tenant_id)


async def deliveries_of(session: AsyncSession, principal: Principal, ids: Sequence[str]) -> list[DeliveryOut]:
    """Return the deliveries of these ids that the caller has read access to, newest first."""
    if not ids:
        return []
    rows = await repository.find_deliveries(
        session, tenant_id=principal.tenant_id, spaces=principal.visible_spaces, ids=ids, limit=len(ids)
    )
    return await _with_attempts(session, rows, tenant_id=principal.tenant_id)


async def redeliver_many(
    session: AsyncSession, principal: Principal, *, ids: Sequence[str] | None = None, flow_id: str | None = None
) -> Sequence[str]:
    """Queue failed deliveries across runs again, the newest `MOST_REDELIVERED` at a time. Returns the ids to send.

    Without ids and flow: those of all spaces in which the caller may start runs. Raises `FlowNotFound`,
    `DeliveryNotFound`, or `PermissionMissing` for a given flow or id that the caller may not send.
    """
    if flow_id is not None:
        space_id = await space_of(session, flow_id, tenant_id=principal.tenant_id)
        principal.require_in(space_id, Permission.RUNS_START, FlowNotFound(flow_id))
    rows = await repository.find_deliveries(
        session,
        tenant_id=principal.tenant_id,
        spaces=principal.visible_spaces,
        status=None if ids is not None else DeliveryStatus.FAILED,
        flow_id=flow_id,
        ids=ids,
        limit=MOST_REDELIVERED,
    )
    if ids is not None:
        _require_all(principal, rows, ids)
    permitted = {row.id: row for row in rows if principal.may(Permission.RUNS_START, row.space_id)}
    again = (
        await repository.reopen(session, list(permitted), tenant_id=principal.tenant_id, at=clock())
        if permitted
        else ()
    )
    for delivery_id in again:
        await _record(session, principal, permitted[delivery_id], [_view(permitted[delivery_id], ())])
    return again


def _require_all(principal: Principal, rows: Sequence[AnyRow], ids: Sequence[str]) -> None:
    spaces = {row.id: row.space_id for row in rows}
    for delivery_id in ids:
        missing = DeliveryNotFound(None, delivery_id)
        if delivery_id not in spaces:
            raise missing
        principal.require_in(spaces[delivery_id], Permission.RUNS_START, missing)


async def _record(session: AsyncSession, principal: Principal, run: AnyRow, again: Sequence[DeliveryOut]) -> None:
    for delivery in again:
        await record(
            session,
            principal,
            "delivery.redelivered",
            id=delivery.id,
            name=delivery.step_id,
            space_id=run.space_id,
            before={"status": delivery.status},
            after={"status": DeliveryStatus.PENDING.value},
            payload={"run_id": delivery.run_id, "step_id": delivery.step_id, "url": delivery.url},
        )


def _view(row: Any, attempts: Sequence[Any]) -> DeliveryOut:  # noqa: ANN401 - rows
    return shaped(
        DeliveryOut,
        row,
        run_id=row.flow_run_id,
        url=row.url_shown,
        webhook_delivered=row.status == DeliveryStatus.DELIVERED,
        webhook_error=_error(row),
        next_attempt_at=None if row.due_at is None else moment(row.due_at),
        attempts=[shaped(DeliveryAttemptOut, attempt, error=_error(attempt)) for attempt in attempts],
    )


def _error(row: Any) -> DeliveryError | None:  # noqa: ANN401 - a row of either table
    return DeliveryError(code=row.error_code, message=row.error_message or "") if row.error_code else None
