"""Sources of knowledge bases, what was read from them, and the retention of documents."""

import sqlalchemy as sa
from alembic import op

from headgate.foundation.database import Json, Timestamp

revision = "0074"
down_revision = "0073"

_DUE = {
    "due": ("due_at", "worker_id IS NULL AND due_at IS NOT NULL"),
    "claimed": ("worker_id", "worker_id IS NOT NULL"),
    "event": ("event", "event IS NOT NULL"),
}


def upgrade() -> None:
    retention = sa.Column("retention_days", sa.Integer(), nullable=False, server_default=sa.text("0"))
    op.add_column("knowledge_bases", retention)
    op.create_table(
        "knowledge_sources",
        sa.Column("id", sa.String(36), primary_key=True),
        sa.Column("tenant_id", sa.String(36), nullable=False),
        sa.Column("base_id", sa.String(36), nullable=False),
        sa.Column("name", sa.String(60), nullable=False),
        sa.Column("owner_user_id", sa.String(36), nullable=False),
        sa.Column("config", Json, nullable=False),
        sa.Column("readers", Json, nullable=False),
        sa.Column("classification", sa.Integer(), nullable=False),
        sa.Column("connection_level", sa.Integer(), nullable=False, server_default=sa.text("0")),
        sa.Column("every_seconds", sa.Integer()),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("problem", sa.Text(), nullable=False),
        sa.Column("report", Json, nullable=False),
        sa.Column("synced_at", Timestamp),
        sa.Column("created_at", Timestamp, nullable=False),
        sa.Column("updated_at", Timestamp, nullable=False),
        sa.Column("due_at", sa.BigInteger()),
        sa.Column("event", sa.String(200)),
        sa.Column("worker_id", sa.String(64)),
        sa.Column("lease_until", sa.BigInteger()),
        sa.Column("attempts", sa.Integer(), nullable=False, server_default="0"),
        sa.UniqueConstraint("base_id", "name"),
        sa.UniqueConstraint("id", "tenant_id"),
        sa.ForeignKeyConstraint(
            ["base_id", "tenant_id"], ["knowledge_bases.id", "knowledge_bases.tenant_id"], ondelete="CASCADE"
        ),
        sa.CheckConstraint("status IN ('pending', 'running', 'ready', 'failed')", name="status_known"),
    )
    op.create_index("ix_knowledge_sources_base_id_id", "knowledge_sources", ["base_id", "id"])
    for name, (column, where) in _DUE.items():
        condition = sa.text(where)
        op.create_index(
            f"ix_knowledge_sources_{name}", "knowledge_sources", [column],
            sqlite_where=condition, postgresql_where=condition,
        )  # fmt: skip
    op.create_table(
        "knowledge_source_items",
        sa.Column("source_id", sa.String(36), primary_key=True),
        sa.Column("key", sa.String(500), primary_key=True),
        sa.Column("tenant_id", sa.String(36), nullable=False),
        sa.Column("document_id", sa.String(36)),
        sa.Column("version", sa.String(300), nullable=False),
        sa.Column("sha256", sa.String(64), nullable=False),
        sa.Column("problem", sa.Text(), nullable=False),
        sa.Column("note", sa.Text(), nullable=False),
        sa.ForeignKeyConstraint(
            ["source_id", "tenant_id"], ["knowledge_sources.id", "knowledge_sources.tenant_id"], ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["document_id", "tenant_id"],
            ["knowledge_documents.id", "knowledge_documents.tenant_id"],
            ondelete="CASCADE",
        ),
    )
    op.create_index("ix_knowledge_source_items_document_id", "knowledge_source_items", ["document_id"])


def downgrade() -> None:
    op.drop_table("knowledge_source_items")
    op.drop_table("knowledge_sources")
    op.drop_column("knowledge_bases", "retention_days")
