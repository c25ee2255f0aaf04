"""Feedback of visitors, who have no account."""

import sqlalchemy as sa
from alembic import op

revision = "0082"
down_revision = "0081"


def upgrade() -> None:
    with op.batch_alter_table("chat_feedback") as table:
        table.alter_column("user_id", existing_type=sa.String(36), nullable=True)


def downgrade() -> None:
    op.execute("DELETE FROM chat_feedback WHERE user_id IS NULL")
    with op.batch_alter_table("chat_feedback") as table:
        table.alter_column("user_id", existing_type=sa.String(36), nullable=False)
