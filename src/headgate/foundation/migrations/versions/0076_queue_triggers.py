"""Triggers that read an AMQP queue."""

import sqlalchemy as sa
from alembic import op

revision = "0076"
down_revision = "0075"

_BEFORE = "'mail', 'api', 'form', 'stream')"
_AFTER = "'mail', 'api', 'form', 'stream', 'queue')"
_KNOWN = "kind IN ('schedule', 'webhook', 'flow', 'event', 'manual', 'feed', 'page', 'folder', 'rows', "


def upgrade() -> None:
    _change_check(_BEFORE, _AFTER)


def downgrade() -> None:
    op.execute("DELETE FROM triggers WHERE kind = 'queue'")
    _change_check(_AFTER, _BEFORE)


def _change_check(before: str, after: str) -> None:
    """Change the known kinds, as migration 0063 does."""
    if op.get_bind().dialect.name != "sqlite":
        name = op.f("ck_triggers_kind_known")
        op.drop_constraint(name, "triggers", type_="check")
        op.create_check_constraint(name, "triggers", _KNOWN + after)
        return
    op.execute("PRAGMA writable_schema = ON")
    op.execute(
        sa.text(
            "UPDATE sqlite_master SET sql = replace(sql, :before, :after) WHERE type = 'table' AND name = 'triggers'"
        ).bindparams(before=before, after=after)
    )
    version = op.get_bind().execute(sa.text("PRAGMA schema_version")).scalar_one()
    op.execute(f"PRAGMA schema_version = {version + 1}")
    op.execute("PRAGMA writable_schema = RESET")
