"""Runs: how often a worker picked one up again since a step of it was last claimed."""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"


def upgrade() -> None:
    op.add_column("flow_runs", sa.Column("pickups", sa.Integer(), nullable=False, server_default="0"))


def downgrade() -> None:
    op.drop_column("flow_runs", "pickups")
