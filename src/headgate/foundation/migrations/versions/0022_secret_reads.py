"""The secrets that runs have read, by name."""

import sqlalchemy as sa
from alembic import op

revision = "0022"
down_revision = "0021"


def upgrade() -> None:
    op.create_table(
        "secret_reads",
        sa.Column("flow_run_id", sa.String(length=36), nullable=False),
        sa.Column("name", sa.String(length=128), nullable=False),
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("flow_id", sa.String(length=36), nullable=False),
        sa.Column("step_id", sa.String(length=64), nullable=False),
        sa.Column("source", sa.String(length=16), nullable=False),
        sa.Column("at", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("source IN ('space', 'organisation', 'server')", name="ck_secret_reads_source_known"),
        sa.ForeignKeyConstraint(
            ["flow_run_id", "tenant_id"],
            ["flow_runs.id", "flow_runs.tenant_id"],
            name="fk_secret_reads_flow_run_id_tenant_id",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("flow_run_id", "name", name="pk_secret_reads"),
    )
    op.create_index("ix_secret_reads_tenant_id_name", "secret_reads", ["tenant_id", "name"])


def downgrade() -> None:
    op.drop_table("secret_reads")
