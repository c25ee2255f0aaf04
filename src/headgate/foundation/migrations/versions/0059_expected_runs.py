"""The number of runs that a step is going to start."""

import sqlalchemy as sa
from alembic import op

revision = "0059"
down_revision = "0058"


def upgrade() -> None:
    op.add_column("flow_step_results", sa.Column("expected_runs", sa.Integer()))


def downgrade() -> None:
    op.drop_column("flow_step_results", "expected_runs")
