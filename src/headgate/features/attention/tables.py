"""Items of the attention list that users have dismissed."""

from sqlalchemy import BigInteger, ForeignKey, String
from sqlalchemy.orm import Mapped, mapped_column

from headgate.foundation.database import Row


class AttentionDismissalRow(Row):
    """An item that a user has dismissed: it is hidden for that user until it happens again."""

    __tablename__ = "attention_dismissals"

    user_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True)
    item_key: Mapped[str] = mapped_column(String(160), primary_key=True)
    tenant_id: Mapped[str] = mapped_column(String(36))
    dismissed_at: Mapped[int] = mapped_column(BigInteger)
