"""The index of runs by session holds only runs of a session: most have none."""

import sqlalchemy as sa
from alembic import op

revision = "0043"
down_revision = "0042"

_INDEX, _COLUMNS = "ix_flow_runs_flow_id_session_id", ["flow_id", "session_id"]
_OF_SESSION = sa.text("session_id IS NOT NULL")


def upgrade() -> None:
    op.drop_index(_INDEX, "flow_runs")
    op.create_index(_INDEX, "flow_runs", _COLUMNS, sqlite_where=_OF_SESSION, postgresql_where=_OF_SESSION)


def downgrade() -> None:
    op.drop_index(_INDEX, "flow_runs")
    op.create_index(_INDEX, "flow_runs", _COLUMNS)
