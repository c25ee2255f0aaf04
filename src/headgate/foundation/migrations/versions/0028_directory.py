"""A directory (SCIM) of an organisation: its token, users and groups; the roles that groups give in spaces."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0028"
down_revision = "0027"

JSON = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")
_ROLES = "role IN ('viewer', 'runner', 'editor', 'publisher', 'owner')"


def upgrade() -> None:
    op.add_column("space_members", sa.Column("directory_role", sa.String(length=16)))
    op.add_column("space_members", sa.Column("assigned_role", sa.String(length=16)))
    op.create_table(
        "directories",
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("token_id", sa.String(length=36)),
        sa.Column("prefix", sa.String(length=24)),
        sa.Column("token_hash", sa.String(length=64)),
        sa.Column("networks", JSON),
        sa.Column("token_created_at", sa.BigInteger()),
        sa.Column("last_used_at", sa.BigInteger()),
        sa.Column("last_used_address", sa.String(length=64)),
        sa.Column("last_change_at", sa.BigInteger()),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name="fk_directories_tenant_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("tenant_id", name="pk_directories"),
        sa.UniqueConstraint("token_hash", name="uq_directories_token_hash"),
    )
    op.create_table(
        "directory_users",
        sa.Column("user_id", sa.String(length=36), nullable=False),
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("user_name", sa.String(length=254), nullable=False),
        sa.Column("user_name_key", sa.String(length=254), nullable=False),
        sa.Column("external_id", sa.String(length=255)),
        sa.Column("formatted", sa.String(length=200)),
        sa.Column("given_name", sa.String(length=200)),
        sa.Column("family_name", sa.String(length=200)),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["user_id", "tenant_id"],
            ["users.id", "users.tenant_id"],
            name="fk_directory_users_user_id_tenant_id",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("user_id", name="pk_directory_users"),
        sa.UniqueConstraint("user_id", "tenant_id", name="uq_directory_users_user_id_tenant_id"),
    )
    op.create_index(
        "ix_directory_users_tenant_id_user_name_key", "directory_users", ["tenant_id", "user_name_key"], unique=True
    )
    op.create_index("ix_directory_users_tenant_id_external_id", "directory_users", ["tenant_id", "external_id"])
    op.create_table(
        "directory_groups",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("name_key", sa.String(length=400), nullable=False),
        sa.Column("external_id", sa.String(length=255)),
        sa.Column("revision", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id"], ["tenants.id"], name="fk_directory_groups_tenant_id", ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name="pk_directory_groups"),
        sa.UniqueConstraint("id", "tenant_id", name="uq_directory_groups_id_tenant_id"),
    )
    op.create_index(
        "ix_directory_groups_tenant_id_name_key", "directory_groups", ["tenant_id", "name_key"], unique=True
    )
    op.create_table(
        "directory_group_members",
        sa.Column("group_id", sa.String(length=36), nullable=False),
        sa.Column("user_id", sa.String(length=36), nullable=False),
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.ForeignKeyConstraint(
            ["group_id", "tenant_id"],
            ["directory_groups.id", "directory_groups.tenant_id"],
            name="fk_directory_group_members_group_id_tenant_id",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["user_id", "tenant_id"],
            ["directory_users.user_id", "directory_users.tenant_id"],
            name="fk_directory_group_members_user_id_tenant_id",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("group_id", "user_id", name="pk_directory_group_members"),
    )
    op.create_index("ix_directory_group_members_user_id", "directory_group_members", ["user_id"])
    op.create_table(
        "directory_group_roles",
        sa.Column("group_id", sa.String(length=36), nullable=False),
        sa.Column("space_id", sa.String(length=36), nullable=False),
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("role", sa.String(length=16), nullable=False),
        sa.CheckConstraint(_ROLES, name="ck_directory_group_roles_role"),
        sa.ForeignKeyConstraint(
            ["group_id", "tenant_id"],
            ["directory_groups.id", "directory_groups.tenant_id"],
            name="fk_directory_group_roles_group_id_tenant_id",
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["space_id", "tenant_id"],
            ["spaces.id", "spaces.tenant_id"],
            name="fk_directory_group_roles_space_id_tenant_id",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("group_id", "space_id", name="pk_directory_group_roles"),
    )
    op.create_index("ix_directory_group_roles_space_id", "directory_group_roles", ["space_id"])


def downgrade() -> None:
    for table in (
        "directory_group_roles",
        "directory_group_members",
        "directory_groups",
        "directory_users",
        "directories",
    ):
        op.drop_table(table)
    op.drop_column("space_members", "assigned_role")
    op.drop_column("space_members", "directory_role")
