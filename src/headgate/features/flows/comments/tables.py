"""Comments on flows, and the users that they mention."""

from datetime import datetime

from sqlalchemy import ForeignKey, Index, String, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from headgate.foundation.database import Row, TenantRow, Timestamp, of_tenant


class FlowCommentRow(TenantRow):
    """A comment on a flow, or on one of its nodes."""

    __tablename__ = "flow_comments"
    __table_args__ = (
        of_tenant("flow_id", "flows"),
        UniqueConstraint("id", "tenant_id"),
        Index("ix_flow_comments_flow_id_id", "flow_id", "id"),
    )

    flow_id: Mapped[str] = mapped_column(String(36))
    node_id: Mapped[str | None] = mapped_column(String(64))
    """None: on the flow as a whole. A node that was deleted leaves its comments."""
    author_user_id: Mapped[str | None] = mapped_column(ForeignKey("users.id", ondelete="SET NULL"), index=True)
    text: Mapped[str] = mapped_column(String(4000))
    created_at: Mapped[datetime] = mapped_column(Timestamp)
    edited_at: Mapped[datetime | None] = mapped_column(Timestamp)
    resolved_at: Mapped[datetime | None] = mapped_column(Timestamp)


class FlowCommentMentionRow(Row):
    """A user that a comment mentions."""

    __tablename__ = "flow_comment_mentions"
    __table_args__ = (of_tenant("comment_id", "flow_comments"),)

    comment_id: Mapped[str] = mapped_column(String(36), primary_key=True)
    user_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True, index=True)
    tenant_id: Mapped[str] = mapped_column(String(36))
