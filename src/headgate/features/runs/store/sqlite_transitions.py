"""The transitions as SQL on one SQLite connection. Each function runs in a transaction that holds the write lock."""

# ruff: noqa: S608 - what is put into the statements are constants of this module and of `states`

import sqlite3
from collections.abc import Sequence

from headgate.features.audit.chain import Entry
from headgate.features.audit.statements import append
from headgate.features.runs.errors import FLOW_DELETED, FLOW_DELETED_MESSAGE, WORKER_LOST, WORKER_LOST_MESSAGE
from headgate.features.runs.states import (
    ATTEMPT_MOVES,
    LIVE_RUNS,
    RUN_MOVES,
    STEP_MOVES,
    AttemptStatus,
    RunStatus,
    StepStatus,
    guard,
    sql_list,
)
from headgate.features.runs.store.rows import DELIVER_SQL, completed_data, delivery_values, failed_data
from headgate.features.runs.store.sqlite_events import RESUMED, Event, append_events, write_events
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
    "UPDATE flow_step_results SET status = 'completed', output_payload = ?, execution_hash = ?, worker_id = NULL,"
    " lease_until = NULL, finished_at = ?"
    f" WHERE {_STEP} AND tenant_id = ? AND attempts = ? AND {guard(STEP_MOVES, StepStatus.COMPLETED)}"
)
"""The same for a step that left nothing but its output: half the columns, half the time."""
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
    "UPDATE flow_step_results SET attempts = attempts + 1, worker_id = ?, lease_until = ?, started_at = ?"
    f" WHERE {_STEP} AND attempts = ? AND coalesce(lease_until, 0) = ? AND status = 'running'"
    " RETURNING attempts, step_order"
)
_COUNT_DOWN = "UPDATE flow_runs SET unfinished = ? WHERE id = ?"
_GO_ON = (
    "UPDATE flow_runs SET unfinished = unfinished - 1, last_event = last_event + ? WHERE id = ? AND tenant_id = ?"
    " AND status = 'running' AND unfinished > 1"
    " AND NOT EXISTS (SELECT 1 FROM flows WHERE id = flow_id AND deleted_at IS NOT NULL) RETURNING last_event"
)
"""Count down a run that has steps left and may go on: by far the most common case, in one statement."""
_MOVE_RUN = (
    "UPDATE flow_runs SET status = ?, unfinished = ?, output_payload = ?, error_code = ?, error_message = ?,"
    " started_at = coalesce(started_at, ?), finished_at = ? WHERE id = ?"
)
_RENEW = (
    "UPDATE flow_step_results SET lease_until = ?"
    " WHERE flow_run_id = ? AND step_id = ? AND attempts = ? AND worker_id = ? AND status = 'running'"
)


def advance(db: sqlite3.Connection, key: RunKey, onward: Onward, lease: Lease, finished: Finished | None) -> Progress:
    """Complete, skip, settle, claim, and end the run when nothing is left of it."""
    events: list[Event] = []
    if finished is not None:
        claim = finished.claim
        if not _close(db, key, claim, finished.record, AttemptStatus.COMPLETED, at=lease.at):
            return Progress(_status(db, key), recorded=False)
        if finished.delivery is not None:
            db.execute(DELIVER_SQL, delivery_values(key, finished, lease.at))
        events.append(("step_completed", claim.step_id, claim.attempt, completed_data(finished)))
        if onward.output_payload is None and not onward.skip:
            continued = _go_on(db, key, onward, lease, events)
            if continued is not None:
                return continued
    return _judge(db, key, onward, lease, events)


def _go_on(db: sqlite3.Connection, key: RunKey, onward: Onward, lease: Lease, events: list[Event]) -> Progress | None:
    """Continue a run that has steps left after this one. None when everything of it has to be read: nothing is done."""
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
    """Advance a run of which everything has to be read: it may end, start, or continue no more."""
    row = db.execute(_READ_RUN, (key.run_id, key.tenant_id)).fetchone()
    if row is None:
        return Progress(None, recorded=False)
    status, unfinished, deleted = RunStatus(row[0]), row[1], row[2] is not None
    if status in {RunStatus.COMPLETED, RunStatus.CANCELLED}:
        return Progress(status, recorded=False)
    skipped = _skip(db, key, onward.skip, lease.at)
    left = unfinished - len(events) - len(skipped)
    going = status in LIVE_RUNS and not deleted
    claims, ready = _move_on(db, key, onward, lease, going=going)
    known = onward.output_payload is not None
    after = _after(status, left=left, known=known, deleted=deleted, started=bool(claims))
    if status is RunStatus.QUEUED and after is RunStatus.RUNNING:
        events.append(("run_started", None, None, None))
    events += [*(("step_skipped", step, None, None) for step in skipped), *_started(claims)]
    if after != status:
        output = onward.output_payload if after is RunStatus.COMPLETED else None
        error = (FLOW_DELETED, FLOW_DELETED_MESSAGE) if after is RunStatus.FAILED else (None, None)
        ended = lease.at if after.over else None
        db.execute(_MOVE_RUN, (after, left, output, *error, lease.at, ended, key.run_id))
        if after.over:
            data = failed_data(FLOW_DELETED, FLOW_DELETED_MESSAGE) if after is RunStatus.FAILED else None
            events.append((f"run_{after}", None, None, data))
    elif left != unfinished:
        db.execute(_COUNT_DOWN, (left, key.run_id))
    append_events(db, key.run_id, events, lease.at)
    return Progress(after, claims=claims, ready=ready, ended=after.over and after != status)


def fail(db: sqlite3.Connection, key: RunKey, failed: Failed, at: int) -> Progress:
    """Fail a step and, unless it is over, its run."""
    found = db.execute(_READ_RUN, (key.run_id, key.tenant_id)).fetchone()
    if found is None:
        return Progress(None, recorded=False)
    status = RunStatus(found[0])
    error = (failed.code, failed.message)
    if not _close(db, key, failed.claim, failed.record, AttemptStatus.FAILED, at=at, error=error):
        return Progress(status, recorded=False)
    data = failed_data(failed.code, failed.message)
    events: list[Event] = [("step_failed", failed.claim.step_id, failed.claim.attempt, data)]
    ended = status in LIVE_RUNS
    if ended:
        status = RunStatus.FAILED
        db.execute(_MOVE_RUN, (status, found[1], None, *error, at, at, key.run_id))
        events.append(("run_failed", failed.claim.step_id, None, data))
    append_events(db, key.run_id, events, at)
    return Progress(status, ended=ended)


def take_over(db: sqlite3.Connection, key: RunKey, held: Sequence[Holder], lease: Lease) -> tuple[Claim, ...]:
    """Close the attempts seen and open the next ones."""
    found = db.execute(_READ_RUN, (key.run_id, key.tenant_id)).fetchone()
    if found is None or RunStatus(found[0]) is not RunStatus.RUNNING or found[2] is not None:
        return ()
    taken = []
    for holder in held:
        place = (key.run_id, key.flow_id, holder.step_id)
        seen = (holder.attempt, holder.lease_until)
        row = db.execute(_TAKE_OVER, (lease.worker_id, lease.until, lease.at, *place, *seen)).fetchone()
        if row is not None:
            why = (AttemptStatus.RETRIED, WORKER_LOST, WORKER_LOST_MESSAGE)
            db.execute(_CLOSE_ATTEMPT, (*why, min(lease.at, holder.lease_until or lease.at), *place, holder.attempt))
            taken.append(_open_attempt(db, key, holder.step_id, row, lease))
    if taken:
        append_events(db, key.run_id, [RESUMED, *_started(taken)], lease.at)
    return tuple(taken)


def end(db: sqlite3.Connection, key: RunKey, code: str, message: str, at: int) -> bool:
    """Fail a run from outside; what was being worked on is cancelled."""
    changed = db.execute(
        "UPDATE flow_runs SET status = 'failed', error_code = ?, error_message = ?, finished_at = ?"
        f" WHERE id = ? AND tenant_id = ? AND {guard(RUN_MOVES, RunStatus.FAILED)}",
        (code, message, at, key.run_id, key.tenant_id),
    )
    if changed.rowcount == 0:
        return False
    _cancel_steps(db, key.run_id, at, "status = 'running'")
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
        append_events(db, run_id, [("run_cancelled", None, None, None)], at)
        if entry is not None:
            append(db, entry)
        return Cancelled(RunStatus.CANCELLED, changed=True)
    row = db.execute(_READ_STATUS, (run_id, tenant_id)).fetchone()
    return None if row is None else Cancelled(RunStatus(row[0]), changed=False)


def renew(db: sqlite3.Connection, held: Sequence[Held], lease: Lease) -> frozenset[Held]:
    """Lengthen leases; which of the steps are still this worker's."""
    return frozenset(
        step
        for step in held
        if db.execute(_RENEW, (lease.until, step.run_id, step.step_id, step.attempt, lease.worker_id)).rowcount
    )


def _close(
    db: sqlite3.Connection,
    key: RunKey,
    claim: Claim,
    record: StepRecord,
    status: AttemptStatus,
    *,
    at: int,
    error: tuple[str | None, str | None] = (None, None),
) -> bool:
    """End a step and its attempt; False when they are not this claim's any more."""
    step = (key.run_id, key.flow_id, claim.step_id)
    mine = (*step, key.tenant_id, claim.attempt)
    if record.bare and status is AttemptStatus.COMPLETED:
        closed = db.execute(_COMPLETE_STEP, (record.output_payload, record.execution_hash, at, *mine))
    else:
        closed = db.execute(_CLOSE_STEP, (status, *_columns(record), *error, at, *mine))
    if not closed.rowcount:
        return False
    db.execute(_CLOSE_ATTEMPT, (status, *error, at, *step, claim.attempt))
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
    """Count parents down and claim what may go on."""
    claims: list[Claim] = []
    ready: list[str] = []
    wanted = onward.claim if going else ()
    for step in wanted:
        place = (key.run_id, key.flow_id, step, onward.settles.get(step, 0))
        row = db.execute(_CLAIM, (lease.worker_id, lease.until, lease.at, *place)).fetchone()
        if row is not None:
            claims.append(_open_attempt(db, key, step, row, lease))
    mine = {claim.step_id for claim in claims}
    for step, parents in onward.settles.items():
        if step in mine:
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


def _after(status: RunStatus, *, left: int, known: bool, deleted: bool, started: bool) -> RunStatus:
    """The run's status once the steps have moved. `known`: whether the writer knows the run's output."""
    if status not in LIVE_RUNS:
        return status
    if left == 0:
        return RunStatus.COMPLETED if known else status
    if deleted:
        return RunStatus.FAILED
    return RunStatus.RUNNING if started else status


def _cancel_steps(db: sqlite3.Connection, run_id: str, at: int, condition: str) -> None:
    db.execute(
        f"UPDATE flow_step_results SET status = 'cancelled', lease_until = NULL, finished_at = ?"
        f" WHERE flow_run_id = ? AND {condition}",
        (at, run_id),
    )
    db.execute(
        "UPDATE flow_step_attempts SET status = 'cancelled', finished_at = ?"
        f" WHERE flow_run_id = ? AND {guard(ATTEMPT_MOVES, AttemptStatus.CANCELLED)}",
        (at, run_id),
    )
