"""Types of values that last between runs of a flow."""

import sqlalchemy as sa
from alembic import op

revision = "0065"
down_revision = "0064"


def upgrade() -> None:
    op.add_column("flow_states", sa.Column("value_type", sa.String(16)))


def downgrade() -> None:
    op.drop_column("flow_states", "value_type")
