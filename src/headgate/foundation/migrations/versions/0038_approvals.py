"""Approvals that steps wait for, and the decisions of users."""

from importlib import import_module

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0038"
down_revision = "0037"

JSON = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")
_KEYS = import_module("headgate.foundation.migrations.versions.0029_installation_keys")


def upgrade() -> None:
    op.create_table(
        "approvals",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("space_id", sa.String(length=36), nullable=False),
        sa.Column("flow_run_id", sa.String(length=36), nullable=False),
        sa.Column("flow_id", sa.String(length=36), nullable=False),
        sa.Column("step_id", sa.String(length=64), nullable=False),
        sa.Column("round", sa.Integer(), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("content", sa.LargeBinary(), nullable=False),
        sa.Column("content_hash", sa.String(length=64), nullable=False),
        sa.Column("assignees", JSON, nullable=False),
        sa.Column("needed", sa.Integer(), nullable=False),
        sa.Column("approvals", sa.Integer(), nullable=False),
        sa.Column("barred_user_id", sa.String(length=36)),
        sa.Column("due_at", sa.BigInteger()),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("decided_at", sa.BigInteger()),
        sa.CheckConstraint(
            "status IN ('pending', 'approved', 'rejected', 'timed_out')", name=op.f("ck_approvals_status_known")
        ),
        sa.ForeignKeyConstraint(
            ["flow_run_id", "tenant_id"],
            ["flow_runs.id", "flow_runs.tenant_id"],
            name=op.f("fk_approvals_flow_run_id_tenant_id_flow_runs"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_approvals")),
        sa.UniqueConstraint("flow_run_id", "step_id", "round", name=op.f("uq_approvals_flow_run_id_step_id_round")),
        sa.UniqueConstraint("id", "tenant_id", name=op.f("uq_approvals_id_tenant_id")),
    )
    op.create_index("ix_approvals_tenant_id_status_id", "approvals", ["tenant_id", "status", "id"])
    op.create_table(
        "approval_decisions",
        sa.Column("approval_id", sa.String(length=36), nullable=False),
        sa.Column("user_id", sa.String(length=36), nullable=False),
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("user_name", sa.String(length=300), nullable=False),
        sa.Column("decision", sa.String(length=16), nullable=False),
        sa.Column("response", sa.LargeBinary(), nullable=False),
        sa.Column("response_hash", sa.String(length=64), nullable=False),
        sa.Column("shown_hash", sa.String(length=64), nullable=False),
        sa.Column("key_id", sa.String(length=36)),
        sa.Column("address", sa.String(length=64)),
        sa.Column("decided_at", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("decision IN ('approve', 'reject')", name=op.f("ck_approval_decisions_decision_known")),
        sa.ForeignKeyConstraint(
            ["approval_id", "tenant_id"],
            ["approvals.id", "approvals.tenant_id"],
            name=op.f("fk_approval_decisions_approval_id_tenant_id_approvals"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("approval_id", "user_id", name=op.f("pk_approval_decisions")),
    )
    _KEYS.guard("approvals", "content", is_text=False)
    _KEYS.guard("approval_decisions", "response", is_text=False)


def downgrade() -> None:
    op.drop_table("approval_decisions")
    op.drop_table("approvals")
    if op.get_bind().dialect.name == "postgresql":
        op.execute("DROP FUNCTION approvals_content_key()")
        op.execute("DROP FUNCTION approval_decisions_response_key()")
