"""Runs, step results and attempts (seed 002). Written by `RunStore` in plain SQL; times are microseconds in UTC.

`states` defines the statuses and their transitions. `flow_runs.dispatched_at` and `dispatches` record when and how
often work on a run was dispatched to a queue: they identify messages that were committed and never sent, or sent and
lost. `pickups` counts how often a worker picked up a message that had reached one before, or may have, since a worker
last claimed a step: only such a row proves that a worker received the run. `source_run_id` and `source_step_id` name
the run that this one continues and the first step executed again; `flow_step_attempts.record` keeps the data of a
failed attempt, such as prompt and tokens, after the run was resumed; `flow_step_results.reused_from_run_id` is the run
that paid for a reused result. `parent_run_id`, `parent_step_id` and `parent_iteration` name the step that started the
run, and its number among the runs of that step, which no other has. `paused_at` is when it was paused
the last time. `terms` is what limits the run (`terms.Terms`); null for most. `error_flow` names the
flow that handles its failure. `deadline_after` is how long it may take
and `deadline_at` when that is over: later by each pause. `waited_for` of a step
that waits for a slot is what it had waited for before. `part` is set when a run executed
less than its flow: `only_step` where it stopped, `from_step` where it began, and `pinned`, the
steps with a pinned output, which were not executed and cost nothing.
"""

from collections.abc import Iterable
from enum import StrEnum

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    PrimaryKeyConstraint,
    String,
    Table,
    Text,
    UniqueConstraint,
)

from headgate.features.runs.states import AttemptStatus, RunStatus, StepStatus, sql_list
from headgate.foundation.database import Encrypted, Json, metadata, of_tenant, partial_index


def _one_of(column: str, values: Iterable[StrEnum]) -> CheckConstraint:
    return CheckConstraint(f"{column} IN " + sql_list(values), name=f"{column}_known")


_LIVE = "status IN ('queued', 'running')"
"""Active runs; few, independent of the number of waiting and past runs."""
_WAITS = "status = 'waiting'"
_PAUSED = "status = 'paused'"
_DEADLINE = "deadline_at IS NOT NULL AND status IN ('queued', 'running', 'waiting')"
"""Runs that end at their deadline: few queries read them, twice a second."""
_PARENT = ("parent_run_id", "parent_step_id", "parent_iteration")
_OPEN_CHILD = "parent_run_id IS NOT NULL AND status <> 'completed'"
"""Runs of a step that are active or did not succeed: few, independent of how many it has started."""
_FAILED = "status = 'failed'"
"""Runs in which a dead worker may have left a step."""
_HANDLED = "status = 'failed' AND error_flow IS NOT NULL"
"""Failed runs of flows that name a handler."""

flow_runs = Table(
    "flow_runs",
    metadata,
    Column("id", String(36), primary_key=True),
    Column("tenant_id", String(36), nullable=False),
    Column("flow_id", String(36), nullable=False),
    Column("version", Integer, nullable=False),
    Column("user_id", String(36), ForeignKey("users.id", ondelete="SET NULL")),
    Column("session_id", String(128)),
    Column("status", String(16), nullable=False),
    Column("unfinished", Integer, nullable=False),
    Column("input_payload", Json, nullable=False),
    Column("output_payload", Json),
    Column("error_code", String(64)),
    Column("error_message", Text),
    Column("created_at", BigInteger, nullable=False),
    Column("started_at", BigInteger),
    Column("finished_at", BigInteger),
    Column("cancelled_at", BigInteger),
    Column("paused_at", BigInteger),
    Column("deadline_after", BigInteger),
    Column("deadline_at", BigInteger),
    Column("dispatched_at", BigInteger),
    Column("dispatches", Integer, nullable=False, server_default="0"),
    Column("pickups", Integer, nullable=False, server_default="0"),
    Column("resumes", Integer, nullable=False, server_default="0"),
    Column("source_run_id", String(36)),
    Column("source_step_id", String(64)),
    Column("part", Json),
    Column("trace_parent", String(64)),
    Column("last_event", Integer, nullable=False, server_default="0"),
    Column("visitor", String(64)),
    Column("parent_run_id", String(36)),
    Column("parent_step_id", String(64)),
    Column("parent_iteration", Integer),
    Column("terms", Json),
    Column("error_flow", String(200)),
    of_tenant("flow_id", "flows"),
    ForeignKeyConstraint(
        ["flow_id", "version"], ["flow_versions.flow_id", "flow_versions.version"], ondelete="CASCADE"
    ),
    UniqueConstraint("id", "tenant_id"),
    UniqueConstraint("id", "flow_id"),
    _one_of("status", RunStatus),
    Index("ix_flow_runs_flow_id_status_finished_at", "flow_id", "status", "finished_at"),
    Index("ix_flow_runs_tenant_id_created_at", "tenant_id", "created_at"),
    Index("ix_flow_runs_tenant_id_status_id", "tenant_id", "status", "id"),
    partial_index("ix_flow_runs_flow_id_session_id", "flow_id", "session_id", where="session_id IS NOT NULL"),
    Index("ix_flow_runs_flow_id_id", "flow_id", "id"),
    partial_index("ix_flow_runs_parent", *_PARENT, where="parent_run_id IS NOT NULL", unique=True),
    partial_index("ix_flow_runs_parent_open", *_PARENT, where=_OPEN_CHILD),
    partial_index("ix_flow_runs_visitor", "tenant_id", "visitor", "created_at", where="visitor IS NOT NULL"),
    partial_index("ix_flow_runs_source", "source_run_id", where="source_run_id IS NOT NULL"),
    partial_index("ix_flow_runs_failed", "finished_at", where=_FAILED),
    partial_index("ix_flow_runs_error_flow", "finished_at", where=_HANDLED),
    partial_index("ix_flow_runs_live", "created_at", where=_LIVE),
    partial_index("ix_flow_runs_waiting", "flow_id", where=_WAITS),
    partial_index("ix_flow_runs_deadline", "deadline_at", where=_DEADLINE),
    partial_index("ix_flow_runs_paused", "flow_id", where=_PAUSED),
)

flow_step_results = Table(
    "flow_step_results",
    metadata,
    Column("flow_run_id", String(36), nullable=False),
    Column("step_id", String(64), nullable=False),
    Column("flow_id", String(36), nullable=False),
    Column("version", Integer, nullable=False),
    Column("tenant_id", String(36), nullable=False),
    Column("step_order", Integer, nullable=False),
    Column("status", String(16), nullable=False),
    Column("waiting", Integer, nullable=False),
    Column("attempts", Integer, nullable=False),
    Column("worker_id", String(64)),
    Column("lease_until", BigInteger),
    Column("input_payload", Json),
    Column("effective_prompt", Text),
    Column("output_payload", Json),
    Column("model_parameters", Json),
    Column("tool_calls", Json),
    Column("log", Json),
    Column("num_tokens_input", Integer),
    Column("num_tokens_output", Integer),
    Column("execution_hash", String(64)),
    Column("error_code", String(64)),
    Column("error_message", Text),
    Column("started_at", BigInteger),
    Column("finished_at", BigInteger),
    Column("reused_from_run_id", String(36)),
    Column("classification", Integer),
    Column("interruptions", Integer, nullable=False, server_default="0"),
    Column("waits_for", String(16)),
    Column("waited_for", String(16)),
    Column("due_at", BigInteger),
    Column("answered_at", BigInteger),
    Column("failures", Integer, nullable=False, server_default="0"),
    Column("failing_since", BigInteger),
    Column("expected_runs", Integer),
    PrimaryKeyConstraint("flow_run_id", "flow_id", "step_id"),
    UniqueConstraint("flow_run_id", "step_id"),
    of_tenant("flow_run_id", "flow_runs"),
    ForeignKeyConstraint(["flow_run_id", "flow_id"], ["flow_runs.id", "flow_runs.flow_id"], ondelete="CASCADE"),
    ForeignKeyConstraint(
        ["flow_id", "version", "step_id"],
        ["version_steps.flow_id", "version_steps.version", "version_steps.step_id"],
        ondelete="CASCADE",
    ),
    _one_of("status", StepStatus),
    CheckConstraint("waiting >= 0", name="waiting_not_negative"),
    partial_index("ix_flow_step_results_due", "due_at", where=_WAITS),
)

flow_step_attempts = Table(
    "flow_step_attempts",
    metadata,
    Column("flow_run_id", String(36), nullable=False),
    Column("flow_id", String(36), nullable=False),
    Column("step_id", String(64), nullable=False),
    Column("attempt_no", Integer, nullable=False),
    Column("version", Integer, nullable=False),
    Column("tenant_id", String(36), nullable=False),
    Column("step_order", Integer, nullable=False),
    Column("status", String(16), nullable=False),
    Column("worker_id", String(64)),
    Column("error_code", String(64)),
    Column("error_message", Text),
    Column("started_at", BigInteger, nullable=False),
    Column("finished_at", BigInteger),
    Column("record", Json),
    PrimaryKeyConstraint("flow_run_id", "flow_id", "step_id", "attempt_no"),
    UniqueConstraint("flow_run_id", "step_id", "attempt_no"),
    of_tenant("flow_run_id", "flow_runs"),
    ForeignKeyConstraint(["flow_run_id", "flow_id"], ["flow_runs.id", "flow_runs.flow_id"], ondelete="CASCADE"),
    ForeignKeyConstraint(
        ["flow_id", "version", "step_id"],
        ["version_steps.flow_id", "version_steps.version", "version_steps.step_id"],
        ondelete="CASCADE",
    ),
    _one_of("status", AttemptStatus),
    CheckConstraint("attempt_no >= 1", name="attempt_from_one"),
)

flow_step_calls = Table(
    "flow_step_calls",
    metadata,
    Column("flow_run_id", String(36), nullable=False),
    Column("flow_id", String(36), nullable=False),
    Column("tenant_id", String(36), nullable=False),
    Column("step_id", String(64), nullable=False),
    Column("attempt_no", Integer, nullable=False),
    Column("seq", Integer, nullable=False),
    Column("kind", String(16), nullable=False),
    Column("name", String(255), nullable=False),
    Column("digest", String(64), nullable=False),
    Column("answer", Encrypted, nullable=False),
    Column("tokens_input", Integer),
    Column("tokens_output", Integer),
    Column("answered_at", BigInteger, nullable=False),
    PrimaryKeyConstraint("flow_run_id", "flow_id", "step_id", "attempt_no", "seq"),
    ForeignKeyConstraint(
        ["flow_run_id", "flow_id", "step_id", "attempt_no"],
        [
            "flow_step_attempts.flow_run_id",
            "flow_step_attempts.flow_id",
            "flow_step_attempts.step_id",
            "flow_step_attempts.attempt_no",
        ],
        ondelete="CASCADE",
    ),
)
"""Answered calls of models and tools of an attempt: a later attempt reuses the answers (`steps.calls`)."""

flow_run_events = Table(
    "flow_run_events",
    metadata,
    Column("flow_run_id", String(36), ForeignKey("flow_runs.id", ondelete="CASCADE"), nullable=False),
    Column("seq", Integer, nullable=False, autoincrement=False),
    Column("kind", String(32), nullable=False),
    Column("step_id", String(64)),
    Column("attempt", Integer),
    Column("at", BigInteger, nullable=False),
    Column("data", Json),
    PrimaryKeyConstraint("flow_run_id", "seq"),
    sqlite_with_rowid=False,
)
"""Events of a run, in order, without gaps (`event_log`). `flow_runs.last_event` is the last `seq` of the run."""
