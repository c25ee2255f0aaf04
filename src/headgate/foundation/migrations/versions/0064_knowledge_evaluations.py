"""Questions of knowledge bases, and evaluations."""

import sqlalchemy as sa
from alembic import op

from headgate.foundation.database import Json, Timestamp

revision = "0064"
down_revision = "0063"


def upgrade() -> None:
    for name, columns in {
        "knowledge_questions": (
            sa.Column("question", sa.Text(), nullable=False),
            sa.Column("document_ids", Json, nullable=False),
            sa.Column("quote", sa.Text(), nullable=False),
        ),
        "knowledge_evaluations": (
            sa.Column("user_id", sa.String(36), nullable=False),
            sa.Column("limit", sa.Integer(), nullable=False),
            sa.Column("passage_tokens", sa.Integer(), nullable=False),
            sa.Column("overlap_tokens", sa.Integer(), nullable=False),
            sa.Column("embedding_model", sa.String(250), nullable=False),
            sa.Column("passages", sa.Integer(), nullable=False),
            sa.Column("skipped", sa.Integer(), nullable=False),
            sa.Column("measures", Json, nullable=False),
            sa.Column("answers", Json, nullable=False),
        ),
    }.items():
        op.create_table(
            name,
            sa.Column("id", sa.String(36), primary_key=True),
            sa.Column("tenant_id", sa.String(36), nullable=False),
            sa.Column("base_id", sa.String(36), nullable=False),
            *columns,
            sa.Column("created_at", Timestamp, nullable=False),
            sa.ForeignKeyConstraint(
                ["base_id", "tenant_id"],
                ["knowledge_bases.id", "knowledge_bases.tenant_id"],
                name=op.f(f"fk_{name}_base_id_tenant_id_knowledge_bases"),
                ondelete="CASCADE",
            ),
        )
        op.create_index(f"ix_{name}_base_id_id", name, ["base_id", "id"])


def downgrade() -> None:
    op.drop_table("knowledge_evaluations")
    op.drop_table("knowledge_questions")
