"""Conversations of users with published flows."""

import sqlalchemy as sa
from alembic import op

revision = "0066"
down_revision = "0065"


def upgrade() -> None:
    op.create_table(
        "flow_conversations",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("user_id", sa.String(length=36), nullable=False),
        sa.Column("flow_id", sa.String(length=36), nullable=False),
        sa.Column("title", sa.String(length=200), nullable=False),
        sa.Column("position", sa.String(length=36), nullable=False),
        sa.Column("used_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id", "tenant_id"],
            ["users.id", "users.tenant_id"],
            name=op.f("fk_flow_conversations_user_id_tenant_id_users"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["flow_id", "tenant_id"],
            ["flows.id", "flows.tenant_id"],
            name=op.f("fk_flow_conversations_flow_id_tenant_id_flows"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_flow_conversations")),
    )
    op.create_index(
        "ix_flow_conversations_user_id_flow_id_position", "flow_conversations", ["user_id", "flow_id", "position"]
    )
    op.create_index("ix_flow_conversations_flow_id_used_at", "flow_conversations", ["flow_id", "used_at"])


def downgrade() -> None:
    op.drop_table("flow_conversations")
