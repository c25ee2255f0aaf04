"""Retention and parents of documents, and the queries that a model wrote in evaluations."""

import sqlalchemy as sa
from alembic import op

revision = "0077"
down_revision = "0076"


def upgrade() -> None:
    with op.batch_alter_table("knowledge_documents") as table:
        table.add_column(sa.Column("retention_days", sa.Integer(), nullable=True))
        table.add_column(sa.Column("parent_id", sa.String(36), nullable=True))
    op.create_index("ix_knowledge_documents_parent_id", "knowledge_documents", ["parent_id"])
    with op.batch_alter_table("knowledge_evaluations") as table:
        table.add_column(sa.Column("query_model", sa.String(250), nullable=False, server_default=sa.text("''")))
        table.add_column(sa.Column("queries", sa.Integer(), nullable=False, server_default=sa.text("0")))


def downgrade() -> None:
    with op.batch_alter_table("knowledge_evaluations") as table:
        table.drop_column("queries")
        table.drop_column("query_model")
    op.drop_index("ix_knowledge_documents_parent_id", "knowledge_documents")
    with op.batch_alter_table("knowledge_documents") as table:
        table.drop_column("parent_id")
        table.drop_column("retention_days")
