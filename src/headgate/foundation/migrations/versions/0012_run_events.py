"""The event log of runs."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

JSON = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")

revision = "0012"
down_revision = "0011"


def upgrade() -> None:
    op.add_column("flow_runs", sa.Column("last_event", sa.Integer(), nullable=False, server_default="0"))
    op.create_table(
        "flow_run_events",
        sa.Column("flow_run_id", sa.String(length=36), nullable=False),
        sa.Column("seq", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("kind", sa.String(length=32), nullable=False),
        sa.Column("step_id", sa.String(length=64), nullable=True),
        sa.Column("attempt", sa.Integer(), nullable=True),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("data", JSON, nullable=True),
        sa.ForeignKeyConstraint(
            ["flow_run_id"], ["flow_runs.id"], name=op.f("fk_flow_run_events_flow_run_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("flow_run_id", "seq", name=op.f("pk_flow_run_events")),
        sqlite_with_rowid=False,
    )


def downgrade() -> None:
    op.drop_table("flow_run_events")
    op.drop_column("flow_runs", "last_event")
