"""A tool of an MCP server says whether it changes anything; until a server is refreshed, every tool may."""

import sqlalchemy as sa
from alembic import op

revision = "0023"
down_revision = "0022"


def upgrade() -> None:
    op.add_column("mcp_tools", sa.Column("read_only", sa.Boolean(), nullable=False, server_default=sa.false()))


def downgrade() -> None:
    op.drop_column("mcp_tools", "read_only")
