"""Knowledge bases, their documents with versions and readers, and the passages that are searched."""

from datetime import datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Dialect,
    Float,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    String,
    Text,
    text,
)
from sqlalchemy import UniqueConstraint as Unique
from sqlalchemy.orm import Mapped, mapped_column
from sqlalchemy.types import TypeDecorator, TypeEngine

from headgate.features.jobs.tables import JobColumns, job_indexes
from headgate.foundation.database import Json, Row, TenantRow, Timestamp, now, of_tenant
from headgate.foundation.lazy import lazy_module

if TYPE_CHECKING:
    from sqlalchemy.dialects import postgresql
else:
    postgresql = lazy_module("sqlalchemy.dialects.postgresql")


class Terms(TypeDecorator[str]):
    """Index terms: `tsvector` on PostgreSQL, words separated by spaces on SQLite, where FTS5 indexes them."""

    impl = Text
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        """Return the type for a database."""
        if dialect.name == "postgresql":
            return dialect.type_descriptor(postgresql.TSVECTOR())
        return dialect.type_descriptor(Text())


class KnowledgeBaseRow(TenantRow):
    """A knowledge base of a space."""

    __tablename__ = "knowledge_bases"
    __table_args__ = (
        Unique("space_id", "name"),
        Unique("id", "tenant_id"),
        of_tenant("space_id", "spaces"),
    )

    space_id: Mapped[str] = mapped_column(String(36))
    name: Mapped[str] = mapped_column(String(100))
    description: Mapped[str] = mapped_column(Text)
    passage_tokens: Mapped[int]
    overlap_tokens: Mapped[int]
    embedding_model: Mapped[str] = mapped_column(String(250), default="", server_default=text("''"))
    """The model with which passages are embedded, as `provider/name`; empty: none, the search is lexical."""
    searched_model: Mapped[str] = mapped_column(String(250), default="", server_default=text("''"))
    """The model whose vectors are searched: the previous one until all passages are embedded with another one."""
    rerank_model: Mapped[str] = mapped_column(String(250), default="", server_default=text("''"))
    """The model that reranks the first passages of a search, as `provider/name`; empty: none."""
    rerank_candidates: Mapped[int] = mapped_column(default=30, server_default=text("30"))
    """Number of the first passages that it receives."""
    retention_days: Mapped[int] = mapped_column(default=0, server_default=text("0"))
    """Days after its last version that a document is deleted; 0: never. Documents of sources stay as long as theirs."""
    created_at: Mapped[datetime] = mapped_column(Timestamp, default=now)
    updated_at: Mapped[datetime] = mapped_column(Timestamp, default=now)


class DocumentRow(JobColumns, TenantRow):
    """A document. The row is also the job that indexes it."""

    __tablename__ = "knowledge_documents"
    __table_args__ = (
        Unique("base_id", "name"),
        Unique("id", "tenant_id"),
        of_tenant("base_id", "knowledge_bases"),
        CheckConstraint("status IN ('pending', 'indexing', 'ready', 'failed')", name="status_known"),
        Index("ix_knowledge_documents_base_id_id", "base_id", "id"),
        Index("ix_knowledge_documents_parent_id", "parent_id"),
        *job_indexes("knowledge_documents"),
    )

    base_id: Mapped[str] = mapped_column(String(36))
    name: Mapped[str] = mapped_column(String(255))
    source: Mapped[str] = mapped_column(String(500))
    """Where it came from, such as `upload`."""
    owner_user_id: Mapped[str | None] = mapped_column(String(36))
    reader_role: Mapped[str | None] = mapped_column(String(16))
    """The lowest role in the space that may read it; `visitor`: also runs without a user; null: only listed readers."""
    classification: Mapped[int]
    language: Mapped[str] = mapped_column(String(16))
    retention_days: Mapped[int | None]
    """Days after its last version that it is deleted; 0: never; null: as the base says."""
    parent_id: Mapped[str | None] = mapped_column(String(36))
    """The document that it is an attachment of."""
    version: Mapped[int]
    """Counts the contents from 1."""
    generation: Mapped[int]
    """Counts the times it was to be indexed."""
    tries: Mapped[int] = mapped_column(default=0, server_default="0")
    """Attempts to index this generation."""
    status: Mapped[str] = mapped_column(String(16))
    problem: Mapped[str] = mapped_column(Text)
    """Why the last attempt failed; empty unless it did."""
    notes: Mapped[list[str]] = mapped_column(Json)
    """What was not understood, one sentence each."""
    characters: Mapped[int]
    pages: Mapped[int | None]
    passages: Mapped[int]
    """Passages in all, once it has been read."""
    passages_done: Mapped[int]
    passages_added: Mapped[int]
    """Passages that the last indexing had to add: the others were unchanged."""
    passages_embedded: Mapped[int] = mapped_column(default=0, server_default="0")
    """Passages that have a vector of the base's embedding model."""
    embedding_tokens: Mapped[int] = mapped_column(BigInteger, default=0, server_default="0")
    """Tokens that were sent to embedding models, in all."""
    created_at: Mapped[datetime] = mapped_column(Timestamp, default=now)
    updated_at: Mapped[datetime] = mapped_column(Timestamp, default=now)


class DocumentVersionRow(Row):
    """A content that a document has or had; its file is kept so that citations can be verified."""

    __tablename__ = "knowledge_versions"
    __table_args__ = (
        of_tenant("document_id", "knowledge_documents"),
        Index("ix_knowledge_versions_file_id", "file_id"),
    )

    document_id: Mapped[str] = mapped_column(String(36), primary_key=True)
    version: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    tenant_id: Mapped[str] = mapped_column(String(36))
    file_id: Mapped[str] = mapped_column(String(36))
    sha256: Mapped[str] = mapped_column(String(64))
    size_bytes: Mapped[int] = mapped_column(BigInteger)
    media_type: Mapped[str] = mapped_column(String(255))
    created_at: Mapped[datetime] = mapped_column(Timestamp, default=now)


class ReaderRow(Row):
    """A user or group of the directory that may read a document, in addition to its owner and its role."""

    __tablename__ = "knowledge_readers"
    __table_args__ = (
        of_tenant("document_id", "knowledge_documents"),
        CheckConstraint("kind IN ('user', 'group')", name="kind_known"),
    )

    document_id: Mapped[str] = mapped_column(String(36), primary_key=True)
    kind: Mapped[str] = mapped_column(String(8), primary_key=True)
    reader_id: Mapped[str] = mapped_column(String(36), primary_key=True)
    tenant_id: Mapped[str] = mapped_column(String(36))


class MetadataRow(Row):
    """A value of a document's metadata; see `metadata.values.Typed`."""

    __tablename__ = "knowledge_metadata"
    __table_args__ = (
        of_tenant("document_id", "knowledge_documents"),
        CheckConstraint("kind IN ('text', 'number', 'date', 'boolean')", name="kind_known"),
    )

    document_id: Mapped[str] = mapped_column(String(36), primary_key=True)
    key: Mapped[str] = mapped_column(String(64), primary_key=True)
    tenant_id: Mapped[str] = mapped_column(String(36))
    kind: Mapped[str] = mapped_column(String(8))
    text: Mapped[str] = mapped_column(Text)
    number: Mapped[float | None] = mapped_column(Float)


class PassageRow(Row):
    """A passage of a document. On SQLite, triggers keep the FTS5 table `knowledge_index` the same as these rows."""

    __tablename__ = "knowledge_passages"
    __table_args__ = (
        Unique("document_id", "generation", "ordinal"),
        of_tenant("document_id", "knowledge_documents"),
        Index("ix_knowledge_passages_base_id_digest", "base_id", "digest"),
    )

    id: Mapped[int] = mapped_column(BigInteger().with_variant(Integer, "sqlite"), primary_key=True)
    tenant_id: Mapped[str] = mapped_column(String(36))
    base_id: Mapped[str] = mapped_column(String(36))
    document_id: Mapped[str] = mapped_column(String(36))
    generation: Mapped[int]
    version: Mapped[int]
    ordinal: Mapped[int]
    start: Mapped[int]
    core: Mapped[int]
    end: Mapped[int]
    page: Mapped[int | None]
    marks: Mapped[dict[str, Any] | None] = mapped_column(Json)
    """Where its text is on its page, as a `Marks` of `readers.drawing`; null: unknown."""
    context: Mapped[str] = mapped_column(Text)
    text: Mapped[str] = mapped_column(Text)
    sha256: Mapped[str] = mapped_column(String(64))
    """Of the text."""
    digest: Mapped[str] = mapped_column(String(64))
    """Of the text and its context: a passage with the same digest is not indexed again."""
    tokens: Mapped[int]
    terms: Mapped[str] = mapped_column(Terms)


class VectorRow(Row):
    """The embedding of a passage by a model; see `index.vector_bytes` for its bytes. One of each passage and model."""

    __tablename__ = "knowledge_vectors"
    __table_args__ = (
        ForeignKeyConstraint(["passage_id"], ["knowledge_passages.id"], ondelete="CASCADE"),
        Index("ix_knowledge_vectors_passage_id", "passage_id"),
        Index("ix_knowledge_vectors_cluster", "base_id", "model", "cluster"),
        {"sqlite_with_rowid": False},
    )

    base_id: Mapped[str] = mapped_column(String(36), primary_key=True)
    model: Mapped[str] = mapped_column(String(250), primary_key=True)
    passage_id: Mapped[int] = mapped_column(
        BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=False
    )
    document_id: Mapped[str] = mapped_column(String(36))
    tenant_id: Mapped[str] = mapped_column(String(36))
    vector: Mapped[bytes] = mapped_column(LargeBinary)
    cluster: Mapped[int] = mapped_column(default=0, server_default=text("0"))
    """The group of near vectors that it is in; see `index.approximate`."""


class VectorGroupsRow(Row):
    """The groups of the vectors of a base and model, once there are many; see `index.approximate`."""

    __tablename__ = "knowledge_vector_groups"
    __table_args__ = (of_tenant("base_id", "knowledge_bases"),)

    base_id: Mapped[str] = mapped_column(String(36), primary_key=True)
    model: Mapped[str] = mapped_column(String(250), primary_key=True)
    tenant_id: Mapped[str] = mapped_column(String(36))
    epoch: Mapped[int]
    """Counts the times that groups were made, from 1."""
    vectors: Mapped[int]
    """Vectors at that time."""
    size: Mapped[int]
    """Bytes of a vector."""
    centroids: Mapped[bytes] = mapped_column(LargeBinary)
    """The middles of the groups, as vectors."""
    probes: Mapped[int]
    """Groups that a search reads."""
    recall: Mapped[float | None] = mapped_column(Float)
    """Share of the nearest passages that it finds; null: not measured yet, and searches are exact."""
