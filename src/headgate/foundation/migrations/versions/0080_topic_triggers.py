"""Triggers that read a Kafka topic."""

from alembic import op

from headgate.foundation.migrations.known_kinds import change_known_kinds

revision = "0080"
down_revision = "0079"

_BEFORE = "'mail', 'api', 'form', 'stream', 'queue')"
_AFTER = "'mail', 'api', 'form', 'stream', 'queue', 'topic')"
_KNOWN = "kind IN ('schedule', 'webhook', 'flow', 'event', 'manual', 'feed', 'page', 'folder', 'rows', "


def upgrade() -> None:
    change_known_kinds("triggers", _KNOWN, _BEFORE, _AFTER)


def downgrade() -> None:
    op.execute("DELETE FROM triggers WHERE kind = 'topic'")
    change_known_kinds("triggers", _KNOWN, _AFTER, _BEFORE)
