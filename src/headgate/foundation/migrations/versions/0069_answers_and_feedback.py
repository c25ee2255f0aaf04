"""Reference answers of questions, feedback on answers of the chat, and a word index without a pending list.

PostgreSQL collects new entries of a GIN index in a list of up to 4 MB that each search reads: until the list is merged,
the planner prefers to read all passages.
"""

import sqlalchemy as sa
from alembic import op

from headgate.foundation.database import Json

revision = "0069"
down_revision = "0068"


def upgrade() -> None:
    with op.batch_alter_table("knowledge_questions") as table:
        table.add_column(sa.Column("answer", sa.Text(), nullable=False, server_default=""))
    op.create_table(
        "chat_feedback",
        sa.Column("run_id", sa.String(length=36), nullable=False),
        sa.Column("flow_id", sa.String(length=36), nullable=False),
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("user_id", sa.String(length=36), nullable=False),
        sa.Column("helpful", sa.Boolean(), nullable=False),
        sa.Column("correction", sa.Text(), nullable=False),
        sa.Column("base_id", sa.String(length=36), nullable=False),
        sa.Column("document_ids", Json, nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["run_id", "flow_id"],
            ["flow_runs.id", "flow_runs.flow_id"],
            name=op.f("fk_chat_feedback_run_id_flow_id_flow_runs"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["user_id", "tenant_id"],
            ["users.id", "users.tenant_id"],
            name=op.f("fk_chat_feedback_user_id_tenant_id_users"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("run_id", name=op.f("pk_chat_feedback")),
    )
    if op.get_bind().dialect.name == "postgresql":
        op.execute("ALTER INDEX ix_knowledge_passages_terms SET (fastupdate = off)")
        op.execute("SELECT gin_clean_pending_list('ix_knowledge_passages_terms'::regclass)")
    op.create_index("ix_chat_feedback_base_id_run_id", "chat_feedback", ["base_id", "run_id"])


def downgrade() -> None:
    if op.get_bind().dialect.name == "postgresql":
        op.execute("ALTER INDEX ix_knowledge_passages_terms RESET (fastupdate)")
    op.drop_table("chat_feedback")
    with op.batch_alter_table("knowledge_questions") as table:
        table.drop_column("answer")
