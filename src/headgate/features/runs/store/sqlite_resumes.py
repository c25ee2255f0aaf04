"""Resuming a run, and starting one on another's results, as SQL on one SQLite connection: rare, so apart."""

# ruff: noqa: S608 - what is put into the statements are constants of this module and of `states`

import sqlite3

from headgate.features.audit.chain import Entry
from headgate.features.audit.statements import append
from headgate.features.runs.errors import SourceGone
from headgate.features.runs.states import (
    BORN_SETTLED,
    RUN_RESUMES,
    STEP_RESUMES,
    RunStatus,
    StepStatus,
    guard,
    sources,
    sql_list,
)
from headgate.features.runs.store.rows import JSON_MEMBERS, RECORD_MEMBERS, TAKEN_COLUMNS
from headgate.features.runs.transitions import NewRun, Part, Resumed, Reuse, RunKey

_INSERT_RUN = (
    "INSERT INTO flow_runs (id, tenant_id, flow_id, version, user_id, session_id, status, unfinished, input_payload,"
    " created_at, source_run_id, source_step_id, trace_parent) VALUES (?, ?, ?, ?, ?, ?, 'queued', ?, ?, ?, ?, ?, ?)"
)
_INSERT_STEP = (
    "INSERT INTO flow_step_results (flow_run_id, flow_id, version, tenant_id, step_id, step_order, waiting, status,"
    " attempts) VALUES (?, ?, ?, ?, ?, ?, ?, 'pending', 0)"
)
_TAKE_STEP = (
    "INSERT INTO flow_step_results (flow_run_id, flow_id, version, tenant_id, step_id, step_order, waiting, attempts,"
    f" reused_from_run_id, {TAKEN_COLUMNS})"
    " SELECT ?, flow_id, ?, tenant_id, step_id, ?, 0, 0, coalesce(reused_from_run_id, flow_run_id),"
    f" {TAKEN_COLUMNS} FROM flow_step_results"
    " WHERE flow_run_id = ? AND flow_id = ? AND step_id = ? AND tenant_id = ?"
    f" AND status IN {sql_list(BORN_SETTLED)}"
)
_INSERT_PART = (
    "INSERT INTO flow_runs (id, tenant_id, flow_id, version, user_id, session_id, status, unfinished, input_payload,"
    " created_at, part, trace_parent) VALUES (?, ?, ?, ?, ?, ?, 'queued', ?, ?, ?, ?, ?)"
)
_INSERT_SETTLED = (
    "INSERT INTO flow_step_results (flow_run_id, flow_id, version, tenant_id, step_id, step_order, waiting, status,"
    " attempts, output_payload, classification, started_at, finished_at) VALUES (?, ?, ?, ?, ?, ?, 0, ?, 0, ?, ?, ?, ?)"
)
_RESUME_RUN = (
    "UPDATE flow_runs SET status = 'running', error_code = NULL, error_message = NULL, finished_at = NULL,"
    " started_at = ?, resumes = resumes + 1, dispatched_at = NULL, dispatches = 0"
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
    " AND a.step_id = s.step_id AND a.attempt_no = s.attempts"
    f" AND s.status IN {sql_list(sources(STEP_RESUMES, StepStatus.PENDING))}"
)
_RESUME_STEPS = (
    "UPDATE flow_step_results SET status = 'pending', input_payload = NULL, effective_prompt = NULL,"
    " output_payload = NULL, model_parameters = NULL, tool_calls = NULL, log = NULL, num_tokens_input = NULL,"
    " num_tokens_output = NULL, execution_hash = NULL, classification = NULL, error_code = NULL,"
    " error_message = NULL, worker_id = NULL, lease_until = NULL, started_at = NULL, finished_at = NULL"
    f" WHERE flow_run_id = ? AND tenant_id = ? AND {guard(STEP_RESUMES, StepStatus.PENDING)}"
)


def create_from(db: sqlite3.Connection, run: NewRun, reuse: Reuse, at: int) -> None:
    """Insert a queued run, copying the results it takes over. Raises `SourceGone`."""
    key, taken = run.key, set(reuse.steps)
    who = (key.run_id, key.tenant_id, key.flow_id, key.version, run.user_id, run.session_id)
    left = len(run.steps) - len(taken)
    db.execute(_INSERT_RUN, (*who, left, run.input_payload, at, reuse.run_id, reuse.step_id, run.trace_parent))
    same = (key.run_id, key.flow_id, key.version, key.tenant_id)
    for seed in run.steps:
        if seed.step_id not in taken:
            db.execute(_INSERT_STEP, (*same, seed.step_id, seed.order, seed.waiting))
            continue
        place = (reuse.run_id, key.flow_id, seed.step_id, key.tenant_id)
        if not db.execute(_TAKE_STEP, (key.run_id, key.version, seed.order, *place)).rowcount:
            raise SourceGone(reuse.run_id)
    if run.entry is not None:
        append(db, run.entry)


def create_part(db: sqlite3.Connection, run: NewRun, part: Part, at: int) -> None:
    """Insert a queued run of a part of its flow."""
    key, pinned = run.key, {one.step_id: one for one in part.pinned}
    who = (key.run_id, key.tenant_id, key.flow_id, key.version, run.user_id, run.session_id)
    left = len(run.steps) - len(part.settled)
    db.execute(_INSERT_PART, (*who, left, run.input_payload, at, part.stored(), run.trace_parent))
    same = (key.run_id, key.flow_id, key.version, key.tenant_id)
    for seed in run.steps:
        place = (*same, seed.step_id, seed.order)
        stands_in = pinned.get(seed.step_id)
        if stands_in is not None:
            made = (StepStatus.COMPLETED, stands_in.output_payload, stands_in.classification, at, at)
            db.execute(_INSERT_SETTLED, (*place, *made))
        elif seed.step_id in part.settled:
            db.execute(_INSERT_SETTLED, (*place, StepStatus.SKIPPED, None, None, None, at))
        else:
            db.execute(_INSERT_STEP, (*place, seed.waiting))
    if run.entry is not None:
        append(db, run.entry)


def resume(db: sqlite3.Connection, key: RunKey, at: int, entry: Entry | None = None) -> Resumed | None:
    """Let a failed run go on."""
    if db.execute(_RESUME_RUN, (at, key.run_id, key.tenant_id)).rowcount:
        db.execute(_KEEP_RECORDS, (key.run_id, key.tenant_id))
        db.execute(_RESUME_STEPS, (key.run_id, key.tenant_id))
        if entry is not None:
            append(db, entry)
        return Resumed(RunStatus.RUNNING, changed=True)
    query = "SELECT status FROM flow_runs WHERE id = ? AND tenant_id = ?"
    found = db.execute(query, (key.run_id, key.tenant_id)).fetchone()
    return None if found is None else Resumed(RunStatus(found[0]), changed=False)
