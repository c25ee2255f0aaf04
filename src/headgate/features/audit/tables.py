"""Audit log tables, one chain per tenant. The database refuses to change or delete their rows."""

from datetime import datetime

from sqlalchemy import BigInteger, ForeignKey, Index, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from headgate.foundation.database import Row, Timestamp


class AuditHead(Row):
    """The end of a tenant's chain: number of entries, and hash of the last."""

    __tablename__ = "audit_heads"

    tenant_id: Mapped[str] = mapped_column(ForeignKey("tenants.id"), primary_key=True)
    seq: Mapped[int] = mapped_column(BigInteger)
    hash: Mapped[str] = mapped_column(String(64))


class AuditEvent(Row):
    """One change. It names users and objects as of the time; they may have been deleted since."""

    __tablename__ = "audit_events"
    __table_args__ = (
        Index("ix_audit_events_tenant_id_at", "tenant_id", "at"),
        Index("ix_audit_events_tenant_id_resource_id", "tenant_id", "resource_id"),
    )

    tenant_id: Mapped[str] = mapped_column(ForeignKey("tenants.id"), primary_key=True)
    seq: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    at: Mapped[datetime] = mapped_column(Timestamp)
    actor_kind: Mapped[str] = mapped_column(String(16))
    """`user`, `key`, `command` or `system`."""
    actor_id: Mapped[str] = mapped_column(String(36))
    """The user's id; empty for the system."""
    actor_name: Mapped[str] = mapped_column(String(300))
    key_id: Mapped[str | None] = mapped_column(String(36))
    key_prefix: Mapped[str | None] = mapped_column(String(24))
    address: Mapped[str | None] = mapped_column(String(64))
    action: Mapped[str] = mapped_column(String(64))
    """Object type and operation: `flow.published`."""
    resource_kind: Mapped[str] = mapped_column(String(32))
    resource_id: Mapped[str] = mapped_column(String(300))
    resource_name: Mapped[str] = mapped_column(String(300))
    space_id: Mapped[str | None] = mapped_column(String(36))
    before_digest: Mapped[str | None] = mapped_column(String(64))
    """SHA-256 of the canonical JSON (RFC 8785) of the previous value; null for something new."""
    after_digest: Mapped[str | None] = mapped_column(String(64))
    payload: Mapped[str] = mapped_column(Text)
    """The request, as JSON text: redacted, and truncated to a documented length."""
    content_digest: Mapped[str] = mapped_column(String(64))
    """SHA-256 over all members above except `seq`."""
    hash: Mapped[str] = mapped_column(String(64))
    """SHA-256 over the previous hash, `seq` and `content_digest`."""
