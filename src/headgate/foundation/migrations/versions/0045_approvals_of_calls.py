"""Approvals of tool calls; escalation, notices and one-time links of approvals."""

from importlib import import_module

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0045"
down_revision = "0044"

JSON = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")
_KEYS = import_module("headgate.foundation.migrations.versions.0029_installation_keys")


def upgrade() -> None:
    op.add_column("approvals", sa.Column("scope", sa.String(length=100), nullable=False, server_default=""))
    op.add_column("approvals", sa.Column("tool", sa.String(length=255), nullable=False, server_default=""))
    op.add_column("approvals", sa.Column("escalates_at", sa.BigInteger()))
    op.add_column("approvals", sa.Column("escalation", JSON))
    op.create_index("ux_approvals_scope", "approvals", ["flow_run_id", "step_id", "scope"], unique=True)
    op.create_table(
        "approval_notices",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("approval_id", sa.String(length=36), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("target", sa.LargeBinary(), nullable=False),
        sa.Column("url_shown", sa.Text(), nullable=False),
        sa.Column("idempotency_key", sa.String(length=64), nullable=False),
        sa.Column("last_status", sa.Integer()),
        sa.Column("error_code", sa.String(length=64)),
        sa.Column("error_message", sa.Text()),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("sent_at", sa.BigInteger()),
        sa.Column("due_at", sa.BigInteger()),
        sa.Column("event", sa.String(length=200)),
        sa.Column("worker_id", sa.String(length=64)),
        sa.Column("lease_until", sa.BigInteger()),
        sa.Column("attempts", sa.Integer(), nullable=False, server_default="0"),
        sa.CheckConstraint("kind IN ('asked', 'reminder', 'escalated')", name=op.f("ck_approval_notices_kind_known")),
        sa.CheckConstraint(
            "status IN ('pending', 'delivered', 'failed', 'cancelled')", name=op.f("ck_approval_notices_status_known")
        ),
        sa.ForeignKeyConstraint(
            ["approval_id", "tenant_id"],
            ["approvals.id", "approvals.tenant_id"],
            name=op.f("fk_approval_notices_approval_id_tenant_id_approvals"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_approval_notices")),
        sa.UniqueConstraint("approval_id", "number", name=op.f("uq_approval_notices_approval_id_number")),
    )
    _index("due", "due_at", "worker_id IS NULL AND due_at IS NOT NULL")
    _index("claimed", "worker_id", "worker_id IS NOT NULL")
    _index("event", "event", "event IS NOT NULL")
    op.add_column("approval_decisions", sa.Column("outside", sa.String(length=200)))
    op.create_table(
        "approval_links",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("approval_id", sa.String(length=36), nullable=False),
        sa.Column("token_hash", sa.String(length=64), nullable=False),
        sa.Column("recipient", sa.String(length=200), nullable=False),
        sa.Column("user_id", sa.String(length=36), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.Column("used_at", sa.BigInteger()),
        sa.ForeignKeyConstraint(
            ["approval_id", "tenant_id"],
            ["approvals.id", "approvals.tenant_id"],
            name=op.f("fk_approval_links_approval_id_tenant_id_approvals"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_approval_links")),
        sa.UniqueConstraint("token_hash", name=op.f("uq_approval_links_token_hash")),
    )
    op.create_index("ix_approval_links_approval_id", "approval_links", ["approval_id"])
    _KEYS.guard("approval_notices", "target", is_text=False)


def _index(name: str, column: str, where: str) -> None:
    condition = sa.text(where)
    op.create_index(
        f"ix_approval_notices_{name}",
        "approval_notices",
        [column],
        sqlite_where=condition,
        postgresql_where=condition,
    )


def downgrade() -> None:
    op.drop_table("approval_links")
    op.drop_column("approval_decisions", "outside")
    op.drop_table("approval_notices")
    if op.get_bind().dialect.name == "postgresql":
        op.execute("DROP FUNCTION approval_notices_target_key()")
    op.drop_index("ux_approvals_scope", "approvals")
    for column in ("escalation", "escalates_at", "tool", "scope"):
        op.drop_column("approvals", column)
