"""Earlier drafts of flows, one for each revision, in place of the one draft before the last change."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0031"
down_revision = "0030"
JSON = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")


def upgrade() -> None:
    op.create_table(
        "flow_drafts",
        sa.Column("flow_id", sa.String(36), nullable=False),
        sa.Column("revision", sa.Integer(), nullable=False, autoincrement=False),
        sa.Column("tenant_id", sa.String(36), nullable=False),
        sa.Column("definition", JSON, nullable=False),
        sa.Column("restores", sa.Integer(), nullable=True),
        sa.Column("saved_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("flow_id", "revision", name="pk_flow_drafts"),
        sa.ForeignKeyConstraint(
            ["flow_id", "tenant_id"],
            ["flows.id", "flows.tenant_id"],
            name="fk_flow_drafts_flow_id_tenant_id",
            ondelete="CASCADE",
        ),
    )
    op.drop_column("flows", "draft_before")
    op.add_column("flows", sa.Column("restores", sa.Integer(), nullable=True))


def downgrade() -> None:
    op.drop_column("flows", "restores")
    op.add_column("flows", sa.Column("draft_before", JSON, nullable=True))
    op.drop_table("flow_drafts")
