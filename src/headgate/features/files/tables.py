"""Stored files: uploads and artifacts. Their contents are in the storage, not in the database."""

from datetime import datetime

from sqlalchemy import BigInteger, ForeignKey, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from headgate.foundation.database import Row, Timestamp, now, partial_index


class StoredFile(Row):
    """A file's record. An artifact carries its integrity tags: tenant, run, flow, step (seed 002, Overlay 8)."""

    __tablename__ = "files"
    __table_args__ = (
        Index("ix_files_tenant_id_created_at", "tenant_id", "created_at"),
        partial_index("ix_files_expires_at", "expires_at", where="expires_at IS NOT NULL"),
        Index("ix_files_stored_bytes", "tenant_id", "space_id", "size_bytes"),
    )

    id: Mapped[str] = mapped_column(String(36), primary_key=True)
    tenant_id: Mapped[str] = mapped_column(ForeignKey("tenants.id", ondelete="CASCADE"))
    name: Mapped[str] = mapped_column(String(255))
    media_type: Mapped[str] = mapped_column(String(255))
    size_bytes: Mapped[int] = mapped_column(BigInteger)
    sha256: Mapped[str] = mapped_column(String(64))
    data_key_id: Mapped[str | None] = mapped_column(String(16))
    """The data key of the content; null when it is not encrypted."""
    created_at: Mapped[datetime] = mapped_column(Timestamp, default=now)
    expires_at: Mapped[datetime | None] = mapped_column(Timestamp)
    """When it is deleted: an upload to a form that was not submitted. Null for all others."""
    owner_user_id: Mapped[str | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"), index=True)
    flow_id: Mapped[str | None] = mapped_column(String(36))
    flow_run_id: Mapped[str | None] = mapped_column(String(36), index=True)
    step_id: Mapped[str | None] = mapped_column(String(64))
    space_id: Mapped[str | None] = mapped_column(String(36), index=True)
    """The space whose members can view it; null while private. No foreign key: a file may outlive a space."""
