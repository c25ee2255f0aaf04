"""Steps that wait until they are answered: when the last answer came."""

import sqlalchemy as sa
from alembic import op

revision = "0035"
down_revision = "0034"


def upgrade() -> None:
    op.add_column("flow_step_results", sa.Column("answered_at", sa.BigInteger()))


def downgrade() -> None:
    op.drop_column("flow_step_results", "answered_at")
