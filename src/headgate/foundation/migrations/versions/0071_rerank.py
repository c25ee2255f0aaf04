"""Rerank models of knowledge bases, and of their evaluations."""

import sqlalchemy as sa
from alembic import op

revision = "0071"
down_revision = "0070"

_CANDIDATES = {"knowledge_bases": "30", "knowledge_evaluations": "0"}


def upgrade() -> None:
    for name, candidates in _CANDIDATES.items():
        with op.batch_alter_table(name) as table:
            table.add_column(sa.Column("rerank_model", sa.String(250), nullable=False, server_default=sa.text("''")))
            table.add_column(
                sa.Column("rerank_candidates", sa.Integer(), nullable=False, server_default=sa.text(candidates))
            )


def downgrade() -> None:
    for name in _CANDIDATES:
        with op.batch_alter_table(name) as table:
            table.drop_column("rerank_candidates")
            table.drop_column("rerank_model")
