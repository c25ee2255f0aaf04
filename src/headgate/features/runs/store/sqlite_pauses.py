"""SQL that pauses and continues runs on one SQLite connection, in a transaction that holds the write lock."""

# ruff: noqa: S608 - only constants of `states` are inserted into the statements

import sqlite3
from collections.abc import Callable, Iterator

import orjson

from headgate.features.audit.chain import Entry
from headgate.features.audit.statements import append
from headgate.features.runs.states import RUN_CONTINUES, RUN_MOVES, RunStatus, guard
from headgate.features.runs.store.children import LIVE_CHILDREN_SQL
from headgate.features.runs.store.sqlite_events import append_events
from headgate.features.runs.store.sqlite_waits import rest
from headgate.features.runs.transitions import RunKey
from headgate.features.runs.waiting import Paused, WokenRun

_STATUS = "SELECT status FROM flow_runs WHERE id = ? AND tenant_id = ?"
_RETURNING = "RETURNING id, tenant_id, flow_id, version, coalesce(user_id, visitor), status, paused_at"
_PAUSE = (
    "UPDATE flow_runs SET status = 'paused', paused_at = :at"
    f" WHERE id = :run_id AND {guard(RUN_MOVES, RunStatus.PAUSED)} {_RETURNING}"
)
_CONTINUE = (
    "UPDATE flow_runs SET status = CASE WHEN started_at IS NULL THEN 'queued' ELSE 'running' END,"
    " dispatched_at = NULL, pickups = 0, deadline_at = deadline_at + max(0, :at - coalesce(paused_at, :at))"
    f" WHERE id = :run_id AND {guard(RUN_CONTINUES, RunStatus.RUNNING)} {_RETURNING}"
)
_DUE = (
    "UPDATE flow_step_results SET due_at = :at"
    " WHERE flow_run_id = :run_id AND status = 'waiting' AND answered_at IS NOT NULL AND due_at IS NULL"
)
_SHIFT = (
    "UPDATE flow_step_results SET failing_since = failing_since + :paused"
    " WHERE flow_run_id = :run_id AND failing_since IS NOT NULL AND status IN ('pending', 'running', 'waiting')"
)
Change = Callable[[sqlite3.Connection, str, int], WokenRun | None]


def pause(db: sqlite3.Connection, key: RunKey, at: int, entry: Entry | None = None) -> Paused | None:
    """Pause a run and the runs that its steps started."""
    return _change(db, key, at, entry, _pause)


def unpause(db: sqlite3.Connection, key: RunKey, at: int, entry: Entry | None = None) -> Paused | None:
    """Continue a run and the runs that its steps started."""
    return _change(db, key, at, entry, _unpause)


def _change(db: sqlite3.Connection, key: RunKey, at: int, entry: Entry | None, change: Change) -> Paused | None:
    row = db.execute(_STATUS, (key.run_id, key.tenant_id)).fetchone()
    if row is None:
        return None
    changed = change(db, key.run_id, at)
    if changed is None:
        return Paused(RunStatus(row[0]), changed=False)
    below = [change(db, run_id, at) for run_id in _children(db, key.run_id, key.tenant_id)]
    if entry is not None:
        append(db, entry)
    status = db.execute(_STATUS, (key.run_id, key.tenant_id)).fetchone()[0]
    return Paused(RunStatus(status), changed=True, runs=(changed, *(run for run in below if run is not None)))


def _children(db: sqlite3.Connection, run_id: str, tenant_id: str) -> Iterator[str]:
    """Yield the ids of the active runs that steps of a run started, and of theirs."""
    for (child,) in db.execute(LIVE_CHILDREN_SQL, {"run_id": run_id, "tenant_id": tenant_id}).fetchall():
        yield child
        yield from _children(db, child, tenant_id)


def _pause(db: sqlite3.Connection, run_id: str, at: int) -> WokenRun | None:
    row = db.execute(_PAUSE, {"run_id": run_id, "at": at}).fetchone()
    if row is None:
        return None
    append_events(db, run_id, [("run_paused", None, None, None)], at)
    return WokenRun(RunKey(*row[:4]), row[4])


def _unpause(db: sqlite3.Connection, run_id: str, at: int) -> WokenRun | None:
    row = db.execute(_CONTINUE, {"run_id": run_id, "at": at}).fetchone()
    if row is None:
        return None
    key = RunKey(*row[:4])
    append_events(db, run_id, [("run_continued", None, None, orjson.dumps({"status": row[5]}).decode())], at)
    db.execute(_DUE, {"run_id": run_id, "at": at})
    db.execute(_SHIFT, {"run_id": run_id, "paused": max(0, at - (row[6] or at))})
    rest(db, key, at)
    return WokenRun(key, row[4])
