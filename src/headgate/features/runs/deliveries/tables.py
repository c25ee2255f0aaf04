"""Tables of deliveries of step outputs and their attempts. Times are microseconds in UTC."""

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    ForeignKeyConstraint,
    Integer,
    PrimaryKeyConstraint,
    String,
    Table,
    Text,
    UniqueConstraint,
)

from headgate.features.jobs.tables import job_columns, job_indexes
from headgate.foundation.database import Encrypted, metadata, of_tenant, partial_index

webhook_deliveries = Table(
    "webhook_deliveries",
    metadata,
    Column("id", String(36), primary_key=True),
    Column("tenant_id", String(36), nullable=False),
    Column("flow_run_id", String(36), nullable=False),
    Column("flow_id", String(36), nullable=False),
    Column("step_id", String(64), nullable=False),
    Column("status", String(16), nullable=False),
    Column("target", Encrypted, nullable=False),
    Column("url_shown", Text, nullable=False),
    Column("idempotency_key", String(64), nullable=False),
    Column("earlier_attempts", Integer, nullable=False, server_default="0"),
    Column("last_status", Integer),
    Column("error_code", String(64)),
    Column("error_message", Text),
    Column("created_at", BigInteger, nullable=False),
    Column("delivered_at", BigInteger),
    *job_columns(),
    ForeignKeyConstraint(
        ["flow_run_id", "tenant_id"],
        ["flow_runs.id", "flow_runs.tenant_id"],
        ondelete="CASCADE",
        name="fk_webhook_deliveries_run_tenant",
    ),
    ForeignKeyConstraint(
        ["flow_run_id", "flow_id", "step_id"],
        ["flow_step_results.flow_run_id", "flow_step_results.flow_id", "flow_step_results.step_id"],
        ondelete="CASCADE",
        name="fk_webhook_deliveries_step",
    ),
    UniqueConstraint("flow_run_id", "step_id"),
    UniqueConstraint("id", "tenant_id"),
    CheckConstraint("status IN ('pending', 'delivering', 'delivered', 'failed', 'cancelled')", name="status_known"),
    *job_indexes("webhook_deliveries"),
    partial_index("ix_webhook_deliveries_failed", "tenant_id", "created_at", where="status = 'failed'"),
)
"""`target` is the encrypted JSON of the URL and headers; `url_shown` is the URL without confidential parts.
`earlier_attempts` counts those made before the last request to deliver again, which started a new series of rounds."""

webhook_delivery_attempts = Table(
    "webhook_delivery_attempts",
    metadata,
    Column("delivery_id", String(36), nullable=False),
    Column("tenant_id", String(36), nullable=False),
    Column("attempt_no", Integer, nullable=False),
    Column("started_at", BigInteger, nullable=False),
    Column("finished_at", BigInteger),
    Column("status_code", Integer),
    Column("error_code", String(64)),
    Column("error_message", Text),
    PrimaryKeyConstraint("delivery_id", "attempt_no"),
    of_tenant("delivery_id", "webhook_deliveries"),
    CheckConstraint("attempt_no >= 1", name="attempt_from_one"),
)
