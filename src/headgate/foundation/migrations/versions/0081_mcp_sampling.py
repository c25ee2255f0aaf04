"""The model that answers requests of an MCP server."""

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision = "0081"
down_revision = "0080"

JSON = sa.JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")


def upgrade() -> None:
    op.add_column("mcp_servers", sa.Column("sampling", JSON, nullable=True))


def downgrade() -> None:
    op.drop_column("mcp_servers", "sampling")
