"""Groups of near vectors, for approximate search."""

import sqlalchemy as sa
from alembic import op

revision = "0085"
down_revision = "0084"


def upgrade() -> None:
    op.add_column("knowledge_vectors", sa.Column("cluster", sa.Integer(), nullable=False, server_default=sa.text("0")))
    op.create_index("ix_knowledge_vectors_cluster", "knowledge_vectors", ["base_id", "model", "cluster"])
    op.create_table(
        "knowledge_vector_groups",
        sa.Column("base_id", sa.String(36), primary_key=True),
        sa.Column("model", sa.String(250), primary_key=True),
        sa.Column("tenant_id", sa.String(36), nullable=False),
        sa.Column("epoch", sa.Integer(), nullable=False),
        sa.Column("vectors", sa.Integer(), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("centroids", sa.LargeBinary(), nullable=False),
        sa.Column("probes", sa.Integer(), nullable=False),
        sa.Column("recall", sa.Float(), nullable=True),
        sa.ForeignKeyConstraint(
            ["base_id", "tenant_id"], ["knowledge_bases.id", "knowledge_bases.tenant_id"], ondelete="CASCADE"
        ),
    )


def downgrade() -> None:
    op.drop_table("knowledge_vector_groups")
    op.drop_index("ix_knowledge_vectors_cluster", "knowledge_vectors")
    op.drop_column("knowledge_vectors", "cluster")
