"""Job columns: deliveries, scheduled tasks, results of tests."""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
_INDEXES = {
    "due": ("due_at", "worker_id IS NULL AND due_at IS NOT NULL"),
    "claimed": ("worker_id", "worker_id IS NOT NULL"),
    "event": ("event", "event IS NOT NULL"),
}


def upgrade() -> None:
    op.drop_index("ix_webhook_deliveries_due", "webhook_deliveries")
    op.execute("ALTER TABLE webhook_deliveries RENAME COLUMN next_attempt_at TO due_at")
    op.add_column("webhook_deliveries", sa.Column("event", sa.String(length=200)))
    op.execute("UPDATE webhook_deliveries SET worker_id = NULL, lease_until = NULL")
    _add_indexes("webhook_deliveries")


def downgrade() -> None:
    _drop_indexes("webhook_deliveries")
    op.drop_column("webhook_deliveries", "event")
    op.execute("ALTER TABLE webhook_deliveries RENAME COLUMN due_at TO next_attempt_at")
    due = sa.text("status IN ('pending', 'delivering')")
    op.create_index(
        "ix_webhook_deliveries_due", "webhook_deliveries", ["next_attempt_at"], sqlite_where=due, postgresql_where=due
    )


def _add_indexes(table: str) -> None:
    for name, (column, condition) in _INDEXES.items():
        where = sa.text(condition)
        op.create_index(f"ix_{table}_{name}", table, [column], sqlite_where=where, postgresql_where=where)


def _drop_indexes(table: str) -> None:
    for name in _INDEXES:
        op.drop_index(f"ix_{table}_{name}", table)
