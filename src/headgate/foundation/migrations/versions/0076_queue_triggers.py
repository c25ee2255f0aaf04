"""Triggers that read an AMQP queue."""

from alembic import op

from headgate.foundation.migrations.known_kinds import change_known_kinds

revision = "0076"
down_revision = "0075"

_BEFORE = "'mail', 'api', 'form', 'stream')"
_AFTER = "'mail', 'api', 'form', 'stream', 'queue')"
_KNOWN = "kind IN ('schedule', 'webhook', 'flow', 'event', 'manual', 'feed', 'page', 'folder', 'rows', "


def upgrade() -> None:
    change_known_kinds("triggers", _KNOWN, _BEFORE, _AFTER)


def downgrade() -> None:
    op.execute("DELETE FROM triggers WHERE kind = 'queue'")
    change_known_kinds("triggers", _KNOWN, _AFTER, _BEFORE)
