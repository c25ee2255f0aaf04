"""SQL for PostgreSQL that pauses and continues runs."""

# ruff: noqa: S608 - only constants of `states` are inserted into the statements

from typing import TYPE_CHECKING, Any

from headgate.features.audit import statements as audit
from headgate.features.audit.chain import Entry
from headgate.features.runs.states import RUN_CONTINUES, RUN_MOVES, RunStatus, guard
from headgate.features.runs.store import postgres_statements as sql
from headgate.features.runs.store.postgres_events import NOTHING, logged
from headgate.features.runs.store.postgres_trees import lock_children
from headgate.features.runs.store.postgres_waits import REST
from headgate.features.runs.store.rows import STATUS_SQL, for_postgres
from headgate.features.runs.transitions import RunKey
from headgate.features.runs.waiting import Paused, WokenRun

if TYPE_CHECKING:  # referenced without importing psycopg
    from psycopg import AsyncConnection

_STATUS = for_postgres(STATUS_SQL)
_RETURNING = (
    "RETURNING id, tenant_id, flow_id, version, coalesce(user_id, visitor) AS starter, status, paused_at,"
    " last_event - 1 AS before"
)
_COLUMNS = "id, tenant_id, flow_id, version, starter"
PAUSE = f"""
WITH changed AS (
    UPDATE flow_runs SET status = 'paused', paused_at = %(at)s, last_event = last_event + 1
    WHERE id = %(run_id)s AND {guard(RUN_MOVES, RunStatus.PAUSED)} {_RETURNING}
), {logged(f"'run_paused', {NOTHING}", after="before", run="changed")}
SELECT {_COLUMNS} FROM changed
"""
_DATA = "'run_continued', NULL::text, NULL::int, json_build_object('status', status)::text FROM changed"
CONTINUE = f"""
WITH changed AS (
    UPDATE flow_runs SET status = CASE WHEN started_at IS NULL THEN 'queued' ELSE 'running' END,
        dispatched_at = NULL, pickups = 0,
        deadline_at = deadline_at + greatest(0, %(at)s::bigint - paused_at), last_event = last_event + 1
    WHERE id = %(run_id)s AND {guard(RUN_CONTINUES, RunStatus.RUNNING)} {_RETURNING}
), {logged(_DATA, after="before", run="changed")}, steps AS (
    UPDATE flow_step_results s
    SET due_at = CASE WHEN s.status = 'waiting' AND s.answered_at IS NOT NULL THEN coalesce(s.due_at, %(at)s::bigint)
            ELSE s.due_at END,
        failing_since = s.failing_since + greatest(0, %(at)s::bigint - changed.paused_at)
    FROM changed
    WHERE s.flow_run_id = changed.id AND s.status IN ('pending', 'running', 'waiting')
        AND (s.answered_at IS NOT NULL OR s.failing_since IS NOT NULL)
)
SELECT {_COLUMNS} FROM changed
"""


async def change(
    connection: "AsyncConnection[Any]", statement: str, key: RunKey, at: int, entry: Entry | None
) -> Paused | None:
    """Pause or continue a run, and the runs that its steps started, locked from the top down before any of their steps.

    Returns None when the tenant has no such run.
    """
    values = {"run_id": key.run_id, "tenant_id": key.tenant_id, "at": at}
    row = await (await connection.execute(sql.LOCK, values)).fetchone()
    if row is None:
        return None
    runs = [key.run_id, *await lock_children(connection, values)]
    changed: list[WokenRun] = []
    for run_id in runs:
        run = await (await connection.execute(statement, {**values, "run_id": run_id})).fetchone()
        if run is not None:
            changed.append(WokenRun(RunKey(*run[:4]), run[4]))
            if statement is CONTINUE:
                await connection.execute(REST, {**values, "run_id": run_id})
        elif run_id == key.run_id:
            return Paused(RunStatus(row[0]), changed=False)
    if entry is not None:
        await connection.execute(audit.PSYCOPG, audit.values(entry))
    (status,) = await (await connection.execute(_STATUS, values)).fetchone() or ("",)
    return Paused(RunStatus(status), changed=True, runs=tuple(changed))
