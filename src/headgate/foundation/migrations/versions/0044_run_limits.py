"""What limits a run, what was charged to budgets, slots, handlers of failures, and hosts that fail."""

import sqlalchemy as sa
from alembic import op

from headgate.foundation.database import Json

revision = "0044"
down_revision = "0043"

_HANDLED = sa.text("status = 'failed' AND error_flow IS NOT NULL")
_DUE = sa.text("status = 'due'")
_QUEUED = sa.text("granted_at IS NULL")


def upgrade() -> None:
    op.add_column("flow_runs", sa.Column("terms", Json))
    op.create_table(
        "budget_accounts",
        sa.Column("subject", sa.String(80), nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("tenant_id", sa.String(36), nullable=False),
        sa.Column("flow_id", sa.String(36), nullable=False),
        sa.Column("flow_run_id", sa.String(36)),
        sa.Column("used", sa.BigInteger(), nullable=False),
        sa.Column("changed_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("subject", "kind", name=op.f("pk_budget_accounts")),
        sa.ForeignKeyConstraint(
            ["flow_id", "tenant_id"],
            ["flows.id", "flows.tenant_id"],
            name=op.f("fk_budget_accounts_flow_id_tenant_id_flows"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["flow_run_id", "tenant_id"],
            ["flow_runs.id", "flow_runs.tenant_id"],
            name=op.f("fk_budget_accounts_flow_run_id_tenant_id_flow_runs"),
            ondelete="CASCADE",
        ),
        sa.CheckConstraint("used >= 0", name=op.f("ck_budget_accounts_used_not_negative")),
    )
    op.create_index("ix_budget_accounts_flow_id", "budget_accounts", ["flow_id", "changed_at"])
    op.create_index("ix_budget_accounts_flow_run_id", "budget_accounts", ["flow_run_id"])
    op.add_column("flow_step_results", sa.Column("waited_for", sa.String(16)))
    op.create_table(
        "run_slots",
        sa.Column("tenant_id", sa.String(36), nullable=False),
        sa.Column("name", sa.String(320), nullable=False),
        sa.Column("flow_run_id", sa.String(36), nullable=False),
        sa.Column("step_id", sa.String(64), nullable=False),
        sa.Column("most", sa.Integer(), nullable=False),
        sa.Column("priority", sa.Integer(), nullable=False),
        sa.Column("requested_at", sa.BigInteger(), nullable=False),
        sa.Column("granted_at", sa.BigInteger()),
        sa.PrimaryKeyConstraint("tenant_id", "name", "flow_run_id", "step_id", name=op.f("pk_run_slots")),
        sa.ForeignKeyConstraint(
            ["flow_run_id", "tenant_id"],
            ["flow_runs.id", "flow_runs.tenant_id"],
            name=op.f("fk_run_slots_flow_run_id_tenant_id_flow_runs"),
            ondelete="CASCADE",
        ),
    )
    op.create_index("ix_run_slots_flow_run_id", "run_slots", ["flow_run_id"])
    op.create_index(
        "ix_run_slots_queue", "run_slots", ["tenant_id", "name"], sqlite_where=_QUEUED, postgresql_where=_QUEUED
    )
    op.add_column("flow_runs", sa.Column("error_flow", sa.String(200)))
    op.create_index(
        "ix_flow_runs_error_flow", "flow_runs", ["finished_at"], sqlite_where=_HANDLED, postgresql_where=_HANDLED
    )
    op.create_table(
        "failure_handlers",
        sa.Column("failed_run_id", sa.String(36), nullable=False),
        sa.Column("tenant_id", sa.String(36), nullable=False),
        sa.Column("handler_run_id", sa.String(36), nullable=False),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("problem", sa.Text()),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("claimed_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("failed_run_id", name=op.f("pk_failure_handlers")),
        sa.UniqueConstraint("handler_run_id", name=op.f("uq_failure_handlers_handler_run_id")),
        sa.ForeignKeyConstraint(
            ["failed_run_id", "tenant_id"],
            ["flow_runs.id", "flow_runs.tenant_id"],
            name=op.f("fk_failure_handlers_failed_run_id_tenant_id_flow_runs"),
            ondelete="CASCADE",
        ),
        sa.CheckConstraint("status IN ('due', 'started', 'refused')", name=op.f("ck_failure_handlers_status_known")),
    )
    op.create_index(
        "ix_failure_handlers_due", "failure_handlers", ["claimed_at"], sqlite_where=_DUE, postgresql_where=_DUE
    )
    op.create_table(
        "host_circuits",
        sa.Column("tenant_id", sa.String(36), nullable=False),
        sa.Column("host", sa.String(300), nullable=False),
        sa.Column("failures", sa.Integer(), nullable=False),
        sa.Column("since", sa.BigInteger(), nullable=False),
        sa.Column("open_until", sa.BigInteger()),
        sa.Column("probe_until", sa.BigInteger()),
        sa.Column("last_error", sa.String(64), nullable=False),
        sa.Column("changed_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "host", name=op.f("pk_host_circuits")),
        sa.ForeignKeyConstraint(
            ["tenant_id"], ["tenants.id"], name=op.f("fk_host_circuits_tenant_id_tenants"), ondelete="CASCADE"
        ),
    )


def downgrade() -> None:
    op.drop_table("host_circuits")
    op.drop_table("failure_handlers")
    op.drop_index("ix_flow_runs_error_flow", "flow_runs")
    op.drop_column("flow_runs", "error_flow")
    op.drop_table("run_slots")
    op.execute(
        "UPDATE flow_step_results SET due_at = coalesce(due_at, answered_at, 0),"
        " waits_for = coalesce(waited_for, 'time')"
        " WHERE waits_for = 'slot'"
    )
    op.drop_column("flow_step_results", "waited_for")
    op.drop_table("budget_accounts")
    op.drop_column("flow_runs", "terms")
