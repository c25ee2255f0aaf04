"""Packs, their parts, the code that they brought, and the signing keys that the operator trusts."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

JSON = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")

revision = "0072"
down_revision = "0071"


def upgrade() -> None:
    op.create_table(
        "packs",
        sa.Column("name", sa.String(40), nullable=False),
        sa.Column("version", sa.String(20), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("manifest", JSON, nullable=False),
        sa.Column("key_id", sa.String(16)),
        sa.Column("installed_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_packs")),
    )
    op.create_table(
        "pack_items",
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("key", sa.String(100), nullable=False),
        sa.Column("pack", sa.String(40), nullable=False),
        sa.Column("code_hash", sa.String(64)),
        sa.Column("content", JSON, nullable=False),
        sa.PrimaryKeyConstraint("kind", "key", name=op.f("pk_pack_items")),
        sa.ForeignKeyConstraint(["pack"], ["packs.name"], ondelete="CASCADE", name=op.f("fk_pack_items_pack")),
    )
    op.create_index("ix_pack_items_pack", "pack_items", ["pack"])
    op.create_table(
        "pack_components",
        sa.Column("code_hash", sa.String(64), nullable=False),
        sa.Column("pack", sa.String(40), nullable=False),
        sa.Column("version", sa.String(20), nullable=False),
        sa.Column("type", sa.String(64), nullable=False),
        sa.Column("code", sa.Text(), nullable=False),
        sa.Column("template", JSON, nullable=False),
        sa.Column("manifest", JSON, nullable=False),
        sa.PrimaryKeyConstraint("code_hash", name=op.f("pk_pack_components")),
    )
    op.create_table(
        "pack_signers",
        sa.Column("key_id", sa.String(16), nullable=False),
        sa.Column("public_key", sa.String(64), nullable=False),
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("trusted_at", sa.BigInteger(), nullable=False),
        sa.PrimaryKeyConstraint("key_id", name=op.f("pk_pack_signers")),
    )


def downgrade() -> None:
    for table in ("pack_signers", "pack_components", "pack_items", "packs"):
        op.drop_table(table)
