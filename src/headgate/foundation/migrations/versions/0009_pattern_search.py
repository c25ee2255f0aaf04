"""Full-text search in patterns: their stemmed words; which sessions used them; the same pattern kept once."""

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    op.add_column("codev_patterns", sa.Column("digest", sa.String(length=64), nullable=True))
    op.create_index("ix_codev_patterns_space_id_digest", "codev_patterns", ["space_id", "digest"], unique=True)
    op.create_table(
        "codev_pattern_words",
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("word", sa.String(length=40), nullable=False),
        sa.Column("pattern_id", sa.String(length=36), nullable=False),
        sa.Column("weight", sa.Integer(), nullable=False),
        sa.ForeignKeyConstraint(
            ["pattern_id"],
            ["codev_patterns.id"],
            name=op.f("fk_codev_pattern_words_pattern_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("tenant_id", "word", "pattern_id", name=op.f("pk_codev_pattern_words")),
    )
    op.create_index("ix_codev_pattern_words_pattern_id", "codev_pattern_words", ["pattern_id"], unique=False)
    op.create_table(
        "codev_pattern_uses",
        sa.Column("pattern_id", sa.String(length=36), nullable=False),
        sa.Column("session_id", sa.String(length=36), nullable=False),
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("counted", sa.Boolean(), nullable=False),
        sa.ForeignKeyConstraint(
            ["pattern_id"],
            ["codev_patterns.id"],
            name=op.f("fk_codev_pattern_uses_pattern_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("pattern_id", "session_id", name=op.f("pk_codev_pattern_uses")),
    )


def downgrade() -> None:
    op.drop_table("codev_pattern_uses")
    op.drop_index("ix_codev_pattern_words_pattern_id", table_name="codev_pattern_words")
    op.drop_table("codev_pattern_words")
    op.drop_index("ix_codev_patterns_space_id_digest", table_name="codev_patterns")
    op.drop_column("codev_patterns", "digest")
