"""Own components: what the sandbox found out about a piece of code. The draft before the last change of a flow."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

JSON = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    op.create_table(
        "own_components",
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("code_hash", sa.String(length=64), nullable=False),
        sa.Column("type", sa.String(length=64), nullable=False),
        sa.Column("template", JSON, nullable=False),
        sa.Column("manifest", JSON, nullable=False),
        sa.Column("checked_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id"], ["tenants.id"], name=op.f("fk_own_components_tenant_id"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("tenant_id", "code_hash", name=op.f("pk_own_components")),
    )
    op.add_column("flows", sa.Column("draft_before", JSON, nullable=True))


def downgrade() -> None:
    op.drop_column("flows", "draft_before")
    op.drop_table("own_components")
