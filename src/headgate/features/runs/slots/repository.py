"""Queries on slots. The tenant is always required.

A granted row counts while its holder is active: a step that runs or is about to; a run that is not over, not paused,
and waits at most for a retry, a slot or runs of its steps that have theirs. Rows of others are deleted by the
transaction that grants their slot to somebody else, so that a holder who returns finds that it has none.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import orjson
from sqlalchemy import delete, func, select, text, update
from sqlalchemy.ext.asyncio import AsyncSession

from headgate.features.runs.slots.tables import run_slots
from headgate.features.runs.states import LIVE_RUNS, RunStatus, sql_list
from headgate.features.runs.tables import flow_runs
from headgate.features.runs.terms import terms_of
from headgate.foundation.database import Json, insert_into

_STEP = (
    "SELECT 1 FROM flow_step_results s WHERE s.flow_run_id = run_slots.flow_run_id AND s.step_id = run_slots.step_id"
)
_RUN = "SELECT 1 FROM flow_runs r WHERE r.id = run_slots.flow_run_id AND r.tenant_id = run_slots.tenant_id"
_WAITS = (
    "SELECT 1 FROM flow_step_results w WHERE w.flow_run_id = r.id AND w.status = 'waiting'"
    " AND w.waits_for IN ('retry', 'run', 'slot')"
)
_QUEUED_BELOW = (
    "WITH RECURSIVE below(id) AS (SELECT c.id FROM flow_runs c WHERE c.parent_run_id = r.id AND c.status = 'waiting'"
    " UNION ALL SELECT c.id FROM flow_runs c JOIN below ON c.parent_run_id = below.id WHERE c.status = 'waiting')"
    " SELECT 1 FROM below JOIN run_slots q ON q.flow_run_id = below.id AND q.step_id = '' AND q.granted_at IS NULL"
)
"""Runs of its steps that wait for a slot of their flow: it may be held by one that waits for a slot of this run."""
ACTIVE = (
    f"(CASE WHEN run_slots.step_id = '' THEN EXISTS ({_RUN} AND (r.status IN ('queued', 'running')"
    f" OR (r.status = 'waiting' AND EXISTS ({_WAITS}) AND NOT EXISTS ({_QUEUED_BELOW}))))"
    f" ELSE EXISTS ({_STEP} AND s.status IN ('running', 'pending')) END)"
)
WANTED = (
    f"(EXISTS ({_RUN} AND r.status IN {sql_list(LIVE_RUNS)}) AND (run_slots.step_id = ''"
    f" OR EXISTS ({_STEP} AND (s.status IN ('running', 'pending')"
    " OR (s.status = 'waiting' AND s.waits_for = 'slot')))))"
)
GRANTABLE = f"EXISTS ({_RUN} AND r.status IN ('queued', 'running', 'waiting'))"
"""A paused run keeps its place and is passed over."""
_ANCESTOR = text(
    "WITH RECURSIVE above(id) AS (SELECT parent_run_id FROM flow_runs WHERE id = :run_id AND tenant_id = :tenant_id"
    " UNION ALL SELECT r.parent_run_id FROM flow_runs r JOIN above ON r.id = above.id)"
    " SELECT 1 FROM above JOIN flow_runs r ON r.id = above.id WHERE r.flow_id = :flow_id AND r.tenant_id = :tenant_id"
)
_FREE = text(
    f"SELECT DISTINCT q.tenant_id, q.name FROM run_slots q WHERE q.granted_at IS NULL AND q.most >"  # noqa: S608
    " (SELECT count(*) FROM run_slots WHERE tenant_id = q.tenant_id AND name = q.name"
    f" AND granted_at IS NOT NULL AND {ACTIVE}) LIMIT :limit"
)


_PRIORITY = text(
    "WITH RECURSIVE above(parent_id, terms, depth) AS (SELECT parent_run_id, terms, 0 FROM flow_runs WHERE id = :run_id"
    " AND tenant_id = :tenant_id UNION ALL SELECT r.parent_run_id, r.terms, depth + 1 FROM flow_runs r"
    " JOIN above ON r.id = above.parent_id WHERE r.tenant_id = :tenant_id)"
    " SELECT CAST(terms ->> 'priority' AS INTEGER) FROM above ORDER BY depth DESC LIMIT 1"
)
_TREE = (
    "WITH RECURSIVE tree(id) AS (SELECT id FROM flow_runs WHERE id = :run_id AND tenant_id = :tenant_id"  # noqa: S608
    " UNION ALL SELECT r.id FROM flow_runs r JOIN tree ON r.parent_run_id = tree.id WHERE r.tenant_id = :tenant_id"
    f" AND r.status IN {sql_list(LIVE_RUNS)}) "
)
_OF_TREE = text(
    f"{_TREE} SELECT r.id, r.terms, r.status FROM flow_runs r JOIN tree ON r.id = tree.id"  # noqa: S608
).columns(terms=Json)
_QUEUED = text(
    f"{_TREE} UPDATE run_slots SET priority = :priority WHERE tenant_id = :tenant_id AND granted_at IS NULL"  # noqa: S608
    " AND flow_run_id IN (SELECT id FROM tree)"
)


async def drop_stale(session: AsyncSession, name: str, *, tenant_id: str) -> None:
    """Delete the rows of holders that are not active, and of those that no longer wait."""
    of_name = (run_slots.c.tenant_id == tenant_id, run_slots.c.name == name)
    await session.execute(delete(run_slots).where(*of_name, run_slots.c.granted_at.isnot(None), text(f"NOT {ACTIVE}")))
    await session.execute(delete(run_slots).where(*of_name, run_slots.c.granted_at.is_(None), text(f"NOT {WANTED}")))


async def request_slot(session: AsyncSession, values: dict[str, Any], *, tenant_id: str) -> None:
    """Queue for a slot, unless that is done."""
    insert = insert_into(session, run_slots).values(tenant_id=tenant_id, **values)
    await session.execute(insert.on_conflict_do_nothing())


async def count_granted(session: AsyncSession, name: str, *, tenant_id: str) -> int:
    """Return how many slots of a name are taken; after `drop_stale`."""
    table = run_slots.c
    query = select(func.count()).where(table.tenant_id == tenant_id, table.name == name, table.granted_at.isnot(None))
    return (await session.execute(query)).scalar_one()


async def list_queue(session: AsyncSession, name: str, *, tenant_id: str, limit: int = 1000) -> Sequence[Any]:
    """Return those who wait for a slot of a name and could use it, the next one first."""
    table = run_slots.c
    query = select(run_slots).where(
        table.tenant_id == tenant_id, table.name == name, table.granted_at.is_(None), text(GRANTABLE)
    )
    order = (table.priority.desc(), table.requested_at, table.flow_run_id, table.step_id)
    return (await session.execute(query.order_by(*order).limit(limit))).all()


async def grant_slot(session: AsyncSession, name: str, run_id: str, step_id: str, at: int, *, tenant_id: str) -> None:
    """Give a slot to one who waits."""
    table = run_slots.c
    await session.execute(
        update(run_slots)
        .where(
            table.tenant_id == tenant_id,
            table.name == name,
            table.flow_run_id == run_id,
            table.step_id == step_id,
        )
        .values(granted_at=at)
    )


async def is_granted(session: AsyncSession, name: str, run_id: str, step_id: str, *, tenant_id: str) -> bool:
    """Return whether a run or a step has a slot."""
    table = run_slots.c
    query = select(table.granted_at).where(
        table.tenant_id == tenant_id, table.name == name, table.flow_run_id == run_id, table.step_id == step_id
    )
    return (await session.execute(query)).scalar_one_or_none() is not None


async def has_ancestor_of(session: AsyncSession, run_id: str, flow_id: str, *, tenant_id: str) -> bool:
    """Return whether a run was started, directly or not, by a run of that flow."""
    values = {"run_id": run_id, "flow_id": flow_id, "tenant_id": tenant_id}
    return (await session.execute(_ANCESTOR, values)).first() is not None


async def priority_of(session: AsyncSession, run_id: str, *, tenant_id: str) -> int:
    """Return the priority of a run: that of the run which a user or a trigger started."""
    return (await session.execute(_PRIORITY, {"run_id": run_id, "tenant_id": tenant_id})).scalar_one_or_none() or 0


async def set_priority(session: AsyncSession, run_id: str, priority: int, *, tenant_id: str) -> None:
    """Set the priority of a run, of the runs of its steps, and of their requests for slots.

    Those that have not begun get their place among those that wait for a worker at the next sweep.
    """
    of_run = {"run_id": run_id, "tenant_id": tenant_id}
    for row in (await session.execute(_OF_TREE, of_run)).all():
        stored = replace(terms_of(row.terms), priority=priority).stored()
        change = update(flow_runs).where(flow_runs.c.id == row.id, flow_runs.c.tenant_id == tenant_id)
        values: dict[str, Any] = {"terms": None if stored is None else orjson.loads(stored)}
        if row.status == RunStatus.QUEUED:
            values["dispatched_at"] = None
        await session.execute(change.values(**values))
    await session.execute(_QUEUED, of_run | {"priority": priority})


async def free_names(session: AsyncSession, *, limit: int) -> Sequence[tuple[str, str]]:
    """Return tenants and names of which a slot is free that somebody waits for."""
    return [(row.tenant_id, row.name) for row in await session.execute(_FREE, {"limit": limit})]


async def list_of_run(session: AsyncSession, run_id: str, *, tenant_id: str) -> Sequence[Any]:
    """Return the slots that a run and its steps hold or wait for."""
    query = select(run_slots).where(run_slots.c.flow_run_id == run_id, run_slots.c.tenant_id == tenant_id)
    return (await session.execute(query.order_by(run_slots.c.name, run_slots.c.step_id))).all()


async def count_slots(session: AsyncSession, name: str, *, tenant_id: str) -> tuple[int, int]:
    """Return how many slots of a name are in use, and how many wait for one."""
    table = run_slots.c
    of_name = (table.tenant_id == tenant_id, table.name == name)
    active = select(func.count()).where(*of_name, table.granted_at.isnot(None), text(ACTIVE))
    queued = select(func.count()).where(*of_name, table.granted_at.is_(None), text(WANTED))
    return (await session.execute(active)).scalar_one(), (await session.execute(queued)).scalar_one()
