"""Data keys of tenants, and which of them encrypted each file."""

from importlib import import_module

import sqlalchemy as sa
from alembic import op

revision = "0032"
down_revision = "0031"
_KEYS = import_module("headgate.foundation.migrations.versions.0029_installation_keys")


def upgrade() -> None:
    op.create_table(
        "data_keys",
        sa.Column("id", sa.String(16), primary_key=True),
        sa.Column("tenant_id", sa.String(36), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("wrapped", sa.LargeBinary(), nullable=True),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("destroyed_at", sa.BigInteger(), nullable=True),
        sa.ForeignKeyConstraint(["tenant_id"], ["tenants.id"], name="fk_data_keys_tenant_id", ondelete="CASCADE"),
        sa.UniqueConstraint("id", "tenant_id", name="uq_data_keys_id_tenant_id"),
        sa.CheckConstraint("state IN ('active', 'old', 'destroyed')", name="ck_data_keys_state_is_known"),
        sa.CheckConstraint("(wrapped IS NULL) = (state = 'destroyed')", name="ck_data_keys_destroyed_has_no_key"),
    )
    op.create_index(
        "ux_data_keys_active",
        "data_keys",
        ["tenant_id"],
        unique=True,
        sqlite_where=sa.text("state = 'active'"),
        postgresql_where=sa.text("state = 'active'"),
    )
    _KEYS.guard("data_keys", "wrapped", is_text=False)
    op.add_column("files", sa.Column("data_key_id", sa.String(16), nullable=True))


def downgrade() -> None:
    op.drop_column("files", "data_key_id")
    op.drop_table("data_keys")
    if op.get_bind().dialect.name == "postgresql":
        op.execute("DROP FUNCTION data_keys_wrapped_key()")
