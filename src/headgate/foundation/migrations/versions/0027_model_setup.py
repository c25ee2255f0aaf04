"""Model servers by name, facts about models, models of roles."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0027"
down_revision = "0026"

JSON = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")
_ROLES = "role IN ('default', 'assistant', 'codev', 'step', 'fallback')"


def upgrade() -> None:
    op.create_table(
        "model_servers",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("space_id", sa.String(length=36)),
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("address", sa.Text(), nullable=False),
        sa.Column("sealed", sa.LargeBinary()),
        sa.Column("secret_names", JSON, nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.CheckConstraint("kind IN ('openai', 'ollama')", name="ck_model_servers_kind_known"),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name="fk_model_servers_tenant_id", ondelete="CASCADE"),
        sa.ForeignKeyConstraint(
            ["space_id", "tenant_id"],
            ["spaces.id", "spaces.tenant_id"],
            name="fk_model_servers_space_id_tenant_id",
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name="pk_model_servers"),
    )
    for columns, where in ((["tenant_id", "space_id", "name"], "NOT NULL"), (["tenant_id", "name"], "NULL")):
        condition = sa.text(f"space_id IS {where}")
        op.create_index(
            f"ux_model_servers_{columns[-2]}_name",
            "model_servers",
            columns,
            unique=True,
            sqlite_where=condition,
            postgresql_where=condition,
        )
    op.create_table(
        "model_facts",
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("provider", sa.String(length=64), nullable=False),
        sa.Column("name", sa.String(length=200), nullable=False),
        sa.Column("facts", JSON, nullable=False),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name="fk_model_facts_tenant_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("tenant_id", "provider", "name", name="pk_model_facts"),
    )
    op.create_table(
        "model_roles",
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("role", sa.String(length=16), nullable=False),
        sa.Column("models", JSON, nullable=False),
        sa.CheckConstraint(_ROLES, name="ck_model_roles_role_known"),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name="fk_model_roles_tenant_id", ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("tenant_id", "role", name="pk_model_roles"),
    )


def downgrade() -> None:
    op.drop_table("model_roles")
    op.drop_table("model_facts")
    op.drop_table("model_servers")
