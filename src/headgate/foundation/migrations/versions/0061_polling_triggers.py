"""Triggers that poll: feeds, pages, folders, rows, mail, APIs."""

import sqlalchemy as sa
from alembic import op

from headgate.foundation.migrations.known_kinds import change_known_kinds

revision = "0061"
down_revision = "0060"

_BEFORE = "'event', 'manual')"
_POLLING = "'feed', 'page', 'folder', 'rows', 'mail', 'api'"
_AFTER = f"'event', 'manual', {_POLLING})"
_KNOWN = "kind IN ('schedule', 'webhook', 'flow', "


def upgrade() -> None:
    change_known_kinds("triggers", _KNOWN, _BEFORE, _AFTER)
    op.add_column("triggers", sa.Column("poll_cursor", sa.Text()))
    op.add_column("triggers", sa.Column("poll_failures", sa.Integer(), nullable=False, server_default="0"))
    op.add_column(
        "triggers", sa.Column("poll_error", sa.String(length=500), nullable=False, server_default=sa.text("''"))
    )
    op.add_column("triggers", sa.Column("polled_at", sa.BigInteger()))


def downgrade() -> None:
    op.execute(f"DELETE FROM triggers WHERE kind IN ({_POLLING})")  # noqa: S608 - constants
    for column in ("polled_at", "poll_error", "poll_failures", "poll_cursor"):
        op.drop_column("triggers", column)
    change_known_kinds("triggers", _KNOWN, _AFTER, _BEFORE)
