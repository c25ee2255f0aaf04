"""How many runs of a backfill run at the same time."""

import sqlalchemy as sa
from alembic import op

revision = "0083"
down_revision = "0082"


def upgrade() -> None:
    op.add_column("trigger_occurrences", sa.Column("at_once", sa.Integer(), nullable=True))


def downgrade() -> None:
    op.drop_column("trigger_occurrences", "at_once")
