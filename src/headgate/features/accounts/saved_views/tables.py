"""Saved views of users."""

from typing import Any

from sqlalchemy import ForeignKey, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from headgate.foundation.database import Json, TenantRow


class SavedViewRow(TenantRow):
    """A view of a list of one user. An empty name: what the page remembers by itself."""

    __tablename__ = "saved_views"
    __table_args__ = (UniqueConstraint("user_id", "place", "name", name="uq_saved_views_user_id_place_name"),)

    user_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"))
    place: Mapped[str] = mapped_column(String(16))
    name: Mapped[str] = mapped_column(String(80))
    settings: Mapped[dict[str, Any]] = mapped_column(Json)
