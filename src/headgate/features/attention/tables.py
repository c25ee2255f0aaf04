"""Items of the attention list that users have dismissed, and users to whom items are assigned. Times: microseconds."""

from sqlalchemy import BigInteger, ForeignKey, String
from sqlalchemy.orm import Mapped, mapped_column

from headgate.foundation.database import Row


class AttentionDismissalRow(Row):
    """An item that a user has dismissed: it is hidden for that user until it happens again, or until a time."""

    __tablename__ = "attention_dismissals"

    user_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True)
    item_key: Mapped[str] = mapped_column(String(160), primary_key=True)
    tenant_id: Mapped[str] = mapped_column(String(36))
    dismissed_at: Mapped[int] = mapped_column(BigInteger)
    muted_until: Mapped[int | None] = mapped_column(BigInteger)


class AttentionAssignmentRow(Row):
    """The user to whom an item is assigned, for everyone who sees the item."""

    __tablename__ = "attention_assignments"

    tenant_id: Mapped[str] = mapped_column(ForeignKey("tenants.id", ondelete="CASCADE"), primary_key=True)
    item_key: Mapped[str] = mapped_column(String(160), primary_key=True)
    user_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    assigned_at: Mapped[int] = mapped_column(BigInteger)
