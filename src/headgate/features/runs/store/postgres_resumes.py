"""SQL for PostgreSQL that resumes a run."""

# ruff: noqa: S608 - only constants of this module and of `states` are inserted into the statements

from headgate.features.runs.states import (
    RUN_RESUMES,
    STEP_RESUMES,
    RunStatus,
    StepStatus,
    guard,
    sources,
    sql_list,
)
from headgate.features.runs.store.postgres_events import RESUMED, logged
from headgate.features.runs.store.rows import RECORD_MEMBERS

_RECORD = ", ".join(f"'{member}', s.{column}" for member, column in RECORD_MEMBERS.items())
RESUME = f"""
WITH changed AS (
    UPDATE flow_runs SET status = 'running', error_code = NULL, error_message = NULL, finished_at = NULL,
        started_at = %(at)s, resumes = resumes + 1, dispatched_at = NULL, dispatches = 0, pickups = 0,
        deadline_at = %(at)s::bigint + deadline_after,
        last_event = last_event + 1
    WHERE id = %(run_id)s AND tenant_id = %(tenant_id)s AND {guard(RUN_RESUMES, RunStatus.RUNNING)}
        AND NOT EXISTS (SELECT 1 FROM flows WHERE id = %(flow_id)s AND deleted_at IS NOT NULL)
    RETURNING id, last_event - 1 AS before
), {logged(RESUMED.format(source="changed"), after="before", run="changed")}, kept AS (
    UPDATE flow_step_attempts a SET record = jsonb_build_object({_RECORD})
    FROM changed JOIN flow_step_results s ON s.flow_run_id = changed.id
    WHERE a.flow_run_id = s.flow_run_id AND a.flow_id = s.flow_id AND a.step_id = s.step_id
        AND a.attempt_no = s.attempts AND a.record IS NULL
        AND s.status IN {sql_list(sources(STEP_RESUMES, StepStatus.PENDING))}
), steps AS (
    UPDATE flow_step_results s SET status = 'pending', input_payload = NULL, effective_prompt = NULL,
        output_payload = NULL, model_parameters = NULL, tool_calls = NULL, log = NULL, num_tokens_input = NULL,
        num_tokens_output = NULL, execution_hash = NULL, classification = NULL, error_code = NULL,
        error_message = NULL, interruptions = 0, failures = 0, failing_since = NULL,
        worker_id = NULL, lease_until = NULL, started_at = NULL,
        finished_at = NULL, waits_for = NULL, answered_at = NULL
    FROM changed
    WHERE s.flow_run_id = changed.id AND s.status IN {sql_list(sources(STEP_RESUMES, StepStatus.PENDING))}
)
SELECT id FROM changed
"""
