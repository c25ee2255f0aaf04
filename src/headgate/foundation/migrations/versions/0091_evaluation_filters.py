"""Conditions on metadata of questions of knowledge bases, and of evaluations."""

import sqlalchemy as sa
from alembic import op

from headgate.foundation.database import Json

revision = "0091"
down_revision = "0090"


def upgrade() -> None:
    for table in ("knowledge_questions", "knowledge_evaluations"):
        op.add_column(table, sa.Column("filters", Json(), nullable=False, server_default=sa.text("'[]'")))


def downgrade() -> None:
    for name in ("knowledge_questions", "knowledge_evaluations"):
        with op.batch_alter_table(name) as table:
            table.drop_column("filters")
