"""Reads runs: queries for both databases, and the conversion of their rows to values."""

# ruff: noqa: S608 - only constants are inserted into the statements

import re
from collections.abc import Sequence
from functools import cache
from typing import Any

import orjson

from headgate.features.runs.event_log import EventPage, RunEvent
from headgate.features.runs.states import ACTIVE_RUNS, CLAIMABLE_RUNS, AttemptStatus, RunStatus, StepStatus, sql_list
from headgate.features.runs.transitions import (
    Finished,
    Holder,
    LiveRun,
    ReadRun,
    ReadStep,
    RunKey,
    StoredRun,
    StoredStep,
    Straggler,
)
from headgate.features.runs.waiting import Failure, Suspension

LOAD_RUN_SQL = (
    "SELECT id, tenant_id, flow_id, version, status, user_id, session_id, trace_parent, input_payload,"
    " started_at, json_extract(part, '$.only_step'), visitor, parent_run_id, terms FROM flow_runs WHERE id = :run_id"
)
LOAD_STEPS_SQL = (
    "SELECT step_id, status, waiting, attempts, worker_id, lease_until, output_payload,"
    " CASE WHEN waits_for = 'slot' THEN coalesce(waited_for, waits_for) ELSE waits_for END,"
    " interruptions, failures, failing_since, num_tokens_input, num_tokens_output, classification"
    " FROM flow_step_results WHERE flow_run_id = :run_id"
)
_LEAF = (
    "NOT EXISTS (SELECT 1 FROM version_edges e"
    " WHERE e.flow_id = s.flow_id AND e.version = s.version AND e.parent_step_id = s.step_id)"
)
_STOPS_AT = "(SELECT json_extract(part, '$.only_step') FROM flow_runs r WHERE r.id = s.flow_run_id)"
READ_RUN_SQL = (
    "SELECT id, tenant_id, flow_id, version, user_id, session_id, status, error_code, error_message, created_at,"
    " started_at, finished_at, resumes, source_run_id, source_step_id, parent_run_id, parent_step_id, parent_iteration,"
    " deadline_at, (SELECT count(*) FROM webhook_deliveries d"
    " WHERE d.flow_run_id = flow_runs.id AND d.status = 'failed'), terms, part, input_payload, output_payload"
    " FROM flow_runs WHERE id = :run_id AND tenant_id = :tenant_id"
)
READ_STEPS_SQL = (
    "SELECT s.step_id, s.step_order, v.type, s.status, s.attempts, s.num_tokens_input, s.num_tokens_output,"
    " s.error_code, s.error_message, s.started_at, s.finished_at, s.reused_from_run_id,"
    " s.waits_for, s.due_at, s.answered_at, s.failures,"
    f" CASE WHEN {_LEAF} OR s.step_id = {_STOPS_AT} THEN s.output_payload END"
    " FROM flow_step_results s JOIN version_steps v"
    " ON v.flow_id = s.flow_id AND v.version = s.version AND v.step_id = s.step_id"
    " WHERE s.flow_run_id = :run_id AND s.tenant_id = :tenant_id ORDER BY s.step_order"
)
"""Step summaries, with outputs only of the last steps, or of the one it stops at: they are the run's result."""
READ_RUNS_SQL = READ_RUN_SQL.replace("WHERE id = :run_id", "WHERE id IN (SELECT value FROM json_each(:run_ids))")
READ_STEPS_OF_RUNS_SQL = READ_STEPS_SQL.replace("SELECT s.step_id", "SELECT s.flow_run_id, s.step_id", 1).replace(
    "s.flow_run_id = :run_id", "s.flow_run_id IN (SELECT value FROM json_each(:run_ids))"
)
_WAITS = (
    "EXISTS (SELECT 1 FROM flow_step_results w"
    " WHERE w.flow_run_id = r.id AND w.flow_id = r.flow_id AND w.status = 'waiting')"
)
LIVE_RUNS_SQL = (
    "SELECT r.id, r.tenant_id, r.flow_id, r.version, r.status, f.deleted_at,"
    " r.created_at, r.started_at, r.dispatched_at, coalesce(r.user_id, r.visitor),"
    f" {_WAITS}, coalesce(CAST(r.terms ->> 'priority' AS INTEGER), 0),"
    " s.step_id, s.attempts, s.worker_id, s.lease_until, s.interruptions"
    " FROM flow_runs r JOIN flows f ON f.id = r.flow_id"
    " LEFT JOIN flow_step_results s ON s.flow_run_id = r.id AND s.flow_id = r.flow_id AND s.status = 'running'"
    f" WHERE r.status IN {sql_list(ACTIVE_RUNS)} ORDER BY r.created_at, r.id"
)
"""Served by the partial index `ix_flow_runs_live`, so that the cost depends on active runs only."""
ORPHANS_SQL = (
    "SELECT r.id, r.tenant_id, r.flow_id, r.version FROM flow_runs r JOIN flows f ON f.id = r.flow_id"
    " WHERE r.status = 'waiting' AND f.deleted_at IS NOT NULL"
    " UNION ALL SELECT r.id, r.tenant_id, r.flow_id, r.version FROM flow_runs r JOIN flows f ON f.id = r.flow_id"
    " WHERE r.status = 'paused' AND f.deleted_at IS NOT NULL"
)
"""Waiting and paused runs of deleted flows, which nothing may wake or continue."""
OVERDUE_SQL = (
    "SELECT id, tenant_id, flow_id, version, deadline_after FROM flow_runs"
    f" WHERE deadline_at IS NOT NULL AND status IN {sql_list(CLAIMABLE_RUNS)} AND deadline_at <= :at"
    " ORDER BY deadline_at LIMIT :limit"
)
"""Served by the partial index `ix_flow_runs_deadline`."""
STRAGGLERS_SQL = (
    "SELECT r.id, r.tenant_id, r.flow_id, r.version, s.step_id, s.attempts, s.worker_id, s.lease_until,"
    " s.interruptions FROM flow_runs r JOIN flow_step_results s"
    " ON s.flow_run_id = r.id AND s.flow_id = r.flow_id AND s.status = 'running'"
    " WHERE r.status = 'failed' AND r.finished_at >= :since ORDER BY r.finished_at, s.step_order"
)
"""Served by the partial index `ix_flow_runs_failed`."""
STRAGGLERS_OF_RUN_SQL = STRAGGLERS_SQL.replace("WHERE", "WHERE r.id = :run_id AND")
WORK_SQL = (
    "SELECT a.started_at, coalesce(a.finished_at, s.lease_until) FROM flow_step_attempts a JOIN flow_step_results s"
    " ON s.flow_run_id = a.flow_run_id AND s.flow_id = a.flow_id AND s.step_id = a.step_id"
    " WHERE a.flow_run_id = :run_id AND a.started_at >= :since ORDER BY a.started_at"
)
"""Start and end of each attempt; an open one ends with its lease."""
STOPS_SQL = (
    "SELECT r.terms FROM flow_runs r JOIN flow_step_results s ON s.flow_run_id = r.id AND s.flow_id = r.flow_id"
    " WHERE r.id = :run_id AND s.step_id = :step_id AND s.attempts - s.interruptions = 1"
)
"""The terms of a run, if the step has only had first attempts: a wait or a resume sets the interruptions to 0."""
STATUS_SQL = "SELECT status FROM flow_runs WHERE id = :run_id"
NEXT_DUE_SQL = "SELECT min(due_at) FROM flow_step_results WHERE status = 'waiting'"
PAST_TURNS_SQL = (
    "SELECT input_payload, output_payload FROM flow_runs WHERE flow_id = :flow_id AND session_id = :session_id"
    " AND tenant_id = :tenant_id AND user_id IS :user_id AND status = 'completed' AND id < :run_id"
    " ORDER BY id DESC LIMIT :limit"
)
EVENTS_SQL = (
    "SELECT r.id, r.tenant_id, r.flow_id, r.version, r.resumes, r.last_event,"
    " e.seq, e.kind, e.step_id, e.attempt, e.at, e.data FROM flow_runs r"
    " LEFT JOIN flow_run_events e ON e.flow_run_id = r.id AND e.seq > :after"
    " WHERE r.id = :run_id AND r.tenant_id = :tenant_id ORDER BY e.seq LIMIT :limit"
)

CAN_REST = (
    "r.status = 'running' AND EXISTS (SELECT 1 FROM flow_step_results s"
    " WHERE s.flow_run_id = r.id AND s.flow_id = r.flow_id AND s.status = 'waiting')"
    " AND NOT EXISTS (SELECT 1 FROM flow_step_results s WHERE s.flow_run_id = r.id AND s.flow_id = r.flow_id"
    " AND (s.status = 'running' OR (s.status = 'pending' AND s.waiting = 0)))"
)
"""Condition on a run `r`: a step waits, and no other runs or can be claimed."""
DELIVER_SQL = (
    "INSERT INTO webhook_deliveries (id, tenant_id, flow_run_id, flow_id, step_id, status, target, url_shown,"
    " idempotency_key, due_at, created_at) VALUES (:id, :tenant_id, :run_id, :flow_id, :step_id, 'pending',"
    " :target, :url_shown, :idempotency_key, :at, :at) ON CONFLICT (flow_run_id, step_id) DO NOTHING"
)
"""In the transaction that completes the step: no result without its delivery, no delivery without its result."""


def delivery_values(key: RunKey, finished: Finished, at: int) -> dict[str, Any]:
    """Return the parameters of `DELIVER_SQL`; empty when the step delivers nothing."""
    delivery = finished.delivery
    if delivery is None:
        return {}
    return {
        "id": delivery.id,
        "tenant_id": key.tenant_id,
        "run_id": key.run_id,
        "flow_id": key.flow_id,
        "step_id": finished.claim.step_id,
        "target": delivery.target,
        "url_shown": delivery.url_shown,
        "idempotency_key": delivery.idempotency_key,
        "at": at,
    }


TAKEN_COLUMNS = (
    "status, input_payload, effective_prompt, output_payload, model_parameters, tool_calls, log, num_tokens_input,"
    " num_tokens_output, execution_hash, started_at, finished_at, classification, error_code,"
    " error_message"
)
"""Columns that a reused result keeps. Its times are those of the original execution."""
RECORD_MEMBERS = {
    "input": "input_payload",
    "model_parameters": "model_parameters",
    "tool_calls": "tool_calls",
    "log": "log",
    "effective_prompt": "effective_prompt",
    "tokens_input": "num_tokens_input",
    "tokens_output": "num_tokens_output",
}
"""Contents of a failed attempt that are stored when its step is repeated: member to column. The first four are JSON."""
JSON_MEMBERS = ("input", "model_parameters", "tool_calls", "log")


@cache
def for_postgres(statement: str) -> str:
    """Return a query in psycopg's syntax, with JSON as text."""
    converted = statement.replace("IN (SELECT value FROM json_each(:run_ids))", "= ANY(:run_ids)")
    converted = re.sub(r"\bIS :", "IS NOT DISTINCT FROM :", converted)
    converted = re.sub(r":(\w+)", r"%(\1)s", converted)
    converted = re.sub(r"json_extract\(([\w.]+), '\$\.(\w+)\[0\]'\)", r"(\1->'\2'->>0)", converted)
    converted = re.sub(r"json_extract\((\w+), '\$\.(\w+)'\)", r"\1->>'\2'", converted)
    return re.sub(r"(\w*\.?(?:in|out)put_payload|\bpart|\bterms|\be\.data)(?= FROM|,| END)", r"\1::text", converted)


def read_run_of(run: Sequence[Any] | None, steps: Sequence[Sequence[Any]]) -> ReadRun | None:
    """Return a run for display."""
    if run is None:
        return None
    *columns, terms, part, run_input, output = run
    read_steps = tuple(ReadStep(*[*step[:-1], _loaded(step[-1])]) for step in steps)
    return ReadRun(*[*columns, _loaded(terms), _loaded(part), orjson.loads(run_input), _loaded(output), read_steps])


def read_runs_of(ids: Sequence[str], runs: Sequence[Sequence[Any]], steps: Sequence[Sequence[Any]]) -> list[ReadRun]:
    """Return runs for display, in the order of their ids; steps begin with the id of their run."""
    rows = {row[0]: row for row in runs}
    of_runs: dict[str, list[Sequence[Any]]] = {}
    for step in steps:
        of_runs.setdefault(step[0], []).append(step[1:])
    read = (read_run_of(rows.get(id_), of_runs.get(id_, [])) for id_ in ids)
    return [run for run in read if run is not None]


def events_of(rows: Sequence[Sequence[Any]]) -> EventPage | None:
    """Return a page of the event log; None when the tenant has no such run."""
    if not rows:
        return None
    events = [RunEvent(*[*row[6:11], _loaded(row[11]) or {}]) for row in rows if row[6] is not None]
    return EventPage(*[RunKey(*rows[0][:4]), *rows[0][4:6], tuple(events)])


def completed_data(finished: Finished) -> str:
    """Return the data of `step_completed`."""
    record = finished.record
    data: dict[str, Any] = {"tokens_input": record.tokens_input, "tokens_output": record.tokens_output}
    data |= {"preview": finished.preview, "items": dict(finished.items)}
    if finished.error is not None:
        data["error"] = {"code": finished.error[0], "message": finished.error[1]}
    return orjson.dumps({name: value for name, value in data.items() if value}).decode()


def failed_data(code: str, message: str) -> str:
    """Return the data of `step_failed` and `run_failed`."""
    return orjson.dumps({"code": code, "message": message}).decode()


def waiting_data(suspension: Suspension) -> str:
    """The data of `step_waiting`."""
    data: dict[str, Any] = {"reason": suspension.reason, "until": suspension.until}
    failure = suspension.failure
    if failure is not None:
        data |= {"code": failure.code, "message": failure.message}
        data |= {"failures": failure.tries.failures, "max_attempts": failure.max_attempts}
    return orjson.dumps(data).decode()


def suspension_values(suspension: Suspension, *, failed: bool) -> dict[str, Any]:
    """The values of a step that waits; of a run that has failed meanwhile, of a step that is cancelled."""
    values = {
        "step_id": suspension.claim.step_id,
        "attempt": suspension.claim.attempt,
        "event": waiting_data(suspension),
        "step_status": StepStatus.WAITING,
        "attempt_status": AttemptStatus.SUSPENDED,
        "waits_for": suspension.reason,
        "due_at": suspension.until,
        "expected_runs": suspension.expected_runs,
        **failure_values(suspension.failure),
    }
    if failed:
        values |= {"step_status": StepStatus.CANCELLED, "waits_for": None, "due_at": None}
    if failed or suspension.failure is not None:
        values["attempt_status"] = AttemptStatus.CANCELLED if suspension.failure is None else AttemptStatus.FAILED
    return values


def failure_values(failure: Failure | None) -> dict[str, Any]:
    """The values of a step that waits for a retry; None in each where it waits for something else."""
    tries = failure.tries if failure is not None else None
    return {
        "code": failure.code if failure is not None else None,
        "message": failure.message if failure is not None else None,
        "record": failure.record if failure is not None else None,
        "failures": tries.failures if tries is not None else None,
        "failing_since": tries.since if tries is not None else None,
        "tokens_input": tries.tokens_input if tries is not None else None,
        "tokens_output": tries.tokens_output if tries is not None else None,
    }


def _loaded(document: str | None) -> dict[str, Any] | None:
    loaded: dict[str, Any] | None = None if document is None else orjson.loads(document)
    return loaded


def stored_run_of(run: Sequence[Any] | None, steps: Sequence[Sequence[Any]]) -> StoredRun | None:
    """Return a run's row and its steps' rows as a value."""
    if run is None:
        return None
    stored = [StoredStep(row[0], StepStatus(row[1]), *row[2:]) for row in steps]
    return StoredRun(
        key=RunKey(run[0], run[1], run[2], run[3]),
        status=RunStatus(run[4]),
        user_id=run[5],
        session_id=run[6],
        trace_parent=run[7],
        input_payload=run[8],
        started_at=run[9],
        result_step=run[10],
        visitor=run[11],
        parent_run_id=run[12],
        terms=run[13],
        steps={step.step_id: step for step in stored},
    )


def live_runs_of(rows: Sequence[Sequence[Any]]) -> list[LiveRun]:
    """Return live runs from joined rows, one per running step."""
    holders: dict[RunKey, list[Holder]] = {}
    runs: dict[RunKey, Sequence[Any]] = {}
    for row in rows:
        key = RunKey(*row[:4])
        runs[key] = [*row[4:10], bool(row[10]), row[11]]
        if row[12] is not None:
            holders.setdefault(key, []).append(_holder(row[12:]))
    return [
        LiveRun(key, RunStatus(status), deleted_at is not None, tuple(holders.get(key, ())), *rest)
        for key, (status, deleted_at, *rest) in runs.items()
    ]


def stragglers_of(rows: Sequence[Sequence[Any]]) -> list[Straggler]:
    """Return running steps of failed runs."""
    return [Straggler(RunKey(*row[:4]), _holder(row[4:])) for row in rows]


def time_worked(intervals: Sequence[Sequence[Any]], *, until: int) -> int:
    """Return the microseconds that rows of `WORK_SQL` cover together, up to a given time; parallel steps count once."""
    total, end = 0, 0
    for began, finished_at in intervals:
        last = min(until, until if finished_at is None else finished_at)
        total += max(0, last - max(began, end))
        end = max(end, last)
    return total


def _holder(columns: Sequence[Any]) -> Holder:
    step_id, attempts, worker_id, lease_until, interruptions = columns
    return Holder(step_id, attempts, worker_id or "", lease_until or 0, interruptions)
