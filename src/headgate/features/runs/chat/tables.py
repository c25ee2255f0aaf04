"""Feedback of users and visitors on answers of flows. Times are microseconds in UTC."""

from sqlalchemy import BigInteger, Boolean, Column, ForeignKeyConstraint, Index, String, Table, Text

from headgate.foundation.database import Json, metadata, of_tenant

chat_feedback = Table(
    "chat_feedback",
    metadata,
    Column("run_id", String(36), primary_key=True),
    Column("flow_id", String(36), nullable=False),
    Column("tenant_id", String(36), nullable=False),
    Column("user_id", String(36)),
    Column("helpful", Boolean, nullable=False),
    Column("correction", Text, nullable=False),
    Column("base_id", String(36), nullable=False),
    Column("document_ids", Json, nullable=False),
    Column("created_at", BigInteger, nullable=False),
    ForeignKeyConstraint(["run_id", "flow_id"], ["flow_runs.id", "flow_runs.flow_id"], ondelete="CASCADE"),
    of_tenant("user_id", "users"),
    Index("ix_chat_feedback_base_id_run_id", "base_id", "run_id"),
)
"""One row for each answer that its user has rated, or a visitor (no user); deleted with the run.

`correction` is what a correct answer would be. `base_id` is the knowledge base that the run searched first, empty when
none, and `document_ids` are the documents of it that it received passages of.
"""
