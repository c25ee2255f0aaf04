"""Reading deliveries and asking for them again. Nothing of a run is done again for it."""

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


async def list_deliveries(
    session: AsyncSession,
    principal: Principal,
    run_id: str,
    *,
    step_id: str | None = None,
    permission: Permission = Permission.RUNS_VIEW,
) -> list[DeliveryOut]:
    """The deliveries of a run with their attempts, oldest first. Raises `RunNotFound`, `PermissionMissing`."""
    run = await find_run(session, principal, run_id, permission)
    return await _deliveries_of(session, run, step_id)


async def _deliveries_of(session: AsyncSession, run: AnyRow, step_id: str | None = None) -> list[DeliveryOut]:
    run_id, tenant_id = run.id, run.tenant_id
    rows = await repository.list_deliveries(session, run_id, tenant_id=tenant_id, step_id=step_id)
    attempts = await repository.list_attempts(session, [row.id for row in rows], tenant_id=tenant_id) if rows else ()
    return [_view(row, [one for one in attempts if one.delivery_id == row.id]) for row in rows]


async def redeliver(session: AsyncSession, principal: Principal, run_id: str, delivery_id: str) -> Sequence[str]:
    """Let one delivery be made again, made before or not. The ids to send once the session has committed.

    Raises `RunNotFound`, `PermissionMissing`, `DeliveryNotFound`, or `NotRedeliverable` when it is under way or its run
    was cancelled.
    """
    run = await find_run(session, principal, run_id, Permission.RUNS_START)
    found = await _deliveries_of(session, run)
    known = next((one for one in found if one.id == delivery_id), None)
    if known is None:
        raise DeliveryNotFound(run_id, delivery_id)
    again = await repository.reopen(session, [delivery_id], tenant_id=principal.tenant_id, at=clock())
    if not again and known.status != "pending":
        raise NotRedeliverable(delivery_id, known.status)
    await repository.hasten(session, [delivery_id], tenant_id=principal.tenant_id, at=clock())
    await _record(session, principal, run, [known])
    return [delivery_id]


async def redeliver_step(session: AsyncSession, principal: Principal, run_id: str, step_id: str) -> Sequence[str]:
    """`redeliver` by the step's id. Raises `RunNotFound`, `DeliveryNotFound`, `NotRedeliverable`."""
    found = await list_deliveries(session, principal, run_id, step_id=step_id, permission=Permission.RUNS_START)
    if not found:
        raise DeliveryNotFound(run_id, step_id)
    return await redeliver(session, principal, run_id, found[0].id)


async def redeliver_failed(
    session: AsyncSession, principal: Principal, run_id: str, *, step_id: str | None = None
) -> Sequence[str]:
    """Let every failed delivery of a run, or of one step, be made again, and the waiting ones now. The ids to send."""
    run = await find_run(session, principal, run_id, Permission.RUNS_START)
    found = await _deliveries_of(session, run, step_id)
    failed = [one.id for one in found if one.status == "failed"]
    again = await repository.reopen(session, failed, tenant_id=principal.tenant_id, at=clock()) if failed else ()
    await _record(session, principal, run, [one for one in found if one.id in again])
    waiting = [one.id for one in found if one.status == "pending"]
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
    """Deliveries of the runs that the caller has read access to, newest first, with their attempts."""
    rows = await repository.find_deliveries(
        session,
        tenant_id=principal.tenant_id,
        spaces=principal.visible_spaces,
        status=status,
        flow_id=flow_id,
        before=before,
        limit=limit,
    )
    return await deliveries_of(session, principal, [row.id for row in rows])


async def deliveries_of(session: AsyncSession, principal: Principal, ids: Sequence[str]) -> list[DeliveryOut]:
    """The deliveries of these ids that the caller has read access to, newest first."""
    if not ids:
        return []
    rows = await repository.find_deliveries(
        session, tenant_id=principal.tenant_id, spaces=principal.visible_spaces, ids=ids, limit=len(ids)
    )
    attempts = await repository.list_attempts(session, ids, tenant_id=principal.tenant_id)
    return [_view(row, [one for one in attempts if one.delivery_id == row.id]) for row in rows]


async def redeliver_many(
    session: AsyncSession, principal: Principal, *, ids: Sequence[str] | None = None, flow_id: str | None = None
) -> Sequence[str]:
    """Let failed deliveries across runs be sent again, the newest `MOST_REDELIVERED` at a time. The ids to send.

    Without ids and flow those of all spaces in which the caller may start runs. Raises `FlowNotFound`,
    `DeliveryNotFound`, `PermissionMissing` for a flow or an id that is named and not the caller's to send.
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
    mine = {row.id: row for row in rows if principal.may(Permission.RUNS_START, row.space_id)}
    again = await repository.reopen(session, list(mine), tenant_id=principal.tenant_id, at=clock()) if mine else ()
    for one in again:
        await _record(session, principal, mine[one], [_view(mine[one], ())])
    return again


def _require_all(principal: Principal, rows: Sequence[AnyRow], ids: Sequence[str]) -> None:
    spaces = {row.id: row.space_id for row in rows}
    for one in ids:
        missing = DeliveryNotFound(None, one)
        if one not in spaces:
            raise missing
        principal.require_in(spaces[one], Permission.RUNS_START, missing)


async def _record(session: AsyncSession, principal: Principal, run: AnyRow, again: Sequence[DeliveryOut]) -> None:
    for one in again:
        await record(
            session,
            principal,
            "delivery.redelivered",
            id=one.id,
            name=one.step_id,
            space_id=run.space_id,
            before={"status": one.status},
            after={"status": DeliveryStatus.PENDING.value},
            payload={"run_id": one.run_id, "step_id": one.step_id, "url": one.url},
        )


def _view(row: Any, attempts: Sequence[Any]) -> DeliveryOut:  # noqa: ANN401 - rows
    return DeliveryOut(
        id=row.id,
        run_id=row.flow_run_id,
        flow_id=row.flow_id,
        step_id=row.step_id,
        url=row.url_shown,
        status=row.status,
        webhook_delivered=row.status == DeliveryStatus.DELIVERED,
        webhook_error=_error(row),
        idempotency_key=row.idempotency_key,
        last_status=row.last_status,
        created_at=moment(row.created_at),
        delivered_at=None if row.delivered_at is None else moment(row.delivered_at),
        next_attempt_at=None if row.due_at is None else moment(row.due_at),
        attempts=[
            DeliveryAttemptOut(
                attempt_no=one.attempt_no,
                status_code=one.status_code,
                error=_error(one),
                started_at=moment(one.started_at),
                finished_at=None if one.finished_at is None else moment(one.finished_at),
            )
            for one in attempts
        ],
    )


def _error(row: Any) -> DeliveryError | None:  # noqa: ANN401 - a row of either table
    return DeliveryError(code=row.error_code, message=row.error_message or "") if row.error_code else None
