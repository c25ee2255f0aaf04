"""Table of handled failures. Times are microseconds in UTC."""

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    PrimaryKeyConstraint,
    String,
    Table,
    Text,
    UniqueConstraint,
)

from headgate.features.runs.failure_handlers.values import HandlerStatus
from headgate.features.runs.states import sql_list
from headgate.foundation.database import metadata, of_tenant, partial_index

failure_handlers = Table(
    "failure_handlers",
    metadata,
    Column("failed_run_id", String(36), nullable=False),
    Column("tenant_id", String(36), nullable=False),
    Column("handler_run_id", String(36), nullable=False),
    Column("status", String(16), nullable=False),
    Column("problem", Text),
    Column("created_at", BigInteger, nullable=False),
    Column("claimed_at", BigInteger, nullable=False),
    PrimaryKeyConstraint("failed_run_id"),
    UniqueConstraint("handler_run_id"),
    of_tenant("failed_run_id", "flow_runs"),
    CheckConstraint(f"status IN {sql_list(HandlerStatus)}", name="status_known"),
    partial_index("ix_failure_handlers_due", "claimed_at", where="status = 'due'"),
)
"""One row per failed run: who inserts it starts the handler. `handler_run_id` is chosen here, so that a repetition
after a crash cannot start a second run."""
