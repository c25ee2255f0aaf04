"""SQL that creates a run on one SQLite connection, in a transaction that holds the write lock."""

# ruff: noqa: S608 - only constants of this module and of `states` are inserted into the statements

import sqlite3
from collections.abc import Sequence
from typing import Any

from headgate.features.audit.statements import append
from headgate.features.idempotency.keys import claim_on
from headgate.features.runs.companions import write_on
from headgate.features.runs.errors import SourceGone
from headgate.features.runs.quotas.usage import check_on
from headgate.features.runs.states import BORN_SETTLED, RunStatus, StepStatus, sql_list
from headgate.features.runs.store.births import Birth, births_of
from headgate.features.runs.store.children import RUNS_SQL, check_parent, parent_values
from headgate.features.runs.store.rows import TAKEN_COLUMNS
from headgate.features.runs.store.sqlite_events import Event, write_events
from headgate.features.runs.transitions import Lease, NewRun

_INSERT_RUN = (
    "INSERT INTO flow_runs (id, tenant_id, flow_id, version, user_id, session_id, status, unfinished, input_payload,"
    " created_at, started_at, trace_parent, source_run_id, source_step_id, part, last_event, visitor,"
    " parent_run_id, parent_step_id, parent_iteration, deadline_after, deadline_at, terms, error_flow)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_INSERT_STEP = (
    "INSERT INTO flow_step_results (flow_run_id, flow_id, version, tenant_id, step_id, step_order, waiting, status,"
    " attempts, worker_id, lease_until, started_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_INSERT_SETTLED = (
    "INSERT INTO flow_step_results (flow_run_id, flow_id, version, tenant_id, step_id, step_order, waiting, status,"
    " attempts, output_payload, classification, started_at, finished_at) VALUES (?, ?, ?, ?, ?, ?, 0, ?, 0, ?, ?, ?, ?)"
)
_INSERT_ATTEMPT = (
    "INSERT INTO flow_step_attempts (flow_run_id, flow_id, version, tenant_id, step_id, step_order, attempt_no, status,"
    " worker_id, started_at) VALUES (?, ?, ?, ?, ?, ?, 1, 'started', ?, ?)"
)
_COPY_STEP = (
    "INSERT INTO flow_step_results (flow_run_id, flow_id, version, tenant_id, step_id, step_order, waiting, attempts,"
    f" reused_from_run_id, {TAKEN_COLUMNS})"
    " SELECT ?, flow_id, ?, tenant_id, step_id, ?, 0, 0, coalesce(reused_from_run_id, flow_run_id),"
    f" {TAKEN_COLUMNS} FROM flow_step_results"
    " WHERE flow_run_id = ? AND flow_id = ? AND step_id = ? AND tenant_id = ?"
    f" AND status IN {sql_list(BORN_SETTLED)}"
)


def create(db: sqlite3.Connection, run: NewRun, lease: Lease) -> None:
    """Insert a run with its steps: claimed ones running, settled ones as they are.

    Raises `SourceGone`, `ParentGone`, `ParentPaused`, `KeyTaken`, `QuotaExceeded`, refusals of its companions.
    """
    parent = run.parent
    if parent is not None:
        check_parent(db.execute(RUNS_SQL, parent_values(run.key, parent)).fetchone(), parent)
    claim_on(db, run.once, run.key.run_id, lease.at)
    check_on(db, run.bounds, run.key.tenant_id, lease.at)
    write_on(db, run.companions, run.key.run_id)
    births = births_of(run)
    claimed = [birth for birth in births if birth.status == StepStatus.RUNNING]
    db.execute(_INSERT_RUN, _run_values(run, lease, births, events=1 + len(claimed)))
    same = (run.key.run_id, run.key.flow_id, run.key.version, run.key.tenant_id)
    working, idle = (1, lease.worker_id, lease.until, lease.at), (0, None, None, None)
    opened = [
        (
            *same,
            birth.step_id,
            birth.order,
            birth.waiting,
            birth.status,
            *(working if birth.status == "running" else idle),
        )
        for birth in births
        if not birth.settled
    ]
    db.executemany(_INSERT_STEP, opened)
    if claimed:
        worker = (lease.worker_id, lease.at)
        db.executemany(_INSERT_ATTEMPT, [(*same, birth.step_id, birth.order, *worker) for birth in claimed])
    if len(opened) < len(births):
        _insert_settled(db, run, births, lease.at)
    events: list[Event] = [("run_started" if run.claim else "run_queued", None, None, None)]
    events += [("step_started", birth.step_id, 1, None) for birth in claimed]
    write_events(db, run.key.run_id, 1, events, lease.at)
    if run.entry is not None:
        append(db, run.entry)


def _run_values(run: NewRun, lease: Lease, births: Sequence[Birth], *, events: int) -> tuple[Any, ...]:
    key = run.key
    owner = (key.run_id, key.tenant_id, key.flow_id, key.version, run.user_id, run.session_id)
    status, started = (RunStatus.RUNNING, lease.at) if run.claim else (RunStatus.QUEUED, None)
    unsettled = sum(not birth.settled for birth in births)
    source = (None, None) if run.reuse is None else (run.reuse.run_id, run.reuse.step_id)
    part = None if run.part is None else run.part.stored()
    started_by = run.parent
    parent = (None,) * 3 if started_by is None else (started_by.run_id, started_by.step_id, started_by.iteration)
    return (
        *owner,
        status,
        unsettled,
        run.input_payload,
        lease.at,
        started,
        run.trace_parent,
        *source,
        part,
        events,
        run.visitor,
        *parent,
        run.deadline_after,
        None if run.deadline_after is None else lease.at + run.deadline_after,
        run.terms,
        run.error_flow,
    )


def _insert_settled(db: sqlite3.Connection, run: NewRun, births: Sequence[Birth], at: int) -> None:
    """Insert the steps that are never executed in this run."""
    key = run.key
    same = (key.run_id, key.flow_id, key.version, key.tenant_id)
    for birth in births:
        if birth.is_copy and run.reuse is not None:
            source_key = (run.reuse.run_id, key.flow_id, birth.step_id, key.tenant_id)
            if not db.execute(_COPY_STEP, (key.run_id, key.version, birth.order, *source_key)).rowcount:
                raise SourceGone(run.reuse.run_id)
        elif birth.settled:
            began = at if birth.status == StepStatus.COMPLETED else None
            values = (birth.status, birth.output_payload, birth.classification, began, at)
            db.execute(_INSERT_SETTLED, (*same, birth.step_id, birth.order, *values))
