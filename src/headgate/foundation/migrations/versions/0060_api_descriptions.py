"""Descriptions of the APIs of connections, and their operations."""

import sqlalchemy as sa
from alembic import op

from headgate.foundation.database import Json

revision = "0060"
down_revision = "0059"


def upgrade() -> None:
    op.create_table(
        "connection_apis",
        sa.Column("connection_id", sa.String(length=36), nullable=False),
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("version", sa.String(length=40), nullable=False),
        sa.Column("format", sa.String(length=40), nullable=False),
        sa.Column("server", sa.Text(), nullable=False),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("skipped", Json(), nullable=False),
        sa.Column("skipped_count", sa.Integer(), nullable=False),
        sa.Column("created_at", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(
            ["connection_id", "tenant_id"],
            ["connections.id", "connections.tenant_id"],
            name=op.f("fk_connection_apis_connection_id_tenant_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("connection_id", name=op.f("pk_connection_apis")),
    )
    op.create_table(
        "connection_operations",
        sa.Column("connection_id", sa.String(length=36), nullable=False),
        sa.Column("key", sa.String(length=500), nullable=False),
        sa.Column("tenant_id", sa.String(length=36), nullable=False),
        sa.Column("place", sa.Integer(), nullable=False),
        sa.Column("operation_id", sa.String(length=200), nullable=False),
        sa.Column("search", sa.Text(), nullable=False),
        sa.Column("contract", Json(), nullable=True),
        sa.Column("sha256", sa.String(length=64), nullable=False),
        sa.Column("accepted_sha256", sa.String(length=64), nullable=False),
        sa.ForeignKeyConstraint(
            ["connection_id", "tenant_id"],
            ["connections.id", "connections.tenant_id"],
            name=op.f("fk_connection_operations_connection_id_tenant_id"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("connection_id", "key", name=op.f("pk_connection_operations")),
    )
    op.create_index("ix_connection_operations_place", "connection_operations", ["connection_id", "place"])


def downgrade() -> None:
    op.drop_index("ix_connection_operations_place", "connection_operations")
    op.drop_table("connection_operations")
    op.drop_table("connection_apis")
