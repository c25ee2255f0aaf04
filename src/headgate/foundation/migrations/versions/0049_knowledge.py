"""Knowledge bases: documents with versions and readers, and passages with a full-text index."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0049"
down_revision = "0043"

JSON = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")
_ID = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
_TERMS = sa.Text().with_variant(postgresql.TSVECTOR(), "postgresql")
_FREE = {
    "due": ("due_at", "worker_id IS NULL AND due_at IS NOT NULL"),
    "claimed": ("worker_id", "worker_id IS NOT NULL"),
    "event": ("event", "event IS NOT NULL"),
}
_FTS = (
    (
        "CREATE VIRTUAL TABLE knowledge_index USING fts5(terms, base_id, content='knowledge_passages',"
        " content_rowid='id', tokenize=\"unicode61 remove_diacritics 0 categories 'L* N* M* Co' tokenchars '-'\")"
    ),
    (
        "CREATE TRIGGER knowledge_passages_indexed AFTER INSERT ON knowledge_passages BEGIN"
        " INSERT INTO knowledge_index (rowid, terms, base_id) VALUES (new.id, new.terms, new.base_id); END"
    ),
    (
        "CREATE TRIGGER knowledge_passages_removed AFTER DELETE ON knowledge_passages BEGIN"
        " INSERT INTO knowledge_index (knowledge_index, rowid, terms, base_id)"
        " VALUES ('delete', old.id, old.terms, old.base_id); END"
    ),
    (
        "CREATE TRIGGER knowledge_passages_changed AFTER UPDATE OF terms, base_id ON knowledge_passages BEGIN"
        " INSERT INTO knowledge_index (knowledge_index, rowid, terms, base_id)"
        " VALUES ('delete', old.id, old.terms, old.base_id);"
        " INSERT INTO knowledge_index (rowid, terms, base_id) VALUES (new.id, new.terms, new.base_id); END"
    ),
)


def _of_document() -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["document_id", "tenant_id"], ["knowledge_documents.id", "knowledge_documents.tenant_id"], ondelete="CASCADE"
    )


def upgrade() -> None:
    _bases()
    _documents()
    op.create_table(
        "knowledge_versions",
        sa.Column("document_id", sa.String(36), primary_key=True),
        sa.Column("version", sa.Integer(), primary_key=True, autoincrement=False),
        sa.Column("tenant_id", sa.String(36), nullable=False),
        sa.Column("file_id", sa.String(36), nullable=False),
        sa.Column("sha256", sa.String(64), nullable=False),
        sa.Column("size_bytes", sa.BigInteger(), nullable=False),
        sa.Column("media_type", sa.String(255), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        _of_document(),
    )
    op.create_index("ix_knowledge_versions_file_id", "knowledge_versions", ["file_id"])
    op.create_table(
        "knowledge_readers",
        sa.Column("document_id", sa.String(36), primary_key=True),
        sa.Column("kind", sa.String(8), primary_key=True),
        sa.Column("reader_id", sa.String(36), primary_key=True),
        sa.Column("tenant_id", sa.String(36), nullable=False),
        _of_document(),
        sa.CheckConstraint("kind IN ('user', 'group')", name="kind_known"),
    )
    _passages()


def _bases() -> None:
    op.create_table(
        "knowledge_bases",
        sa.Column("id", sa.String(36), primary_key=True),
        sa.Column("tenant_id", sa.String(36), nullable=False),
        sa.Column("space_id", sa.String(36), nullable=False),
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("description", sa.Text(), nullable=False),
        sa.Column("passage_tokens", sa.Integer(), nullable=False),
        sa.Column("overlap_tokens", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.UniqueConstraint("space_id", "name"),
        sa.UniqueConstraint("id", "tenant_id"),
        sa.ForeignKeyConstraint(["space_id", "tenant_id"], ["spaces.id", "spaces.tenant_id"], ondelete="CASCADE"),
    )


def _documents() -> None:
    op.create_table(
        "knowledge_documents",
        sa.Column("id", sa.String(36), primary_key=True),
        sa.Column("tenant_id", sa.String(36), nullable=False),
        sa.Column("base_id", sa.String(36), nullable=False),
        sa.Column("name", sa.String(255), nullable=False),
        sa.Column("source", sa.String(500), nullable=False),
        sa.Column("owner_user_id", sa.String(36)),
        sa.Column("reader_role", sa.String(16)),
        sa.Column("classification", sa.Integer(), nullable=False),
        sa.Column("language", sa.String(16), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("problem", sa.Text(), nullable=False),
        sa.Column("notes", JSON, nullable=False),
        sa.Column("characters", sa.Integer(), nullable=False),
        sa.Column("pages", sa.Integer()),
        sa.Column("passages", sa.Integer(), nullable=False),
        sa.Column("passages_done", sa.Integer(), nullable=False),
        sa.Column("passages_added", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
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
        sa.CheckConstraint("status IN ('pending', 'indexing', 'ready', 'failed')", name="status_known"),
    )
    for name, (column, condition) in _FREE.items():
        op.create_index(
            f"ix_knowledge_documents_{name}",
            "knowledge_documents",
            [column],
            sqlite_where=sa.text(condition),
            postgresql_where=sa.text(condition),
        )


def _passages() -> None:
    op.create_table(
        "knowledge_passages",
        sa.Column("id", _ID, primary_key=True),
        sa.Column("tenant_id", sa.String(36), nullable=False),
        sa.Column("base_id", sa.String(36), nullable=False),
        sa.Column("document_id", sa.String(36), nullable=False),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("ordinal", sa.Integer(), nullable=False),
        sa.Column("start", sa.Integer(), nullable=False),
        sa.Column("core", sa.Integer(), nullable=False),
        sa.Column("end", sa.Integer(), nullable=False),
        sa.Column("page", sa.Integer()),
        sa.Column("context", sa.Text(), nullable=False),
        sa.Column("text", sa.Text(), nullable=False),
        sa.Column("sha256", sa.String(64), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("tokens", sa.Integer(), nullable=False),
        sa.Column("terms", _TERMS, nullable=False),
        sa.UniqueConstraint("document_id", "generation", "ordinal"),
        _of_document(),
    )
    op.create_index("ix_knowledge_passages_base_id", "knowledge_passages", ["base_id"])
    if op.get_bind().dialect.name == "sqlite":
        for statement in _FTS:
            op.execute(statement)
    else:
        op.create_index("ix_knowledge_passages_terms", "knowledge_passages", ["terms"], postgresql_using="gin")


def downgrade() -> None:
    if op.get_bind().dialect.name == "sqlite":
        op.execute("DROP TABLE knowledge_index")
    for name in ("passages", "readers", "versions", "documents", "bases"):
        op.drop_table(f"knowledge_{name}")
