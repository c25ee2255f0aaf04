"""Runs that a step of another run started."""

import sqlalchemy as sa
from alembic import op

revision = "0037"
down_revision = "0036"

_INDEX, _OPEN = "ix_flow_runs_parent", "ix_flow_runs_parent_open"
_COLUMNS = ["parent_run_id", "parent_step_id", "parent_iteration"]
_CHILDREN = sa.text("parent_run_id IS NOT NULL")
_OPEN_CHILDREN = sa.text("parent_run_id IS NOT NULL AND status <> 'completed'")


def upgrade() -> None:
    op.add_column("flow_runs", sa.Column("parent_run_id", sa.String(length=36)))
    op.add_column("flow_runs", sa.Column("parent_step_id", sa.String(length=64)))
    op.add_column("flow_runs", sa.Column("parent_iteration", sa.Integer()))
    op.create_index(_INDEX, "flow_runs", _COLUMNS, unique=True, sqlite_where=_CHILDREN, postgresql_where=_CHILDREN)
    op.create_index(_OPEN, "flow_runs", _COLUMNS, sqlite_where=_OPEN_CHILDREN, postgresql_where=_OPEN_CHILDREN)


def downgrade() -> None:
    op.drop_index(_OPEN, "flow_runs")
    op.drop_index(_INDEX, "flow_runs")
    for column in reversed(_COLUMNS):
        op.drop_column("flow_runs", column)
