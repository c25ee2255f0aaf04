"""Test sets of flows, results of running them, and their trials."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

JSON = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    op.create_table(
        "flow_tests",
        sa.Column("flow_id", sa.String(length=36), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("case", JSON, nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["flow_id", "tenant_id"],
            ["flows.id", "flows.tenant_id"],
            name=op.f("fk_flow_tests_flow_id_tenant_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("flow_id", "name", name=op.f("pk_flow_tests")),
    )
    op.create_table(
        "flow_test_results",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("flow_id", sa.String(length=36), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("logic_checksum", sa.String(length=64), nullable=False),
        sa.Column("set_checksum", sa.String(length=64), nullable=False),
        sa.Column("trials", sa.Integer(), nullable=False),
        sa.Column("of", sa.Integer(), nullable=False),
        sa.Column("status", sa.String(length=16), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("started_by", sa.String(length=36), nullable=True),
        sa.Column("lease_until", sa.BigInteger(), nullable=True),
        sa.Column("started_at", sa.BigInteger(), nullable=False),
        sa.Column("finished_at", sa.BigInteger(), nullable=True),
        sa.CheckConstraint(
            "status IN ('running', 'passed', 'failed', 'cancelled')", name=op.f("ck_flow_test_results_status_known")
        ),
        sa.CheckConstraint("trials BETWEEN 1 AND 10", name=op.f("ck_flow_test_results_trials_bounded")),
        sa.ForeignKeyConstraint(
            ["flow_id", "tenant_id"],
            ["flows.id", "flows.tenant_id"],
            name=op.f("fk_flow_test_results_flow_id_tenant_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_flow_test_results")),
        sa.UniqueConstraint("id", "tenant_id", name=op.f("uq_flow_test_results_id_tenant_id")),
    )
    op.create_index("ix_flow_test_results_flow_id_id", "flow_test_results", ["flow_id", "id"], unique=False)
    op.create_index(
        "ix_flow_test_results_status_lease_until", "flow_test_results", ["status", "lease_until"], unique=False
    )
    op.create_table(
        "flow_test_trials",
        sa.Column("result_id", sa.String(length=36), nullable=False),
        sa.Column("position", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("trial", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("name", sa.String(length=100), nullable=False),
        sa.Column("passed", sa.Boolean(), nullable=False),
        sa.Column("misses", JSON, nullable=False),
        sa.Column("answer", sa.Text(), nullable=False),
        sa.Column("error", sa.Text(), nullable=False),
        sa.Column("run_id", sa.String(length=36), nullable=False),
        sa.Column("ms", sa.Integer(), nullable=False),
        sa.Column("tokens", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["result_id", "tenant_id"],
            ["flow_test_results.id", "flow_test_results.tenant_id"],
            name=op.f("fk_flow_test_trials_result_id_tenant_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("result_id", "position", "trial", name=op.f("pk_flow_test_trials")),
    )


def downgrade() -> None:
    op.drop_table("flow_test_trials")
    op.drop_index("ix_flow_test_results_status_lease_until", table_name="flow_test_results")
    op.drop_index("ix_flow_test_results_flow_id_id", table_name="flow_test_results")
    op.drop_table("flow_test_results")
    op.drop_table("flow_tests")
