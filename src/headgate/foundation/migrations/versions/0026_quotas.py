"""Limits of organisations, spaces and visitors; the visitor who started a run."""

import sqlalchemy as sa
from alembic import op

revision = "0026"
down_revision = "0025"

_SCOPES = "scope IN ('space', 'tenant', 'visitor')"
_QUOTAS = "quota IN ('runs', 'runs_per_hour', 'tokens_per_day', 'tokens_per_month')"
_VISITOR = sa.text("visitor IS NOT NULL")


def upgrade() -> None:
    op.create_table(
        "quotas",
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("scope", sa.String(length=16), nullable=False),
        sa.Column("space_id", sa.String(length=36), nullable=False),
        sa.Column("quota", sa.String(length=32), nullable=False),
        sa.Column("most", sa.BigInteger(), nullable=False),
        sa.CheckConstraint(_SCOPES, name="ck_quotas_scope_known"),
        sa.CheckConstraint(_QUOTAS, name="ck_quotas_quota_known"),
        sa.CheckConstraint("most >= 0", name="ck_quotas_most_not_negative"),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name="fk_quotas_tenant_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("tenant_id", "scope", "space_id", "quota", name="pk_quotas"),
    )
    op.add_column("flow_runs", sa.Column("visitor", sa.String(length=64)))
    op.create_index(
        "ix_flow_runs_visitor",
        "flow_runs",
        ["tenant_id", "visitor", "created_at"],
        sqlite_where=_VISITOR,
        postgresql_where=_VISITOR,
    )


def downgrade() -> None:
    op.drop_index("ix_flow_runs_visitor", "flow_runs")
    op.drop_column("flow_runs", "visitor")
    op.drop_table("quotas")
