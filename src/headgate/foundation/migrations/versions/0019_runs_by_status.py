"""An index for the list of a tenant's runs in one status, newest first."""

from alembic import op

revision = "0019"
down_revision = "0018"

_NAME = "ix_flow_runs_tenant_id_status_id"


def upgrade() -> None:
    op.create_index(_NAME, "flow_runs", ["tenant_id", "status", "id"])


def downgrade() -> None:
    op.drop_index(_NAME, "flow_runs")
