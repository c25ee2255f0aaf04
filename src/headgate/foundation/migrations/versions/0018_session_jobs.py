"""Development sessions and their notices are jobs: the job columns take the place of a lease of their own."""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"

SESSIONS, NOTICES = "codev_sessions", "codev_notices"


def upgrade() -> None:
    op.drop_index("ix_codev_sessions_status_lease_until", table_name=SESSIONS)
    for name in ("leased_by", "lease_until"):
        op.drop_column(SESSIONS, name)
    for column in _job_columns():
        op.add_column(SESSIONS, column)
    op.execute("UPDATE codev_sessions SET due_at = 0 WHERE status = 'in_progress'")
    op.create_table(
        NOTICES,
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("session_id", sa.String(length=36), nullable=False),
        sa.Column("interrupt_id", sa.String(length=100), nullable=False),
        *_job_columns(),
        sa.ForeignKeyConstraint(
            ["session_id"], ["codev_sessions.id"], name="fk_codev_notices_session_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_codev_notices"),
    )
    op.create_index("ix_codev_notices_session_id", NOTICES, ["session_id"])
    for table in (SESSIONS, NOTICES):
        for suffix, indexed, where in _INDEXES:
            name = f"ix_{table}_{suffix}"
            op.create_index(name, table, [indexed], sqlite_where=where, postgresql_where=where)


def downgrade() -> None:
    op.drop_table(NOTICES)
    for suffix, _, _ in _INDEXES:
        op.drop_index(f"ix_{SESSIONS}_{suffix}", table_name=SESSIONS)
    for column in _job_columns():
        op.drop_column(SESSIONS, column.name)
    op.add_column(SESSIONS, sa.Column("leased_by", sa.String(length=64), nullable=True))
    op.add_column(SESSIONS, sa.Column("lease_until", sa.BigInteger(), nullable=True))
    op.create_index("ix_codev_sessions_status_lease_until", SESSIONS, ["status", "lease_until"], unique=False)


def _job_columns() -> list[sa.Column[Any]]:
    return [
        sa.Column("due_at", sa.BigInteger()),
        sa.Column("event", sa.String(length=200)),
        sa.Column("worker_id", sa.String(length=64)),
        sa.Column("lease_until", sa.BigInteger()),
        sa.Column("attempts", sa.Integer(), nullable=False, server_default="0"),
    ]


_INDEXES = (
    ("due", "due_at", sa.text("worker_id IS NULL AND due_at IS NOT NULL")),
    ("claimed", "worker_id", sa.text("worker_id IS NOT NULL")),
    ("event", "event", sa.text("event IS NOT NULL")),
)
