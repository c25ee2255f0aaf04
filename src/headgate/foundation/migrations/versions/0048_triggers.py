"""Triggers of flows, and their occurrences."""

from importlib import import_module

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0048"
down_revision = "0047"

JSON = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")
_KEYS = import_module("headgate.foundation.migrations.versions.0029_installation_keys")
_SEALED = (("triggers", "secret"), ("triggers", "caught"), ("trigger_occurrences", "content"))


def upgrade() -> None:
    _create_triggers()
    _create_occurrences()
    _KEYS.guard("triggers", "secret", is_text=False)
    _KEYS.guard("triggers", "caught", is_text=False)
    _KEYS.guard("trigger_occurrences", "content", is_text=False)


def downgrade() -> None:
    op.drop_table("trigger_occurrences")
    op.drop_table("triggers")
    if op.get_bind().dialect.name == "postgresql":
        for table, column in _SEALED:
            op.execute(f"DROP FUNCTION {table}_{column}_key()")


def _create_triggers() -> None:
    op.create_table(
        "triggers",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("flow_id", sa.String(length=36), nullable=False),
        sa.Column("name", sa.String(length=120), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("config", JSON, nullable=False),
        sa.Column("policies", JSON, nullable=False),
        sa.Column("input", JSON, nullable=False),
        sa.Column("owner_user_id", sa.String(length=36)),
        sa.Column("enabled", sa.Boolean(), nullable=False),
        sa.Column("paused_reason", sa.String(length=500), nullable=False),
        sa.Column("resumed_at", sa.BigInteger(), nullable=False),
        sa.Column("secret", sa.LargeBinary()),
        sa.Column("address", sa.String(length=64)),
        sa.Column("catching_until", sa.BigInteger()),
        sa.Column("caught", sa.LargeBinary()),
        sa.Column("cursor_at", sa.BigInteger(), nullable=False),
        sa.Column("next_at", sa.BigInteger()),
        sa.Column("created_by_user_id", sa.String(length=36)),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.Column("due_at", sa.BigInteger()),
        sa.Column("event", sa.String(length=200)),
        sa.Column("worker_id", sa.String(length=64)),
        sa.Column("lease_until", sa.BigInteger()),
        sa.Column("attempts", sa.Integer(), server_default="0", nullable=False),
        sa.CheckConstraint(
            "kind IN ('schedule', 'webhook', 'flow', 'event', 'manual')", name=op.f("ck_triggers_kind_known")
        ),
        sa.ForeignKeyConstraint(
            ["flow_id", "tenant_id"],
            ["flows.id", "flows.tenant_id"],
            name=op.f("fk_triggers_flow_id_tenant_id_flows"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["owner_user_id"], ["users.id"], name=op.f("fk_triggers_owner_user_id_users"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_triggers")),
        sa.UniqueConstraint("id", "tenant_id", name=op.f("uq_triggers_id_tenant_id")),
        sa.UniqueConstraint("flow_id", "name", name=op.f("uq_triggers_flow_id_name")),
    )
    op.create_index("ix_triggers_tenant_id_id", "triggers", ["tenant_id", "id"])
    op.create_index(op.f("ix_triggers_owner_user_id"), "triggers", ["owner_user_id"])
    _partial("ix_triggers_address", "triggers", ["address"], "address IS NOT NULL", unique=True)
    _partial("ix_triggers_due", "triggers", ["due_at"], "worker_id IS NULL AND due_at IS NOT NULL")
    _partial("ix_triggers_claimed", "triggers", ["worker_id"], "worker_id IS NOT NULL")
    _partial("ix_triggers_event", "triggers", ["event"], "event IS NOT NULL")


def _create_occurrences() -> None:
    table = "trigger_occurrences"
    op.create_table(
        table,
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("trigger_id", sa.String(length=36), nullable=False),
        sa.Column("occurrence_key", sa.String(length=255), nullable=False),
        sa.Column("due_at", sa.BigInteger()),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("reason", sa.String(length=64), nullable=False),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("flow_run_id", sa.String(length=36)),
        sa.Column("backfill_id", sa.String(length=36)),
        sa.Column("content", sa.LargeBinary()),
        sa.CheckConstraint(
            "status IN ('started', 'queued', 'skipped', 'cancelled')", name=op.f("ck_trigger_occurrences_status_known")
        ),
        sa.ForeignKeyConstraint(
            ["trigger_id", "tenant_id"],
            ["triggers.id", "triggers.tenant_id"],
            name=op.f("fk_trigger_occurrences_trigger_id_tenant_id_triggers"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_trigger_occurrences")),
        sa.UniqueConstraint(
            "trigger_id", "occurrence_key", name=op.f("uq_trigger_occurrences_trigger_id_occurrence_key")
        ),
    )
    op.create_index("ix_trigger_occurrences_trigger_id_id", table, ["trigger_id", "id"])
    op.create_index("ix_trigger_occurrences_created_at", table, ["created_at"])
    _partial("ix_trigger_occurrences_flow_run_id", table, ["flow_run_id"], "flow_run_id IS NOT NULL")
    _partial("ix_trigger_occurrences_queued", table, ["trigger_id", "id"], "status = 'queued'")


def _partial(name: str, table: str, columns: list[str], where: str, *, unique: bool = False) -> None:
    condition = sa.text(where)
    op.create_index(name, table, columns, unique=unique, sqlite_where=condition, postgresql_where=condition)
