"""Connections, their OAuth tokens, pending authorizations, and descriptions of their APIs."""

from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, ForeignKey, Index, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from headgate.foundation.database import Encrypted, Json, Row, TenantRow, Timestamp, now, of_tenant, partial_index
from headgate.foundation.pins import Pinned

SHARED = "owner_id IS NULL"
PERSONAL = "owner_id IS NOT NULL"


class ConnectionRow(TenantRow):
    """A connection of a space: shared by its flows, or of one user."""

    __tablename__ = "connections"
    __table_args__ = (
        UniqueConstraint("id", "tenant_id"),
        of_tenant("space_id", "spaces"),
        CheckConstraint(
            "status IN ('untested', 'ready', 'failed', 'unauthorized', 'pending')",
            name="status_known",
        ),
        partial_index("ux_connections_space_id_name", "space_id", "name", where=SHARED, unique=True),
        partial_index("ux_connections_owner_id_name", "space_id", "owner_id", "name", where=PERSONAL, unique=True),
    )

    space_id: Mapped[str] = mapped_column(String(36))
    owner_id: Mapped[str | None] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    """The only user whose runs may use it; None: every run of the space."""
    name: Mapped[str] = mapped_column(String(64))
    kind: Mapped[str] = mapped_column(String(32))
    fields: Mapped[dict[str, Any]] = mapped_column(Json)
    """Values that are no secret."""
    sealed: Mapped[bytes | None] = mapped_column(Encrypted)
    """Encrypted JSON: secret field to its value, or to a reference to a vault."""
    secret_names: Mapped[list[str]] = mapped_column(Json, default=list)
    hosts: Mapped[list[str]] = mapped_column(Json, default=list)
    """Servers that it may reach."""
    classification: Mapped[int | None]
    """Highest classification of data that may be sent to it; None: as for every external service."""
    max_concurrent: Mapped[int | None]
    """How many steps may use it at the same time; None: any number."""
    status: Mapped[str] = mapped_column(String(12), default="untested")
    error_message: Mapped[str | None] = mapped_column(Text)
    rejected_at: Mapped[datetime | None] = mapped_column(Timestamp)
    """When a server rejected the access token, which cannot be refreshed; None once it is authorized again."""
    tested_at: Mapped[datetime | None] = mapped_column(Timestamp)
    last_used_at: Mapped[datetime | None] = mapped_column(Timestamp)
    expires_at: Mapped[datetime | None] = mapped_column(Timestamp)
    """When its secret stops working, as set by the user."""
    created_at: Mapped[datetime] = mapped_column(Timestamp, default=now)
    updated_at: Mapped[datetime] = mapped_column(Timestamp, default=now)

    @property
    def state(self) -> str:
        """The status as users see it."""
        return "rejected" if self.rejected_at is not None and self.status != "unauthorized" else self.status


class ConnectionToken(Row):
    """The OAuth tokens of a connection. One process at a time refreshes them."""

    __tablename__ = "connection_tokens"
    __table_args__ = (of_tenant("connection_id", "connections"),)

    connection_id: Mapped[str] = mapped_column(String(36), primary_key=True)
    tenant_id: Mapped[str] = mapped_column(String(36))
    sealed: Mapped[bytes | None] = mapped_column(Encrypted)
    """Encrypted JSON: access and refresh token; None before the first authorization."""
    scopes: Mapped[str] = mapped_column(Text, default="")
    expires_at: Mapped[datetime | None] = mapped_column(Timestamp)
    """When the access token expires; None: not known."""
    revision: Mapped[int] = mapped_column(default=0)
    """Counts the tokens; a refresh replaces the tokens that it read and no others."""
    lease: Mapped[str | None] = mapped_column(String(36))
    """The refresh that is under way."""
    lease_until: Mapped[datetime | None] = mapped_column(Timestamp)


class ConnectionAuthorization(Row):
    """An authorization that a user has started. It is used once."""

    __tablename__ = "connection_authorizations"
    __table_args__ = (of_tenant("connection_id", "connections"),)

    state_hash: Mapped[str] = mapped_column(String(64), primary_key=True)
    """SHA-256 of the `state` parameter, or of the device code."""
    connection_id: Mapped[str] = mapped_column(String(36))
    tenant_id: Mapped[str] = mapped_column(String(36))
    user_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    sealed: Mapped[bytes] = mapped_column(Encrypted)
    """Encrypted JSON: PKCE verifier and redirect URI, or the device code."""
    expires_at: Mapped[datetime] = mapped_column(Timestamp)


class ConnectionApi(Row):
    """The description of a connection's API, without its operations. The document itself is not stored."""

    __tablename__ = "connection_apis"
    __table_args__ = (of_tenant("connection_id", "connections"),)

    connection_id: Mapped[str] = mapped_column(String(36), primary_key=True)
    tenant_id: Mapped[str] = mapped_column(String(36))
    title: Mapped[str] = mapped_column(Text)
    version: Mapped[str] = mapped_column(String(40))
    format: Mapped[str] = mapped_column(String(40))
    server: Mapped[str] = mapped_column(Text)
    """As the document names it; requests go to the address of the connection."""
    sha256: Mapped[str] = mapped_column(String(64))
    """Of the document."""
    skipped: Mapped[list[str]] = mapped_column(Json, default=list)
    """Operations that cannot be used, with the reason; not all of them."""
    skipped_count: Mapped[int] = mapped_column(default=0)
    created_at: Mapped[datetime] = mapped_column(Timestamp, default=now)


class ConnectionOperation(Pinned, Row):
    """An operation of a connection's API. One that a new description no longer has stays, without its contract.

    So a later description cannot bring it back with other words that nobody has seen.
    """

    __tablename__ = "connection_operations"
    __table_args__ = (
        of_tenant("connection_id", "connections"),
        Index("ix_connection_operations_place", "connection_id", "place"),
    )

    connection_id: Mapped[str] = mapped_column(String(36), primary_key=True)
    key: Mapped[str] = mapped_column(String(500), primary_key=True)
    """Method and path: `GET /users/{id}`."""
    tenant_id: Mapped[str] = mapped_column(String(36))
    place: Mapped[int]
    """Position in the description."""
    operation_id: Mapped[str] = mapped_column(String(200), default="")
    """As the description names it."""
    search: Mapped[str] = mapped_column(Text, default="")
    """What it is found by, in lower case."""
    contract: Mapped[dict[str, Any] | None] = mapped_column(Json)
    """`components.readers.api.description.Operation`; None: the description no longer has it."""
