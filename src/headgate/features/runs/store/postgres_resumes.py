"""Resuming a run, and starting one on another's results, as SQL for PostgreSQL: rare, so apart."""

# ruff: noqa: S608 - what is put into the statements are constants of this module and of `states`

from collections.abc import Mapping
from typing import Any

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
from headgate.features.runs.store.rows import RECORD_MEMBERS, TAKEN_COLUMNS
from headgate.features.runs.transitions import NewRun, Part, Pinned, Reuse

KEEP_SOURCES = """
SELECT id FROM flow_runs
WHERE tenant_id = %(tenant_id)s AND id IN (
    SELECT coalesce(reused_from_run_id, flow_run_id) FROM flow_step_results
    WHERE flow_run_id = %(source_run_id)s AND tenant_id = %(tenant_id)s
)
FOR KEY SHARE
"""
"""The runs that paid cannot be purged while their results are taken over."""
CREATE_FROM = f"""
WITH run AS (
    INSERT INTO flow_runs (id, tenant_id, flow_id, version, user_id, session_id, status, unfinished, input_payload,
        created_at, source_run_id, source_step_id, trace_parent)
    SELECT %(run_id)s, %(tenant_id)s, %(flow_id)s, %(version)s, %(user_id)s, %(session_id)s, 'queued',
        count(*) FILTER (WHERE NOT taken), %(input_payload)s::jsonb, %(at)s, %(source_run_id)s, %(source_step_id)s,
        %(trace_parent)s
    FROM unnest(%(taken)s::bool[]) AS t(taken)
), seeded AS (
    INSERT INTO flow_step_results (flow_run_id, flow_id, version, tenant_id, step_id, step_order, waiting, status,
        attempts)
    SELECT %(run_id)s, %(flow_id)s, %(version)s, %(tenant_id)s, step_id, step_order, waiting, 'pending', 0
    FROM unnest(%(steps)s::text[], %(orders)s::int[], %(waiting)s::int[], %(taken)s::bool[])
        AS t(step_id, step_order, waiting, taken)
    WHERE NOT taken
), copied AS (
    INSERT INTO flow_step_results (flow_run_id, flow_id, version, tenant_id, step_id, step_order, waiting, attempts,
        reused_from_run_id, {TAKEN_COLUMNS})
    SELECT %(run_id)s, flow_id, %(version)s, tenant_id, step_id, place, 0, 0,
        coalesce(reused_from_run_id, flow_run_id), {TAKEN_COLUMNS}
    FROM unnest(%(steps)s::text[], %(orders)s::int[], %(taken)s::bool[]) AS t(wanted, place, taken)
    JOIN flow_step_results ON flow_run_id = %(source_run_id)s AND flow_id = %(flow_id)s AND step_id = t.wanted
        AND tenant_id = %(tenant_id)s AND status IN {sql_list(BORN_SETTLED)}
    WHERE t.taken
    RETURNING step_id
)
SELECT count(*) FROM copied
"""
CREATE_PART = """
WITH run AS (
    INSERT INTO flow_runs (id, tenant_id, flow_id, version, user_id, session_id, status, unfinished, input_payload,
        created_at, part, trace_parent)
    SELECT %(run_id)s, %(tenant_id)s, %(flow_id)s, %(version)s, %(user_id)s, %(session_id)s, 'queued',
        count(*) FILTER (WHERE status = 'pending'), %(input_payload)s::jsonb, %(at)s, %(part)s::jsonb, %(trace_parent)s
    FROM unnest(%(statuses)s::text[]) AS t(status)
), steps AS (
    INSERT INTO flow_step_results (flow_run_id, flow_id, version, tenant_id, step_id, step_order, waiting, status,
        attempts, output_payload, classification, started_at, finished_at)
    SELECT %(run_id)s, %(flow_id)s, %(version)s, %(tenant_id)s, step_id, step_order, waiting, status, 0,
        output_payload::jsonb, classification, CASE WHEN status = 'completed' THEN %(at)s::bigint END,
        CASE WHEN status <> 'pending' THEN %(at)s::bigint END
    FROM unnest(%(steps)s::text[], %(orders)s::int[], %(waiting)s::int[], %(statuses)s::text[], %(outputs)s::text[],
        %(classes)s::int[]) AS t(step_id, step_order, waiting, status, output_payload, classification)
)
SELECT 1
"""
_RECORD = ", ".join(f"'{member}', s.{column}" for member, column in RECORD_MEMBERS.items())
RESUME = f"""
WITH changed AS (
    UPDATE flow_runs SET status = 'running', error_code = NULL, error_message = NULL, finished_at = NULL,
        started_at = %(at)s, resumes = resumes + 1, dispatched_at = NULL, dispatches = 0
    WHERE id = %(run_id)s AND tenant_id = %(tenant_id)s AND {guard(RUN_RESUMES, RunStatus.RUNNING)}
        AND NOT EXISTS (SELECT 1 FROM flows WHERE id = %(flow_id)s AND deleted_at IS NOT NULL)
    RETURNING id
), kept AS (
    UPDATE flow_step_attempts a SET record = jsonb_build_object({_RECORD})
    FROM changed JOIN flow_step_results s ON s.flow_run_id = changed.id
    WHERE a.flow_run_id = s.flow_run_id AND a.flow_id = s.flow_id AND a.step_id = s.step_id
        AND a.attempt_no = s.attempts AND s.status IN {sql_list(sources(STEP_RESUMES, StepStatus.PENDING))}
), steps AS (
    UPDATE flow_step_results s SET status = 'pending', input_payload = NULL, effective_prompt = NULL,
        output_payload = NULL, model_parameters = NULL, tool_calls = NULL, log = NULL, num_tokens_input = NULL,
        num_tokens_output = NULL, execution_hash = NULL, classification = NULL, error_code = NULL,
        error_message = NULL, worker_id = NULL, lease_until = NULL, started_at = NULL, finished_at = NULL
    FROM changed
    WHERE s.flow_run_id = changed.id AND s.status IN {sql_list(sources(STEP_RESUMES, StepStatus.PENDING))}
)
SELECT id FROM changed
"""


def values_from(run: NewRun, reuse: Reuse, at: int) -> dict[str, Any]:
    """The values of `KEEP_SOURCES` and `CREATE_FROM`."""
    taken = set(reuse.steps)
    return _values(run, at) | {
        "waiting": [seed.waiting for seed in run.steps],
        "taken": [seed.step_id in taken for seed in run.steps],
        "source_run_id": reuse.run_id,
        "source_step_id": reuse.step_id,
    }


def values_of_part(run: NewRun, part: Part, at: int) -> dict[str, Any]:
    """The values of `CREATE_PART`."""
    pinned = {one.step_id: one for one in part.pinned}
    stand_ins = [pinned.get(seed.step_id) for seed in run.steps]
    return _values(run, at) | {
        "part": part.stored(),
        "waiting": [0 if seed.step_id in part.settled else seed.waiting for seed in run.steps],
        "statuses": [_born(seed.step_id, part, pinned) for seed in run.steps],
        "outputs": [one and one.output_payload for one in stand_ins],
        "classes": [one and one.classification for one in stand_ins],
    }


def _values(run: NewRun, at: int) -> dict[str, Any]:
    return {
        "run_id": run.key.run_id,
        "tenant_id": run.key.tenant_id,
        "flow_id": run.key.flow_id,
        "version": run.key.version,
        "user_id": run.user_id,
        "session_id": run.session_id,
        "input_payload": run.input_payload,
        "trace_parent": run.trace_parent,
        "steps": [seed.step_id for seed in run.steps],
        "orders": [seed.order for seed in run.steps],
        "at": at,
    }


def _born(step_id: str, part: Part, pinned: Mapping[str, Pinned]) -> str:
    """The status with which a step of a part of a flow is stored."""
    if step_id in pinned:
        return StepStatus.COMPLETED.value
    return (StepStatus.SKIPPED if step_id in part.settled else StepStatus.PENDING).value
