"""Approvals of an agent's tool calls: several of one step, each identified by its call."""

import sqlalchemy as sa
from alembic import op

revision = "0045"
down_revision = "0044"


def upgrade() -> None:
    op.add_column("approvals", sa.Column("scope", sa.String(length=100), nullable=False, server_default=""))
    op.add_column("approvals", sa.Column("tool", sa.String(length=255), nullable=False, server_default=""))
    op.create_index("ux_approvals_scope", "approvals", ["flow_run_id", "step_id", "scope"], unique=True)


def downgrade() -> None:
    op.drop_index("ux_approvals_scope", "approvals")
    op.drop_column("approvals", "tool")
    op.drop_column("approvals", "scope")
