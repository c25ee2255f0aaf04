"""Muting and assignment of items of the attention list; runs by what they continue; saved views of lists."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0078"
down_revision = "0077"

JSON = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")


def upgrade() -> None:
    op.add_column("attention_dismissals", sa.Column("muted_until", sa.BigInteger(), nullable=True))
    op.create_table(
        "attention_assignments",
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("item_key", sa.String(length=160), nullable=False),
        sa.Column("user_id", sa.String(length=36), nullable=False),
        sa.Column("assigned_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id"], ["tenants.id"], name=op.f("fk_attention_assignments_tenant_id_tenants"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_attention_assignments_user_id_users"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("tenant_id", "item_key", name=op.f("pk_attention_assignments")),
    )
    op.create_index(op.f("ix_attention_assignments_user_id"), "attention_assignments", ["user_id"])
    continues = sa.text("source_run_id IS NOT NULL")
    op.create_index(
        "ix_flow_runs_source", "flow_runs", ["source_run_id"], sqlite_where=continues, postgresql_where=continues
    )
    op.create_table(
        "saved_views",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("user_id", sa.String(length=36), nullable=False),
        sa.Column("place", sa.String(length=16), nullable=False),
        sa.Column("name", sa.String(length=80), nullable=False),
        sa.Column("settings", JSON, nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_saved_views_user_id_users"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_saved_views")),
        sa.UniqueConstraint("user_id", "place", "name", name=op.f("uq_saved_views_user_id_place_name")),
    )


def downgrade() -> None:
    op.drop_table("saved_views")
    op.drop_index("ix_flow_runs_source", "flow_runs")
    op.drop_table("attention_assignments")
    op.drop_column("attention_dismissals", "muted_until")
