"""Queries on handled failures. The tenant is always required, except where failures of all tenants are read."""

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, exists, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.flows.tables import FlowRow
from headgate.features.runs.failure_handlers.tables import failure_handlers
from headgate.features.runs.failure_handlers.values import HandlerStatus
from headgate.features.runs.tables import flow_runs, flow_step_results
from headgate.foundation.database import insert_into

CLAIM = 30_000_000
"""Microseconds after which another process starts a handler that was claimed."""


async def list_unhandled(session: AsyncSession, *, since: int, limit: int) -> Sequence[tuple[str, str]]:
    """Return id and tenant of runs that failed since then, whose flow names a handler and that have none."""
    run, handler = flow_runs.c, failure_handlers.c
    handled = exists().where(handler.failed_run_id == run.id)
    query = select(run.id, run.tenant_id).where(
        run.status == "failed", run.error_flow.isnot(None), run.finished_at >= since, ~handled
    )
    return [(row.id, row.tenant_id) for row in await session.execute(query.order_by(run.finished_at).limit(limit))]


async def list_left(session: AsyncSession, *, now: int, limit: int) -> Sequence[tuple[str, str]]:
    """Return id and tenant of failed runs whose handler somebody claimed `CLAIM` ago and did not start."""
    handler = failure_handlers.c
    query = select(handler.failed_run_id, handler.tenant_id).where(
        handler.status == HandlerStatus.DUE.value, _claim_is_over(now)
    )
    rows = await session.execute(query.order_by(handler.claimed_at).limit(limit))
    return [(row.failed_run_id, row.tenant_id) for row in rows]


async def claim_new(session: AsyncSession, run_id: str, handler_run_id: str, at: int, *, tenant_id: str) -> bool:
    """Insert the row of a failed run. False when another process did."""
    values = {
        "failed_run_id": run_id,
        "tenant_id": tenant_id,
        "handler_run_id": handler_run_id,
        "status": HandlerStatus.DUE.value,
        "created_at": at,
        "claimed_at": at,
    }
    insert = insert_into(session, failure_handlers).values(**values).on_conflict_do_nothing()
    return (await session.execute(insert.returning(failure_handlers.c.failed_run_id))).first() is not None


async def claim_left(session: AsyncSession, run_id: str, *, now: int, tenant_id: str) -> bool:
    """Claim the row of a failed run again. False when another process did."""
    handler = failure_handlers.c
    changed = await session.execute(
        update(failure_handlers)
        .where(
            handler.failed_run_id == run_id,
            handler.tenant_id == tenant_id,
            handler.status == HandlerStatus.DUE.value,
            _claim_is_over(now),
        )
        .values(claimed_at=now)
        .returning(handler.failed_run_id)
    )
    return changed.first() is not None


async def settle_handler(
    session: AsyncSession, run_id: str, status: HandlerStatus, problem: str | None, *, tenant_id: str
) -> None:
    """Record that a handler was started, or why it was not."""
    handler = failure_handlers.c
    await session.execute(
        update(failure_handlers)
        .where(handler.failed_run_id == run_id, handler.tenant_id == tenant_id)
        .values(status=status.value, problem=problem)
    )


async def read_failed(session: AsyncSession, run_id: str, *, tenant_id: str) -> Any:  # noqa: ANN401 - a row
    """Return a failed run with its flow's name and space and the row of its handler."""
    run = flow_runs.c
    query = (
        select(
            *(run.id, run.flow_id, run.version, run.user_id, run.visitor, run.error_flow),
            *(run.error_code, run.error_message, FlowRow.name, FlowRow.space_id),
            failure_handlers.c.handler_run_id,
            failure_handlers.c.created_at,
        )
        .join(FlowRow, FlowRow.id == run.flow_id)
        .join(failure_handlers, failure_handlers.c.failed_run_id == run.id)
        .where(run.id == run_id, run.tenant_id == tenant_id)
    )
    return (await session.execute(query)).one_or_none()


async def read_failed_step(session: AsyncSession, run_id: str, *, tenant_id: str) -> tuple[str, int]:
    """Return the first failed step of a run and its number of attempts; empty when no step failed."""
    step = flow_step_results.c
    query = select(step.step_id, step.attempts).where(
        step.flow_run_id == run_id, step.tenant_id == tenant_id, step.status == "failed"
    )
    row = (await session.execute(query.order_by(step.finished_at, step.step_order).limit(1))).one_or_none()
    return ("", 0) if row is None else (row.step_id, row.attempts)


async def find_handling(session: AsyncSession, run_id: str, *, tenant_id: str, handled: bool) -> Any:  # noqa: ANN401 - a row
    """Return the handler of a failed run, or with `handled` the failed run of a handler, with the flow of the other."""
    handler, run = failure_handlers.c, flow_runs.c
    own, other = (handler.handler_run_id, handler.failed_run_id)
    if not handled:
        own, other = other, own
    query = (
        select(other.label("run_id"), run.flow_id, handler.status, handler.problem)
        .outerjoin(flow_runs, run.id == other)
        .where(own == run_id, handler.tenant_id == tenant_id)
    )
    return (await session.execute(query)).one_or_none()


def _claim_is_over(now: int) -> ColumnElement[bool]:
    """Whether a claim is old, or of a process whose clock was ahead."""
    claimed_at = failure_handlers.c.claimed_at
    return (claimed_at < now - CLAIM) | (claimed_at > now + CLAIM)
