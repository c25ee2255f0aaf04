"""What limits a run, and what was charged to budgets."""

import sqlalchemy as sa
from alembic import op

from headgate.foundation.database import Json

revision = "0044"
down_revision = "0043"


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


def downgrade() -> None:
    op.drop_table("budget_accounts")
    op.drop_column("flow_runs", "terms")
