"""Triggers that poll: feeds, pages, folders, rows, mail, APIs."""

import sqlalchemy as sa
from alembic import op

revision = "0061"
down_revision = "0060"

_BEFORE = "'event', 'manual')"
_POLLING = "'feed', 'page', 'folder', 'rows', 'mail', 'api'"
_AFTER = f"'event', 'manual', {_POLLING})"
_KNOWN = "kind IN ('schedule', 'webhook', 'flow', "


def upgrade() -> None:
    _change_check(_BEFORE, _AFTER)
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
    _change_check(_AFTER, _BEFORE)


def _change_check(before: str, after: str) -> None:
    """Change the known kinds; in SQLite by editing the text of the table, as migration 0034 does."""
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
