"""Events that are sent to waiting steps, and the steps that wait for them."""

from importlib import import_module

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0040"
down_revision = "0038"

JSON = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")
_KEYS = import_module("headgate.foundation.migrations.versions.0029_installation_keys")


def upgrade() -> None:
    _create_events()
    _create_waits()
    _KEYS.guard("sent_events", "content", is_text=False)
    _KEYS.guard("event_waits", "content", is_text=False)


def downgrade() -> None:
    op.drop_table("event_waits")
    op.drop_table("sent_events")
    if op.get_bind().dialect.name == "postgresql":
        op.execute("DROP FUNCTION event_waits_content_key()")
        op.execute("DROP FUNCTION sent_events_content_key()")


def _create_events() -> None:
    op.create_table(
        "sent_events",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("space_id", sa.String(length=36), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("correlation", sa.String(length=500), nullable=False),
        sa.Column("event_key", sa.String(length=255), nullable=False),
        sa.Column("deliver", sa.String(length=8), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.Column("content_hash", sa.String(length=64), nullable=False),
        sa.Column("size_bytes", sa.Integer(), nullable=False),
        sa.Column("classification", sa.Integer()),
        sa.Column("outside", JSON, nullable=False),
        sa.Column("sender", JSON, nullable=False),
        sa.Column("flow_run_id", sa.String(length=36)),
        sa.Column("received_at", sa.BigInteger(), nullable=False),
        sa.Column("keep_until", sa.BigInteger(), nullable=False),
        sa.Column("deliveries", sa.Integer(), nullable=False),
        sa.CheckConstraint("deliver IN ('one', 'all')", name=op.f("ck_sent_events_deliver_known")),
        sa.ForeignKeyConstraint(
            ["space_id", "tenant_id"],
            ["spaces.id", "spaces.tenant_id"],
            name=op.f("fk_sent_events_space_id_tenant_id_spaces"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_sent_events")),
        sa.UniqueConstraint("space_id", "event_key", name=op.f("uq_sent_events_space_id_event_key")),
    )
    op.create_index(
        "ix_sent_events_space_id_name_correlation_id", "sent_events", ["space_id", "name", "correlation", "id"]
    )
    op.create_index(
        "ix_sent_events_space_id_deliveries_keep_until", "sent_events", ["space_id", "deliveries", "keep_until"]
    )
    op.create_index("ix_sent_events_tenant_id_id", "sent_events", ["tenant_id", "id"])


def _create_waits() -> None:
    op.create_table(
        "event_waits",
        sa.Column("flow_run_id", sa.String(length=36), nullable=False),
        sa.Column("step_id", sa.String(length=64), nullable=False),
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("space_id", sa.String(length=36), nullable=False),
        sa.Column("flow_id", sa.String(length=36), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("correlation", sa.String(length=500), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("due_at", sa.BigInteger()),
        sa.Column("settled_at", sa.BigInteger()),
        sa.Column("event_id", sa.String(length=36)),
        sa.Column("received_at", sa.BigInteger()),
        sa.Column("content", sa.LargeBinary()),
        sa.Column("content_hash", sa.String(length=64)),
        sa.Column("classification", sa.Integer()),
        sa.Column("outside", JSON),
        sa.Column("sender", JSON),
        sa.CheckConstraint("status IN ('waiting', 'received', 'timed_out')", name=op.f("ck_event_waits_status_known")),
        sa.ForeignKeyConstraint(
            ["flow_run_id", "tenant_id"],
            ["flow_runs.id", "flow_runs.tenant_id"],
            name=op.f("fk_event_waits_flow_run_id_tenant_id_flow_runs"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("flow_run_id", "step_id", name=op.f("pk_event_waits")),
    )
    op.create_index(
        "ix_event_waits_space_id_name_correlation_status_created_at",
        "event_waits",
        ["space_id", "name", "correlation", "status", "created_at"],
    )
    op.create_index("ix_event_waits_tenant_id_status", "event_waits", ["tenant_id", "status"])
