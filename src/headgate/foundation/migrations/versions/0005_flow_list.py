"""What the list of flows shows at a glance: who changed a flow last, and its newest run."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    op.add_column("flows", sa.Column("updated_by_user_id", sa.String(length=36), nullable=True))
    op.create_index("ix_flow_runs_flow_id_id", "flow_runs", ["flow_id", "id"])


def downgrade() -> None:
    op.drop_index("ix_flow_runs_flow_id_id", table_name="flow_runs")
    op.drop_column("flows", "updated_by_user_id")
