"""Metadata of documents of knowledge bases, and of the documents of their sources."""

import sqlalchemy as sa
from alembic import op

from headgate.foundation.database import Json

revision = "0088"
down_revision = "0087"


def upgrade() -> None:
    op.create_table(
        "knowledge_metadata",
        sa.Column("document_id", sa.String(36), nullable=False),
        sa.Column("key", sa.String(64), nullable=False),
        sa.Column("tenant_id", sa.String(36), nullable=False),
        sa.Column("kind", sa.String(8), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("number", sa.Float(), nullable=True),
        sa.CheckConstraint(
            "kind IN ('text', 'number', 'date', 'boolean')", name=op.f("ck_knowledge_metadata_kind_known")
        ),
        sa.ForeignKeyConstraint(
            ["document_id", "tenant_id"],
            ["knowledge_documents.id", "knowledge_documents.tenant_id"],
            name=op.f("fk_knowledge_metadata_document_id_knowledge_documents"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("document_id", "key", name=op.f("pk_knowledge_metadata")),
    )
    op.add_column("knowledge_sources", sa.Column("document_metadata", Json, nullable=True))


def downgrade() -> None:
    with op.batch_alter_table("knowledge_sources") as table:
        table.drop_column("document_metadata")
    op.drop_table("knowledge_metadata")
