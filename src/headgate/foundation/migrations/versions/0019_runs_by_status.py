"""Indexes for lists of runs in one status, newest first: of a tenant, and of a flow.

Where both serve a query, SQLite takes the one that was made last, which is the one of the flow.
"""

from alembic import op

revision = "0019"
down_revision = "0018"

_TENANT, _FLOW, _OLD = (
    "ix_flow_runs_tenant_id_status_id",
    "ix_flow_runs_flow_id_status_id",
    "ix_flow_runs_flow_id_status",
)


def upgrade() -> None:
    op.create_index(_TENANT, "flow_runs", ["tenant_id", "status", "id"])
    op.create_index(_FLOW, "flow_runs", ["flow_id", "status", "id"])
    op.drop_index(_OLD, "flow_runs")


def downgrade() -> None:
    op.create_index(_OLD, "flow_runs", ["flow_id", "status"])
    op.drop_index(_FLOW, "flow_runs")
    op.drop_index(_TENANT, "flow_runs")
