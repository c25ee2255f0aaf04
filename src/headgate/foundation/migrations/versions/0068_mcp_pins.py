"""Connections of MCP servers; the accepted descriptions of tools and operations."""

import sqlalchemy as sa
from alembic import op

from headgate.foundation.database import Json
from headgate.foundation.pins import hash_of

revision = "0068"
down_revision = "0067"


def upgrade() -> None:
    with op.batch_alter_table("mcp_servers") as table:
        table.add_column(sa.Column("connection", sa.String(64), nullable=False, server_default=""))
    with op.batch_alter_table("mcp_tools") as table:
        table.add_column(sa.Column("sha256", sa.String(64), nullable=False, server_default=""))
        table.add_column(sa.Column("accepted_sha256", sa.String(64), nullable=False, server_default=""))
        table.add_column(sa.Column("accepted", Json(), nullable=True))
    with op.batch_alter_table("connection_operations") as table:
        table.add_column(sa.Column("accepted", Json(), nullable=True))
    _pin_tools()


def downgrade() -> None:
    op.execute("DELETE FROM mcp_tools WHERE sha256 = ''")  # tools that their servers no longer have
    with op.batch_alter_table("connection_operations") as table:
        table.drop_column("accepted")
    with op.batch_alter_table("mcp_tools") as table:
        for column in ("accepted", "accepted_sha256", "sha256"):
            table.drop_column(column)
    with op.batch_alter_table("mcp_servers") as table:
        table.drop_column("connection")


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
