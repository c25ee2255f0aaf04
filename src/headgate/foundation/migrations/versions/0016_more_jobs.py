"""Job columns: scheduled tasks and results of tests."""

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

JSON = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")
INDEXES = {
    "due": ("due_at", "worker_id IS NULL AND due_at IS NOT NULL"),
    "claimed": ("worker_id", "worker_id IS NOT NULL"),
    "event": ("event", "event IS NOT NULL"),
}

revision = "0016"
down_revision = "0015"


def upgrade() -> None:
    op.drop_table("scheduled_jobs")
    op.create_table("scheduled_jobs", *_task_columns(), *_job_columns())
    _add_indexes("scheduled_jobs")
    op.drop_index("ix_flow_test_results_status_lease_until", "flow_test_results")
    for column in _job_columns():
        if column.name != "lease_until":
            op.add_column("flow_test_results", column)
    _add_indexes("flow_test_results")


def downgrade() -> None:
    for name in INDEXES:
        op.drop_index(f"ix_flow_test_results_{name}", "flow_test_results")
    for column in ("due_at", "event", "worker_id", "attempts"):
        op.drop_column("flow_test_results", column)
    op.create_index("ix_flow_test_results_status_lease_until", "flow_test_results", ["status", "lease_until"])
    op.drop_table("scheduled_jobs")
    op.create_table("scheduled_jobs", *_task_columns(), sa.Column("due_at", sa.BigInteger(), nullable=False))


def _task_columns() -> list[sa.Column[Any]]:
    return [
        sa.Column("name", sa.String(length=64), primary_key=True),
        sa.Column("started_at", sa.BigInteger()),
        sa.Column("finished_at", sa.BigInteger()),
        sa.Column("outcome", JSON),
    ]


def _job_columns() -> list[sa.Column[Any]]:
    return [
        sa.Column("due_at", sa.BigInteger()),
        sa.Column("event", sa.String(length=200)),
        sa.Column("worker_id", sa.String(length=64)),
        sa.Column("lease_until", sa.BigInteger()),
        sa.Column("attempts", sa.Integer(), nullable=False, server_default="0"),
    ]


def _add_indexes(table: str) -> None:
    for name, (column, condition) in INDEXES.items():
        where = sa.text(condition)
        op.create_index(f"ix_{table}_{name}", table, [column], sqlite_where=where, postgresql_where=where)
