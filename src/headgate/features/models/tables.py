"""Tables of a tenant's model settings: classifications (seed 002), servers, facts and roles."""

from datetime import datetime
from typing import Any

from sqlalchemy import CheckConstraint, ForeignKey, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from headgate.foundation.database import Encrypted, Json, Row, Timestamp, now, of_tenant, partial_index
from headgate.foundation.ids import new_id

OF_SPACE = "space_id IS NOT NULL"
OF_ORGANISATION = "space_id IS NULL"


class ModelClass(Row):
    """The highest classification of data for a model; `*` as name means a provider's other models."""

    __tablename__ = "model_classes"
    __table_args__ = (CheckConstraint("level >= 0", name="level_not_negative"),)

    tenant_id: Mapped[str] = mapped_column(ForeignKey("tenants.id", ondelete="CASCADE"), primary_key=True)
    provider: Mapped[str] = mapped_column(String(64), primary_key=True)
    name: Mapped[str] = mapped_column(String(200), primary_key=True)
    level: Mapped[int]


class ModelServerRow(Row):
    """A server of models of a space, or of the organisation."""

    __tablename__ = "model_servers"
    __table_args__ = (
        of_tenant("space_id", "spaces"),
        CheckConstraint("kind IN ('openai', 'ollama')", name="kind_known"),
        partial_index("ux_model_servers_space_id_name", "tenant_id", "space_id", "name", where=OF_SPACE, unique=True),
        partial_index("ux_model_servers_tenant_id_name", "tenant_id", "name", where=OF_ORGANISATION, unique=True),
    )

    id: Mapped[str] = mapped_column(String(36), primary_key=True, default=new_id)
    tenant_id: Mapped[str] = mapped_column(ForeignKey("tenants.id", ondelete="CASCADE"))
    space_id: Mapped[str | None] = mapped_column(String(36))
    """The space whose flows may use it; None: every space of the organisation."""
    name: Mapped[str] = mapped_column(String(64))
    kind: Mapped[str] = mapped_column(String(16))
    address: Mapped[str] = mapped_column(Text)
    sealed: Mapped[bytes | None] = mapped_column(Encrypted)
    """Encrypted JSON: the key and the headers."""
    secret_names: Mapped[list[str]] = mapped_column(Json, default=list)
    """Names of what is sealed: `key`, and the names of headers."""
    updated_at: Mapped[datetime] = mapped_column(Timestamp, default=now)


class ModelFactsRow(Row):
    """An organisation's facts about a model: label, description, prices, whether it is offered."""

    __tablename__ = "model_facts"

    tenant_id: Mapped[str] = mapped_column(ForeignKey("tenants.id", ondelete="CASCADE"), primary_key=True)
    provider: Mapped[str] = mapped_column(String(64), primary_key=True)
    name: Mapped[str] = mapped_column(String(200), primary_key=True)
    facts: Mapped[dict[str, Any]] = mapped_column(Json)


class ModelRoleRow(Row):
    """The models that an organisation chose for a role."""

    __tablename__ = "model_roles"
    __table_args__ = (
        CheckConstraint("role IN ('default', 'assistant', 'codev', 'step', 'fallback')", name="role_known"),
    )

    tenant_id: Mapped[str] = mapped_column(ForeignKey("tenants.id", ondelete="CASCADE"), primary_key=True)
    role: Mapped[str] = mapped_column(String(16), primary_key=True)
    models: Mapped[list[dict[str, Any]]] = mapped_column(Json)
    """In order; one for every role but `fallback`."""
