"""Knowledge bases name an embedding model, and passages have vectors."""

import sqlalchemy as sa
from alembic import op

revision = "0062"
down_revision = "0061"

_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_ADDED = (
    ("knowledge_bases", "embedding_model", sa.String(250), "''"),
    ("knowledge_bases", "searched_model", sa.String(250), "''"),
    ("knowledge_documents", "passages_embedded", sa.Integer(), "0"),
    ("knowledge_documents", "embedding_tokens", sa.BigInteger(), "0"),
)


def upgrade() -> None:
    for table, name, kind, default in _ADDED:
        op.add_column(table, sa.Column(name, kind, nullable=False, server_default=sa.text(default)))
    op.create_table(
        "knowledge_vectors",
        sa.Column("base_id", sa.String(36), primary_key=True),
        sa.Column("model", sa.String(250), primary_key=True),
        sa.Column("passage_id", _ID, primary_key=True, autoincrement=False),
        sa.Column("document_id", sa.String(36), nullable=False),
        sa.Column("tenant_id", sa.String(36), nullable=False),
        sa.Column("vector", sa.LargeBinary(), nullable=False),
        sa.ForeignKeyConstraint(["passage_id"], ["knowledge_passages.id"], ondelete="CASCADE"),
        sqlite_with_rowid=False,
    )
    op.create_index("ix_knowledge_vectors_passage_id", "knowledge_vectors", ["passage_id"])
    op.create_index("ix_knowledge_passages_base_id_digest", "knowledge_passages", ["base_id", "digest"])
    op.drop_index("ix_knowledge_passages_base_id", "knowledge_passages")


def downgrade() -> None:
    op.create_index("ix_knowledge_passages_base_id", "knowledge_passages", ["base_id"])
    op.drop_index("ix_knowledge_passages_base_id_digest", "knowledge_passages")
    op.drop_table("knowledge_vectors")
    for table, name, _, _ in reversed(_ADDED):
        op.drop_column(table, name)
