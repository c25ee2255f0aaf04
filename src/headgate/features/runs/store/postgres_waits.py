"""Waiting steps as SQL for PostgreSQL."""

# ruff: noqa: S608 - what is put into the statements are constants of this module and of `states`

from headgate.features.runs.states import (
    ATTEMPT_MOVES,
    LIVE_RUNS,
    STEP_MOVES,
    AttemptStatus,
    StepStatus,
    sources,
    sql_list,
)
from headgate.features.runs.store.postgres_events import COUNT, NOTHING, logged
from headgate.features.runs.store.rows import CAN_REST

SUSPEND = f"""
WITH run AS (
    SELECT id, last_event FROM flow_runs WHERE id = %(run_id)s AND tenant_id = %(tenant_id)s FOR NO KEY UPDATE
), changed AS (
    UPDATE flow_step_results s
    SET status = %(step_status)s::text, waits_for = %(waits_for)s::text, interruptions = 0,
        waited_for = CASE WHEN %(waits_for)s::text = 'slot'
            THEN CASE WHEN s.waits_for = 'slot' THEN s.waited_for ELSE s.waits_for END END,
        due_at = CASE WHEN s.answered_at IS NULL OR coalesce(%(waits_for)s::text, 'retry') = 'retry'
            THEN %(due_at)s::bigint ELSE %(at)s END,
        worker_id = NULL, lease_until = NULL,
        error_code = coalesce(%(code)s::text, s.error_code),
        error_message = coalesce(%(message)s::text, s.error_message),
        expected_runs = coalesce(%(expected_runs)s::int, s.expected_runs),
        failures = coalesce(%(failures)s::int, s.failures),
        failing_since = coalesce(%(failing_since)s::bigint, s.failing_since),
        num_tokens_input = coalesce(%(tokens_input)s::int, s.num_tokens_input),
        num_tokens_output = coalesce(%(tokens_output)s::int, s.num_tokens_output),
        finished_at = CASE WHEN %(step_status)s::text = 'cancelled' THEN %(at)s::bigint END
    FROM run
    WHERE s.flow_run_id = run.id AND s.flow_id = %(flow_id)s AND s.step_id = %(step_id)s AND s.attempts = %(attempt)s
        AND s.worker_id = %(worker_id)s AND s.status IN {sql_list(sources(STEP_MOVES, StepStatus.WAITING))}
    RETURNING s.step_id, s.status
), closed AS (
    UPDATE flow_step_attempts a SET status = %(attempt_status)s::text, error_code = %(code)s::text,
        error_message = %(message)s::text, record = %(record)s::jsonb, finished_at = %(at)s
    FROM changed
    WHERE a.flow_run_id = %(run_id)s AND a.flow_id = %(flow_id)s AND a.step_id = changed.step_id
        AND a.attempt_no = %(attempt)s AND a.status IN {sql_list(sources(ATTEMPT_MOVES, AttemptStatus.SUSPENDED))}
), {logged("'step_waiting', step_id, %(attempt)s::int, %(event)s::text FROM changed WHERE status = 'waiting'")},
counted AS (
    UPDATE flow_runs r SET last_event = r.last_event + {COUNT} FROM changed WHERE r.id = %(run_id)s
)
SELECT 1 FROM changed
"""
REST = f"""
WITH changed AS (
    UPDATE flow_runs r SET status = 'waiting', last_event = r.last_event + 1
    WHERE r.id = %(run_id)s AND r.tenant_id = %(tenant_id)s AND {CAN_REST}
    RETURNING r.id, r.last_event - 1 AS before
), {logged(f"'run_waiting', {NOTHING}", after="before", run="changed")}
SELECT id FROM changed
"""
"""In a transaction that holds the run's row before the statement begins, so that it sees what others changed."""
WAKE = f"""
WITH due AS (
    SELECT flow_run_id, flow_id, step_id FROM flow_step_results
    WHERE status = 'waiting' AND due_at <= %(at)s AND (%(run_id)s::text IS NULL OR flow_run_id = %(run_id)s)
    ORDER BY due_at LIMIT %(limit)s
), run AS (
    SELECT id, status, status IN {sql_list(LIVE_RUNS)} AS live FROM flow_runs
    WHERE id IN (SELECT flow_run_id FROM due) FOR NO KEY UPDATE SKIP LOCKED
), woken AS (
    UPDATE flow_step_results s
    SET status = CASE WHEN run.status = 'paused' THEN s.status WHEN run.live THEN 'pending' ELSE 'cancelled' END,
        due_at = NULL, answered_at = CASE WHEN run.status = 'paused' THEN coalesce(s.answered_at, %(at)s::bigint) END,
        waits_for = CASE WHEN run.live THEN s.waits_for END,
        finished_at = CASE WHEN run.live THEN NULL ELSE %(at)s::bigint END
    FROM due JOIN run ON run.id = due.flow_run_id
    WHERE s.flow_run_id = due.flow_run_id AND s.flow_id = due.flow_id AND s.step_id = due.step_id
        AND s.status = 'waiting' AND s.due_at <= %(at)s
    RETURNING s.flow_run_id
), changed AS (
    UPDATE flow_runs r SET status = 'running', dispatched_at = NULL, pickups = 0,
        last_event = r.last_event + CASE WHEN run.status = 'waiting' THEN 1 ELSE 0 END
    FROM run
    WHERE r.id = run.id AND run.status IN ('running', 'waiting') AND run.id IN (SELECT flow_run_id FROM woken)
    RETURNING r.id, r.tenant_id, r.flow_id, r.version, coalesce(r.user_id, r.visitor) AS starter, r.last_event,
        run.status AS before
), logged AS (
    INSERT INTO flow_run_events (flow_run_id, seq, kind, at, data)
    SELECT id, last_event, 'run_started', %(at)s, '{{"resumed":true}}'::jsonb FROM changed WHERE before = 'waiting'
)
SELECT moved.count, id, tenant_id, flow_id, version, starter
FROM (SELECT count(*) FROM woken) moved LEFT JOIN changed ON true
"""
"""Locks runs before steps, as every transition does; what another process has locked is left for the next time.

A step of a paused run stays: it is due again when its run continues.
"""
