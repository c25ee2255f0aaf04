"""Conversations with the assistant and with published flows. Times are microseconds in UTC."""

from sqlalchemy import BigInteger, Column, Index, PrimaryKeyConstraint, String, Table, Text

from headgate.foundation.database import metadata, of_tenant

assistant_conversations = Table(
    "assistant_conversations",
    metadata,
    Column("tenant_id", String(36), nullable=False),
    Column("user_id", String(36), nullable=False),
    Column("session_hash", String(64), nullable=False),
    Column("turns", Text, nullable=False),
    Column("used_at", BigInteger, nullable=False),
    PrimaryKeyConstraint("tenant_id", "user_id", "session_hash"),
    of_tenant("user_id", "users"),
    Index("ix_assistant_conversations_used_at", "used_at"),
)
"""One row for each conversation of a user. `turns` is JSON: the last requests and answers, without secrets;
`used_at` is when the last of them was added."""

flow_conversations = Table(
    "flow_conversations",
    metadata,
    Column("id", String(36), primary_key=True),
    Column("tenant_id", String(36), nullable=False),
    Column("user_id", String(36), nullable=False),
    Column("flow_id", String(36), nullable=False),
    Column("title", String(200), nullable=False),
    Column("position", String(36), nullable=False),
    Column("used_at", BigInteger, nullable=False),
    of_tenant("user_id", "users"),
    of_tenant("flow_id", "flows"),
    Index("ix_flow_conversations_user_id_flow_id_position", "user_id", "flow_id", "position"),
    Index("ix_flow_conversations_flow_id_used_at", "flow_id", "used_at"),
)
"""One row for each conversation of a user with a flow. Its messages are the runs whose `session_id` is its `id`.
`position` is a new id with each message: conversations are listed by it, the last used one first."""
