"""Runs that steps of other runs started, in PostgreSQL: their creation, and the end of a run with them."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from headgate.features.runs.states import LIVE_RUNS, RunStatus
from headgate.features.runs.store import postgres_statements as sql
from headgate.features.runs.store.children import LIVE_CHILDREN_SQL, RUNS_SQL, check_parent, parent_values
from headgate.features.runs.store.rows import for_postgres
from headgate.features.runs.transitions import Parent, RunKey

if TYPE_CHECKING:  # referenced without importing psycopg
    from psycopg import AsyncConnection

_PARENT_RUNS = for_postgres(RUNS_SQL)
_LIVE_CHILDREN = for_postgres(f"{LIVE_CHILDREN_SQL} FOR NO KEY UPDATE")


async def require_parent(connection: "AsyncConnection[Any]", key: RunKey, parent: Parent) -> None:
    """Raise `ParentGone` unless the step may start a run. Its own run cannot be cancelled before that is stored."""
    await connection.execute(sql.LOCK, {"run_id": parent.run_id, "tenant_id": key.tenant_id})
    check_parent(await (await connection.execute(_PARENT_RUNS, parent_values(key, parent))).fetchone(), parent)


async def lock_children(connection: "AsyncConnection[Any]", values: Mapping[str, Any]) -> list[str]:
    """Lock the active runs that steps of a run started, and theirs, from the top down. Returns their ids."""
    runs = [values["run_id"]]
    for run_id in runs:
        children = await (await connection.execute(_LIVE_CHILDREN, {**values, "run_id": run_id})).fetchall()
        runs += [child for (child,) in children]
    return runs[1:]


async def end_tree(
    connection: "AsyncConnection[Any]", statement: str, values: Mapping[str, Any], *, with_children: bool
) -> tuple[RunStatus | None, bool, Sequence[str]]:
    """End a run, and cancel the active runs that its steps started. Returns its previous status and their ids.

    All runs are locked from the top down before any of their steps, in the order of every other transition: a run that
    ends locks itself, then the step that waits for it.
    """
    row = await (await connection.execute(sql.LOCK, values)).fetchone()
    if row is None:
        return None, False, ()
    status = RunStatus(row[0])
    below = await lock_children(connection, values) if with_children and status in LIVE_RUNS else []
    if await (await connection.execute(statement, values)).fetchone() is None:
        return status, False, ()
    for child in below:
        await connection.execute(sql.CANCEL, {**values, "run_id": child})
    return status, True, tuple(below)
