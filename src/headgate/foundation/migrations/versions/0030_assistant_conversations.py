"""Conversations with the assistant: the last turns of each, of one user."""

import sqlalchemy as sa
from alembic import op

revision = "0030"
down_revision = "0029"


def upgrade() -> None:
    op.create_table(
        "assistant_conversations",
        sa.Column("tenant_id", sa.String(36), nullable=False),
        sa.Column("user_id", sa.String(36), nullable=False),
        sa.Column("session_hash", sa.String(64), nullable=False),
        sa.Column("turns", sa.Text(), nullable=False),
        sa.Column("used_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "user_id", "session_hash", name="pk_assistant_conversations"),
        sa.ForeignKeyConstraint(
            ["user_id", "tenant_id"],
            ["users.id", "users.tenant_id"],
            name="fk_assistant_conversations_user_id_tenant_id",
            ondelete="CASCADE",
        ),
    )
    op.create_index("ix_assistant_conversations_used_at", "assistant_conversations", ["used_at"])


def downgrade() -> None:
    op.drop_table("assistant_conversations")
