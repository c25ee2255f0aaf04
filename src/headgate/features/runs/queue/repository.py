"""Queries on the queue, for SQLite and PostgreSQL: one statement for each part of it.

`line` has each live run once: `state` is `running`, `paused`, `worker` (queued) or `limit` (all that it could do waits
for slots). Runs that wait for a time, an event or an approval are not in it.
"""

from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import Row, bindparam, text
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.runs.slots.repository import ACTIVE, GRANTABLE, WANTED
from headgate.features.runs.terms import SECONDS_PER_POINT

AnyRow = Row[Any]
_PRIORITY = "coalesce(CAST(r.terms ->> 'priority' AS INTEGER), 0)"
_WAITED = f"r.created_at - {_PRIORITY} * {SECONDS_PER_POINT * 1_000_000}"
_OWN = "r.tenant_id = :tenant_id AND (:all_spaces OR f.space_id IN :spaces)"
_FLOW = "JOIN flows f ON f.id = r.flow_id AND f.tenant_id = r.tenant_id"


def _line(where: str) -> str:
    """Return the common table expressions of `line`; `where` limits whose runs are read."""
    columns = "r.id, r.tenant_id, r.flow_id, f.name AS flow, f.space_id, r.parent_run_id"
    slots = "" if where == "1 = 1" else "run_slots.tenant_id = :tenant_id AND "
    return (
        "WITH turn AS (SELECT run_slots.*, row_number() OVER (PARTITION BY tenant_id, name"  # noqa: S608
        " ORDER BY priority DESC, requested_at, flow_run_id, step_id) AS place FROM run_slots"
        f" WHERE {slots}granted_at IS NULL AND {GRANTABLE} AND {WANTED}),"
        " own AS (SELECT turn.*, row_number() OVER (PARTITION BY flow_run_id ORDER BY requested_at, name) AS number"
        " FROM turn),"
        f" line AS (SELECT {columns}, {_PRIORITY} AS priority, CAST(NULL AS VARCHAR) AS slot,"
        " CASE r.status WHEN 'queued' THEN 'worker' ELSE r.status END AS state,"
        " coalesce(CASE r.status WHEN 'paused' THEN r.paused_at WHEN 'running' THEN r.started_at END, r.created_at)"
        " AS since, CASE WHEN r.status = 'queued' THEN row_number() OVER (PARTITION BY r.tenant_id, f.space_id,"
        f" coalesce(r.visitor, r.user_id, ''), r.status ORDER BY {_WAITED}, r.id) END AS place"
        f" FROM flow_runs r {_FLOW} WHERE r.status IN ('queued', 'running', 'paused') AND {where}"
        f" UNION ALL SELECT {columns}, own.priority, own.name, 'limit', own.requested_at, own.place"
        f" FROM own JOIN flow_runs r ON r.id = own.flow_run_id AND r.tenant_id = own.tenant_id {_FLOW}"
        f" WHERE own.number = 1 AND r.status = 'waiting' AND {where}) "
    )


_CLASS = "CASE WHEN priority > 0 THEN 'high' WHEN priority < 0 THEN 'low' ELSE 'normal' END"
_GROUPS = (
    f"{_line(_OWN)} SELECT space_id, flow_id, flow, {_CLASS} AS priority_class, state, slot, count(*) AS count,"  # noqa: S608
    " min(since) AS since FROM line GROUP BY 1, 2, 3, 4, 5, 6 ORDER BY count(*) DESC, min(since), 2, 4, 5, 6"
    " LIMIT :limit"
)
_RUNS = (
    f"{_line(_OWN)} SELECT * FROM line WHERE state <> 'running'"  # noqa: S608
    " ORDER BY CASE state WHEN 'paused' THEN 1 ELSE 0 END, place, since, id LIMIT :limit"
)
_LIMITS = (
    "SELECT u.name, u.most, u.used, u.waiting, u.since, coalesce(own.name, c.name, '') AS title, own.id AS flow_id FROM"  # noqa: S608
    " (SELECT run_slots.name, run_slots.tenant_id, max(run_slots.most) AS most,"
    f" sum(CASE WHEN granted_at IS NOT NULL AND {ACTIVE} THEN 1 ELSE 0 END) AS used,"
    f" sum(CASE WHEN granted_at IS NULL AND {WANTED} THEN 1 ELSE 0 END) AS waiting,"
    f" min(CASE WHEN granted_at IS NULL AND {WANTED} THEN requested_at END) AS since"
    f" FROM run_slots JOIN flow_runs r ON r.id = run_slots.flow_run_id AND r.tenant_id = run_slots.tenant_id {_FLOW}"
    " WHERE r.tenant_id = :tenant_id GROUP BY run_slots.name, run_slots.tenant_id"
    " HAVING max(CASE WHEN :all_spaces OR f.space_id IN :spaces"
    " THEN 1 ELSE 0 END) = 1) u"
    " LEFT JOIN flows own ON u.name = 'flow:' || own.id AND own.tenant_id = u.tenant_id"
    " LEFT JOIN connections c ON u.name = 'connection:' || c.id AND c.tenant_id = u.tenant_id"
    " WHERE u.used + u.waiting > 0 ORDER BY u.waiting DESC, u.used DESC, u.name LIMIT :limit"
)
_TENANTS = (
    f"{_line('1 = 1')} SELECT t.id, t.name, sum(CASE WHEN state IN ('worker', 'limit') THEN 1 ELSE 0 END) AS waiting,"  # noqa: S608
    " sum(CASE state WHEN 'running' THEN 1 ELSE 0 END) AS running,"
    " sum(CASE state WHEN 'paused' THEN 1 ELSE 0 END) AS paused,"
    " min(CASE WHEN state IN ('worker', 'limit') THEN since END) AS since"
    " FROM line JOIN tenants t ON t.id = line.tenant_id GROUP BY t.id, t.name"
    " ORDER BY 3 DESC, 4 DESC, t.name LIMIT :limit"
)


async def list_groups(
    session: AsyncSession, *, tenant_id: str, spaces: Collection[str] | None, limit: int
) -> Sequence[AnyRow]:
    """Return counts of live runs by flow, priority class, state and awaited slot, the largest first."""
    return await _own(session, _GROUPS, tenant_id, spaces, limit)


async def list_waiting_runs(
    session: AsyncSession, *, tenant_id: str, spaces: Collection[str] | None, limit: int
) -> Sequence[AnyRow]:
    """Return the runs that wait, the next of each queue first, paused ones last."""
    return await _own(session, _RUNS, tenant_id, spaces, limit)


async def list_slot_limits(
    session: AsyncSession, *, tenant_id: str, spaces: Collection[str] | None, limit: int
) -> Sequence[AnyRow]:
    """Return the limits that runs of these spaces use or wait for, with the use by all runs of the tenant."""
    return await _own(session, _LIMITS, tenant_id, spaces, limit)


async def count_of_tenants(session: AsyncSession, *, limit: int) -> Sequence[AnyRow]:
    """Return counts of the live runs of each tenant."""
    return (await session.execute(text(_TENANTS), {"limit": limit})).all()


async def _own(
    session: AsyncSession, statement: str, tenant_id: str, spaces: Collection[str] | None, limit: int
) -> Sequence[AnyRow]:
    values = {"tenant_id": tenant_id, "all_spaces": spaces is None, "spaces": sorted(spaces or ("",)), "limit": limit}
    query = text(statement).bindparams(bindparam("spaces", expanding=True))
    return (await session.execute(query, values)).all()
