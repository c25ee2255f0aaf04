"""Facts about custom code, by tenant and content. Rows never change: versions of flows rely on them."""

from datetime import datetime
from typing import Any

from sqlalchemy import ForeignKey, String
from sqlalchemy.orm import Mapped, mapped_column

from headgate.foundation.database import Json, Row, Timestamp, now


class OwnComponent(Row):
    """Template and manifest of one piece of code, from the sandbox."""

    __tablename__ = "own_components"

    tenant_id: Mapped[str] = mapped_column(ForeignKey("tenants.id", ondelete="CASCADE"), primary_key=True)
    code_hash: Mapped[str] = mapped_column(String(64), primary_key=True)
    type: Mapped[str] = mapped_column(String(64))
    template: Mapped[dict[str, Any]] = mapped_column(Json)
    manifest: Mapped[dict[str, Any]] = mapped_column(Json)
    checked_at: Mapped[datetime] = mapped_column(Timestamp, default=now)
