"""Reference answers of questions of knowledge bases."""

import sqlalchemy as sa
from alembic import op

revision = "0069"
down_revision = "0068"


def upgrade() -> None:
    with op.batch_alter_table("knowledge_questions") as table:
        table.add_column(sa.Column("answer", sa.Text(), nullable=False, server_default=""))


def downgrade() -> None:
    with op.batch_alter_table("knowledge_questions") as table:
        table.drop_column("answer")
