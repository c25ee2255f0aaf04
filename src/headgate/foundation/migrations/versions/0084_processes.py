"""Processes of the installation, with their heartbeats and drain mode, and alert rules on those that died."""

import sqlalchemy as sa
from alembic import op

from headgate.foundation.database import Json
from headgate.foundation.migrations.known_kinds import change_known_kinds

revision = "0084"
down_revision = "0083"


_BEFORE = "'burn_slow')"
_AFTER = "'burn_slow', 'dead_worker')"
_KNOWN = "kind IN ('failure', 'failure_rate', 'slow', 'silent', 'cost', 'queue', 'budget', 'burn_fast', "


def upgrade() -> None:
    change_known_kinds("alert_rules", _KNOWN, _BEFORE, _AFTER)
    op.create_table(
        "processes",
        sa.Column("id", sa.String(length=64), nullable=False),
        sa.Column("parent_id", sa.String(length=64), nullable=True),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("host", sa.String(length=255), nullable=False),
        sa.Column("pid", sa.Integer(), nullable=False),
        sa.Column("version", sa.String(length=64), nullable=False),
        sa.Column("started_at", sa.BigInteger(), nullable=False),
        sa.Column("seen_at", sa.BigInteger(), nullable=False),
        sa.Column("work", Json, nullable=False),
        sa.Column("draining_at", sa.BigInteger(), nullable=True),
        sa.Column("hand_over_at", sa.BigInteger(), nullable=True),
        sa.CheckConstraint("kind IN ('server', 'worker')", name=op.f("ck_processes_kind_known")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_processes")),
    )


def downgrade() -> None:
    op.drop_table("processes")
    op.execute("DELETE FROM alert_rules WHERE kind = 'dead_worker'")
    change_known_kinds("alert_rules", _KNOWN, _AFTER, _BEFORE)
