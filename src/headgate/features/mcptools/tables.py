"""MCP servers registered for a space, and their tools."""

from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, ForeignKeyConstraint, String, Text, UniqueConstraint, false, text
from sqlalchemy.orm import Mapped, mapped_column

from headgate.features.mcptools.descriptions import contract_of
from headgate.foundation.database import Encrypted, Json, Row, Timestamp, now
from headgate.foundation.pins import GONE, Pinned, difference


class McpServerRow(Row):
    """A server: a URL, or a program that the operator allowed."""

    __tablename__ = "mcp_servers"
    __table_args__ = (
        UniqueConstraint("id", "tenant_id"),
        UniqueConstraint("space_id", "name"),
        ForeignKeyConstraint(["space_id", "tenant_id"], ["spaces.id", "spaces.tenant_id"], ondelete="CASCADE"),
        CheckConstraint("transport IN ('http', 'stdio')", name="transport_known"),
    )

    id: Mapped[str] = mapped_column(String(36), primary_key=True)
    tenant_id: Mapped[str] = mapped_column(String(36))
    space_id: Mapped[str] = mapped_column(String(36))
    name: Mapped[str] = mapped_column(String(64))
    transport: Mapped[str] = mapped_column(String(8))
    url: Mapped[str] = mapped_column(Text, default="")
    command: Mapped[list[str] | None] = mapped_column(Json)
    access: Mapped[dict[str, Any] | None] = mapped_column(Json)
    """Hosts and folders of a program, as `ProgramAccess`; null for a URL."""
    sealed: Mapped[bytes | None] = mapped_column(Encrypted)
    """Encrypted JSON: the headers of a URL, or the environment of a program."""
    secret_names: Mapped[list[str]] = mapped_column(Json, default=list)
    """Names of the sealed values."""
    connection: Mapped[str] = mapped_column(String(64), default="", server_default=text("''"))
    """Name of the connection whose credential is added to requests; empty for none."""
    sampling: Mapped[dict[str, Any] | None] = mapped_column(Json)
    """The model that answers its requests, as `Sampling`; null for none."""
    enabled: Mapped[bool] = mapped_column(default=True)
    tools_found_at: Mapped[datetime | None] = mapped_column(Timestamp)
    error_message: Mapped[str | None] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(Timestamp, default=now)
    updated_at: Mapped[datetime] = mapped_column(Timestamp, default=now)


class McpToolRow(Pinned, Row):
    """A tool as its server last described it. One that the server no longer lists stays pinned, with an empty hash."""

    __tablename__ = "mcp_tools"
    __table_args__ = (
        ForeignKeyConstraint(
            ["server_id", "tenant_id"], ["mcp_servers.id", "mcp_servers.tenant_id"], ondelete="CASCADE"
        ),
    )

    server_id: Mapped[str] = mapped_column(String(36), primary_key=True)
    name: Mapped[str] = mapped_column(String(128), primary_key=True)
    tenant_id: Mapped[str] = mapped_column(String(36))
    place: Mapped[int] = mapped_column(default=0)
    """Position in the server's list."""
    description: Mapped[str] = mapped_column(Text, default="")
    input_schema: Mapped[dict[str, Any]] = mapped_column(Json)
    read_only: Mapped[bool] = mapped_column(default=False, server_default=false())
    """Whether the server declares that it is read-only (`readOnlyHint`)."""
    enabled: Mapped[bool] = mapped_column(default=True)
    sha256: Mapped[str] = mapped_column(String(64), default=GONE, server_default=text("''"))
    accepted_sha256: Mapped[str] = mapped_column(String(64), default=GONE, server_default=text("''"))

    @property
    def contract(self) -> dict[str, Any]:
        """The description that is pinned."""
        return contract_of(self.description, self.input_schema, read_only=self.read_only)

    @property
    def difference(self) -> list[str]:
        """Of a changed tool: the lines that differ from the accepted description."""
        return difference(self.accepted, self.contract) if self.changed else []
