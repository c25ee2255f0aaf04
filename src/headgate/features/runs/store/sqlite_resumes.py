"""SQL that resumes a run on one SQLite connection."""

# ruff: noqa: S608 - only constants of this module and of `states` are inserted into the statements

import sqlite3

from headgate.features.audit.chain import Entry
from headgate.features.audit.statements import append
from headgate.features.idempotency.keys import StartKey, claim_on
from headgate.features.runs.states import (
    RUN_RESUMES,
    STEP_RESUMES,
    RunStatus,
    StepStatus,
    guard,
    sources,
    sql_list,
)
from headgate.features.runs.store.rows import JSON_MEMBERS, RECORD_MEMBERS
from headgate.features.runs.store.sqlite_events import RESUMED, append_events
from headgate.features.runs.transitions import Resumed, RunKey

_RESUME_RUN = (
    "UPDATE flow_runs SET status = 'running', error_code = NULL, error_message = NULL, finished_at = NULL,"
    " started_at = ?, resumes = resumes + 1, dispatched_at = NULL, dispatches = 0, pickups = 0,"
    " deadline_at = ? + deadline_after"
    f" WHERE id = ? AND tenant_id = ? AND {guard(RUN_RESUMES, RunStatus.RUNNING)}"
    " AND NOT EXISTS (SELECT 1 FROM flows WHERE id = flow_id AND deleted_at IS NOT NULL)"
)
_RECORD = ", ".join(
    f"'{member}', CASE WHEN json_valid(s.{column}) THEN json(s.{column}) END"
    if member in JSON_MEMBERS
    else f"'{member}', s.{column}"
    for member, column in RECORD_MEMBERS.items()
)
_KEEP_RECORDS = (
    f"UPDATE flow_step_attempts AS a SET record = json_object({_RECORD}) FROM flow_step_results AS s"
    " WHERE s.flow_run_id = ? AND s.tenant_id = ? AND a.flow_run_id = s.flow_run_id AND a.flow_id = s.flow_id"
    " AND a.step_id = s.step_id AND a.attempt_no = s.attempts AND a.record IS NULL"
    f" AND s.status IN {sql_list(sources(STEP_RESUMES, StepStatus.PENDING))}"
)
_RESUME_STEPS = (
    "UPDATE flow_step_results SET status = 'pending', input_payload = NULL, effective_prompt = NULL,"
    " output_payload = NULL, model_parameters = NULL, tool_calls = NULL, log = NULL, num_tokens_input = NULL,"
    " num_tokens_output = NULL, execution_hash = NULL, classification = NULL, error_code = NULL,"
    " error_message = NULL, interruptions = 0, failures = 0, failing_since = NULL, worker_id = NULL,"
    " lease_until = NULL, started_at = NULL, finished_at = NULL, waits_for = NULL, answered_at = NULL"
    f" WHERE flow_run_id = ? AND tenant_id = ? AND {guard(STEP_RESUMES, StepStatus.PENDING)}"
)


def resume(
    db: sqlite3.Connection, key: RunKey, at: int, entry: Entry | None = None, once: StartKey | None = None
) -> Resumed | None:
    """Resume a failed run. Raises `KeyTaken`."""
    if db.execute(_RESUME_RUN, (at, at, key.run_id, key.tenant_id)).rowcount:
        claim_on(db, once, key.run_id, at)
        db.execute(_KEEP_RECORDS, (key.run_id, key.tenant_id))
        db.execute(_RESUME_STEPS, (key.run_id, key.tenant_id))
        append_events(db, key.run_id, [RESUMED], at)
        if entry is not None:
            append(db, entry)
        return Resumed(RunStatus.RUNNING, changed=True)
    query = "SELECT status FROM flow_runs WHERE id = ? AND tenant_id = ?"
    row = db.execute(query, (key.run_id, key.tenant_id)).fetchone()
    return None if row is None else Resumed(RunStatus(row[0]), changed=False)
