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
    op.add_column("flows", sa.Column("folder", sa.String(length=300), nullable=False, server_default=""))
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


def downgrade() -> None:
    op.drop_table("flow_favourites")
    op.drop_table("flow_tags")
    op.drop_column("flows", "folder")
    op.drop_column("flows", "purged_at")
