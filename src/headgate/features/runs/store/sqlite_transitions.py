"""SQL of the transitions on one SQLite connection. Each function runs in a transaction that holds the write lock."""

# ruff: noqa: S608 - only constants of this module and of `states` are inserted into the statements

import sqlite3
from collections.abc import Sequence

from headgate.features.audit.chain import Entry
from headgate.features.audit.statements import append
from headgate.features.runs.errors import (
    ENDS_CHILDREN,
    FLOW_DELETED,
    FLOW_DELETED_MESSAGE,
    WORKER_LOST,
    WORKER_LOST_MESSAGE,
)
from headgate.features.runs.states import (
    ATTEMPT_MOVES,
    CLAIMABLE_RUNS,
    LIVE_RUNS,
    RUN_MOVES,
    STEP_MOVES,
    AttemptStatus,
    RunStatus,
    StepStatus,
    guard,
    sql_list,
)
from headgate.features.runs.store.children import LIVE_CHILDREN_SQL
from headgate.features.runs.store.rows import DELIVER_SQL, completed_data, delivery_values, failed_data
from headgate.features.runs.store.sqlite_events import RESUMED, Event, append_events, write_events
from headgate.features.runs.store.sqlite_waits import rest
from headgate.features.runs.transitions import (
    Cancelled,
    Claim,
    Failed,
    Finished,
    Held,
    Holder,
    Lease,
    Onward,
    Progress,
    RunKey,
    StepRecord,
)

_STEP = "flow_run_id = ? AND flow_id = ? AND step_id = ?"
_LIVE = f"status IN {sql_list(LIVE_RUNS)}"

_INSERT_ATTEMPT = (
    "INSERT INTO flow_step_attempts (flow_run_id, flow_id, version, tenant_id, step_id, step_order, attempt_no, status,"
    " worker_id, started_at) VALUES (?, ?, ?, ?, ?, ?, ?, 'started', ?, ?)"
)
_READ_RUN = (
    "SELECT r.status, r.unfinished, f.deleted_at FROM flow_runs r JOIN flows f ON f.id = r.flow_id"
    " WHERE r.id = ? AND r.tenant_id = ?"
)
_READ_STATUS = "SELECT status FROM flow_runs WHERE id = ? AND tenant_id = ?"
_CLOSE_STEP = (
    "UPDATE flow_step_results SET status = ?, output_payload = ?, input_payload = ?, effective_prompt = ?,"
    " model_parameters = ?, tool_calls = ?, log = ?, num_tokens_input = ?, num_tokens_output = ?, execution_hash = ?,"
    " classification = ?,"
    " error_code = ?, error_message = ?, worker_id = NULL, lease_until = NULL, finished_at = ?"
    f" WHERE {_STEP} AND tenant_id = ? AND attempts = ? AND {guard(STEP_MOVES, StepStatus.COMPLETED)}"
)
_COMPLETE_STEP = (
    "UPDATE flow_step_results SET status = 'completed', output_payload = ?, execution_hash = ?, error_code = NULL,"
    " error_message = NULL, worker_id = NULL, lease_until = NULL, finished_at = ?"
    f" WHERE {_STEP} AND tenant_id = ? AND attempts = ? AND {guard(STEP_MOVES, StepStatus.COMPLETED)}"
)
"""The same for a step with nothing but an output: half the columns, half the time."""
_CLOSE_ATTEMPT = (
    "UPDATE flow_step_attempts SET status = ?, error_code = ?, error_message = ?, finished_at = ?"
    f" WHERE {_STEP} AND attempt_no = ? AND {guard(ATTEMPT_MOVES, AttemptStatus.COMPLETED)}"
)
_SKIP = (
    "UPDATE flow_step_results SET status = 'skipped', waiting = 0, finished_at = ?"
    f" WHERE {_STEP} AND {guard(STEP_MOVES, StepStatus.SKIPPED)}"
)
_SETTLE = f"UPDATE flow_step_results SET waiting = waiting - ? WHERE {_STEP} AND status = 'pending' RETURNING waiting"
_CLAIM = (
    "UPDATE flow_step_results SET status = 'running', waiting = 0, attempts = attempts + 1, worker_id = ?,"
    f" lease_until = ?, started_at = ? WHERE {_STEP} AND waiting = ? AND status = 'pending'"
    " RETURNING attempts, step_order"
)
_TAKE_OVER = (
    "UPDATE flow_step_results SET attempts = attempts + 1, interruptions = interruptions + 1, worker_id = ?,"
    " lease_until = ?, started_at = ?"
    f" WHERE {_STEP} AND attempts = ? AND coalesce(lease_until, 0) = ? AND status = 'running'"
    " RETURNING attempts, step_order"
)
_COUNT_DOWN = "UPDATE flow_runs SET unfinished = ? WHERE id = ?"
_GO_ON = (
    "UPDATE flow_runs SET unfinished = unfinished - 1, last_event = last_event + ? WHERE id = ? AND tenant_id = ?"
    " AND status = 'running' AND unfinished > 1"
    " AND NOT EXISTS (SELECT 1 FROM flows WHERE id = flow_id AND deleted_at IS NOT NULL) RETURNING last_event"
)
"""Count down a run that has steps left and may continue: by far the most common case, in one statement."""
_MOVE_RUN = (
    "UPDATE flow_runs SET status = ?, unfinished = ?, output_payload = ?, error_code = ?, error_message = ?,"
    " started_at = coalesce(started_at, ?), finished_at = ? WHERE id = ?"
)
_RENEW = (
    "UPDATE flow_step_results SET lease_until = ?"
    " WHERE flow_run_id = ? AND step_id = ? AND attempts = ? AND worker_id = ? AND status = 'running'"
)


def advance(db: sqlite3.Connection, key: RunKey, onward: Onward, lease: Lease, finished: Finished | None) -> Progress:
    """Complete, skip, settle, claim, and end the run after its last step."""
    events: list[Event] = []
    if finished is not None:
        claim = finished.claim
        error = finished.error or (None, None)
        if not _close(db, key, claim, finished.record, StepStatus.COMPLETED, at=lease.at, error=error):
            return Progress(_status(db, key), recorded=False)
        if finished.delivery is not None:
            db.execute(DELIVER_SQL, delivery_values(key, finished, lease.at))
        events.append(("step_completed", claim.step_id, claim.attempt, completed_data(finished)))
        if onward.output_payload is None and not onward.skip:
            continued = _go_on(db, key, onward, lease, events)
            if continued is not None:
                return _rested(db, key, continued, lease.at)
    return _rested(db, key, _judge(db, key, onward, lease, events), lease.at)


def _rested(db: sqlite3.Connection, key: RunKey, progress: Progress, at: int) -> Progress:
    """Let the run wait where all that is left of it for now are steps that wait."""
    if progress.status is RunStatus.RUNNING and not (progress.claims or progress.ready):
        rest(db, key, at)
    return progress


def _go_on(db: sqlite3.Connection, key: RunKey, onward: Onward, lease: Lease, events: list[Event]) -> Progress | None:
    """Continue a run that has steps left after this one. Returns None, without a write, when the run must be read."""
    expected = len(events) + len(onward.claim)
    counted = db.execute(_GO_ON, (expected, key.run_id, key.tenant_id)).fetchone()
    if counted is None:
        return None
    claims, ready = _move_on(db, key, onward, lease, going=True)
    events += _started(claims)
    if len(events) < expected:  # another process claimed a step: no number is left unused
        db.execute(
            "UPDATE flow_runs SET last_event = ? WHERE id = ?", (counted[0] - expected + len(events), key.run_id)
        )
    write_events(db, key.run_id, counted[0] - expected + 1, events, lease.at)
    return Progress(RunStatus.RUNNING, claims=claims, ready=ready)


def _started(claims: Sequence[Claim]) -> list[Event]:
    return [("step_started", claim.step_id, claim.attempt, None) for claim in claims]


def _judge(db: sqlite3.Connection, key: RunKey, onward: Onward, lease: Lease, events: list[Event]) -> Progress:
    """Advance a run that must be read completely: it may end, start, or not continue."""
    row = db.execute(_READ_RUN, (key.run_id, key.tenant_id)).fetchone()
    if row is None:
        return Progress(None, recorded=False)
    status, unfinished, deleted = RunStatus(row[0]), row[1], row[2] is not None
    if status in {RunStatus.COMPLETED, RunStatus.CANCELLED}:
        return Progress(status, recorded=False)
    skipped = _skip(db, key, onward.skip, lease.at)
    remaining = unfinished - len(events) - len(skipped)
    going = status in CLAIMABLE_RUNS and not deleted
    claims, ready = _move_on(db, key, onward, lease, going=going)
    has_output = onward.output_payload is not None
    next_status = _after(status, remaining=remaining, has_output=has_output, deleted=deleted, started=bool(claims))
    if status is RunStatus.QUEUED and next_status is RunStatus.RUNNING:
        events.append(("run_started", None, None, None))
    events += [*(("step_skipped", step, None, None) for step in skipped), *_started(claims)]
    if next_status != status:
        output = onward.output_payload if next_status is RunStatus.COMPLETED else None
        error = (FLOW_DELETED, FLOW_DELETED_MESSAGE) if next_status is RunStatus.FAILED else (None, None)
        ended_at = lease.at if next_status.over else None
        db.execute(_MOVE_RUN, (next_status, remaining, output, *error, lease.at, ended_at, key.run_id))
        if next_status.over:
            data = failed_data(FLOW_DELETED, FLOW_DELETED_MESSAGE) if next_status is RunStatus.FAILED else None
            events.append((f"run_{next_status}", None, None, data))
    elif remaining != unfinished:
        db.execute(_COUNT_DOWN, (remaining, key.run_id))
    append_events(db, key.run_id, events, lease.at)
    return Progress(next_status, claims=claims, ready=ready, ended=next_status.over and next_status != status)


def fail(db: sqlite3.Connection, key: RunKey, failed: Failed, at: int) -> Progress:
    """Fail a step and, unless it is over, its run."""
    row = db.execute(_READ_RUN, (key.run_id, key.tenant_id)).fetchone()
    if row is None:
        return Progress(None, recorded=False)
    status = RunStatus(row[0])
    error = (failed.code, failed.message)
    if not _close(db, key, failed.claim, failed.record, StepStatus.FAILED, at=at, error=error):
        return Progress(status, recorded=False)
    data = failed_data(failed.code, failed.message)
    events: list[Event] = [("step_failed", failed.claim.step_id, failed.claim.attempt, data)]
    was_live = status in LIVE_RUNS
    if was_live:
        status = RunStatus.FAILED
        db.execute(_MOVE_RUN, (status, row[1], None, *error, at, at, key.run_id))
        events.append(("run_failed", failed.claim.step_id, None, data))
        _cancel_steps(db, key.run_id, at, "status = 'waiting'")
    append_events(db, key.run_id, events, at)
    return Progress(status, ended=was_live)


def take_over(db: sqlite3.Connection, key: RunKey, holders: Sequence[Holder], lease: Lease) -> tuple[Claim, ...]:
    """Close the attempts seen and open the next ones."""
    run_row = db.execute(_READ_RUN, (key.run_id, key.tenant_id)).fetchone()
    if run_row is None or RunStatus(run_row[0]) is not RunStatus.RUNNING or run_row[2] is not None:
        return ()
    claims = []
    for holder in holders:
        step_key = (key.run_id, key.flow_id, holder.step_id)
        expected = (holder.attempt, holder.lease_until)
        row = db.execute(_TAKE_OVER, (lease.worker_id, lease.until, lease.at, *step_key, *expected)).fetchone()
        if row is not None:
            reason = (AttemptStatus.RETRIED, WORKER_LOST, WORKER_LOST_MESSAGE)
            db.execute(
                _CLOSE_ATTEMPT, (*reason, min(lease.at, holder.lease_until or lease.at), *step_key, holder.attempt)
            )
            claims.append(_open_attempt(db, key, holder.step_id, row, lease))
    if claims:
        append_events(db, key.run_id, [RESUMED, *_started(claims)], lease.at)
    return tuple(claims)


def end(db: sqlite3.Connection, key: RunKey, code: str, message: str, at: int, *, overdue: bool = False) -> bool:
    """Fail a run for a reason outside its steps; cancel its running steps."""
    changed = db.execute(
        "UPDATE flow_runs SET status = 'failed', error_code = ?, error_message = ?, finished_at = ?"
        f" WHERE id = ? AND tenant_id = ? AND {guard(RUN_MOVES, RunStatus.FAILED)}"
        f" AND (NOT ? OR (deadline_at <= ? AND status IN {sql_list(CLAIMABLE_RUNS)}))",
        (code, message, at, key.run_id, key.tenant_id, overdue, at),
    )
    if changed.rowcount == 0:
        return False
    _cancel_steps(db, key.run_id, at, "status IN ('running', 'waiting')")
    _cancel_attempts(db, key.run_id, at)
    if code in ENDS_CHILDREN:
        _cancel_children(db, key.run_id, key.tenant_id, at)
    append_events(db, key.run_id, [("run_failed", None, None, failed_data(code, message))], at)
    return True


def cancel(
    db: sqlite3.Connection, run_id: str, tenant_id: str, at: int, entry: Entry | None = None
) -> Cancelled | None:
    """Cancel a run, its steps and its open attempts."""
    changed = db.execute(
        "UPDATE flow_runs SET status = 'cancelled', cancelled_at = ?, finished_at = ?"
        f" WHERE id = ? AND tenant_id = ? AND {guard(RUN_MOVES, RunStatus.CANCELLED)}",
        (at, at, run_id, tenant_id),
    )
    if changed.rowcount:
        _cancel_steps(db, run_id, at, guard(STEP_MOVES, StepStatus.CANCELLED))
        _cancel_attempts(db, run_id, at)
        append_events(db, run_id, [("run_cancelled", None, None, None)], at)
        children = _cancel_children(db, run_id, tenant_id, at)
        if entry is not None:
            append(db, entry)
        return Cancelled(RunStatus.CANCELLED, changed=True, children=children)
    row = db.execute(_READ_STATUS, (run_id, tenant_id)).fetchone()
    return None if row is None else Cancelled(RunStatus(row[0]), changed=False)


def _cancel_children(db: sqlite3.Connection, run_id: str, tenant_id: str, at: int) -> tuple[str, ...]:
    """Cancel the active runs that steps of a run started, and theirs. Returns their ids."""
    cancelled: list[str] = []
    for (child,) in db.execute(LIVE_CHILDREN_SQL, {"run_id": run_id, "tenant_id": tenant_id}).fetchall():
        outcome = cancel(db, child, tenant_id, at)
        cancelled += (child, *outcome.children) if outcome is not None else ()
    return tuple(cancelled)


def renew(db: sqlite3.Connection, held_steps: Sequence[Held], lease: Lease) -> frozenset[Held]:
    """Extend leases. Returns the steps that the worker still holds."""
    return frozenset(
        step
        for step in held_steps
        if db.execute(_RENEW, (lease.until, step.run_id, step.step_id, step.attempt, lease.worker_id)).rowcount
    )


def _close(
    db: sqlite3.Connection,
    key: RunKey,
    claim: Claim,
    record: StepRecord,
    status: StepStatus,
    *,
    at: int,
    error: tuple[str | None, str | None] = (None, None),
) -> bool:
    """End a step and its attempt; a completed step with an error ends a failed one. False when the claim is lost."""
    step = (key.run_id, key.flow_id, claim.step_id)
    attempt_key = (*step, key.tenant_id, claim.attempt)
    is_clean = status is StepStatus.COMPLETED and error[0] is None
    if record.bare and is_clean:
        closed = db.execute(_COMPLETE_STEP, (record.output_payload, record.execution_hash, at, *attempt_key))
    else:
        closed = db.execute(_CLOSE_STEP, (status, *_columns(record), *error, at, *attempt_key))
    if not closed.rowcount:
        return False
    outcome = AttemptStatus.COMPLETED if is_clean else AttemptStatus.FAILED
    db.execute(_CLOSE_ATTEMPT, (outcome, *error, at, *step, claim.attempt))
    return True


def _columns(record: StepRecord) -> tuple[str | int | None, ...]:
    return (
        record.output_payload,
        record.input_payload,
        record.effective_prompt,
        record.model_parameters,
        record.tool_calls,
        record.log,
        record.tokens_input,
        record.tokens_output,
        record.execution_hash,
        record.classification,
    )


def _status(db: sqlite3.Connection, key: RunKey) -> RunStatus | None:
    row = db.execute(_READ_STATUS, (key.run_id, key.tenant_id)).fetchone()
    return RunStatus(row[0]) if row else None


def _skip(db: sqlite3.Connection, key: RunKey, steps: Sequence[str], at: int) -> list[str]:
    return [step for step in steps if db.execute(_SKIP, (at, key.run_id, key.flow_id, step)).rowcount]


def _move_on(
    db: sqlite3.Connection, key: RunKey, onward: Onward, lease: Lease, *, going: bool
) -> tuple[tuple[Claim, ...], tuple[str, ...]]:
    """Decrement the waiting counts of steps and claim those that are ready."""
    claims: list[Claim] = []
    ready: list[str] = []
    claim_order = onward.claim if going else ()
    for step in claim_order:
        step_key = (key.run_id, key.flow_id, step, onward.settles.get(step, 0))
        row = db.execute(_CLAIM, (lease.worker_id, lease.until, lease.at, *step_key)).fetchone()
        if row is not None:
            claims.append(_open_attempt(db, key, step, row, lease))
    claimed_ids = {claim.step_id for claim in claims}
    for step, parents in onward.settles.items():
        if step in claimed_ids:
            continue
        row = db.execute(_SETTLE, (parents, key.run_id, key.flow_id, step)).fetchone()
        if row is not None and row[0] == 0:
            ready.append(step)
    return tuple(claims), tuple(ready)


def _open_attempt(db: sqlite3.Connection, key: RunKey, step: str, row: tuple[int, int], lease: Lease) -> Claim:
    attempt, order = row
    same = (key.run_id, key.flow_id, key.version, key.tenant_id)
    db.execute(_INSERT_ATTEMPT, (*same, step, order, attempt, lease.worker_id, lease.at))
    return Claim(step, attempt)


def _after(status: RunStatus, *, remaining: int, has_output: bool, deleted: bool, started: bool) -> RunStatus:
    """Return the run's status after the step changes. `known`: whether the writer knows the run's output."""
    if status not in LIVE_RUNS:
        return status
    if remaining == 0:
        return RunStatus.COMPLETED if has_output else status
    if deleted:
        return RunStatus.FAILED
    return RunStatus.RUNNING if started else status


def _cancel_steps(db: sqlite3.Connection, run_id: str, at: int, condition: str) -> None:
    db.execute(
        f"UPDATE flow_step_results SET status = 'cancelled', lease_until = NULL, waits_for = NULL, due_at = NULL,"
        f" finished_at = ? WHERE flow_run_id = ? AND {condition}",
        (at, run_id),
    )


def _cancel_attempts(db: sqlite3.Connection, run_id: str, at: int) -> None:
    db.execute(
        "UPDATE flow_step_attempts SET status = 'cancelled', finished_at = ?"
        f" WHERE flow_run_id = ? AND {guard(ATTEMPT_MOVES, AttemptStatus.CANCELLED)}",
        (at, run_id),
    )
