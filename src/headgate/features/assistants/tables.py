"""Shared assistants of a space."""

from datetime import datetime

from sqlalchemy import Float, ForeignKeyConstraint, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from headgate.foundation.database import Row, Timestamp, now


class AssistantRow(Row):
    """A model with instructions, linked by name. Runs read the frozen values of their version, never this row."""

    __tablename__ = "assistants"
    __table_args__ = (
        UniqueConstraint("space_id", "name"),
        ForeignKeyConstraint(["space_id", "tenant_id"], ["spaces.id", "spaces.tenant_id"], ondelete="CASCADE"),
    )

    id: Mapped[str] = mapped_column(String(36), primary_key=True)
    tenant_id: Mapped[str] = mapped_column(String(36))
    space_id: Mapped[str] = mapped_column(String(36))
    name: Mapped[str] = mapped_column(String(100))
    description: Mapped[str] = mapped_column(Text, default="")
    instructions: Mapped[str] = mapped_column(Text, default="")
    model: Mapped[str] = mapped_column(String(300), default="")
    temperature: Mapped[float | None] = mapped_column(Float)
    created_at: Mapped[datetime] = mapped_column(Timestamp, default=now)
    updated_at: Mapped[datetime] = mapped_column(Timestamp, default=now)
