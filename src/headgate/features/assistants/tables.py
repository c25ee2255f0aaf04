"""Shared assistants of a space."""

from datetime import datetime

from sqlalchemy import Float, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from headgate.foundation.database import TenantRow, Timestamp, now, of_tenant


class AssistantRow(TenantRow):
    """A model with instructions, linked by name. Runs read the frozen values of their version, never this row."""

    __tablename__ = "assistants"
    __table_args__ = (
        UniqueConstraint("space_id", "name"),
        of_tenant("space_id", "spaces"),
    )

    space_id: Mapped[str] = mapped_column(String(36))
    name: Mapped[str] = mapped_column(String(100))
    description: Mapped[str] = mapped_column(Text, default="")
    instructions: Mapped[str] = mapped_column(Text, default="")
    model: Mapped[str] = mapped_column(String(300), default="")
    temperature: Mapped[float | None] = mapped_column(Float)
    created_at: Mapped[datetime] = mapped_column(Timestamp, default=now)
    updated_at: Mapped[datetime] = mapped_column(Timestamp, default=now)
