"""Indexes of what triggers poll each second, and events for which a trigger has fired."""

import sqlalchemy as sa
from alembic import op

revision = "0051"
down_revision = "0050"
_EVENTS = "ix_sent_events_space_id_deliveries_keep_until"
_FOLLOWED = "ix_sent_events_space_id_followed_deliveries_keep_until"
_ENDED = "ix_flow_runs_flow_id_status_finished_at"
_OCCURRENCES = "ix_trigger_occurrences_trigger_id_created_at"


def upgrade() -> None:
    op.create_index(_ENDED, "flow_runs", ["flow_id", "status", "finished_at"])
    op.drop_index("ix_flow_runs_flow_id_status", "flow_runs")
    op.create_index(_OCCURRENCES, "trigger_occurrences", ["trigger_id", "created_at"])
    op.add_column("sent_events", sa.Column("followed", sa.Boolean(), nullable=False, server_default=sa.false()))
    op.create_index(_FOLLOWED, "sent_events", ["space_id", "followed", "deliveries", "keep_until"])
    op.drop_index(_EVENTS, "sent_events")


def downgrade() -> None:
    op.create_index(_EVENTS, "sent_events", ["space_id", "deliveries", "keep_until"])
    op.drop_index(_FOLLOWED, "sent_events")
    op.drop_column("sent_events", "followed")
    op.drop_index(_OCCURRENCES, "trigger_occurrences")
    op.create_index("ix_flow_runs_flow_id_status", "flow_runs", ["flow_id", "status"])
    op.drop_index(_ENDED, "flow_runs")
