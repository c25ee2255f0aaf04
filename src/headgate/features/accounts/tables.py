"""Tenants, spaces and users. The first of each exists from the first migration."""

from datetime import datetime

from sqlalchemy import ForeignKey, ForeignKeyConstraint, Index, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from headgate.foundation.database import Row, Timestamp, now

DEFAULT_TENANT_ID = "00000000-0000-7000-8000-000000000001"
DEFAULT_SPACE_ID = "00000000-0000-7000-8000-000000000002"
DEFAULT_USER_ID = "00000000-0000-7000-8000-000000000003"


class Tenant(Row):
    """An organisation. Everything belongs to one; nothing is shared between two."""

    __tablename__ = "tenants"

    id: Mapped[str] = mapped_column(String(36), primary_key=True)
    name: Mapped[str] = mapped_column(String(200))
    created_at: Mapped[datetime] = mapped_column(Timestamp, default=now)


class User(Row):
    """A person."""

    __tablename__ = "users"
    __table_args__ = (UniqueConstraint("id", "tenant_id"), UniqueConstraint("tenant_id", "name"))

    id: Mapped[str] = mapped_column(String(36), primary_key=True)
    tenant_id: Mapped[str] = mapped_column(ForeignKey("tenants.id", ondelete="CASCADE"))
    name: Mapped[str] = mapped_column(String(200))
    created_at: Mapped[datetime] = mapped_column(Timestamp, default=now)


class Space(Row):
    """A room of a tenant in which flows live."""

    __tablename__ = "spaces"
    __table_args__ = (
        UniqueConstraint("id", "tenant_id"),
        UniqueConstraint("tenant_id", "name"),
        ForeignKeyConstraint(["owner_user_id"], ["users.id"], ondelete="SET NULL"),
        Index("ix_spaces_owner_user_id", "owner_user_id"),
    )

    id: Mapped[str] = mapped_column(String(36), primary_key=True)
    tenant_id: Mapped[str] = mapped_column(ForeignKey("tenants.id", ondelete="CASCADE"))
    name: Mapped[str] = mapped_column(String(200))
    owner_user_id: Mapped[str | None] = mapped_column(String(36))
    created_at: Mapped[datetime] = mapped_column(Timestamp, default=now)
