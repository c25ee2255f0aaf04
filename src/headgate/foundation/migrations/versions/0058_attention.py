"""Dismissed items of the attention list."""

import sqlalchemy as sa
from alembic import op

revision = "0058"
down_revision = "0057"


def upgrade() -> None:
    op.create_table(
        "attention_dismissals",
        sa.Column("user_id", sa.String(length=36), nullable=False),
        sa.Column("item_key", sa.String(length=160), nullable=False),
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("dismissed_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_attention_dismissals_user_id_users"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("user_id", "item_key", name=op.f("pk_attention_dismissals")),
    )


def downgrade() -> None:
    op.drop_table("attention_dismissals")
