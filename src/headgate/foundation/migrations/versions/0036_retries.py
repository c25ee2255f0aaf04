"""Failed attempts of a step since its run started or was resumed."""

import sqlalchemy as sa
from alembic import op

revision = "0036"
down_revision = "0035"


def upgrade() -> None:
    op.add_column("flow_step_results", sa.Column("failures", sa.Integer(), nullable=False, server_default="0"))
    op.add_column("flow_step_results", sa.Column("failing_since", sa.BigInteger()))


def downgrade() -> None:
    op.drop_column("flow_step_results", "failing_since")
    op.drop_column("flow_step_results", "failures")
