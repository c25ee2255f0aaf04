"""Dispatch, resume and re-use of runs; deliveries; MCP servers; model classes; scheduled jobs."""

from typing import Any

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

JSON = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")

revision = "0002"
down_revision = "0001"


def _columns() -> dict[str, list[sa.Column[Any]]]:
    return {
        "flow_runs": [
            sa.Column("dispatched_at", sa.BigInteger(), nullable=True),
            sa.Column("dispatches", sa.Integer(), nullable=False, server_default="0"),
            sa.Column("resumes", sa.Integer(), nullable=False, server_default="0"),
            sa.Column("source_run_id", sa.String(length=36), nullable=True),
            sa.Column("source_step_id", sa.String(length=64), nullable=True),
            sa.Column("trace_parent", sa.String(length=64), nullable=True),
        ],
        "flow_step_attempts": [sa.Column("record", JSON, nullable=True)],
        "variables": [sa.Column("hosts", JSON, nullable=True)],
        "flow_step_results": [
            sa.Column("reused_from_run_id", sa.String(length=36), nullable=True),
            sa.Column("classification", sa.Integer(), nullable=True),
        ],
    }


def upgrade() -> None:
    for table, columns in _columns().items():
        for column in columns:
            op.add_column(table, column)
    failed = sa.text("status = 'failed'")
    op.create_index("ix_flow_runs_failed", "flow_runs", ["finished_at"], sqlite_where=failed, postgresql_where=failed)
    _deliveries()
    _mcp_servers()
    op.create_table(
        "assistants",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("space_id", sa.String(length=36), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("instructions", sa.Text(), nullable=False),
        sa.Column("model", sa.String(length=300), nullable=False),
        sa.Column("temperature", sa.Float(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["space_id", "tenant_id"],
            ["spaces.id", "spaces.tenant_id"],
            name=op.f("fk_assistants_space_id_tenant_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_assistants")),
        sa.UniqueConstraint("tenant_id", "name", name=op.f("uq_assistants_tenant_id_name")),
    )
    op.create_table(
        "model_classes",
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("provider", sa.String(length=64), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("level", sa.Integer(), nullable=False),
        sa.CheckConstraint("level >= 0", name=op.f("ck_model_classes_level_not_negative")),
        sa.ForeignKeyConstraint(
            ["tenant_id"], ["tenants.id"], name=op.f("fk_model_classes_tenant_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("tenant_id", "provider", "name", name=op.f("pk_model_classes")),
    )
    op.create_table(
        "scheduled_jobs",
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("due_at", sa.BigInteger(), nullable=False),
        sa.Column("started_at", sa.BigInteger(), nullable=True),
        sa.Column("finished_at", sa.BigInteger(), nullable=True),
        sa.Column("outcome", JSON, nullable=True),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_scheduled_jobs")),
    )


def _deliveries() -> None:
    op.create_table(
        "webhook_deliveries",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("flow_run_id", sa.String(length=36), nullable=False),
        sa.Column("flow_id", sa.String(length=36), nullable=False),
        sa.Column("step_id", sa.String(length=64), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("target", sa.LargeBinary(), nullable=False),
        sa.Column("url_shown", sa.Text(), nullable=False),
        sa.Column("idempotency_key", sa.String(length=64), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False, server_default="0"),
        sa.Column("next_attempt_at", sa.BigInteger(), nullable=True),
        sa.Column("worker_id", sa.String(length=64), nullable=True),
        sa.Column("lease_until", sa.BigInteger(), nullable=True),
        sa.Column("last_status", sa.Integer(), nullable=True),
        sa.Column("error_code", sa.String(length=64), nullable=True),
        sa.Column("error_message", sa.Text(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("delivered_at", sa.BigInteger(), nullable=True),
        sa.CheckConstraint(
            "status IN ('pending', 'delivering', 'delivered', 'failed', 'cancelled')",
            name=op.f("ck_webhook_deliveries_status_known"),
        ),
        sa.ForeignKeyConstraint(
            ["flow_run_id", "tenant_id"],
            ["flow_runs.id", "flow_runs.tenant_id"],
            name="fk_webhook_deliveries_run_tenant",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["flow_run_id", "flow_id", "step_id"],
            ["flow_step_results.flow_run_id", "flow_step_results.flow_id", "flow_step_results.step_id"],
            name="fk_webhook_deliveries_step",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_webhook_deliveries")),
        sa.UniqueConstraint("flow_run_id", "step_id", name=op.f("uq_webhook_deliveries_flow_run_id_step_id")),
        sa.UniqueConstraint("id", "tenant_id", name=op.f("uq_webhook_deliveries_id_tenant_id")),
    )
    due = sa.text("status IN ('pending', 'delivering')")
    op.create_index(
        "ix_webhook_deliveries_due",
        "webhook_deliveries",
        ["next_attempt_at"],
        sqlite_where=due,
        postgresql_where=due,
    )
    op.create_table(
        "webhook_delivery_attempts",
        sa.Column("delivery_id", sa.String(length=36), nullable=False),
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("attempt_no", sa.Integer(), nullable=False),
        sa.Column("started_at", sa.BigInteger(), nullable=False),
        sa.Column("finished_at", sa.BigInteger(), nullable=True),
        sa.Column("status_code", sa.Integer(), nullable=True),
        sa.Column("error_code", sa.String(length=64), nullable=True),
        sa.Column("error_message", sa.Text(), nullable=True),
        sa.CheckConstraint("attempt_no >= 1", name=op.f("ck_webhook_delivery_attempts_attempt_from_one")),
        sa.ForeignKeyConstraint(
            ["delivery_id", "tenant_id"],
            ["webhook_deliveries.id", "webhook_deliveries.tenant_id"],
            name=op.f("fk_webhook_delivery_attempts_delivery_id_tenant_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("delivery_id", "attempt_no", name=op.f("pk_webhook_delivery_attempts")),
    )


def _mcp_servers() -> None:
    op.create_table(
        "mcp_servers",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("space_id", sa.String(length=36), nullable=False),
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("transport", sa.String(length=8), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("command", JSON, nullable=True),
        sa.Column("sealed", sa.LargeBinary(), nullable=True),
        sa.Column("secret_names", JSON, nullable=False),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        sa.Column("tools_found_at", sa.BigInteger(), nullable=True),
        sa.Column("error_message", sa.Text(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("transport IN ('http', 'stdio')", name=op.f("ck_mcp_servers_transport_known")),
        sa.ForeignKeyConstraint(
            ["space_id", "tenant_id"],
            ["spaces.id", "spaces.tenant_id"],
            name=op.f("fk_mcp_servers_space_id_tenant_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_mcp_servers")),
        sa.UniqueConstraint("id", "tenant_id", name=op.f("uq_mcp_servers_id_tenant_id")),
        sa.UniqueConstraint("space_id", "name", name=op.f("uq_mcp_servers_space_id_name")),
    )
    op.create_table(
        "mcp_tools",
        sa.Column("server_id", sa.String(length=36), nullable=False),
        sa.Column("name", sa.String(length=128), nullable=False),
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("input_schema", JSON, nullable=False),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["server_id", "tenant_id"],
            ["mcp_servers.id", "mcp_servers.tenant_id"],
            name=op.f("fk_mcp_tools_server_id_tenant_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("server_id", "name", name=op.f("pk_mcp_tools")),
    )


def downgrade() -> None:
    for table in (
        "mcp_tools",
        "mcp_servers",
        "webhook_delivery_attempts",
        "webhook_deliveries",
        "scheduled_jobs",
        "model_classes",
        "assistants",
    ):
        op.drop_table(table)
    op.drop_index("ix_flow_runs_failed", table_name="flow_runs")
    for table, columns in _columns().items():
        with op.batch_alter_table(table) as batch:
            for column in columns:
                batch.drop_column(column.name)
