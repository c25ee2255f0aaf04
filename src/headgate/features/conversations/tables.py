"""Conversations with the assistant. Times are microseconds in UTC."""

from sqlalchemy import BigInteger, Column, ForeignKeyConstraint, Index, PrimaryKeyConstraint, String, Table, Text

from headgate.foundation.database import metadata

assistant_conversations = Table(
    "assistant_conversations",
    metadata,
    Column("tenant_id", String(36), nullable=False),
    Column("user_id", String(36), nullable=False),
    Column("session_hash", String(64), nullable=False),
    Column("turns", Text, nullable=False),
    Column("used_at", BigInteger, nullable=False),
    PrimaryKeyConstraint("tenant_id", "user_id", "session_hash"),
    ForeignKeyConstraint(["user_id", "tenant_id"], ["users.id", "users.tenant_id"], ondelete="CASCADE"),
    Index("ix_assistant_conversations_used_at", "used_at"),
)
"""One row for each conversation of a user. `turns` is JSON: the last requests and answers, without secrets;
`used_at` is when the last of them was added."""
