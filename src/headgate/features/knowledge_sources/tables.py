"""Sources of knowledge bases, and what was read from them."""

from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, Index, String, Text, text
from sqlalchemy import UniqueConstraint as Unique
from sqlalchemy.orm import Mapped, mapped_column

from headgate.features.jobs.tables import JobColumns, job_indexes
from headgate.foundation.database import Json, Row, TenantRow, Timestamp, now, of_tenant


class SourceRow(JobColumns, TenantRow):
    """A source. The row is also the job that synchronises it, so that there is one at a time."""

    __tablename__ = "knowledge_sources"
    __table_args__ = (
        Unique("base_id", "name"),
        Unique("id", "tenant_id"),
        of_tenant("base_id", "knowledge_bases"),
        CheckConstraint("status IN ('pending', 'running', 'ready', 'failed')", name="status_known"),
        Index("ix_knowledge_sources_base_id_id", "base_id", "id"),
        *job_indexes("knowledge_sources"),
    )

    base_id: Mapped[str] = mapped_column(String(36))
    name: Mapped[str] = mapped_column(String(60))
    owner_user_id: Mapped[str] = mapped_column(String(36))
    """The user with whose rights and connections it is read."""
    config: Mapped[dict[str, Any]] = mapped_column(Json)
    """One of `schemas.AnySource`."""
    readers: Mapped[dict[str, Any]] = mapped_column(Json)
    """Of its documents: `knowledge.documents.schemas.Readers`."""
    classification: Mapped[int]
    """The lowest of its documents; a connection with a higher one raises it."""
    document_metadata: Mapped[dict[str, Any] | None] = mapped_column(Json)
    """Metadata of its documents; null: none."""
    connection_level: Mapped[int] = mapped_column(default=0, server_default=text("0"))
    """The classification that the last synchronisation's connection had: its documents have at least this one."""
    every_seconds: Mapped[int | None]
    """From the end of a synchronisation to the next; null: only on request."""
    generation: Mapped[int]
    """Counts the changes of its settings: a synchronisation with earlier ones writes nothing."""
    status: Mapped[str] = mapped_column(String(16))
    problem: Mapped[str] = mapped_column(Text)
    """Why the last synchronisation failed; empty unless it did."""
    report: Mapped[dict[str, Any]] = mapped_column(Json)
    """`schemas.SyncReport` of the last synchronisation, or of the one that is running."""
    synced_at: Mapped[datetime | None] = mapped_column(Timestamp)
    """When the last synchronisation succeeded."""
    created_at: Mapped[datetime] = mapped_column(Timestamp, default=now)
    updated_at: Mapped[datetime] = mapped_column(Timestamp, default=now)


class SourceItemRow(Row):
    """Something of a source: a file, page, row or message, with its document."""

    __tablename__ = "knowledge_source_items"
    __table_args__ = (
        of_tenant("source_id", "knowledge_sources"),
        of_tenant("document_id", "knowledge_documents"),
        Index("ix_knowledge_source_items_document_id", "document_id"),
    )

    source_id: Mapped[str] = mapped_column(String(36), primary_key=True)
    key: Mapped[str] = mapped_column(String(500), primary_key=True)
    """What names it in its source: a path, a URL, the key of a row or message."""
    tenant_id: Mapped[str] = mapped_column(String(36))
    document_id: Mapped[str | None] = mapped_column(String(36))
    """Null: it could not be read."""
    version: Mapped[str] = mapped_column(String(300))
    """Of the source, such as an entity tag; empty: the source has none."""
    sha256: Mapped[str] = mapped_column(String(64))
    """Of the content that was read last."""
    problem: Mapped[str] = mapped_column(Text)
    """Why it could not be read; empty unless that failed."""
    note: Mapped[str] = mapped_column(Text)
    """What of it is not in the document."""
