"""SQL for PostgreSQL that creates a run: one statement, built once for runs with and without copied results."""

# ruff: noqa: S608 - only constants of this module and of `states` are inserted into the statements

from typing import Any

from headgate.features.runs.states import BORN_SETTLED, RunStatus, sql_list
from headgate.features.runs.store.births import COPIED, births_of
from headgate.features.runs.store.postgres_events import NOTHING, STARTED, logged
from headgate.features.runs.store.rows import TAKEN_COLUMNS
from headgate.features.runs.transitions import NewRun

KEEP_SOURCES = """
SELECT id FROM flow_runs
WHERE tenant_id = %(tenant_id)s AND id IN (
    SELECT coalesce(reused_from_run_id, flow_run_id) FROM flow_step_results
    WHERE flow_run_id = %(source_run_id)s AND tenant_id = %(tenant_id)s
)
FOR KEY SHARE
"""
"""Locks the runs that paid against purging while their results are copied."""
_BEGUN = f"CASE status WHEN 'queued' THEN 'run_queued' ELSE 'run_started' END, {NOTHING} FROM run"
_COPIED = f""", copied AS (
    INSERT INTO flow_step_results (flow_run_id, flow_id, version, tenant_id, step_id, step_order, waiting, attempts,
        reused_from_run_id, {TAKEN_COLUMNS})
    SELECT %(run_id)s, flow_id, %(version)s, tenant_id, step_id, place, 0, 0,
        coalesce(reused_from_run_id, flow_run_id), {TAKEN_COLUMNS}
    FROM unnest(%(steps)s::text[], %(orders)s::int[], %(statuses)s::text[]) AS t(wanted, place, born)
    JOIN flow_step_results ON flow_run_id = %(source_run_id)s AND flow_id = %(flow_id)s AND step_id = t.wanted
        AND tenant_id = %(tenant_id)s AND status IN {sql_list(BORN_SETTLED)}
    WHERE t.born = '{COPIED}'
    RETURNING step_id
)"""


def _statement(copied: str, result: str) -> str:
    return f"""
WITH run AS (
    INSERT INTO flow_runs (id, tenant_id, flow_id, version, user_id, session_id, status, unfinished, input_payload,
        created_at, started_at, trace_parent, dispatched_at, dispatches, source_run_id, source_step_id, part,
        last_event, visitor, parent_run_id, parent_step_id, parent_iteration, deadline_after, deadline_at,
        terms, error_flow)
    SELECT %(run_id)s, %(tenant_id)s, %(flow_id)s, %(version)s, %(user_id)s, %(session_id)s, %(status)s::text,
        count(*) FILTER (WHERE born IN ('pending', 'running')), %(input_payload)s::jsonb, %(at)s,
        CASE WHEN %(status)s::text = 'running' THEN %(at)s::bigint END, %(trace_parent)s,
        CASE WHEN %(dispatched)s::bool THEN %(at)s::bigint END, %(dispatched)s::bool::int, %(source_run_id)s,
        %(source_step_id)s, %(part)s::jsonb, 1 + count(*) FILTER (WHERE born = 'running'), %(visitor)s,
        %(parent_run_id)s, %(parent_step_id)s, %(parent_iteration)s::int,
        %(deadline_after)s::bigint, %(at)s::bigint + %(deadline_after)s::bigint,
        %(terms)s::jsonb, %(error_flow)s
    FROM unnest(%(statuses)s::text[]) AS t(born)
    RETURNING status
), steps AS (
    INSERT INTO flow_step_results (flow_run_id, flow_id, version, tenant_id, step_id, step_order, waiting, status,
        attempts, worker_id, lease_until, output_payload, classification, started_at, finished_at)
    SELECT %(run_id)s, %(flow_id)s, %(version)s, %(tenant_id)s, step_id, step_order, waiting, born,
        (born = 'running')::int, CASE WHEN born = 'running' THEN %(worker_id)s END,
        CASE WHEN born = 'running' THEN %(until)s::bigint END, output_payload::jsonb, classification,
        CASE WHEN born IN ('running', 'completed') THEN %(at)s::bigint END,
        CASE WHEN born IN ('completed', 'skipped') THEN %(at)s::bigint END
    FROM unnest(%(steps)s::text[], %(orders)s::int[], %(waiting)s::int[], %(statuses)s::text[], %(outputs)s::text[],
        %(classes)s::int[]) AS t(step_id, step_order, waiting, born, output_payload, classification)
    WHERE born <> '{COPIED}'
    RETURNING step_id, step_order, attempts, status
), opened AS (
    INSERT INTO flow_step_attempts (flow_run_id, flow_id, version, tenant_id, step_id, step_order, attempt_no, status,
        worker_id, started_at)
    SELECT %(run_id)s, %(flow_id)s, %(version)s, %(tenant_id)s, step_id, step_order, attempts, 'started', %(worker_id)s,
        %(at)s
    FROM steps WHERE status = 'running'
), {logged(_BEGUN, STARTED.format(source="steps"), after="0")}{copied}
{result}
"""


_BEGUN = (
    "CASE status WHEN 'queued' THEN 'run_queued' ELSE 'run_started' END, NULL::text, NULL::int, NULL::text FROM run"
)
CREATE = " ".join(_statement("", "SELECT 1").split())
CREATE_FROM = " ".join(_statement(_COPIED, "SELECT count(*) FROM copied").split())
"""The same with results of another run; returns how many it copied."""


def creation_values(run: NewRun) -> dict[str, Any]:
    """Return the parameters of these statements, without the run's key and the lease."""
    births = births_of(run)
    return {
        "user_id": run.user_id,
        "session_id": run.session_id,
        "trace_parent": run.trace_parent,
        "dispatched": run.dispatched,
        "status": (RunStatus.RUNNING if run.claim else RunStatus.QUEUED).value,
        "input_payload": run.input_payload,
        "source_run_id": run.reuse and run.reuse.run_id,
        "source_step_id": run.reuse and run.reuse.step_id,
        "part": run.part and run.part.stored(),
        "visitor": run.visitor,
        "parent_run_id": run.parent and run.parent.run_id,
        "parent_step_id": run.parent and run.parent.step_id,
        "parent_iteration": run.parent and run.parent.iteration,
        "deadline_after": run.deadline_after,
        "terms": run.terms,
        "error_flow": run.error_flow,
        "steps": [birth.step_id for birth in births],
        "orders": [birth.order for birth in births],
        "waiting": [birth.waiting for birth in births],
        "statuses": [str(birth.status) for birth in births],
        "outputs": [birth.output_payload for birth in births],
        "classes": [birth.classification for birth in births],
    }
