"""Reads the queue, and changes the priority of a run."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, Literal

from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.access.permissions import Permission
from headgate.features.access.principal import Principal
from headgate.features.audit.recorder import record
from headgate.features.processes.service import count_takers, may_manage
from headgate.features.runs.errors import RunOver
from headgate.features.runs.permitted import find_run
from headgate.features.runs.queue import repository
from headgate.features.runs.queue.errors import RunOfStep
from headgate.features.runs.queue.schemas import (
    LimitKind,
    PriorityOut,
    QueuedRun,
    QueueGroup,
    QueueLimit,
    QueueOut,
    QueueTenant,
    Reason,
)
from headgate.features.runs.quotas.bounds import Quota, Scope
from headgate.features.runs.quotas.repository import list_limits
from headgate.features.runs.quotas.service import Quotas
from headgate.features.runs.slots.service import change_priority
from headgate.features.runs.states import RunStatus
from headgate.features.runs.terms import terms_of
from headgate.foundation.database import moment

MOST_GROUPS = 500
MOST_LISTED = 200


async def read_queue(
    session: AsyncSession, principal: Principal, *, backend: Literal["embedded", "celery"], quotas: Quotas
) -> QueueOut:
    """Return what waits and runs in the spaces of the caller; for admins of the installation counts of all tenants.

    Args:
        session: A reading session.
        principal: The caller.
        backend: By which processes runs are executed.
        quotas: The limits of spaces and tenants.
    """
    spaces = principal.spaces_where(Permission.RUNS_VIEW)
    own: dict[str, Any] = {"tenant_id": principal.tenant_id, "spaces": spaces}
    rows = await repository.list_groups(session, **own, limit=MOST_GROUPS + 1)
    running, draining = await count_takers(session, "server" if backend == "embedded" else "worker")
    of_worker: Reason = "worker" if running else "draining" if draining else "no_worker"
    groups = [_group(row, of_worker) for row in rows[:MOST_GROUPS]]
    waiting_runs = await repository.list_waiting_runs(session, **own, limit=MOST_LISTED)
    slots = await repository.list_slot_limits(session, **own, limit=MOST_LISTED)
    limits = [_limit(row) for row in slots]
    if len(rows) <= MOST_GROUPS:
        limits += await _quota_limits(session, quotas, principal, rows, every_space=spaces is None)
    manages = may_manage(principal)
    tenants = await repository.count_of_tenants(session, limit=MOST_LISTED) if manages else ()
    counts = Counter({"paused": 0, "running": 0, "waiting": 0})
    for group in groups:
        state = "running" if group.reason is None else "paused" if group.reason == "paused" else "waiting"
        counts[state] += group.count
    return QueueOut(
        **counts,
        groups=groups,
        runs=[_run(row, of_worker, principal) for row in waiting_runs],
        limits=limits,
        workers=running if manages else None,
        tenants=[QueueTenant(**_timed(row)) for row in tenants],
        more=len(rows) > MOST_GROUPS,
    )


async def set_priority(session: AsyncSession, principal: Principal, run_id: str, priority: int) -> PriorityOut:
    """Change the priority of a run and of the runs of its steps: its place among those that wait.

    Raises `RunNotFound`, `PermissionMissing`, `RunOver`, `RunOfStep`.
    """
    row = await find_run(session, principal, run_id, Permission.RUNS_START)
    if RunStatus(row.status).over:
        raise RunOver(run_id, row.status)
    if row.parent_run_id is not None:
        raise RunOfStep(run_id, row.parent_run_id)
    previous = terms_of(row.terms).priority
    await change_priority(session, run_id, priority, tenant_id=principal.tenant_id)
    payload = {"flow_id": row.flow_id, "before": previous, "after": priority}
    await record(session, principal, "run.prioritized", id=run_id, space_id=row.space_id, payload=payload)
    return PriorityOut(id=run_id, priority=priority)


def _timed(row: Any) -> dict[str, Any]:  # noqa: ANN401 - a row
    values: dict[str, Any] = row._asdict()
    since = values.pop("since")
    return values | {"oldest_at": None if since is None else moment(since)}


def _reason(state: str, of_worker: Reason) -> Reason | None:
    states: dict[str, Reason | None] = {"running": None, "paused": "paused", "limit": "limit"}
    return states.get(state, of_worker)


def _group(row: Any, of_worker: Reason) -> QueueGroup:  # noqa: ANN401 - a row
    values = _timed(row)
    return QueueGroup(reason=_reason(values.pop("state"), of_worker), limit=values.pop("slot"), **values)


def _run(row: Any, of_worker: Reason, principal: Principal) -> QueuedRun:  # noqa: ANN401 - a row
    return QueuedRun(
        id=row.id,
        space_id=row.space_id,
        flow_id=row.flow_id,
        flow=row.flow,
        priority=row.priority,
        reason=_reason(row.state, of_worker) or of_worker,
        limit=row.slot,
        position=row.place,
        since=moment(row.since),
        may_change=principal.may(Permission.RUNS_START, row.space_id),
        of_step=row.parent_run_id is not None,
    )


def _limit(row: Any) -> QueueLimit:  # noqa: ANN401 - a row
    values = _timed(row)
    kinds: dict[str, LimitKind] = {"flow": "flow", "model": "model", "connection": "connection"}
    prefix, _, own = row.name.partition(":")
    kind = kinds.get(prefix, "key")
    title = values.pop("title") or (own.partition(":")[2] if kind == "key" else own)
    return QueueLimit(kind=kind, title=title, **values)


async def _quota_limits(
    session: AsyncSession, quotas: Quotas, principal: Principal, rows: Sequence[Any], *, every_space: bool
) -> list[QueueLimit]:
    """Return the limits of queued and running runs of the listed spaces, and of a tenant that is seen as a whole."""
    stored = await list_limits(session, tenant_id=principal.tenant_id)
    used: Counter[tuple[Scope, str]] = Counter()
    for row in rows:
        if row.state in {"worker", "running"}:
            used[Scope.SPACE, row.space_id] += row.count
            if every_space:
                used[Scope.TENANT, principal.tenant_id] += row.count
    bounds = [(quotas.bound(stored, Quota.RUNS, scope, subject), count) for (scope, subject), count in used.items()]
    kinds: dict[Scope, LimitKind] = {Scope.SPACE: "space", Scope.TENANT: "tenant"}
    return [
        QueueLimit(
            name=f"{bound.scope}:{bound.subject}",
            kind=kinds[bound.scope],
            title="",
            most=bound.most,
            used=count,
            waiting=0,
            oldest_at=None,
        )
        for bound, count in bounds
        if bound is not None
    ]
