"""Encrypted variables."""

from datetime import datetime

from sqlalchemy import ForeignKey, LargeBinary, String
from sqlalchemy.orm import Mapped, mapped_column

from headgate.foundation.database import Json, Row, Timestamp, now


class Variable(Row):
    """A named value of a tenant, encrypted at rest whether it is a secret or not."""

    __tablename__ = "variables"

    tenant_id: Mapped[str] = mapped_column(ForeignKey("tenants.id", ondelete="CASCADE"), primary_key=True)
    name: Mapped[str] = mapped_column(String(128), primary_key=True)
    token: Mapped[bytes] = mapped_column(LargeBinary)
    secret: Mapped[bool]
    hosts: Mapped[list[str] | None] = mapped_column(Json)
    """Servers it may be sent to, as origins; None: any that a flow names, a model provider's key excepted."""
    updated_at: Mapped[datetime] = mapped_column(Timestamp, default=now)
