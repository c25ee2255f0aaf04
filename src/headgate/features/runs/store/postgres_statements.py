"""SQL for PostgreSQL of the transitions: one statement, and so one transaction and one round trip, each.

Every statement locks the run's row before it touches steps, so transitions of one run are serialised and cannot
deadlock. After waiting for the lock PostgreSQL reads the current rows, not those of the statement's start.
"""

# ruff: noqa: S608 - only constants of this module and of `states` are inserted into the statements

import re
from typing import Any

from headgate.features.runs.errors import FLOW_DELETED, FLOW_DELETED_MESSAGE, WORKER_LOST, WORKER_LOST_MESSAGE
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
    sources,
    sql_list,
)
from headgate.features.runs.store.postgres_events import COMPLETED, COUNT, NOTHING, RESUMED, STARTED, logged
from headgate.features.runs.store.rows import failed_data
from headgate.features.runs.transitions import Onward


def _shortened(statement: str) -> str:
    """Return the statement without redundant whitespace, as it is sent and logged."""
    return re.sub(r" ?(<>|[(),=]) ?", r"\1", " ".join(statement.split()))


_LIVE = sql_list(LIVE_RUNS)
_OPEN = sql_list({*LIVE_RUNS, RunStatus.FAILED})
"""Runs that still record a step that finishes."""

_RUN = f"""run AS (
    SELECT r.id, r.status, r.unfinished, r.last_event, f.deleted_at IS NOT NULL AS deleted,
        r.status IN {sql_list(CLAIMABLE_RUNS)} AND f.deleted_at IS NULL AS going
    FROM flow_runs r JOIN flows f ON f.id = r.flow_id
    WHERE r.id = %(run_id)s AND r.tenant_id = %(tenant_id)s
    FOR NO KEY UPDATE OF r
)"""
_OPENED = """opened AS (
    INSERT INTO flow_step_attempts (flow_run_id, flow_id, version, tenant_id, step_id, step_order, attempt_no, status,
        worker_id, started_at)
    SELECT %(run_id)s, %(flow_id)s, %(version)s, %(tenant_id)s, step_id, step_order, attempts, 'started', %(worker_id)s,
        %(at)s
    FROM {source} WHERE status = 'running'
)"""

_CLOSED = """closed AS (
    UPDATE flow_step_attempts a
    SET status = {status}, error_code = {code}, error_message = {message}, finished_at = %(at)s
    FROM done
    WHERE a.flow_run_id = %(run_id)s AND a.flow_id = %(flow_id)s AND a.step_id = done.step_id
        AND a.attempt_no = %(attempt)s AND a.status IN {started}
)"""
_DONE = """done AS (
    UPDATE flow_step_results s
    SET status = {status}, output_payload = %(output_payload)s::jsonb, input_payload = %(input_payload)s::jsonb,
        effective_prompt = %(effective_prompt)s, model_parameters = %(model_parameters)s::jsonb,
        tool_calls = %(tool_calls)s::jsonb, log = %(log)s::jsonb, num_tokens_input = %(tokens_input)s,
        num_tokens_output = %(tokens_output)s, execution_hash = %(execution_hash)s,
        classification = %(classification)s, error_code = {code},
        error_message = {message}, worker_id = NULL, lease_until = NULL, finished_at = %(at)s
    FROM run
    WHERE s.flow_run_id = %(run_id)s AND s.flow_id = %(flow_id)s AND s.step_id = %(step_id)s
        AND s.attempts = %(attempt)s AND s.status IN {before} AND run.status IN {open}
    RETURNING s.step_id
)"""


_ERROR = ("%(code)s::text", "%(message)s::text")
_OUTCOME = "CASE WHEN %(code)s::text IS NULL THEN 'completed' ELSE 'failed' END"


def _ending(status: StepStatus) -> str:
    """Return the expressions that end a step and its attempt; an attempt with an error has failed."""
    code, message = _ERROR
    return (
        _DONE.format(
            status=f"'{status}'",
            code=code,
            message=message,
            before=sql_list(sources(STEP_MOVES, status)),
            open=_OPEN,
        )
        + ", "
        + _CLOSED.format(
            status=_OUTCOME,
            code=code,
            message=message,
            started=sql_list(sources(ATTEMPT_MOVES, AttemptStatus(status))),
        )
    )


_GO = "t.action = 'claim' AND s.waiting = t.settled AND run.going"
_MOVE = f"""moved AS (
    UPDATE flow_step_results s
    SET status = CASE WHEN t.action = 'skip' THEN 'skipped' WHEN {_GO} THEN 'running' ELSE s.status END,
        waiting = CASE WHEN t.action = 'skip' THEN 0 ELSE s.waiting - t.settled END,
        attempts = CASE WHEN {_GO} THEN s.attempts + 1 ELSE s.attempts END,
        worker_id = CASE WHEN {_GO} THEN %(worker_id)s ELSE s.worker_id END,
        lease_until = CASE WHEN {_GO} THEN %(until)s::bigint END,
        started_at = CASE WHEN {_GO} THEN %(at)s::bigint END,
        finished_at = CASE WHEN t.action = 'skip' THEN %(at)s::bigint END
    FROM unnest(%(steps)s::text[], %(settled)s::int[], %(actions)s::text[]) AS t(step_id, settled, action), {{after}}
    WHERE s.flow_run_id = %(run_id)s AND s.flow_id = %(flow_id)s AND s.step_id = t.step_id AND s.status = 'pending'
        AND run.status IN {_OPEN}
    RETURNING s.step_id, s.step_order, s.status, s.waiting, s.attempts
), sums AS (
    SELECT count(*) FILTER (WHERE status = 'skipped') AS skipped, count(*) FILTER (WHERE status = 'running') AS started
    FROM moved
)"""
_AFTER = f"""CASE
            WHEN run.status NOT IN {_LIVE} THEN run.status
            WHEN run.unfinished = {{finished}} + sums.skipped AND %(run_output)s::jsonb IS NULL THEN run.status
            WHEN run.unfinished = {{finished}} + sums.skipped THEN 'completed'
            WHEN run.deleted THEN 'failed'
            WHEN sums.started > 0 THEN 'running'
            ELSE run.status
        END"""
_COUNT = f"""verdict AS (
    SELECT run.id, run.unfinished - {{finished}} - sums.skipped AS unfinished, run.status AS before, {_AFTER} AS status
    FROM sums, {{after}}
    WHERE run.status IN {_OPEN}
), judged AS (
    SELECT *, before <> status AND status NOT IN {_LIVE} AS ends FROM verdict
), {{logged}}, counted AS (
    UPDATE flow_runs r
    SET unfinished = judged.unfinished, status = judged.status{{reset}}, last_event = r.last_event + {COUNT},
        started_at = coalesce(r.started_at, CASE WHEN judged.status = 'running' THEN %(at)s::bigint END),
        output_payload = CASE WHEN judged.status = 'completed' THEN %(run_output)s::jsonb ELSE r.output_payload END,
        error_code = CASE WHEN judged.ends AND judged.status = 'failed' THEN '{FLOW_DELETED}' ELSE r.error_code END,
        error_message = CASE WHEN judged.ends AND judged.status = 'failed' THEN '{FLOW_DELETED_MESSAGE}'
            ELSE r.error_message END,
        finished_at = CASE WHEN judged.ends THEN %(at)s::bigint ELSE r.finished_at END
    FROM judged
    WHERE r.id = judged.id
    RETURNING r.status
)"""
_ANSWERED = """answered AS (
    UPDATE flow_step_results p
    SET answered_at = %(at)s, due_at = CASE WHEN p.status = 'waiting' THEN %(at)s::bigint ELSE p.due_at END
    FROM {ended} e JOIN flow_runs c ON c.id = e.id
    WHERE {condition}p.flow_run_id = c.parent_run_id AND p.step_id = c.parent_step_id
)"""
"""Makes the step due that started a run which ends."""
_DELETED = failed_data(FLOW_DELETED, FLOW_DELETED_MESSAGE)
_ADVANCED = (
    f"'run_started', {NOTHING} FROM judged WHERE before = 'queued' AND status = 'running'",
    "'step_skipped', step_id, NULL, NULL FROM moved WHERE status = 'skipped'",
    STARTED.format(source="moved"),
    f"'run_' || status, NULL, NULL, CASE status WHEN 'failed' THEN '{_DELETED}' END FROM judged WHERE ends",
)
_TOLD = """
SELECT run.status, counted.status, EXISTS (
        SELECT 1 FROM flow_step_results w
        WHERE w.flow_run_id = %(run_id)s AND w.flow_id = %(flow_id)s AND w.status = 'waiting'
    ), moved.step_id, moved.status, moved.waiting, moved.attempts
FROM run LEFT JOIN counted ON true LEFT JOIN moved ON true
"""

BEGIN = _shortened(f"""
WITH run AS (
    SELECT r.id, r.user_id, r.session_id, r.trace_parent, r.input_payload, r.last_event, r.visitor, r.parent_run_id,
        r.terms
    FROM flow_runs r JOIN flows f ON f.id = r.flow_id
    WHERE r.id = %(run_id)s AND r.tenant_id = %(tenant_id)s AND r.status = 'queued' AND r.source_run_id IS NULL
        AND r.part IS NULL AND f.deleted_at IS NULL
    FOR NO KEY UPDATE OF r
), moved AS (
    UPDATE flow_step_results s
    SET status = 'running', attempts = 1, worker_id = %(worker_id)s, lease_until = %(until)s, started_at = %(at)s
    FROM run
    WHERE s.flow_run_id = run.id AND s.flow_id = %(flow_id)s AND s.version = %(version)s AND s.step_id = %(step_id)s
        AND s.waiting = 0 AND s.attempts = 0 AND s.status = 'pending'
    RETURNING s.step_id, s.step_order, s.status, s.attempts
), {_OPENED.format(source="moved")}, {logged(f"'run_started', {NOTHING} FROM moved", STARTED.format(source="moved"))},
started AS (
    UPDATE flow_runs r SET status = 'running', started_at = %(at)s, pickups = 0, last_event = r.last_event + {COUNT}
    FROM run, moved WHERE r.id = run.id
)
SELECT run.user_id, run.session_id, run.trace_parent, run.input_payload::text, run.visitor, run.parent_run_id,
    run.terms::text
FROM run, moved
""")
"""The first transition of an untouched run, with all of its known values: no row is read before."""
ADVANCE = _shortened(
    f"WITH {_RUN}, {_MOVE.format(after='run')}, {_OPENED.format(source='moved')},"
    f" {_COUNT.format(finished='0', after='run', logged=logged(*_ADVANCED), reset=', pickups = 0')},"
    f" {_ANSWERED.format(ended='judged', condition='e.ends AND ')} {_TOLD}"
)
FINISH = _shortened(
    f"WITH {_RUN}, {_ending(StepStatus.COMPLETED)}, {_MOVE.format(after='run, done')},"
    f" {_OPENED.format(source='moved')},"
    f" {_COUNT.format(finished='1', after='run, done', logged=logged(COMPLETED, *_ADVANCED), reset='')},"
    f" {_ANSWERED.format(ended='judged', condition='e.ends AND ')} {_TOLD}"
)
GO_ON = _shortened(f"""
WITH run AS (
    SELECT r.id, r.status, r.last_event FROM flow_runs r JOIN flows f ON f.id = r.flow_id
    WHERE r.id = %(run_id)s AND r.tenant_id = %(tenant_id)s AND r.status = 'running' AND r.unfinished > 1
        AND f.deleted_at IS NULL
    FOR NO KEY UPDATE OF r
), {_ending(StepStatus.COMPLETED)}, moved AS (
    UPDATE flow_step_results s
    SET status = CASE WHEN s.waiting = %(settled)s THEN 'running' ELSE s.status END,
        waiting = s.waiting - %(settled)s,
        attempts = CASE WHEN s.waiting = %(settled)s THEN s.attempts + 1 ELSE s.attempts END,
        worker_id = CASE WHEN s.waiting = %(settled)s THEN %(worker_id)s ELSE s.worker_id END,
        lease_until = CASE WHEN s.waiting = %(settled)s THEN %(until)s::bigint END,
        started_at = CASE WHEN s.waiting = %(settled)s THEN %(at)s::bigint END
    FROM done
    WHERE s.flow_run_id = %(run_id)s AND s.flow_id = %(flow_id)s AND s.step_id = %(next)s AND s.status = 'pending'
    RETURNING s.step_id, s.step_order, s.status, s.attempts
), {_OPENED.format(source="moved")}, {logged(COMPLETED, STARTED.format(source="moved"))}, counted AS (
    UPDATE flow_runs r SET unfinished = r.unfinished - 1, last_event = r.last_event + {COUNT}
    FROM done WHERE r.id = %(run_id)s
)
SELECT done.step_id, CASE WHEN moved.status = 'running' THEN moved.attempts END
FROM done LEFT JOIN moved ON true
""")
"""FINISH where one step follows and the run continues: by far the most common case, at half the cost."""
_FAILED = (
    "'step_failed', step_id, %(attempt)s::int, %(event)s::text FROM done",
    "'run_failed', done.step_id, NULL, %(event)s::text FROM done, ends",
)
FAIL = _shortened(f"""
WITH {_RUN}, {_ending(StepStatus.FAILED)}, ends AS (
    SELECT id FROM run, done WHERE status IN {sql_list(sources(RUN_MOVES, RunStatus.FAILED))}
), {logged(*_FAILED)}, ended AS (
    UPDATE flow_runs r
    SET last_event = r.last_event + {COUNT}, status = 'failed',
        error_code = CASE WHEN ends.id IS NULL THEN r.error_code ELSE %(code)s END,
        error_message = CASE WHEN ends.id IS NULL THEN r.error_message ELSE %(message)s END,
        finished_at = CASE WHEN ends.id IS NULL THEN r.finished_at ELSE %(at)s END
    FROM done LEFT JOIN ends ON true
    WHERE r.id = %(run_id)s
), dropped AS (
    UPDATE flow_step_results s SET status = 'cancelled', waits_for = NULL, due_at = NULL, finished_at = %(at)s
    FROM ends WHERE s.flow_run_id = ends.id AND s.status = 'waiting'
), {_ANSWERED.format(ended="ends", condition="")}
SELECT run.status, done.step_id IS NOT NULL FROM run LEFT JOIN done ON true
""")
TAKE_OVER = _shortened(f"""
WITH {_RUN}, taken AS (
    UPDATE flow_step_results s
    SET attempts = s.attempts + 1, interruptions = s.interruptions + 1, worker_id = %(worker_id)s,
        lease_until = %(until)s, started_at = %(at)s
    FROM unnest(%(steps)s::text[], %(seen)s::int[], %(leases)s::bigint[]) AS t(step_id, attempt, lease_until), run
    WHERE s.flow_run_id = %(run_id)s AND s.flow_id = %(flow_id)s AND s.step_id = t.step_id AND s.attempts = t.attempt
        AND coalesce(s.lease_until, 0) = t.lease_until
        AND s.status = 'running' AND run.status = 'running' AND NOT run.deleted
    RETURNING s.step_id, s.step_order, s.attempts, s.status, t.lease_until
), closed AS (
    UPDATE flow_step_attempts a SET status = 'retried', error_code = '{WORKER_LOST}',
        error_message = '{WORKER_LOST_MESSAGE}',
        finished_at = least(%(at)s::bigint, nullif(taken.lease_until, 0))
    FROM taken
    WHERE a.flow_run_id = %(run_id)s AND a.flow_id = %(flow_id)s AND a.step_id = taken.step_id
        AND a.attempt_no = taken.attempts - 1
        AND a.status IN {sql_list(sources(ATTEMPT_MOVES, AttemptStatus.RETRIED))}
), {_OPENED.format(source="taken")},
{logged(RESUMED.format(source="(SELECT FROM taken LIMIT 1) one"), STARTED.format(source="taken"))}, counted AS (
    UPDATE flow_runs r SET pickups = 0, last_event = r.last_event + {COUNT} FROM (SELECT FROM taken LIMIT 1) one
    WHERE r.id = %(run_id)s
)
SELECT step_id, attempts FROM taken
""")
RENEW = _shortened("""
UPDATE flow_step_results s SET lease_until = %(until)s
FROM unnest(%(runs)s::text[], %(steps)s::text[], %(attempts)s::int[]) AS t(run_id, step_id, attempt)
WHERE s.flow_run_id = t.run_id AND s.step_id = t.step_id AND s.attempts = t.attempt AND s.worker_id = %(worker_id)s
    AND s.status = 'running'
RETURNING s.flow_run_id, s.step_id, s.attempts
""")

# A step claimed while this waits for the lock has an attempt that an earlier statement's snapshot lacks. So they
# are two statements: the second begins once the lock is held.
LOCK = "SELECT status FROM flow_runs WHERE id = %(run_id)s AND tenant_id = %(tenant_id)s FOR NO KEY UPDATE"
_CANCEL_STEPS = f"""steps AS (
    UPDATE flow_step_results s SET status = 'cancelled', lease_until = NULL, waits_for = NULL, due_at = NULL,
        finished_at = %(at)s
    FROM changed WHERE s.flow_run_id = changed.id AND s.status IN {{which}}
), attempts AS (
    UPDATE flow_step_attempts a SET status = 'cancelled', finished_at = %(at)s
    FROM changed WHERE a.flow_run_id = changed.id
        AND a.status IN {sql_list(sources(ATTEMPT_MOVES, AttemptStatus.CANCELLED))}
)"""
CANCEL = _shortened(f"""
WITH changed AS (
    UPDATE flow_runs SET status = 'cancelled', cancelled_at = %(at)s, finished_at = %(at)s, last_event = last_event + 1
    WHERE id = %(run_id)s AND {guard(RUN_MOVES, RunStatus.CANCELLED)}
    RETURNING id, last_event - 1 AS before
), {logged(f"'run_cancelled', {NOTHING}", after="before", run="changed")},
{_CANCEL_STEPS.format(which=sql_list(sources(STEP_MOVES, StepStatus.CANCELLED)))},
{_ANSWERED.format(ended="changed", condition="")}
SELECT id FROM changed
""")
END = _shortened(f"""
WITH changed AS (
    UPDATE flow_runs SET status = 'failed', error_code = %(code)s, error_message = %(message)s, finished_at = %(at)s,
        last_event = last_event + 1
    WHERE id = %(run_id)s AND {guard(RUN_MOVES, RunStatus.FAILED)}
        AND (NOT %(overdue)s::bool OR (deadline_at <= %(at)s AND status IN {sql_list(CLAIMABLE_RUNS)}))
    RETURNING id, last_event - 1 AS before
), {logged("'run_failed', NULL::text, NULL::int, %(event)s::text", after="before", run="changed")},
{_CANCEL_STEPS.format(which="('running', 'waiting')")},
{_ANSWERED.format(ended="changed", condition="")}
SELECT id FROM changed
""")


def moves(onward: Onward) -> dict[str, Any]:
    """Return steps, the number of parents settled for each, and the action for it."""
    actions = dict.fromkeys(onward.settles, "settle")
    actions |= dict.fromkeys(onward.skip, "skip") | dict.fromkeys(onward.claim, "claim")
    return {
        "steps": list(actions),
        "settled": [onward.settles.get(step, 0) for step in actions],
        "actions": list(actions.values()),
    }
