"""Events that were sent to waiting steps, and the steps that wait for them. Times are microseconds in UTC."""

from typing import Any

from sqlalchemy import BigInteger, CheckConstraint, Index, String, UniqueConstraint, false
from sqlalchemy.orm import Mapped, mapped_column

from headgate.foundation.database import Encrypted, Json, Row, TenantRow, of_tenant


class SentEventRow(TenantRow):
    """An event. It is kept for steps that begin to wait later; a delivered one is kept so that its key stays used."""

    __tablename__ = "sent_events"
    __table_args__ = (
        UniqueConstraint("space_id", "event_key"),
        of_tenant("space_id", "spaces"),
        CheckConstraint("deliver IN ('one', 'all')", name="deliver_known"),
        Index("ix_sent_events_space_id_name_correlation_id", "space_id", "name", "correlation", "id"),
        Index(
            "ix_sent_events_space_id_followed_deliveries_keep_until",
            *("space_id", "followed", "deliveries", "keep_until"),
        ),
        Index("ix_sent_events_tenant_id_id", "tenant_id", "id"),
    )

    space_id: Mapped[str] = mapped_column(String(36))
    name: Mapped[str] = mapped_column(String(200))
    correlation: Mapped[str] = mapped_column(String(500))
    event_key: Mapped[str] = mapped_column(String(255))
    """Two events of a space with the same key are one."""
    deliver: Mapped[str] = mapped_column(String(8))
    content: Mapped[bytes] = mapped_column(Encrypted)
    """The data as JSON."""
    content_hash: Mapped[str] = mapped_column(String(64))
    """SHA-256 of the canonical JSON of the data."""
    size_bytes: Mapped[int]
    classification: Mapped[int | None]
    """Of the data, where a step sent it and classifications are enabled."""
    outside: Mapped[list[str]] = mapped_column(Json)
    """Marks of the untrusted content in the data."""
    sender: Mapped[dict[str, Any]] = mapped_column(Json)
    """`kind`, `user_id`, `name`, `key_id`, `address`, and of a step `run_id` and `step_id`."""
    flow_run_id: Mapped[str | None] = mapped_column(String(36))
    """The run whose step sent it: its key stays used until that run cannot send it again."""
    received_at: Mapped[int] = mapped_column(BigInteger)
    keep_until: Mapped[int] = mapped_column(BigInteger)
    deliveries: Mapped[int]
    """How many steps have received it."""
    followed: Mapped[bool] = mapped_column(server_default=false())
    """Whether a trigger has fired for it."""


class EventWaitRow(Row):
    """A step that waits for an event, or has waited, with a copy of what it received."""

    __tablename__ = "event_waits"
    __table_args__ = (
        of_tenant("flow_run_id", "flow_runs"),
        CheckConstraint("status IN ('waiting', 'received', 'timed_out')", name="status_known"),
        Index(
            "ix_event_waits_space_id_name_correlation_status_created_at",
            *("space_id", "name", "correlation", "status", "created_at"),
        ),
        Index("ix_event_waits_tenant_id_status", "tenant_id", "status"),
    )

    flow_run_id: Mapped[str] = mapped_column(String(36), primary_key=True)
    step_id: Mapped[str] = mapped_column(String(64), primary_key=True)
    tenant_id: Mapped[str] = mapped_column(String(36))
    space_id: Mapped[str] = mapped_column(String(36))
    flow_id: Mapped[str] = mapped_column(String(36))
    name: Mapped[str] = mapped_column(String(200))
    correlation: Mapped[str] = mapped_column(String(500))
    status: Mapped[str] = mapped_column(String(16))
    created_at: Mapped[int] = mapped_column(BigInteger)
    due_at: Mapped[int | None] = mapped_column(BigInteger)
    settled_at: Mapped[int | None] = mapped_column(BigInteger)
    event_id: Mapped[str | None] = mapped_column(String(36))
    received_at: Mapped[int | None] = mapped_column(BigInteger)
    """When Headgate received the event, which may be before the step waited."""
    content: Mapped[bytes | None] = mapped_column(Encrypted)
    content_hash: Mapped[str | None] = mapped_column(String(64))
    classification: Mapped[int | None]
    outside: Mapped[list[str] | None] = mapped_column(Json)
    sender: Mapped[dict[str, Any] | None] = mapped_column(Json)
