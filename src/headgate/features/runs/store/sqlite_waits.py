"""Waiting steps as SQL on one SQLite connection. Each function runs in a transaction that holds the write lock."""

# ruff: noqa: S608 - what is put into the statements are constants of this module and of `states`

import sqlite3
from collections.abc import Iterable

from headgate.features.runs.states import (
    ATTEMPT_MOVES,
    LIVE_RUNS,
    STEP_MOVES,
    AttemptStatus,
    RunStatus,
    StepStatus,
    guard,
    sql_list,
)
from headgate.features.runs.store.rows import CAN_REST, suspension_values
from headgate.features.runs.store.sqlite_events import RESUMED, append_events
from headgate.features.runs.transitions import Lease, RunKey
from headgate.features.runs.waiting import Suspension, WokenRun

_STATUS = "SELECT status FROM flow_runs WHERE id = ? AND tenant_id = ?"
_OF_STEP = "flow_run_id = :run_id AND flow_id = :flow_id AND step_id = :step_id"
_SUSPEND = (
    "UPDATE flow_step_results SET status = :step_status, waits_for = :waits_for,"
    " waited_for = CASE WHEN :waits_for = 'slot'"
    " THEN CASE WHEN waits_for = 'slot' THEN waited_for ELSE waits_for END END,"
    " due_at = CASE WHEN answered_at IS NULL OR coalesce(:waits_for, 'retry') = 'retry' THEN :due_at ELSE :at END,"
    " interruptions = 0, worker_id = NULL, lease_until = NULL,"
    " finished_at = CASE WHEN :step_status = 'cancelled' THEN :at END,"
    " error_code = coalesce(:code, error_code), error_message = coalesce(:message, error_message),"
    " expected_runs = coalesce(:expected_runs, expected_runs),"
    " failures = coalesce(:failures, failures), failing_since = coalesce(:failing_since, failing_since),"
    " num_tokens_input = coalesce(:tokens_input, num_tokens_input),"
    " num_tokens_output = coalesce(:tokens_output, num_tokens_output)"
    f" WHERE {_OF_STEP} AND tenant_id = :tenant_id AND attempts = :attempt AND worker_id = :worker_id"
    f" AND {guard(STEP_MOVES, StepStatus.WAITING)}"
)
_CLOSE_ATTEMPT = (
    "UPDATE flow_step_attempts SET status = :attempt_status, error_code = :code, error_message = :message,"
    " record = :record, finished_at = :at"
    f" WHERE {_OF_STEP} AND attempt_no = :attempt AND {guard(ATTEMPT_MOVES, AttemptStatus.SUSPENDED)}"
)
_REST = f"UPDATE flow_runs AS r SET status = 'waiting' WHERE r.id = ? AND r.tenant_id = ? AND {CAN_REST}"
_DUE = "SELECT rowid FROM flow_step_results WHERE status = 'waiting' AND due_at <= ? {of_run}ORDER BY due_at LIMIT ?"
_OVER = f"EXISTS (SELECT 1 FROM flow_runs r WHERE r.id = flow_run_id AND r.status NOT IN {sql_list(LIVE_RUNS)})"
_PAUSED = "EXISTS (SELECT 1 FROM flow_runs r WHERE r.id = flow_run_id AND r.status = 'paused')"
_WAKE = (
    f"UPDATE flow_step_results SET due_at = NULL,"
    f" status = CASE WHEN {_OVER} THEN 'cancelled' WHEN {_PAUSED} THEN status ELSE 'pending' END,"
    f" answered_at = CASE WHEN {_PAUSED} THEN coalesce(answered_at, ?) END,"
    f" waits_for = CASE WHEN {_OVER} THEN NULL ELSE waits_for END,"
    f" finished_at = CASE WHEN {_OVER} THEN ? END"
    f" WHERE rowid IN ({_DUE}) RETURNING flow_run_id"
)
_RUN_WOKEN = (
    "UPDATE flow_runs SET status = 'running', dispatched_at = NULL, pickups = 0"
    " WHERE id = ? AND status IN ('running', 'waiting') RETURNING id, tenant_id, flow_id, version,"
    " coalesce(user_id, visitor)"
)


def suspend(db: sqlite3.Connection, key: RunKey, suspension: Suspension, lease: Lease) -> bool:
    """End the attempt of a step that waits."""
    row = db.execute(_STATUS, (key.run_id, key.tenant_id)).fetchone()
    if row is None:
        return False
    failed = row[0] == RunStatus.FAILED
    values = suspension_values(suspension, failed=failed)
    values |= {"run_id": key.run_id, "flow_id": key.flow_id, "tenant_id": key.tenant_id}
    values |= {"worker_id": lease.worker_id, "at": lease.at}
    if not db.execute(_SUSPEND, values).rowcount:
        return False
    db.execute(_CLOSE_ATTEMPT, values)
    if not failed:
        claim = suspension.claim
        append_events(db, key.run_id, [("step_waiting", claim.step_id, claim.attempt, values["event"])], lease.at)
        rest(db, key, lease.at)
    return True


def rest(db: sqlite3.Connection, key: RunKey, at: int) -> bool:
    """Let a run wait of which only waiting steps are left for now."""
    if not db.execute(_REST, (key.run_id, key.tenant_id)).rowcount:
        return False
    append_events(db, key.run_id, [("run_waiting", None, None, None)], at)
    return True


def wake(db: sqlite3.Connection, at: int, limit: int, run_id: str | None = None) -> list[WokenRun]:
    """Wake steps that are due; those of paused runs are due again when their run continues."""
    of_run = "" if run_id is None else "AND flow_run_id = ? "
    values = (at, at, at, *(() if run_id is None else (run_id,)), limit)
    while True:
        rows = db.execute(_WAKE.format(of_run=of_run), values).fetchall()
        woken = _woken(db, dict.fromkeys(row[0] for row in rows), at)
        if woken or len(rows) < limit:
            return woken


def _woken(db: sqlite3.Connection, run_ids: Iterable[str], at: int) -> list[WokenRun]:
    woken = []
    for run in run_ids:
        waited = db.execute("SELECT 1 FROM flow_runs WHERE id = ? AND status = 'waiting'", (run,)).fetchone()
        row = db.execute(_RUN_WOKEN, (run,)).fetchone()
        if row is None:
            continue
        if waited:
            append_events(db, run, [RESUMED], at)
        woken.append(WokenRun(RunKey(*row[:4]), row[4]))
    return woken
