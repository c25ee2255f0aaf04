"""Service level objectives of flows with their counts, and alert rules on them."""

import sqlalchemy as sa
from alembic import op

from headgate.foundation.migrations.known_kinds import change_known_kinds

revision = "0079"
down_revision = "0078"

_BEFORE = "'queue', 'budget')"
_AFTER = "'queue', 'budget', 'burn_fast', 'burn_slow')"
_KNOWN = "kind IN ('failure', 'failure_rate', 'slow', 'silent', 'cost', "


def upgrade() -> None:
    op.create_table(
        "slos",
        *(
            sa.Column(name, sa.String(length=length), nullable=False)
            for name, length in (("id", 36), ("tenant_id", 36), ("flow_id", 36), ("name", 120), ("kind", 16))
        ),
        sa.Column("runs", sa.String(length=16), nullable=False),
        sa.Column("target", sa.Float(), nullable=False),
        sa.Column("seconds", sa.Float(), nullable=True),
        sa.Column("window_days", sa.Integer(), nullable=False),
        *(sa.Column(name, sa.BigInteger(), nullable=False) for name in ("counted_until", "created_at", "updated_at")),
        sa.Column("created_by_user_id", sa.String(length=36), nullable=True),
        sa.Column("due_at", sa.BigInteger(), nullable=True),
        sa.Column("event", sa.String(length=200), nullable=True),
        sa.Column("worker_id", sa.String(length=64), nullable=True),
        sa.Column("lease_until", sa.BigInteger(), nullable=True),
        sa.Column("attempts", sa.Integer(), nullable=False, server_default="0"),
        sa.CheckConstraint("kind IN ('success', 'latency')", name=op.f("ck_slos_kind_known")),
        sa.CheckConstraint("runs IN ('all', 'published', 'triggers')", name=op.f("ck_slos_runs_known")),
        sa.ForeignKeyConstraint(
            ["flow_id", "tenant_id"],
            ["flows.id", "flows.tenant_id"],
            name=op.f("fk_slos_flow_id_tenant_id_flows"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_slos")),
        sa.UniqueConstraint("id", "tenant_id", name=op.f("uq_slos_id_tenant_id")),
        sa.UniqueConstraint("flow_id", "name", name=op.f("uq_slos_flow_id_name")),
    )
    op.create_index("ix_slos_tenant_id_id", "slos", ["tenant_id", "id"])
    for name, column, where in (
        ("due", "due_at", "worker_id IS NULL AND due_at IS NOT NULL"),
        ("claimed", "worker_id", "worker_id IS NOT NULL"),
        ("event", "event", "event IS NOT NULL"),
    ):
        condition = sa.text(where)
        op.create_index(f"ix_slos_{name}", "slos", [column], sqlite_where=condition, postgresql_where=condition)
    op.create_table(
        "slo_counts",
        sa.Column("slo_id", sa.String(length=36), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("runs", sa.Integer(), nullable=False),
        sa.Column("good", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["slo_id", "tenant_id"],
            ["slos.id", "slos.tenant_id"],
            name=op.f("fk_slo_counts_slo_id_tenant_id_slos"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("slo_id", "at", name=op.f("pk_slo_counts")),
    )
    change_known_kinds("alert_rules", _KNOWN, _BEFORE, _AFTER)


def downgrade() -> None:
    op.execute("DELETE FROM alert_rules WHERE kind IN ('burn_fast', 'burn_slow')")
    change_known_kinds("alert_rules", _KNOWN, _AFTER, _BEFORE)
    op.drop_table("slo_counts")
    op.drop_table("slos")
