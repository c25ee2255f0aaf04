"""Attempts to index a document are counted, and documents of a base are listed by an index."""

import sqlalchemy as sa
from alembic import op

revision = "0052"
down_revision = "0051"

_INDEX = "ix_knowledge_documents_base_id_id"


def upgrade() -> None:
    op.add_column("knowledge_documents", sa.Column("tries", sa.Integer(), nullable=False, server_default="0"))
    op.create_index(_INDEX, "knowledge_documents", ["base_id", "id"])


def downgrade() -> None:
    op.drop_index(_INDEX, "knowledge_documents")
    op.drop_column("knowledge_documents", "tries")
