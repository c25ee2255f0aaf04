"""Idempotency keys and what was started with each. Times are microseconds in UTC."""

from sqlalchemy import BigInteger, Column, ForeignKeyConstraint, Index, PrimaryKeyConstraint, String, Table, Text

from headgate.foundation.database import metadata

idempotency_keys = Table(
    "idempotency_keys",
    metadata,
    Column("tenant_id", String(36), nullable=False),
    Column("key", String(400), nullable=False),
    Column("user_id", String(36), nullable=False),
    Column("digest", String(64), nullable=False),
    Column("resource_id", String(64), nullable=False),
    Column("answer", Text),
    Column("pending_until", BigInteger),
    Column("created_at", BigInteger, nullable=False),
    PrimaryKeyConstraint("tenant_id", "key"),
    ForeignKeyConstraint(["tenant_id"], ["tenants.id"], ondelete="CASCADE"),
    Index("ix_idempotency_keys_created_at", "created_at"),
)
"""`digest` identifies the request, `resource_id` what it started. `answer` is JSON that the resource does not contain.
`pending_until` is set while the work has no other row: after that time it counts as lost."""
