"""Connections of MCP servers; the accepted descriptions of tools and operations."""

import sqlalchemy as sa
from alembic import op

from headgate.foundation.database import Json
from headgate.foundation.pins import hash_of

revision = "0068"
down_revision = "0067"


def upgrade() -> None:
    op.add_column("mcp_servers", sa.Column("connection", sa.String(64), nullable=False, server_default=sa.text("''")))
    for name in ("sha256", "accepted_sha256"):
        op.add_column("mcp_tools", sa.Column(name, sa.String(64), nullable=False, server_default=sa.text("''")))
    for table in ("mcp_tools", "connection_operations"):
        op.add_column(table, sa.Column("accepted", Json(), nullable=True))
    _pin_tools()


def downgrade() -> None:
    op.execute("DELETE FROM mcp_tools WHERE sha256 = ''")  # tools that their servers no longer have
    for table in ("mcp_tools", "connection_operations"):
        op.drop_column(table, "accepted")
    for name in ("accepted_sha256", "sha256"):
        op.drop_column("mcp_tools", name)
    op.drop_column("mcp_servers", "connection")


def _pin_tools() -> None:
    """Tools that flows use already count as accepted, as their servers described them last."""
    text, boolean = sa.Text(), sa.Boolean()
    tools = sa.table(
        "mcp_tools",
        *(sa.column(name, text) for name in ("server_id", "name", "description", "sha256", "accepted_sha256")),
        sa.column("input_schema", Json()),
        sa.column("read_only", boolean),
    )
    connection = op.get_bind()
    for tool in connection.execute(sa.select(tools)).all():
        contract = {
            "description": tool.description,
            "input_schema": tool.input_schema,
            "read_only": bool(tool.read_only),
        }
        sha256 = hash_of(contract)
        connection.execute(
            tools.update()
            .where(tools.c.server_id == tool.server_id, tools.c.name == tool.name)
            .values(sha256=sha256, accepted_sha256=sha256)
        )
