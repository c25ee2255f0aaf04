"""Connections of spaces, their OAuth tokens, and pending authorizations."""

from importlib import import_module

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0047"
down_revision = "0045"

_KEYS = import_module("headgate.foundation.migrations.versions.0029_installation_keys")
_JSON = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")
_SHARED, _PERSONAL = sa.text("owner_id IS NULL"), sa.text("owner_id IS NOT NULL")


def upgrade() -> None:
    op.create_table(
        "connections",
        sa.Column("id", sa.String(length=36), nullable=False),
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("space_id", sa.String(length=36), nullable=False),
        sa.Column("owner_id", sa.String(length=36)),
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("kind", sa.String(length=32), nullable=False),
        sa.Column("fields", _JSON, nullable=False),
        sa.Column("sealed", sa.LargeBinary()),
        sa.Column("secret_names", _JSON, nullable=False),
        sa.Column("hosts", _JSON, nullable=False),
        sa.Column("classification", sa.Integer()),
        sa.Column("status", sa.String(length=12), nullable=False),
        sa.Column("error_message", sa.Text()),
        sa.Column("tested_at", sa.BigInteger()),
        sa.Column("last_used_at", sa.BigInteger()),
        sa.Column("expires_at", sa.BigInteger()),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.Column("updated_at", sa.BigInteger(), nullable=False),
        sa.CheckConstraint(
            "status IN ('untested', 'ready', 'failed', 'unauthorized', 'pending')",
            name=op.f("ck_connections_status_known"),
        ),
        sa.ForeignKeyConstraint(
            ["space_id", "tenant_id"],
            ["spaces.id", "spaces.tenant_id"],
            name=op.f("fk_connections_space_id_tenant_id_spaces"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["owner_id"], ["users.id"], name=op.f("fk_connections_owner_id_users"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_connections")),
        sa.UniqueConstraint("id", "tenant_id", name=op.f("uq_connections_id_tenant_id")),
    )
    op.create_index(
        "ux_connections_space_id_name",
        "connections",
        ["space_id", "name"],
        unique=True,
        sqlite_where=_SHARED,
        postgresql_where=_SHARED,
    )
    op.create_index(
        "ux_connections_owner_id_name",
        "connections",
        ["space_id", "owner_id", "name"],
        unique=True,
        sqlite_where=_PERSONAL,
        postgresql_where=_PERSONAL,
    )
    _tokens()
    _KEYS.guard("connections", "sealed", is_text=False)
    _KEYS.guard("connection_tokens", "sealed", is_text=False)
    _KEYS.guard("connection_authorizations", "sealed", is_text=False)


def _tokens() -> None:
    op.create_table(
        "connection_tokens",
        sa.Column("connection_id", sa.String(length=36), nullable=False),
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("sealed", sa.LargeBinary()),
        sa.Column("scopes", sa.Text(), nullable=False),
        sa.Column("expires_at", sa.BigInteger()),
        sa.Column("revision", sa.Integer(), nullable=False),
        sa.Column("lease", sa.String(length=36)),
        sa.Column("lease_until", sa.BigInteger()),
        sa.ForeignKeyConstraint(
            ["connection_id", "tenant_id"],
            ["connections.id", "connections.tenant_id"],
            name=op.f("fk_connection_tokens_connection_id_tenant_id_connections"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("connection_id", name=op.f("pk_connection_tokens")),
    )
    op.create_table(
        "connection_authorizations",
        sa.Column("state_hash", sa.String(length=64), nullable=False),
        sa.Column("connection_id", sa.String(length=36), nullable=False),
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("user_id", sa.String(length=36), nullable=False),
        sa.Column("sealed", sa.LargeBinary(), nullable=False),
        sa.Column("expires_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["connection_id", "tenant_id"],
            ["connections.id", "connections.tenant_id"],
            name=op.f("fk_connection_authorizations_connection_id_tenant_id_connections"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["user_id"], ["users.id"], name=op.f("fk_connection_authorizations_user_id_users"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("state_hash", name=op.f("pk_connection_authorizations")),
    )


def downgrade() -> None:
    op.drop_table("connection_authorizations")
    op.drop_table("connection_tokens")
    op.drop_table("connections")
    if op.get_bind().dialect.name == "postgresql":
        for table in ("connections", "connection_tokens", "connection_authorizations"):
            op.execute(f"DROP FUNCTION {table}_sealed_key()")
