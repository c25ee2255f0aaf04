"""Limit of concurrent steps of a connection."""

import sqlalchemy as sa
from alembic import op

revision = "0067"
down_revision = "0066"


def upgrade() -> None:
    with op.batch_alter_table("connections") as table:
        table.add_column(sa.Column("max_concurrent", sa.Integer()))


def downgrade() -> None:
    with op.batch_alter_table("connections") as table:
        table.drop_column("max_concurrent")
