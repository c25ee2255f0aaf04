"""Folders, tags, favourites, comments and the trash of flows."""

import sqlalchemy as sa
from alembic import op

revision = "0050"
down_revision = "0049"


def _of_flow(table: str) -> sa.ForeignKeyConstraint:
    return sa.ForeignKeyConstraint(
        ["flow_id", "tenant_id"],
        ["flows.id", "flows.tenant_id"],
        name=op.f(f"fk_{table}_flow_id_tenant_id_flows"),
        ondelete="CASCADE",
    )


def upgrade() -> None:
    op.add_column("flows", sa.Column("purged_at", sa.BigInteger()))
    op.add_column("flows", sa.Column("folder", sa.String(length=300), nullable=False, server_default=sa.text("''")))
    op.create_table(
        "flow_tags",
        sa.Column("flow_id", sa.String(length=36), nullable=False),
        sa.Column("tag", sa.String(length=40), nullable=False),
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        _of_flow("flow_tags"),
        sa.PrimaryKeyConstraint("flow_id", "tag", name=op.f("pk_flow_tags")),
    )
    op.create_index("ix_flow_tags_tenant_id_tag", "flow_tags", ["tenant_id", "tag"])
    op.create_table(
        "flow_favourites",
        sa.Column("flow_id", sa.String(length=36), nullable=False),
        sa.Column("user_id", sa.String(length=36), nullable=False),
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        _of_flow("flow_favourites"),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_flow_favourites_user_id_users"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("flow_id", "user_id", name=op.f("pk_flow_favourites")),
    )
    op.create_index(op.f("ix_flow_favourites_user_id"), "flow_favourites", ["user_id"])
    op.create_table(
        "flow_comments",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("flow_id", sa.String(length=36), nullable=False),
        sa.Column("node_id", sa.String(length=64)),
        sa.Column("author_user_id", sa.String(length=36)),
        sa.Column("text", sa.String(length=4000), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("edited_at", sa.BigInteger()),
        sa.Column("resolved_at", sa.BigInteger()),
        _of_flow("flow_comments"),
        sa.ForeignKeyConstraint(
            ["author_user_id"], ["users.id"], name=op.f("fk_flow_comments_author_user_id_users"), ondelete="SET NULL"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_flow_comments")),
        sa.UniqueConstraint("id", "tenant_id", name=op.f("uq_flow_comments_id_tenant_id")),
    )
    op.create_index("ix_flow_comments_flow_id_id", "flow_comments", ["flow_id", "id"])
    op.create_index(op.f("ix_flow_comments_author_user_id"), "flow_comments", ["author_user_id"])
    op.create_table(
        "flow_comment_mentions",
        sa.Column("comment_id", sa.String(length=36), nullable=False),
        sa.Column("user_id", sa.String(length=36), nullable=False),
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.ForeignKeyConstraint(
            ["comment_id", "tenant_id"],
            ["flow_comments.id", "flow_comments.tenant_id"],
            name=op.f("fk_flow_comment_mentions_comment_id_tenant_id_flow_comments"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_flow_comment_mentions_user_id_users"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("comment_id", "user_id", name=op.f("pk_flow_comment_mentions")),
    )
    op.create_index(op.f("ix_flow_comment_mentions_user_id"), "flow_comment_mentions", ["user_id"])


def downgrade() -> None:
    op.drop_table("flow_comment_mentions")
    op.drop_table("flow_comments")
    op.drop_table("flow_favourites")
    op.drop_table("flow_tags")
    op.drop_column("flows", "folder")
    op.drop_column("flows", "purged_at")
